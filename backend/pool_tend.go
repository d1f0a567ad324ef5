package backend

import (
	"context"
	"time"
)

// Tend keeps the idle connections fit until ctx ends: it closes those that are
// too old, idle for too long, or belong to a node as it no longer is, and keeps
// MinIdle of each open for the accounts that are in use.
func (p *Pools) Tend(ctx context.Context, view func() *View) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			p.closeIdle()
			return
		case now := <-tick.C:
			v := view()
			for _, pl := range p.all() {
				n := v.Node(pl.addr)
				for _, c := range pl.unfit(n, now, p.opts) {
					p.retire(c)
					pl.freed()
				}
				switch {
				case n.Usable():
					p.warm(ctx, pl, n)
				case n == nil:
					p.forget(pl)
				}
			}
		}
	}
}

// forget drops the pool of a node that is not there any more, once all
// connections to it are closed.
func (p *Pools) forget(pl *pool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pl.mu.Lock()
	defer pl.mu.Unlock()
	if pl.open == 0 && len(pl.waiters) == 0 {
		pl.gone = true
		delete(p.nodes, pl.addr)
	}
}

func (p *Pools) all() []*pool {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]*pool, 0, len(p.nodes))
	for _, pl := range p.nodes {
		out = append(out, pl)
	}
	return out
}

func (p *Pools) closeIdle() {
	for _, pl := range p.all() {
		for _, c := range pl.drain() {
			c.Quit()
			pl.freed()
		}
	}
}

// unfit removes the idle connections that must not, or need not, be kept. The
// one idle for longest goes first.
func (pl *pool) unfit(n *Node, now time.Time, o PoolOptions) []*Conn {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	var out []*Conn
	keep := pl.idle[:0]
	for _, c := range pl.idle {
		other := n == nil || n.Incarnation.Generation != c.Node.Incarnation.Generation || n.Role != c.Node.Role
		old := o.Lifetime > 0 && now.Sub(c.Established) > o.Lifetime+c.jitter(o.Lifetime)
		spare := o.IdleTimeout > 0 && now.Sub(c.LastUsed) > o.IdleTimeout && pl.open-len(out) > o.MinIdle
		if other || old || spare || c.Closed(now) {
			c.idle = false
			out = append(out, c)
			continue
		}
		keep = append(keep, c)
	}
	clear(pl.idle[len(keep):])
	pl.idle = keep
	return out
}

// jitter spreads the ends of connections that were opened together.
func (c *Conn) jitter(life time.Duration) time.Duration {
	return life / 10 * time.Duration(c.ThreadID%16) / 16
}

// warm opens a connection to a node that has fewer than it should, one at a
// time: a node that comes back is not stormed.
func (p *Pools) warm(ctx context.Context, pl *pool, n *Node) {
	w := p.last.Load()
	if w == nil || p.opts.MinIdle == 0 {
		return
	}
	pl.mu.Lock()
	short := pl.open < min(p.opts.MinIdle, p.opts.Max)
	if short {
		pl.open++
	}
	pl.mu.Unlock()
	if !short {
		return
	}
	c, err := p.openNew(ctx, pl, &Want{Node: n, Account: w.Account, State: w.State, Base: w.Base, BaseSeq: w.BaseSeq})
	if err == nil {
		c.LastUsed = time.Now()
		p.Put(c, nil)
	}
}

// Age grows with every Renew.
func (p *Pools) Age() uint64 { return p.age.Load() }

// Origin tells which defaults of the source a connection began with, and in which
// Age it was opened.
func (c *Conn) Origin() (defaults, age uint64) { return c.baseSeq, c.age }

// Renew lets all connections go as soon as nobody uses them: what they began
// with has changed.
func (p *Pools) Renew() {
	p.age.Add(1)
	for _, pl := range p.all() {
		for _, c := range pl.drain() {
			p.retire(c)
			pl.freed()
		}
	}
}

// drain removes all idle connections.
func (pl *pool) drain() []*Conn {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	idle := pl.idle
	pl.idle = nil
	for _, c := range idle {
		c.idle = false
	}
	return idle
}

// PoolStats are the connections to one node.
type PoolStats struct {
	Addr                string
	Open, Idle, Waiting int
	Oldest              time.Duration // how long the statement has waited that waits longest; 0: none does
	Turned              uint64        // statements that got none: too many waited, or none came free in time
}

// Stats returns the numbers of every node.
func (p *Pools) Stats() []PoolStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	out, now := make([]PoolStats, 0, len(p.nodes)), time.Now()
	for _, pl := range p.nodes {
		pl.mu.Lock()
		out = append(out, PoolStats{pl.addr, pl.open, len(pl.idle), len(pl.waiters), pl.oldest(now), pl.turned.Load()})
		pl.mu.Unlock()
	}
	return out
}
