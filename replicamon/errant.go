package replicamon

import (
	"strings"
	"time"

	"causeway/gtid"
)

// aheadFor is how long a replica may hold the source's own transactions before
// the source has them. With semi-synchronous replication that is normal for as
// long as a commit waits for its acknowledgement.
const aheadFor = 30 * time.Second

// checkErrant compares a replica with the source after a status. One look
// proves nothing: the two were asked one after the other. What is missing from
// the source in two looks, with the source asked in between, was executed on
// the replica alone.
func (s *state) checkErrant(i int) {
	n := s.nodes[i] // edited by the caller
	if s.source < 0 || i == s.source || !s.counts(i) || n.status == nil || len(n.status.channels) > 1 {
		n.errant, n.suspect, n.ahead = gtid.Set{}, gtid.Set{}, time.Time{}
		return
	}
	extra := n.pos.Subtract(s.history.latest.set)
	both := extra.Intersect(n.suspect)
	n.suspect = extra
	own := s.numbered(both)
	n.errant = both.Subtract(own)
	switch {
	case own.IsEmpty():
		n.ahead = time.Time{}
	case n.ahead.IsZero():
		n.ahead = n.status.asked
	}
}

// isAhead tells whether the node has long held what the source has not.
func (n *node) isAhead() bool {
	return !n.ahead.IsZero() && n.status != nil && n.status.asked.Sub(n.ahead) > aheadFor
}

// numbered returns the part of set that the source may have numbered.
func (s *state) numbered(set gtid.Set) gtid.Set {
	src := s.nodes[s.source]
	if src.status == nil {
		return ofUUID(set, src.uuid)
	}
	var own gtid.Set
	for _, uuid := range src.status.numbers() {
		own = own.Union(ofUUID(set, uuid))
	}
	return own
}

// ofUUID returns the part of s that the server uuid numbered, tagged or not.
func ofUUID(s gtid.Set, uuid string) gtid.Set {
	var part []string
	for _, element := range strings.Split(s.Line(), ",") {
		if name, _, _ := strings.Cut(element, ":"); sameUUID(name, uuid) {
			part = append(part, element)
		}
	}
	set, err := gtid.Parse(strings.Join(part, ","))
	if err != nil {
		panic("BUG: a set's own text does not parse: " + err.Error())
	}
	return set
}
