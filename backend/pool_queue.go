package backend

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// PoolFull: no connection came free in time, or too many wait already.
type PoolFull struct {
	Addr   string
	Limit  string // the option that bounds it, with its value
	Waited time.Duration
}

func (e *PoolFull) Error() string {
	return fmt.Sprintf("no connection to %s came free within %v: %s", e.Addr, e.Waited.Round(time.Millisecond), e.Limit)
}

// waiter is a statement that waits for a connection.
type waiter struct {
	want  *Want
	since time.Time
	grant chan grant // of one
	timer *time.Timer
}

// waiters are used again: where many clients share few connections, most
// statements wait.
var waiters = sync.Pool{New: func() any {
	w := &waiter{grant: make(chan grant, 1), timer: time.NewTimer(time.Hour)}
	w.timer.Stop()
	return w
}}

func newWaiter(want *Want) *waiter {
	w := waiters.Get().(*waiter)
	w.want, w.since = want, time.Now()
	return w
}

// release ends a waiter that no one can grant anything any more.
func (w *waiter) release() {
	w.timer.Stop()
	w.want = nil
	waiters.Put(w)
}

// grant is a connection, or without one the right to open one.
type grant struct{ conn *Conn }

func (p *Pools) maxText() string {
	return fmt.Sprintf("[pool] max_connections=%d are in use", p.opts.Max)
}

// await waits for its turn.
func (p *Pools) await(ctx context.Context, pl *pool, me *waiter) (*Conn, bool, error) {
	p.Waited.Add(1)
	start := me.since
	me.timer.Reset(p.opts.Wait)
	defer me.release()
	select {
	case g := <-me.grant:
		return g.conn, g.conn == nil, nil
	case <-me.timer.C:
	case <-ctx.Done():
	}
	if !pl.leave(me) { // the grant came all the same
		g := <-me.grant
		return g.conn, g.conn == nil, nil
	}
	if ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	p.TimedOut.Add(1)
	pl.turned.Add(1)
	return nil, false, &PoolFull{Addr: pl.addr, Limit: p.maxText(), Waited: time.Since(start)}
}

// leave takes a waiter out of the queue; false: it has been served.
func (pl *pool) leave(me *waiter) bool {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	for i, w := range pl.waiters {
		if w == me {
			pl.waiters = append(pl.waiters[:i], pl.waiters[i+1:]...)
			return true
		}
	}
	return false
}

// freed gives a place that came free to whoever waits.
func (pl *pool) freed() {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	if len(pl.waiters) > 0 && (pl.limit == 0 || pl.open <= pl.limit || time.Now().After(pl.until)) {
		pl.next().grant <- grant{}
		return
	}
	pl.open--
}

// oldest is how long the first waiter has waited; 0: there is none.
func (pl *pool) oldest(now time.Time) time.Duration {
	if len(pl.waiters) == 0 {
		return 0
	}
	return now.Sub(pl.waiters[0].since)
}

// next removes the first waiter.
func (pl *pool) next() *waiter {
	w := pl.waiters[0]
	pl.waiters[0] = nil
	pl.waiters = pl.waiters[1:]
	return w
}
