package lab

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Step is one moment of a chaos schedule: after After, applier Who is stopped
// or started.
type Step struct {
	After time.Duration
	Who   int
	Stop  bool
}

// Plan says how long the appliers stand in one cycle of Chaos.
type Plan struct {
	Stand   [2]time.Duration // shortest and longest stop of one applier
	Overlap [2]time.Duration // how long both stand together
	Rest    [2]time.Duration // how long both run afterwards
}

// DefaultPlan keeps each applier stopped for about 40 % of the time, in stops
// of 0.2 to 3 s, and both together for about 16 %.
var DefaultPlan = Plan{
	Stand:   [2]time.Duration{200 * time.Millisecond, 3 * time.Second},
	Overlap: [2]time.Duration{200 * time.Millisecond, 800 * time.Millisecond},
	Rest:    [2]time.Duration{200 * time.Millisecond, 1200 * time.Millisecond},
}

// Cycle draws one cycle for two appliers: first stops, then second joins it
// for the overlap, first goes on, and later second does too.
//
//	first   ....|========|............
//	second  .........|=======|........
func (p Plan) Cycle(rng *rand.Rand, first int) []Step {
	a, b := p.stop(rng), p.stop(rng)
	overlap := min(between(rng, p.Overlap), a, b)
	return []Step{
		{between(rng, p.Rest), first, true},
		{a - overlap, 1 - first, true},
		{overlap, first, false},
		{b - overlap, 1 - first, false},
	}
}

// stop draws the length of one stop: short ones more often than long ones, as
// the short ones are those that a wait can bridge.
func (p Plan) stop(rng *rand.Rand) time.Duration {
	if rng.IntN(2) == 0 {
		return between(rng, [2]time.Duration{p.Stand[0], (p.Stand[0] + p.Stand[1]) / 3})
	}
	return between(rng, p.Stand)
}

func between(rng *rand.Rand, r [2]time.Duration) time.Duration {
	return r[0] + time.Duration(rng.Int64N(int64(r[1]-r[0])+1))
}

// Chaos stops and starts two appliers until its context ends, then starts both.
type Chaos struct {
	Appliers [2]Applier
	Account  *Account
	Plan     Plan
	Rand     *rand.Rand
}

// Run runs the schedule until ctx ends. All appliers run when it returns.
func (c *Chaos) Run(ctx context.Context) error {
	defer c.startAll()
	for first := 0; ; first = 1 - first {
		for _, step := range c.Plan.Cycle(c.Rand, first) {
			if !sleep(ctx, step.After) {
				return nil
			}
			if err := c.apply(ctx, step); err != nil {
				if errors.Is(ctx.Err(), context.Canceled) {
					return nil
				}
				return err
			}
		}
	}
}

// apply takes one step. The account is the careful one: an applier counts as
// stopped only from the server's answer to STOP to the moment START is sent.
func (c *Chaos) apply(ctx context.Context, s Step) error {
	if !s.Stop {
		c.Account.Set(s.Who, false)
		return c.Appliers[s.Who].Resume(ctx)
	}
	if err := c.Appliers[s.Who].Pause(ctx); err != nil {
		return err
	}
	c.Account.Set(s.Who, true)
	return nil
}

func (c *Chaos) startAll() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for i, a := range c.Appliers {
		c.Account.Set(i, false)
		_ = a.Resume(ctx) // a running applier answers with a warning only
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
