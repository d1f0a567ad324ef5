package replicamon

import (
	"context"
	"errors"
	"sync"

	"causeway/backend"
)

// lockProbe asks for the named locks of connections, on a connection of its
// own that is opened when it is first needed.
type lockProbe struct {
	mu   sync.Mutex
	s    session
	addr string
	gen  uint64
}

// Held tells what a connection of a server, by the server's own id of it, holds
// for itself: named locks and user variables. No answer of GET_LOCK or
// RELEASE_LOCK tells it to somebody who does not read the rows, and routines can
// call them, and set variables, unseen.
func (m *Monitor) Held(ctx context.Context, addr string, connID uint32) (backend.Held, error) {
	n := m.View().Node(addr)
	if n == nil {
		return backend.Held{}, errors.New("no such server: " + addr)
	}
	ctx, cancel := context.WithTimeout(ctx, m.opts.Timeout)
	defer cancel()
	p := &m.locks
	p.mu.Lock()
	defer p.mu.Unlock()
	if gen := n.Incarnation.Generation; p.s == nil || p.addr != addr || p.gen != gen {
		p.drop()
		s, err := m.dial(ctx, addr)
		if err != nil {
			return backend.Held{}, err
		}
		p.s, p.addr, p.gen = s, addr, gen
	}
	held, err := p.s.held(ctx, connID)
	if err != nil {
		p.drop()
	}
	return held, err
}

func (p *lockProbe) drop() {
	if p.s != nil {
		p.s.close()
	}
	p.s = nil
}

// forget closes the connection if it is to addr, which was taken out.
func (p *lockProbe) forget(addr string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.addr == addr {
		p.drop()
	}
}

func (p *lockProbe) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop()
}
