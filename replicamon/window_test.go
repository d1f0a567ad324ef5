package replicamon

import (
	"testing"
	"time"
)

var t0 = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// known is a sample of a lag, blindly is one that tells nothing.
func known(at, lag time.Duration) lagSample {
	return lagSample{at: t0.Add(at), apply: lag, judged: lag}
}

func unknown(at time.Duration) lagSample {
	return lagSample{at: t0.Add(at), apply: -1, judged: -1, why: "the applier is stopped"}
}

func TestWindowQuantiles(t *testing.T) {
	ramp := func(n int) (w window) { // 1 ms to n ms, the worst first
		for i := range n {
			w = w.add(known(time.Duration(i)*100*time.Millisecond, time.Duration(n-i)*time.Millisecond), time.Minute)
		}
		return w
	}
	blind := known(time.Minute, time.Hour)
	blind.blind = true
	ms := time.Millisecond
	for _, tt := range []struct {
		name string
		w    window
		from time.Duration
		want quantiles
	}{
		{"empty", nil, 0, quantiles{-1, -1, -1}},
		{"one", ramp(1), 0, quantiles{ms, ms, ms}},
		{"hundred", ramp(100), 0, quantiles{50 * ms, 95 * ms, 99 * ms}},
		{"sixty", ramp(60), 0, quantiles{30 * ms, 57 * ms, 60 * ms}},
		{"only the later half", ramp(100), 5 * time.Second, quantiles{25 * ms, 48 * ms, 50 * ms}},
		{"one of sixty unknown", ramp(59).add(unknown(time.Minute), time.Minute), 0, quantiles{30 * ms, 57 * ms, -1}},
		{"blind ones do not count", ramp(59).add(blind, time.Minute), 0, quantiles{30 * ms, 57 * ms, 59 * ms}},
		{"all unknown", window{}.add(unknown(0), time.Hour), 0, quantiles{-1, -1, -1}},
	} {
		if got := tt.w.quantiles(t0.Add(tt.from), applyOf); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestWindowForgets(t *testing.T) {
	var w window
	for i := range 100 {
		w = w.add(known(time.Duration(i)*time.Second, time.Duration(i)), 10*time.Second)
	}
	if len(w) != 11 || w[0].apply != 89 || w.last().apply != 99 {
		t.Errorf("%d samples from %d to %d", len(w), w[0].apply, w.last().apply)
	}
	if again := w.add(known(98*time.Second, 7), 10*time.Second); len(again) != len(w) || again.last().apply != 99 {
		t.Error("an older sample is news")
	}
}

// However often it is asked, the window does not grow, and the worst stays.
func TestWindowIsBounded(t *testing.T) {
	var w window
	for i := range 50_000 {
		lag := time.Millisecond
		if i%25 == 7 {
			lag = time.Second
		}
		w = w.add(known(time.Duration(i)*2*time.Millisecond, lag), 30*time.Second)
	}
	if len(w) > windowSlots+1 || len(w) < windowSlots/2 {
		t.Fatalf("%d samples", len(w))
	}
	if q := w.quantiles(t0, applyOf); q.p50 != time.Second {
		t.Errorf("%v: each slot has its worst sample", q)
	}
}

func TestWindowIsAValue(t *testing.T) {
	w := window{}.add(known(0, 1), time.Second)
	_ = w.add(unknown(1), time.Second)
	if w.last().apply != 1 || len(w) != 1 {
		t.Error("add changed the window that others hold")
	}
}
