package scope

import (
	"testing"
	"time"

	"causeway/gtid"
)

// TestStick: the latest end counts, and forgetting an entry shortens no window.
func TestStick(t *testing.T) {
	now := time.Now()
	b := NewBook(1, 0)
	a := b.Open("a", gtid.Token{}, now)
	a.Stick(5)
	a.Stick(3)
	if a.Stuck() != 5 || b.Floor().Stuck() != 0 {
		t.Fatalf("a window until %d, of the floor until %d", a.Stuck(), b.Floor().Stuck())
	}
	if other := b.Open("b", gtid.Token{}, now); other.Stuck() != 5 { // nobody can tell any more whether b is a
		t.Errorf("a new entry has a window until %d", other.Stuck())
	}
	a.Stick(9) // by a session that still holds the entry
	if got := b.Floor().Stuck(); got != 9 {
		t.Errorf("the floor has a window until %d", got)
	}
	again := b.Open("a", gtid.Token{}, now)
	a.Stick(12)
	if again.Stuck() != 12 {
		t.Errorf("the entry that has the name again has a window until %d", again.Stuck())
	}
	if (*Entry)(nil).Stick(1); (*Entry)(nil).Stuck() != 0 {
		t.Error("no entry has a window")
	}
}
