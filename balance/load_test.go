package balance

import (
	"sync"
	"testing"
	"time"

	"causeway/backend"
)

func TestLeastInFlight(t *testing.T) {
	for _, tc := range []struct {
		name     string
		weights  []int
		inFlight []int64
		want     string // the replicas that may be picked
	}{
		{"the idle one", []int{1, 1, 1}, []int64{2, 0, 1}, "b"},
		{"two idle ones", []int{1, 1, 1}, []int64{0, 3, 0}, "ac"},
		{"for its weight", []int{4, 1}, []int64{3, 1}, "a"},
		{"equal for its weight", []int{2, 1}, []int64{4, 2}, "ab"},
		{"a count below zero is none", []int{1, 1}, []int64{-5, 0}, "ab"},
	} {
		nodes := replicas(tc.weights...)
		for i, n := range tc.inFlight {
			nodes[i].Live.InFlight.Store(n)
		}
		got := shares(LeastInFlight, nodes, Need{Now: now}, 0, 1, 100)
		if len(got) != len(tc.want) {
			t.Errorf("%s: got %v, want %s", tc.name, got, tc.want)
		}
		for _, name := range tc.want {
			if got[string(name)] == 0 {
				t.Errorf("%s: got %v, want %s", tc.name, got, tc.want)
			}
		}
	}
}

func TestLatencyLeavesTheSlowOne(t *testing.T) {
	ms := time.Millisecond
	for _, tc := range []struct {
		name     string
		latency  []time.Duration // 0: never observed
		inFlight []int64
		want     map[string]int // of 1000
	}{
		{"nothing known", []time.Duration{0, 0}, nil, map[string]int{"a": 500, "b": 500}},
		{"noise is no difference", []time.Duration{ms, 12 * ms / 10}, nil, map[string]int{"a": 500, "b": 500}},
		{"a slow one", []time.Duration{ms, 2 * ms}, nil, map[string]int{"a": 1000}},
		{"busy counts as slow", []time.Duration{ms, ms}, []int64{5, 1}, map[string]int{"b": 1000}},
		{"a new one is tried", []time.Duration{ms, 0}, nil, map[string]int{"b": 1000}},
		{"but not by all at once", []time.Duration{ms, 0}, []int64{3, 1}, map[string]int{"a": 1000}},
	} {
		nodes := replicas(1, 1)
		for i, l := range tc.latency {
			if l > 0 {
				Observe(nodes[i].Live, l, false, now)
			}
		}
		for i, n := range tc.inFlight {
			nodes[i].Live.InFlight.Store(n)
		}
		got := shares(Latency, nodes, Need{Now: now}, 0, 1, 1000)
		if got["a"] != tc.want["a"] || got["b"] != tc.want["b"] {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestErrorsArePenalisedAndForgiven(t *testing.T) {
	nodes := replicas(1, 1)
	Observe(nodes[0].Live, 100*time.Microsecond, true, now) // fails fast
	Observe(nodes[1].Live, time.Millisecond, false, now)
	if got := shares(Latency, nodes, Need{Now: now}, 0, 1, 100); got["a"] != 0 {
		t.Errorf("a failing replica looks fast: %v", got)
	}
	// It gets no reads, so only time can clear it; b is observed all along.
	later := now.Add(20 * time.Second)
	Observe(nodes[1].Live, time.Millisecond, false, later)
	if got := shares(Latency, nodes, Need{Now: later}, 0, 1, 100); got["a"] == 0 {
		t.Errorf("a replica is never forgiven: %v", got)
	}
}

func TestPeakEWMA(t *testing.T) {
	var live backend.Live
	at := func(d time.Duration) time.Time { return now.Add(d) }
	if ExpectedLatency(&live, now) != 0 || ExpectedLatency(nil, now) != 0 {
		t.Error("something is known of a node never seen")
	}
	Observe(&live, 5*time.Millisecond, false, at(0))
	if got := ExpectedLatency(&live, at(0)); got != 5*time.Millisecond {
		t.Errorf("the first answer gives %s", got)
	}
	Observe(&live, 80*time.Millisecond, false, at(0))
	if got := ExpectedLatency(&live, at(0)); got != 80*time.Millisecond {
		t.Errorf("a peak does not count at once: %s", got)
	}
	Observe(&live, 5*time.Millisecond, false, at(0))
	if got := ExpectedLatency(&live, at(0)); got != 80*time.Millisecond {
		t.Errorf("a peak went without time: %s", got)
	}
	Observe(&live, 5*time.Millisecond, false, at(decay)) // 5 + 75/e
	if got := ExpectedLatency(&live, at(decay)); got < 32*time.Millisecond || got > 33*time.Millisecond {
		t.Errorf("after one decay time %s", got)
	}
	Observe(&live, 5*time.Millisecond, false, at(10*time.Second))
	if got := ExpectedLatency(&live, at(10*time.Second)); got < 5*time.Millisecond || got > 7*time.Millisecond {
		t.Errorf("after 10 s %s", got)
	}
	Observe(&live, 0, false, at(time.Hour))
	if live.EWMA.Load() == 0 || ExpectedLatency(&live, at(time.Hour*9999)) == 0 {
		t.Error("an observed node looks like one never seen")
	}
	Observe(&live, time.Millisecond, false, at(0)) // a clock that goes back
	if got := ExpectedLatency(&live, at(0)); got != time.Millisecond {
		t.Errorf("after a step back %s", got)
	}
}

// Concurrent observers lose no peak: the average ends between least and most.
func TestObserveConcurrently(t *testing.T) {
	var live backend.Live
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 1000 {
				Observe(&live, time.Duration(1+g)*time.Millisecond, false, now.Add(time.Duration(i)*time.Microsecond))
			}
		})
	}
	wg.Wait()
	got := ExpectedLatency(&live, now.Add(time.Millisecond))
	if got < time.Millisecond || got > 8*time.Millisecond {
		t.Errorf("got %s from observations of 1 to 8 ms", got)
	}
}
