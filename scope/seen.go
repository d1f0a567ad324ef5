package scope

import (
	"slices"
	"sync"
	"time"

	"causeway/gtid"
)

// Read is the last read that was answered by a server.
type Read struct {
	Addr       string
	Generation uint64 // of the server's incarnation
	End        time.Time
}

// Seen is how far a session, or all that read under a key, has seen: the floor of
// monotonic reads. A read raises it by the position that its server had at the
// read's end, which nobody knows at that moment: it is asked for when the next
// read goes to another server. The zero value has seen nothing; its methods are
// safe for concurrent use.
type Seen struct {
	mu    sync.Mutex
	floor gtid.Token
	reads []Read // one for each server, whose position is not in the floor yet

	// A source that takes over may lack what was seen before, and then nobody will
	// ever have it. older is the part of the floor that is to be compared with it.
	older  gtid.Token
	source uint64 // the number of the source that the rest was learned under
}

// Note adds a read.
func (s *Seen) Note(r Read) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(r)
}

func (s *Seen) note(r Read) {
	for i := range s.reads {
		if s.reads[i].Addr == r.Addr && s.reads[i].Generation == r.Generation {
			if r.End.After(s.reads[i].End) {
				s.reads[i].End = r.End
			}
			return
		}
	}
	s.reads = append(s.reads, r)
}

// Settle moves reads into the floor. position tells what their server had executed
// at some moment after a read's end, false if that is not known. source numbers the
// source that the cluster had at that moment; each has a higher one than those before.
func (s *Seen) Settle(epoch, source uint64, position func(Read) (gtid.Set, bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.reads[:0]
	for _, r := range s.reads {
		if set, ok := position(r); ok {
			s.add(gtid.Token{Set: set, Epoch: epoch}, source)
		} else {
			kept = append(kept, r)
		}
	}
	s.reads = kept
}

func (s *Seen) add(t gtid.Token, source uint64) {
	s.turn(source)
	if source < s.source {
		s.older, _ = s.older.Add(t.Set, t.Epoch)
	} else {
		s.floor, _ = s.floor.Add(t.Set, t.Epoch)
	}
}

// turn makes the floor older if that source is a new one.
func (s *Seen) turn(source uint64) {
	if source > s.source {
		s.older, _ = s.older.Add(s.floor.Set, s.floor.Epoch)
		s.floor, s.source = gtid.Token{}, source
	}
}

// Floor is what a read must see, but for the reads that are not settled, which
// are appended to buf.
func (s *Seen) Floor(buf []Read) (gtid.Token, []Read) {
	s.mu.Lock()
	defer s.mu.Unlock()
	floor, _ := s.floor.Add(s.older.Set, s.older.Epoch)
	return floor, append(buf, s.reads...)
}

// Compare takes out of the floor what was seen under earlier sources and is not in
// what a source had once it had all that it was going to have of them.
func (s *Seen) Compare(has gtid.Set, source uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn(source); source != s.source || s.older.Set.IsEmpty() {
		return
	}
	s.floor, _ = s.floor.Add(s.older.Set.Intersect(has), s.older.Epoch)
	s.older = gtid.Token{}
}

// merge adds what another one has seen.
func (s *Seen) merge(o *Seen) {
	o.mu.Lock()
	floor, older, source, reads := o.floor, o.older, o.source, slices.Clone(o.reads)
	o.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(floor, source)
	s.add(older, 0)
	for _, r := range reads {
		s.note(r)
	}
}
