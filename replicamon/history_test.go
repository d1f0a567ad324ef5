package replicamon

import (
	"fmt"
	"testing"
	"time"

	"causeway/gtid"
)

func TestHistory(t *testing.T) {
	t0 := time.Now()
	at := func(ms int) time.Time { return t0.Add(time.Duration(ms) * time.Millisecond) }
	var h history
	if !h.freshAsOf(gs("1:1-99")).IsZero() || h.behind(at(0)) != -1 {
		t.Error("an empty history proves nothing")
	}
	for _, s := range []struct {
		ms  int
		set string
	}{{0, "1:1-10"}, {100, "1:1-10"}, {200, "1:1-10"}, {300, "1:1-20"}, {400, "1:1-30"}, {410, "1:1-31"}, {420, "1:1-32"}, {150, "1:1-11"}} {
		h = h.add(sample{at(s.ms), gs(s.set)})
	}
	for _, tt := range []struct {
		pos string
		ms  int // -1: unproved
	}{
		{"", -1}, {"1:1-9", -1}, {"2:1-99", -1},
		{"1:1-10", 200}, {"1:1-19", 200}, {"1:2-30", -1},
		{"1:1-20", 300}, {"1:1-30", 400},
		{"1:1-31", 400}, // too close to the one before to be kept
		{"1:1-32", 420}, {"1:1-99 3:1", 420},
	} {
		got := h.freshAsOf(gs(tt.pos))
		if tt.ms < 0 && !got.IsZero() || tt.ms >= 0 && !got.Equal(at(tt.ms)) {
			t.Errorf("%q: fresh as of %v, want %d ms", tt.pos, got.Sub(t0), tt.ms)
		}
	}
	if h.behind(at(300)) != 120*time.Millisecond || h.behind(at(500)) != 0 || h.behind(time.Time{}) != -1 {
		t.Error("behind")
	}
}

func TestHistoryIsBounded(t *testing.T) {
	var h history
	now := time.Now()
	for i := range 3 * historyLen {
		now = now.Add(100 * time.Millisecond)
		h = h.add(sample{now, gs(fmt.Sprintf("1:1-%d", i+1))})
	}
	if len(h.kept) != historyLen {
		t.Errorf("%d kept", len(h.kept))
	}
	if !h.freshAsOf(gs("1:1-5")).IsZero() {
		t.Error("what is forgotten is unproved")
	}
	want := now.Add(-100 * time.Millisecond * historyLen)
	if got := h.freshAsOf(gtid.MustParse(fmt.Sprintf("%s:1-%d", u(1), 2*historyLen))); !got.Equal(want) {
		t.Errorf("%v", got.Sub(want))
	}
}
