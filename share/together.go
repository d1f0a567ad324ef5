package share

import (
	"context"
	"sync"
)

// together lets any number of callers share the questions to the store: one is under
// way, and one is to come, for all that have asked meanwhile. So the store has few of
// them however many clients there are, and each is sent after its callers asked.
type together[Q, A any] struct {
	do func(Q) (A, error) // bounds its own time

	mu     sync.Mutex
	queued *question[Q, A]
	busy   bool
}

type question[Q, A any] struct {
	q    Q
	done chan struct{} // closed when a and err are there
	a    A
	err  error
}

// ask has add make its part of the question that is sent next.
func (t *together[Q, A]) ask(ctx context.Context, add func(*Q)) (A, error) {
	t.mu.Lock()
	if t.queued == nil {
		t.queued = &question[Q, A]{done: make(chan struct{})}
	}
	c := t.queued
	add(&c.q)
	if !t.busy {
		t.busy = true
		go t.run()
	}
	t.mu.Unlock()
	select {
	case <-c.done:
		return c.a, c.err
	case <-ctx.Done():
		var none A
		return none, ctx.Err()
	}
}

// run sends what is queued until nothing is.
func (t *together[Q, A]) run() {
	for {
		t.mu.Lock()
		c := t.queued
		t.queued, t.busy = nil, c != nil
		t.mu.Unlock()
		if c == nil {
			return
		}
		c.a, c.err = t.do(c.q)
		close(c.done)
	}
}
