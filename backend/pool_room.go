package backend

import (
	"errors"
	"time"

	"causeway/wire"
)

// Settings of what to do when a server has no room for more connections.
const (
	headroom    = 5 // left to the monitor and to people
	refusedTime = 30 * time.Second
)

// tooMany tells whether a server refused a connection for want of room: 1040,
// or 1203, 1226 for one account.
func tooMany(err error) bool {
	var refused *wire.Error
	return errors.As(err, &refused) && (refused.Code == wire.ErrTooManyConnections || refused.Code == 1203 || refused.Code == wire.ErrTooManyUserConns)
}

// Full tells whether an attempt to lease a connection failed only because there is
// no room for one more.
func Full(err error) bool { return errors.As(err, new(*PoolFull)) || tooMany(err) }

// max is how many connections the pool may have now.
func (pl *pool) max(configured int) int {
	if pl.limit > 0 && time.Now().Before(pl.until) {
		return min(configured, pl.limit)
	}
	return configured
}

// heardFor is how long a failed attempt to reach a node that is down speaks for
// all: what needs the node then fails at once, instead of waiting for the same.
const heardFor = 5 * time.Second

// Unreached is the error of an attempt at a node that is down, told to one who
// did not have to try for himself.
type Unreached struct{ Err error }

func (e *Unreached) Error() string { return e.Err.Error() }
func (e *Unreached) Unwrap() error { return e.Err }

// unreached tells whether an attempt at n need not be made. Up to the monitor's
// next word one in heardFor is made all the same: a server that is too busy for
// the monitor may still serve.
func (pl *pool) unreached(n *Node, now time.Time) error {
	if n.Up {
		return nil
	}
	pl.mu.Lock()
	defer pl.mu.Unlock()
	if pl.deaf == nil {
		return nil
	}
	if now.Sub(pl.deafAt) > heardFor {
		pl.deafAt = now // this one tries, others do not wait for it
		return nil
	}
	return pl.deaf
}

// Missed tells why the last attempt to open a connection to n failed, if n has
// answered no probe since then. nil: it did not, or has.
func (p *Pools) Missed(n *Node) error {
	p.mu.Lock()
	pl := p.nodes[n.Addr]
	p.mu.Unlock()
	if pl == nil {
		return nil
	}
	pl.mu.Lock()
	defer pl.mu.Unlock()
	if pl.deaf == nil || !pl.deafAt.After(n.LastAnswer) {
		return nil
	}
	return pl.deaf
}

// alive asks a server that is down for a sign of life, by an idle connection to
// it: what is sent to one that hangs may never be answered, nor be taken back. A
// ping leaves alone what a session may still ask for.
func (pl *pool) alive(c *Conn, n *Node, limit time.Duration) error {
	if n.Up {
		return nil
	}
	c.SetDeadline(deadlineIn(limit))
	defer c.SetDeadline(noDeadline)
	_, err := c.Ping()
	pl.heard(err, time.Now())
	return err
}

// heard notes how an attempt to open a connection went.
func (pl *pool) heard(err error, now time.Time) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	pl.deaf = nil
	if err != nil && !errors.As(err, new(*wire.Error)) {
		pl.deaf, pl.deafAt = &Unreached{err}, now
	}
}

// failed gives back the place of a connection that could not be opened. A
// server that has no room for more must not lose its monitor's as well.
func (pl *pool) failed(err error) {
	if tooMany(err) {
		pl.mu.Lock()
		pl.limit, pl.until = max(1, pl.open-1-headroom), time.Now().Add(refusedTime)
		pl.mu.Unlock()
	}
	pl.freed()
}

// others tells whether the pool has connections that can come free.
func (pl *pool) others() bool {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	return pl.open > 0
}
