package replicamon

import (
	"slices"
	"time"

	"causeway/backend"
	"causeway/gtid"
)

// maxFences bounds the memory of deposed sources, the oldest go first.
const maxFences = 32

// record is what is known of the past and must outlive a restart. It is
// immutable: a change makes another one.
type record struct {
	Version    int     `json:"version"`
	Source     string  `json:"source"` // server_uuid of the last source
	SourceAddr string  `json:"source_address"`
	Fences     []fence `json:"fences"`
}

// fence keeps a deposed source from serving anything, writes and reads, until
// it replicates from the source: it may be writable still, and hold
// transactions that nobody else has.
type fence struct {
	UUID  string    `json:"server_uuid"`
	Addr  string    `json:"address"`
	By    string    `json:"deposed_by"` // address of the source that took its place
	Since time.Time `json:"since"`
}

// promotion is the last observed one.
type promotion struct {
	seq      uint64
	from, to string
	at       time.Time
}

// picture adds what is known of the new source now.
func (p promotion) picture(s *state) backend.Promotion {
	return backend.Promotion{Seq: p.seq, From: p.from, To: p.to, At: p.at, Settled: s.settled()}
}

// settled tells whether the source will execute nothing any more that it had
// received as a replica.
func (s *state) settled() bool {
	if s.source < 0 {
		return false
	}
	n := s.nodes[s.source]
	if n.status == nil {
		return false
	}
	for _, c := range n.status.channels {
		if c.replicates() && !n.pos.Contains(c.received) {
			return false
		}
	}
	return true
}

// promoted notes that node i takes the last source's place, which is fenced.
func (s *state) promoted(i int) {
	n := s.nodes[i]
	if !sameUUID(s.chosen, n.uuid) {
		s.chosen = ""
	}
	if s.sourceUUID == "" {
		return // the first one that is known
	}
	s.unfence(n.uuid)
	s.fence(fence{UUID: s.sourceUUID, Addr: s.sourceAddr, By: n.addr, Since: n.contact})
	s.promotion = promotion{seq: s.promotion.seq + 1, from: s.sourceAddr, to: n.addr, at: n.contact}
}

// remember notes who the source is.
func (s *state) remember() {
	if r := s.record; r.Source != s.sourceUUID || r.SourceAddr != s.sourceAddr {
		s.record = &record{Source: s.sourceUUID, SourceAddr: s.sourceAddr, Fences: r.Fences}
	}
}

func (s *state) fenceOf(uuid string) (fence, bool) {
	i := slices.IndexFunc(s.record.Fences, func(f fence) bool { return uuid != "" && sameUUID(f.UUID, uuid) })
	if i < 0 {
		return fence{}, false
	}
	return s.record.Fences[i], true
}

func (s *state) fenced(i int) bool {
	_, ok := s.fenceOf(s.nodes[i].uuid)
	return ok
}

func (s *state) fence(f fence) {
	if _, ok := s.fenceOf(f.UUID); ok {
		return
	}
	r := *s.record
	r.Fences = append(slices.Clone(r.Fences[max(0, len(r.Fences)+1-maxFences):]), f)
	s.record = &r
}

func (s *state) unfence(uuid string) {
	if _, ok := s.fenceOf(uuid); !ok {
		return
	}
	r := *s.record
	r.Fences = slices.DeleteFunc(slices.Clone(r.Fences), func(f fence) bool { return sameUUID(f.UUID, uuid) })
	s.record = &r
}

// liftFences lets deposed sources in again that replicate from the source and
// have nothing of their own that it lacks. They join as any other replica.
func (s *state) liftFences() {
	if s.source < 0 || !s.history.known || len(s.record.Fences) == 0 {
		return
	}
	for i, n := range s.nodes {
		if i == s.source || !s.fenced(i) || !s.replicates(i) || !s.ownKnown(i) {
			continue
		}
		s.unfence(n.uuid)
		n = s.edit(i)
		n.joining, n.since = true, n.status.answered
		n.target, n.hasTarget = gtid.Set{}, false
	}
}

// replicates tells whether node i receives from the source now.
func (s *state) replicates(i int) bool {
	n := s.nodes[i]
	return n.up && n.status != nil && s.source >= 0 && slices.ContainsFunc(n.status.channels, func(c channel) bool {
		return c.io == "Yes" && sameUUID(c.sourceUUID, s.nodes[s.source].uuid)
	})
}

// ownKnown tells whether the source has all transactions that node i numbered.
func (s *state) ownKnown(i int) bool {
	n := s.nodes[i]
	return s.history.latest.set.Contains(ofUUID(n.pos, n.uuid))
}

// whyFenced tells in words, "" if node i is not fenced.
func (s *state) whyFenced(i int) string {
	n := s.nodes[i]
	f, ok := s.fenceOf(n.uuid)
	switch {
	case !ok:
		return ""
	case s.replicates(i):
		return "fenced: it replicates from the source, but holds transactions of its own that the source lacks: rebuild it from the source"
	}
	return "fenced: it was the source until " + f.By + " took its place; it serves nothing until it replicates from the source" +
		" (CAUSEWAY SET SOURCE '" + n.addr + "' makes it the source again)"
}

// name makes node i the source by an operator's word: whoever else is writable
// now is fenced, so that it stays clear.
func (s *state) name(i int) {
	n := s.nodes[i]
	s.unfence(n.uuid)
	for j, o := range s.nodes {
		if j != i && s.mayLead(j) && !o.follows(n.uuid) {
			s.fence(fence{UUID: o.uuid, Addr: o.addr, By: n.addr, Since: n.contact})
		}
	}
	s.chosen = n.uuid
	s.edit(i).known = n.uuid
}

// refuseName tells why node i cannot be made the source, "" if it can.
func (s *state) refuseName(i int) string {
	n := s.nodes[i]
	switch {
	case !n.up || n.refused != "" || n.gen == 0:
		return "it cannot be used: " + n.exclude
	case s.twin(i) >= 0:
		return "another server has the same server_uuid"
	case n.status == nil:
		return "its state is not known yet: " + n.exclude
	case s.refuseGTID(i) != "":
		return s.refuseGTID(i)
	case n.status.group.refuse() != "":
		return n.status.group.refuse()
	case !n.status.group.mayLead():
		return "it is a secondary of its group: run SELECT group_replication_set_as_primary('" + n.uuid + "') there first"
	case n.status.readOnly:
		return "it is read only: run SET GLOBAL read_only = OFF there first"
	case n.status.active():
		return "it replicates from " + n.status.channels[0].source + ": run STOP REPLICA (and RESET REPLICA ALL) there first"
	}
	return ""
}
