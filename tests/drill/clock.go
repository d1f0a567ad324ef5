package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"causeway/tests/cluster"
)

// clock is a row that the source writes again and again, and when each value of
// it was replaced.
type clock struct {
	mu       sync.Mutex
	replaced []time.Time // by value: when the next one had been acknowledged
}

// tick is the time between two values.
const tick = 20 * time.Millisecond

// run writes until ctx ends.
func (c *clock) run(ctx context.Context, source *cluster.Node) error {
	every := time.NewTicker(tick)
	defer every.Stop()
	for value := 1; ; value++ {
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
		}
		if err := source.Exec(context.WithoutCancel(ctx), "UPDATE drill.clock SET value = ?", value); err != nil {
			return fmt.Errorf("the clock stands: %w", err)
		}
		c.wrote(time.Now())
	}
}

// wrote notes that the newest value had been replaced by then.
func (c *clock) wrote(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.replaced = append(c.replaced, at)
}

// age is how long before a moment a value had been replaced, 0 if it had not.
func (c *clock) age(value int, at time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if value < len(c.replaced) && c.replaced[value].Before(at) {
		return at.Sub(c.replaced[value])
	}
	return 0
}
