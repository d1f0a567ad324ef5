package lab

import (
	"math/rand/v2"
	"testing"
	"time"
)

type clock struct{ t time.Time }

func (c *clock) now() time.Time          { return c.t }
func (c *clock) advance(d time.Duration) { c.t = c.t.Add(d) }

func TestAccountShares(t *testing.T) {
	c := &clock{time.Unix(1000, 0)}
	a := NewAccount(2, c.now)
	c.advance(4 * time.Second) // both run
	a.Set(0, true)
	c.advance(2 * time.Second) // the first stands
	a.Set(1, true)
	c.advance(1 * time.Second) // both stand
	a.Set(0, false)
	c.advance(3 * time.Second) // the second stands
	each, all := a.Shares()
	if each[0] != 0.3 || each[1] != 0.4 || all != 0.1 {
		t.Fatalf("shares %v, all %v; want 0.3, 0.4, all 0.1", each, all)
	}
}

func TestPhaseChangesOnlyWithTheLastApplier(t *testing.T) {
	c := &clock{time.Unix(1000, 0)}
	a := NewAccount(2, c.now)
	runs, first := a.Phase()
	a.Set(0, true)
	if r, e := a.Phase(); !runs || !r || e != first {
		t.Fatalf("one of two stopped: phase changed to %v %d", r, e)
	}
	a.Set(1, true)
	if r, e := a.Phase(); r || e == first {
		t.Fatalf("both stopped: phase is %v %d", r, e)
	}
	a.Set(0, false)
	if r, e := a.Phase(); !r || e == first {
		t.Fatalf("one started again: phase is %v %d, must differ from the first", r, e)
	}
}

// TestDefaultPlan plays many cycles on paper: the shares that the consistency
// test must reach follow from the plan, not from luck.
func TestDefaultPlan(t *testing.T) {
	for seed := range uint64(20) {
		c := &clock{time.Unix(1000, 0)}
		a := NewAccount(2, c.now)
		rng := rand.New(rand.NewPCG(seed, 1))
		var since [2]time.Time
		for i := range 40 {
			for _, s := range DefaultPlan.Cycle(rng, i%2) {
				c.advance(s.After)
				a.Set(s.Who, s.Stop)
				if s.Stop {
					since[s.Who] = c.t
				} else if d := c.t.Sub(since[s.Who]); d < 200*time.Millisecond || d > 3*time.Second {
					t.Fatalf("seed %d: a stop of %v", seed, d)
				}
			}
		}
		each, all := a.Shares()
		if each[0] < 0.3 || each[1] < 0.3 || all < 0.1 {
			t.Fatalf("seed %d: shares %v, all %v", seed, each, all)
		}
	}
}
