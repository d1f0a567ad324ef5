package scope

import (
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
// at some moment after a read's end, false if that is not known.
func (s *Seen) Settle(epoch uint64, position func(Read) (gtid.Set, bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.reads[:0]
	for _, r := range s.reads {
		if set, ok := position(r); ok {
			s.floor, _ = s.floor.Add(set, epoch)
		} else {
			kept = append(kept, r)
		}
	}
	s.reads = kept
}

// Floor is what a read must see, but for the reads that are not settled, which
// are appended to buf.
func (s *Seen) Floor(buf []Read) (gtid.Token, []Read) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.floor, append(buf, s.reads...)
}

// Forget takes lost writes out of the floor, and all of it if it is of another epoch.
func (s *Seen) Forget(lost gtid.Set, epoch uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.floor.Void(epoch) {
		s.floor = gtid.Token{}
	}
	s.floor.Set = s.floor.Set.Subtract(lost)
}

// merge adds what another one has seen.
func (s *Seen) merge(o *Seen) {
	floor, reads := o.Floor(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.floor, _ = s.floor.Add(floor.Set, floor.Epoch)
	for _, r := range reads {
		s.note(r)
	}
}
