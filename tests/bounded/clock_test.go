package bounded

import (
	"context"
	"sync"
	"testing"
	"time"
)

// clock is a row that the source writes again and again, and when each value of
// it was replaced.
type clock struct {
	mu       sync.Mutex
	replaced map[int]time.Time // value: when the next one had been acknowledged
	value    int
}

// tick is the time between two values.
const tick = 20 * time.Millisecond

// start writes until ctx ends; the function that it returns waits for that.
func (c *clock) start(ctx context.Context, t *testing.T) (wait func()) {
	var wg sync.WaitGroup
	wg.Go(func() {
		every := time.NewTicker(tick)
		defer every.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-every.C:
				c.write(t)
			}
		}
	})
	return wg.Wait
}

func (c *clock) write(t *testing.T) {
	next := c.now() + 1
	if err := shared.Source().Exec(context.WithoutCancel(t.Context()), "UPDATE bounded.clock SET value = ?", next); err != nil {
		t.Errorf("the clock stands: %v", err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.replaced[c.value] = time.Now()
	c.value = next
}

func (c *clock) now() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.value
}

// age is how long before a moment a value had been replaced, 0 if it had not.
func (c *clock) age(value int, at time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if when, ok := c.replaced[value]; ok && when.Before(at) {
		return at.Sub(when)
	}
	return 0
}
