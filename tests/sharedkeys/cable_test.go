package sharedkeys

import (
	"net"
	"sync"
	"testing"

	"causeway/tests/check"
)

// cable is a TCP forwarder that can be cut: then nothing passes and nothing is
// closed, as where a network swallows packets.
type cable struct {
	ln net.Listener
	to string

	mu    sync.Mutex
	whole chan struct{} // closed while the cable is whole
	conns []net.Conn
}

func lay(t *testing.T, to string) *cable {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	check.Must(t, err)
	c := &cable{ln: ln, to: to, whole: make(chan struct{})}
	close(c.whole)
	go c.accept()
	t.Cleanup(func() {
		ln.Close()
		c.mend()
	})
	return c
}

func (c *cable) addr() string { return c.ln.Addr().String() }

func (c *cable) accept() {
	for {
		in, err := c.ln.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", c.to)
		if err != nil {
			in.Close()
			continue
		}
		c.mu.Lock()
		c.conns = append(c.conns, in, out)
		c.mu.Unlock()
		go c.pass(in, out)
		go c.pass(out, in)
	}
}

func (c *cable) pass(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		c.mu.Lock()
		whole := c.whole
		c.mu.Unlock()
		<-whole // what was on its way arrives late
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

func (c *cable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.whole = make(chan struct{})
}

func (c *cable) mend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.whole:
	default:
		close(c.whole)
	}
}
