package balance

import (
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// take asks n times at one moment and returns how many were granted.
func take(b *Budget, n int, at time.Time) (granted int) {
	for range n {
		if b.Take(1, at) {
			granted++
		}
	}
	return granted
}

func TestBudget(t *testing.T) {
	type step struct {
		after time.Duration // since the start
		ask   int
		want  int
	}
	for _, tc := range []struct {
		name       string
		qps, burst float64
		steps      []step
	}{
		{"full at the start", 10, 20, []step{{0, 50, 20}}},
		{"refills with qps", 10, 20, []step{{0, 20, 20}, {time.Second, 50, 10}, {1050 * time.Millisecond, 5, 0}, {1100 * time.Millisecond, 5, 1}}},
		{"never above burst", 10, 20, []step{{time.Hour, 50, 20}}},
		{"unused is kept up to burst", 10, 20, []step{{0, 15, 15}, {time.Second, 20, 15}}},
		{"qps 0 is closed", 0, 2000, []step{{0, 5, 0}, {time.Hour, 5, 0}}},
		{"qps below 0 is closed", -1, 2000, []step{{0, 5, 0}}},
		{"not a number is closed", math.NaN(), 2000, []step{{0, 5, 0}}},
		{"burst below 1 still grants", 10, 0, []step{{0, 5, 1}, {100 * time.Millisecond, 5, 1}}},
		{"a slow one", 0.5, 1, []step{{0, 2, 1}, {time.Second, 2, 0}, {2 * time.Second, 2, 1}}},
		{"a clock that goes back gives nothing", 10, 20, []step{{time.Second, 20, 20}, {0, 5, 0}, {time.Second, 5, 0}, {2 * time.Second, 50, 10}}},
		{"without limit", math.Inf(1), math.Inf(1), []step{{0, 1000, 1000}, {time.Second, 1000, 1000}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := NewBudget(tc.qps, tc.burst, now)
			asked, granted := 0, 0
			for i, s := range tc.steps {
				got := take(b, s.ask, now.Add(s.after))
				if got != s.want {
					t.Errorf("step %d: got %d of %d, want %d", i, got, s.ask, s.want)
				}
				asked, granted = asked+s.ask, granted+got
			}
			if b.Taken() != uint64(granted) || b.Refused() != uint64(asked-granted) {
				t.Errorf("counted %d taken, %d refused", b.Taken(), b.Refused())
			}
		})
	}
}

func TestBudgetFollowsTheSourcesOwnRate(t *testing.T) {
	b := NewBudget(100, 1000, now)
	take(b, 1000, now)
	b.SetSourceRate(1000, now) // 0.3 * 1000 > 100
	if got := take(b, 1000, now.Add(time.Second)); got != 300 {
		t.Errorf("got %d in a second beside 1000 own reads", got)
	}
	// The second before the change counts at the rate that was in force then.
	b.SetSourceRate(10, now.Add(2*time.Second))
	if got := b.Left(now.Add(3 * time.Second)); got != 400 {
		t.Errorf("%d left, want 300 + 100", got)
	}
	if qps, burst := b.Rate(); qps != 100 || burst != 1000 {
		t.Errorf("rate %v, burst %v", qps, burst)
	}
	closed := NewBudget(0, 1000, now)
	closed.SetSourceRate(1e6, now)
	if closed.Take(1, now.Add(time.Minute)) {
		t.Error("a closed budget was opened by the source's own reads")
	}
}

func TestBudgetIsShared(t *testing.T) {
	b := NewBudget(DefaultFallbackQPS, DefaultFallbackBurst, now)
	var granted atomic.Int64
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() { granted.Add(int64(take(b, 200, now))) })
	}
	wg.Wait()
	if granted.Load() != DefaultFallbackBurst || b.Taken() != DefaultFallbackBurst || b.Refused() != 32*200-DefaultFallbackBurst {
		t.Errorf("granted %d, taken %d, refused %d", granted.Load(), b.Taken(), b.Refused())
	}
}

func TestTakeAllocatesNothing(t *testing.T) {
	b := NewBudget(1, 1, now)
	if got := testing.AllocsPerRun(100, func() { b.Take(.7, now) }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

func TestBudgetShares(t *testing.T) {
	for _, tc := range []struct {
		name       string
		share      float64
		qps, burst float64
		left       float64 // before
		want       int
	}{
		{"all of it", 1, 10, 100, 100, 100},
		{"above the reserve", .7, 10, 100, 100, 70},
		{"at the reserve", .7, 10, 100, 30, 0},
		{"just above it", .7, 10, 100, 31, 1},
		{"none", 0, 10, 100, 100, 0},
		{"not a number", math.NaN(), 10, 100, 100, 0},
		{"more than all", 2, 10, 100, 100, 100},
		{"a burst of one", .7, 10, 1, 1, 1},
		{"a closed budget", 1, 0, 100, 0, 0},
		{"without limit", .7, math.Inf(1), math.Inf(1), math.Inf(1), 1000},
	} {
		b := NewBudget(tc.qps, tc.burst, now)
		b.tokens = tc.left
		if got := min(b.LeftFor(tc.share, now), 1000); got != tc.want {
			t.Errorf("%s: %d left, want %d", tc.name, got, tc.want)
		}
		got := 0
		for got < 1000 && b.Take(tc.share, now) {
			got++
		}
		if got != tc.want {
			t.Errorf("%s: %d taken, want %d", tc.name, got, tc.want)
		}
	}
}

// TestReserve: however much the lower share asks for, the higher has its part.
func TestReserve(t *testing.T) {
	b := NewBudget(10, 100, now)
	for range 1000 {
		b.Take(.7, now)
	}
	if got := take(b, 100, now); got != 30 {
		t.Errorf("%d were reserved, want 30", got)
	}
	if b.Take(.7, now.Add(time.Second)) {
		t.Error("the lower share was granted before the reserve was full again")
	}
	if got := take(b, 100, now.Add(time.Second)); got != 10 {
		t.Errorf("%d of the 10 of that second", got)
	}
}
