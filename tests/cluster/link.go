package cluster

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// Link passes TCP connections on to an address. Cut, it is silent, as a network
// is that lost its way: connections stay open, new ones are taken, and no byte
// passes. What was sent meanwhile arrives when it is mended, as TCP would have it.
type Link struct {
	l      net.Listener
	target string

	mu    sync.Mutex
	open  *sync.Cond
	cut   bool
	ended bool
	conns []net.Conn
}

// NewLink starts a link to an address. Close ends it.
func NewLink(target string) (*Link, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	k := &Link{l: l, target: target}
	k.open = sync.NewCond(&k.mu)
	go k.accept()
	return k, nil
}

// Addr is where it listens.
func (k *Link) Addr() string { return k.l.Addr().String() }

// Cut keeps everything from passing, from now on.
func (k *Link) Cut() { k.set(true) }

// Mend lets it pass again.
func (k *Link) Mend() { k.set(false) }

// Lead makes a replica receive over the link. It returns when the replica was
// told, not when it receives.
func (k *Link) Lead(ctx context.Context, replica *Node) error {
	return replica.Exec(ctx, fmt.Sprintf("STOP REPLICA; CHANGE REPLICATION SOURCE TO SOURCE_PORT = %d; START REPLICA", k.l.Addr().(*net.TCPAddr).Port))
}

func (k *Link) accept() {
	for {
		from, err := k.l.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", k.target)
		if err != nil {
			from.Close()
			continue
		}
		if !k.register(from, to) {
			return
		}
		go k.carry(from, to)
		go k.carry(to, from)
	}
}

func (k *Link) register(from, to net.Conn) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended {
		from.Close()
		to.Close()
		return false
	}
	k.conns = append(k.conns, from, to)
	return true
}

// carry holds back an end as well: neither side learns of the other's leaving
// while the link is cut.
func (k *Link) carry(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if !k.mayPass() {
			return
		}
		if n > 0 {
			if _, werr := to.Write(buf[:n]); werr != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// mayPass waits while the link is cut.
func (k *Link) mayPass() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.cut && !k.ended {
		k.open.Wait()
	}
	return !k.ended
}

func (k *Link) set(cut bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cut = cut
	k.open.Broadcast()
}

// Close ends the link and all its connections.
func (k *Link) Close() {
	k.l.Close()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ended = true
	k.open.Broadcast()
	for _, c := range k.conns {
		c.Close()
	}
}
