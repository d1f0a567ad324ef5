package lag

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"causeway/tests/check"
	"causeway/tests/cluster"
)

// link is a way from a replica to the source that a test can cut: silently, as
// a firewall does that forgot the connection, or loudly.
type link struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	held  chan struct{} // not nil: nothing passes until it is closed
	conns []net.Conn
}

// reroute makes a replica receive over a link until the test ends.
func reroute(ctx context.Context, t *testing.T, n *cluster.Node) *link {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.Must(t, err)
	k := &link{listener: l, to: shared.Source().Addr}
	go k.accept()
	check.Must(t, point(ctx, n, l.Addr().String()))
	t.Cleanup(func() {
		k.cut()
		if err := point(context.Background(), n, k.to); err != nil {
			t.Error(err)
		}
	})
	return k
}

// point makes the replica receive from an address.
func point(ctx context.Context, n *cluster.Node, addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	return n.Exec(ctx, fmt.Sprintf("STOP REPLICA; CHANGE REPLICATION SOURCE TO SOURCE_HOST='%s', SOURCE_PORT=%s; START REPLICA", host, port))
}

func (k *link) accept() {
	for {
		down, err := k.listener.Accept()
		if err != nil {
			return
		}
		up, err := net.Dial("tcp", k.to)
		if err != nil {
			down.Close()
			continue
		}
		k.mu.Lock()
		k.conns = append(k.conns, down, up)
		k.mu.Unlock()
		go k.pass(down, up)
		go k.pass(up, down)
	}
}

func (k *link) pass(to io.WriteCloser, from io.ReadCloser) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 1<<16)
	for {
		n, err := from.Read(buf)
		k.mu.Lock()
		held := k.held
		k.mu.Unlock()
		if held != nil {
			<-held
		}
		if err != nil {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// hold lets nothing pass any more; both ends think that the link is fine.
func (k *link) hold() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.held = make(chan struct{})
}

// cut breaks the connections and takes no new ones.
func (k *link) cut() {
	k.listener.Close()
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.conns {
		c.Close()
	}
	k.conns = nil
	if k.held != nil {
		close(k.held)
		k.held = nil
	}
}
