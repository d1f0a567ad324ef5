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

// gentleGap is the time between two questions that nobody needs at once, see
// SourceSoon.
const gentleGap = 10 * time.Millisecond

// freshCall is one question to a node, shared by all that came before it was
// sent.
type freshCall struct {
	sent  time.Time     // right before it was; guarded by freshCalls.mu
	done  chan struct{} // closed when set, asked and err are there
	set   gtid.Set
	asked time.Time
	err   error
}

// freshCalls holds the questions to one node: one under way, and one to come.
type freshCalls struct {
	mu             sync.Mutex
	queued, flying *freshCall
	urgent         bool      // somebody wants the queued one at once
	last           time.Time // when the last one was sent
	closed         bool
	signal         chan struct{}
}

func newFreshCalls() *freshCalls { return &freshCalls{signal: make(chan struct{}, 1)} }

// join returns a question that is sent after a time: the one under way if it was,
// else the next.
func (f *freshCalls) join(sentAfter time.Time, urgent bool) (*freshCall, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, false
	}
	if f.flying != nil && f.flying.sent.After(sentAfter) {
		return f.flying, true
	}
	if f.queued == nil {
		f.queued = &freshCall{done: make(chan struct{})}
	}
	f.urgent = f.urgent || urgent
	kick(f.signal)
	return f.queued, true
}

// take returns the queued question, from now on under way, or nil and when there
// may be one: 0 for when somebody asks.
func (f *freshCalls) take(now time.Time) (c *freshCall, wait time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.queued == nil {
		return nil, 0
	}
	if wait := gentleGap - now.Sub(f.last); wait > 0 && !f.urgent {
		return nil, wait
	}
	c = f.queued
	c.sent, f.last = now, now
	f.flying, f.queued, f.urgent = c, nil, false
	return c, 0
}

// finish gives the answer to all who share the question.
func (f *freshCalls) finish(c *freshCall) {
	f.mu.Lock()
	f.flying = nil
	f.mu.Unlock()
	close(c.done)
}

func (f *freshCalls) close() {
	f.mu.Lock()
	f.closed = true
	c := f.queued
	f.queued = nil
	f.mu.Unlock()
	if c != nil {
		c.err = ErrNoSource
		close(c.done)
	}
}

// await waits for a question, or until one that waits for its time is due.
func (f *freshCalls) await(ctx context.Context, due time.Duration) {
	if due > 0 {
		pause(ctx, due, f.signal)
		return
	}
	select {
	case <-ctx.Done():
	case <-f.signal:
	}
}

// FreshSource asks the source for its gtid_executed, with a question sent after
// the call, and returns the answer with the time at which it was asked for. Any
// number of callers share two questions: one under way and one to come.
func (m *Monitor) FreshSource(ctx context.Context) (set gtid.Set, asked time.Time, err error) {
	return m.askSource(ctx, time.Now(), true)
}

// SourceNow returns the source's gtid_executed as of a question sent after
// sentAfter, which may be in the past: then the newest answer, or the question
// under way, may do. It shares its questions with FreshSource.
func (m *Monitor) SourceNow(ctx context.Context, sentAfter time.Time) (gtid.Set, error) {
	set, _, err := m.askSource(ctx, sentAfter, true)
	return set, err
}

// SourceSoon is SourceNow for those who could be many and mean no good: of its
// own it asks at most a hundred times a second, for all callers together.
func (m *Monitor) SourceSoon(ctx context.Context, sentAfter time.Time) (gtid.Set, error) {
	set, _, err := m.askSource(ctx, sentAfter, false)
	return set, err
}

// askSource asks again if another server became the source meanwhile: what the
// old one has executed is not what the new one acknowledged.
func (m *Monitor) askSource(ctx context.Context, sentAfter time.Time, urgent bool) (gtid.Set, time.Time, error) {
	for {
		src := m.View().Source
		if src == nil {
			return gtid.Set{}, time.Time{}, ErrNoSource
		}
		if src.Up && src.PositionAt.After(sentAfter) {
			return src.Position, src.PositionAt, nil
		}
		set, asked, err := m.askNode(ctx, src.Addr, sentAfter, urgent)
		if err != nil {
			return gtid.Set{}, time.Time{}, err
		}
		if now := m.View().Source; now != nil && now.Addr == src.Addr && now.Incarnation == src.Incarnation {
			return set, asked, nil
		}
	}
}

func (m *Monitor) askNode(ctx context.Context, addr string, sentAfter time.Time, urgent bool) (gtid.Set, time.Time, error) {
	p := m.probesOf(addr)
	if p == nil {
		return gtid.Set{}, time.Time{}, errors.New("not one of the servers any more: " + addr)
	}
	c, ok := p.fresh.join(sentAfter, urgent)
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
