package scope

import (
	"testing"
	"time"

	"causeway/gtid"
)

func TestSeen(t *testing.T) {
	var s Seen
	start := time.Now()
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	s.Note(Read{"a", 1, at(1)})
	s.Note(Read{"b", 1, at(2)})
	s.Note(Read{"a", 1, at(9)})
	s.Note(Read{"a", 1, at(5)}) // of another session under the key: it came later
	s.Note(Read{"a", 2, at(3)})
	_, reads := s.Floor(nil)
	want := []Read{{"a", 1, at(9)}, {"b", 1, at(2)}, {"a", 2, at(3)}}
	if len(reads) != 3 || reads[0] != want[0] || reads[1] != want[1] || reads[2] != want[2] {
		t.Fatalf("reads %v, want %v", reads, want)
	}
	s.Settle(0, func(r Read) (gtid.Set, bool) { return set(t, "1-7"), r.Addr == "b" })
	floor, reads := s.Floor(nil)
	if !floor.Set.Equal(set(t, "1-7")) || len(reads) != 2 {
		t.Errorf("floor %s, %d reads", floor.Set.Line(), len(reads))
	}
	s.Forget(set(t, "6-9"), 0)
	if floor, _ = s.Floor(nil); !floor.Set.Equal(set(t, "1-5")) {
		t.Errorf("floor %s after a loss", floor.Set.Line())
	}
	s.Forget(gtid.Set{}, 1)
	if floor, _ = s.Floor(nil); !floor.Set.IsEmpty() {
		t.Errorf("floor %s in another epoch", floor.Set.Line())
	}
}

// TestSeenOfAForgottenKey: what was seen under a key goes to the floor as well.
func TestSeenOfAForgottenKey(t *testing.T) {
	b := NewBook(1, 0)
	e := b.Open("a", gtid.Token{}, time.Now())
	e.Seen.Note(Read{"x", 1, time.Now()})
	b.Open("b", gtid.Token{}, time.Now())
	if _, reads := b.Floor().Seen.Floor(nil); len(reads) != 1 {
		t.Fatalf("%d reads in the floor", len(reads))
	}
	e.Saw(Read{"y", 1, time.Now()}) // by a session that still holds the entry
	if _, reads := b.Floor().Seen.Floor(nil); len(reads) != 2 {
		t.Errorf("%d reads in the floor, one came late", len(reads))
	}
	if _, reads := b.Open("a", gtid.Token{}, time.Now()).Seen.Floor(nil); len(reads) != 2 {
		t.Errorf("%d reads in the entry that has the name again", len(reads))
	}
}
