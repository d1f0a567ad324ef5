package replicamon

import (
	"context"
	"sync"
	"testing"
	"time"
)

// A question that was sent after the time that is asked for is shared, also while
// it is under way; an answer is taken again as long as it is new enough.
func TestSourceNowShares(t *testing.T) {
	bubble(t, quiet, func(t *testing.T, c *fakeCluster) {
		a := c.server("a")
		began := time.Now()
		time.Sleep(time.Millisecond)
		a.set(func(f *fakeServer) { f.executed, f.hung = f.executed.Union(gs("1:11")), true })
		before := a.count("position")
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				set, err := c.SourceNow(t.Context(), began)
				if err != nil || !set.Contains(gs("1:11")) {
					t.Errorf("%v %v", set, err)
				}
			})
		}
		time.Sleep(100 * time.Millisecond)
		a.set(func(f *fakeServer) { f.hung = false })
		wg.Wait()
		if n := a.count("position") - before; n != 1 {
			t.Errorf("%d questions for callers that all came before the first was sent", n)
		}
		if _, err := c.SourceNow(t.Context(), began); err != nil || a.count("position")-before != 1 {
			t.Errorf("the answer was not taken again: %v", err)
		}
		if _, err := c.SourceNow(t.Context(), time.Now()); err != nil || a.count("position")-before != 2 {
			t.Errorf("an old answer was taken: %v", err)
		}
	})
}

// However many ask gently, the source gets a hundred questions a second; somebody
// in a hurry does not wait for them.
func TestSourceSoonIsBounded(t *testing.T) {
	bubble(t, quiet, func(t *testing.T, c *fakeCluster) {
		a := c.server("a")
		ctx, stop := context.WithCancel(t.Context())
		before, began := a.count("position"), time.Now()
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * 100 * time.Microsecond)
				for ctx.Err() == nil {
					if _, err := c.SourceSoon(ctx, time.Now()); err != nil && ctx.Err() == nil {
						t.Error(err)
					}
				}
			})
		}
		time.Sleep(time.Second)
		asked, took := a.count("position")-before, time.Since(began)
		if most := int(took/gentleGap) + 1 + int(took/quiet.PositionInterval); asked > most || asked < 50 {
			t.Errorf("%d questions in %v", asked, took)
		}
		called := time.Now()
		if _, err := c.SourceNow(t.Context(), called); err != nil || time.Since(called) >= gentleGap {
			t.Errorf("who is in a hurry waited %v, %v", time.Since(called), err)
		}
		stop()
		wg.Wait()
	})
}

// The epoch's beginning is in the view, for tokens that carry their time.
func TestEpochSince(t *testing.T) {
	bubble(t, quiet, func(t *testing.T, c *fakeCluster) {
		if !c.View().EpochSince.IsZero() {
			t.Error("the first epoch has a beginning")
		}
		time.Sleep(time.Second)
		before := time.Now()
		c.server("a").set(func(f *fakeServer) { f.executed = gs("1:1-2") })
		time.Sleep(2 * quiet.PositionInterval)
		if c.View().Epoch == 0 {
			t.Fatal("nobody noticed")
		}
		if since := c.View().EpochSince; since.Before(before) || since.After(time.Now()) {
			t.Errorf("began %v, noticed %v", before, since)
		}
	})
}
