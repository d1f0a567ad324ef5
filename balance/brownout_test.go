package balance

import (
	"testing"
	"time"
)

var brownLimits = BrownoutLimits{Wait: time.Second, Step: 5 * time.Second, Recover: 10 * time.Second}

// moment is a measurement at a second, and the level that must come of it.
type moment struct {
	at    int
	wait  time.Duration
	level int
}

func TestBrownout(t *testing.T) {
	const none, some, much = 0, 600 * time.Millisecond, time.Second
	for _, tc := range []struct {
		name string
		l    BrownoutLimits
		most int
		in   []moment
	}{
		{"no pressure, nothing refused", brownLimits, 2, []moment{{0, none, 0}, {100, none, 0}}},
		{"below the limit is none", brownLimits, 2, []moment{{0, some, 0}, {100, 999 * time.Millisecond, 0}}},
		{"it rises at once, the next class after a step", brownLimits, 2, []moment{{0, much, 1}, {1, much, 1}, {4, much, 1}, {5, much, 2}}},
		{"the highest class is never refused", brownLimits, 2, []moment{{0, much, 1}, {5, much, 2}, {10, much, 2}, {1000, much, 2}}},
		{"one class only: none is refused", brownLimits, 0, []moment{{0, much, 0}}},
		{"switched off", BrownoutLimits{}, 2, []moment{{0, time.Hour, 0}}},
		{"it falls one by one", brownLimits, 2, []moment{{0, much, 1}, {5, much, 2}, {6, none, 2}, {15, none, 2}, {16, none, 1}, {25, none, 1}, {26, none, 0}}},
		{"half the limit is neither: it stays", brownLimits, 2, []moment{{0, much, 1}, {6, some, 1}, {100, some, 1}, {101, none, 1}, {111, none, 0}}},
		{"calm is without a break", brownLimits, 2, []moment{{0, much, 1}, {1, none, 1}, {10, some, 1}, {11, none, 1}, {20, none, 1}, {21, none, 0}}},
		{"pressure after a fall: at once again", brownLimits, 2, []moment{{0, much, 1}, {5, much, 2}, {6, none, 2}, {16, none, 1}, {17, much, 2}}},
		{"back too early: the next return takes twice as long", brownLimits, 1,
			[]moment{{0, much, 1}, {1, none, 1}, {11, none, 0}, {12, much, 1}, {13, none, 1}, {32, none, 1}, {33, none, 0}}},
		{"and at most eight times", brownLimits, 1, []moment{
			{0, much, 1}, {1, none, 1}, {11, none, 0}, {12, much, 1}, {13, none, 1}, {33, none, 0}, {34, much, 1}, {35, none, 1}, {75, none, 0},
			{76, much, 1}, {77, none, 1}, {157, none, 0}, {158, much, 1}, {159, none, 1}, {238, none, 1}, {239, none, 0}}},
		{"a return that lasted counts as one", brownLimits, 1,
			[]moment{{0, much, 1}, {1, none, 1}, {11, none, 0}, {12, much, 1}, {13, none, 1}, {33, none, 0}, {60, much, 1}, {61, none, 1}, {71, none, 0}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var b Brownout
			for _, m := range tc.in {
				b = b.Next(tc.l, Pressure{Wait: m.wait}, tc.most, now.Add(time.Duration(m.at)*time.Second))
				if b.Level != m.level {
					t.Fatalf("after %d s with a wait of %v: level %d, want %d", m.at, m.wait, b.Level, m.level)
				}
			}
		})
	}
}

// Reads that were turned away are pressure, however short the queue is.
func TestBrownoutTurnedAway(t *testing.T) {
	b := Brownout{}.Next(brownLimits, Pressure{Turned: true}, 2, now)
	if b.Level != 1 || !b.Since.Equal(now) {
		t.Errorf("level %d since %v", b.Level, b.Since)
	}
}
