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
	s.Settle(0, 0, func(r Read) (gtid.Set, bool) { return set(t, "1-7"), r.Addr == "b" })
	floor, reads := s.Floor(nil)
	if !floor.Set.Equal(set(t, "1-7")) || len(reads) != 2 {
		t.Errorf("floor %s, %d reads", floor.Set.Line(), len(reads))
	}
}

// TestSeenUnderAnotherSource: what a source that took over has not got is not waited
// for, and what was seen since is not compared with what it had then.
func TestSeenUnderAnotherSource(t *testing.T) {
	var s Seen
	saw := func(gtids string, source uint64) {
		s.Note(Read{Addr: "a"})
		s.Settle(0, source, func(Read) (gtid.Set, bool) { return set(t, gtids), true })
	}
	want := func(of *Seen, gtids string) {
		t.Helper()
		if floor, _ := of.Floor(nil); !floor.Set.Equal(set(t, gtids)) {
			t.Errorf("floor %s, want %s", floor.Set.Line(), gtids)
		}
	}
	saw("1-9", 0)
	saw("20", 1)
	saw("10", 0) // it was learned before, and comes late
	want(&s, "1-10:20")
	s.Compare(set(t, "1-5"), 0) // of an earlier source
	want(&s, "1-10:20")
	var merged Seen
	merged.merge(&s)
	for _, seen := range []*Seen{&s, &merged} {
		seen.Compare(set(t, "1-7"), 1)
		want(seen, "1-7:20")
		seen.Compare(set(t, "1-2"), 1)
		want(seen, "1-7:20")
		seen.Compare(set(t, "1-5:20"), 2)
		want(seen, "1-5:20")
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
