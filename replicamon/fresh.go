package replicamon

import (
	"context"
	"errors"
	"sync"
	"time"

	"causeway/gtid"
)

// ErrNoSource says that no source is known that could be asked.
var ErrNoSource = errors.New("no source is known")

// freshCall is one question to the source, shared by all that came before it
// was sent.
type freshCall struct {
	done  chan struct{} // closed when set, asked and err are there
	set   gtid.Set
	asked time.Time
	err   error
}

// freshCalls holds the one question that has not been sent yet, if any. The
// one under way is known to the goroutine that sends it and to those who wait.
type freshCalls struct {
	mu     sync.Mutex
	queued *freshCall
	closed bool
	signal chan struct{}
}

func (f *freshCalls) init() { f.signal = make(chan struct{}, 1) }

// join returns the question that will be sent next.
func (f *freshCalls) join() (*freshCall, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, false
	}
	if f.queued == nil {
		f.queued = &freshCall{done: make(chan struct{})}
		kick(f.signal)
	}
	return f.queued, true
}

// take returns the queued question, from now on under way; nil if there is none.
func (f *freshCalls) take() *freshCall {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.queued
	f.queued = nil
	return c
}

func (f *freshCalls) close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	if c := f.take(); c != nil {
		c.err = ErrNoSource
		close(c.done)
	}
}

// FreshSource asks the source for its gtid_executed, with a question sent after
// the call, and returns the answer with the time at which it was asked for. Any
// number of callers share two questions: one under way and one to come.
func (m *Monitor) FreshSource(ctx context.Context) (set gtid.Set, asked time.Time, err error) {
	c, ok := m.fresh.join()
	if !ok {
		return gtid.Set{}, time.Time{}, ErrNoSource
	}
	select {
	case <-c.done:
		return c.set, c.asked, c.err
	case <-ctx.Done():
		return gtid.Set{}, time.Time{}, ctx.Err()
	}
}

// freshProbe is the state of the goroutine that asks.
type freshProbe struct {
	m    *Monitor
	s    session
	addr string
	gen  uint64
}

func (m *Monitor) runFresh(ctx context.Context) {
	probe := freshProbe{m: m}
	defer probe.drop()
	defer m.fresh.close()
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.fresh.signal:
		}
		if c := m.fresh.take(); c != nil {
			c.set, c.asked, c.err = probe.ask(ctx)
			if c.err != nil {
				m.count.failures[probeFresh].Add(1)
			}
			close(c.done)
		}
	}
}

func (q *freshProbe) ask(ctx context.Context) (gtid.Set, time.Time, error) {
	v := q.m.View()
	if v.Source == nil {
		q.drop()
		return gtid.Set{}, time.Time{}, ErrNoSource
	}
	src := v.Source
	if q.addr != src.Addr || q.gen != src.Incarnation.Generation {
		q.drop()
		q.addr, q.gen = src.Addr, src.Incarnation.Generation
	}
	ctx, cancel := context.WithTimeout(ctx, q.m.opts.Timeout)
	defer cancel()
	old := q.s != nil
	pos, err := q.once(ctx)
	if err != nil && old && kindOf(err) == errGone {
		pos, err = q.once(ctx)
	}
	if err == nil && pos.uuid != src.Incarnation.ServerUUID {
		q.drop()
		err = errors.New("another server answers at the source's address")
	}
	i := q.m.index(src.Addr)
	if err != nil {
		kick(q.m.probes[i].position)
		return gtid.Set{}, time.Time{}, err
	}
	q.m.apply(answered{i: i, gen: q.gen, pos: pos})
	return pos.executed, pos.asked, nil
}

func (q *freshProbe) once(ctx context.Context) (pos position, err error) {
	if q.s == nil {
		if q.s, err = q.m.dial(ctx, q.addr); err != nil {
			q.s = nil
			return position{}, err
		}
	}
	if pos, err = q.s.position(ctx); err != nil {
		q.drop()
	}
	return pos, err
}

func (q *freshProbe) drop() {
	if q.s != nil {
		q.s.close()
	}
	q.s = nil
}
