package replicamon

import (
	"slices"
	"strings"

	"causeway/backend"
	"causeway/gtid"
)

// maxSources bounds the memory of past sources.
const maxSources = 32

// judge finds the source and gives every node its role and its exclusion. It
// runs when something that matters for them has changed.
func (s state) judge() state {
	s.meet()
	s.chooseSource()
	s.noteMode()
	s.liftFences()
	s.noteLed()
	for i, n := range s.nodes {
		role, exclude := s.verdict(i)
		if n.role != role || n.exclude != exclude {
			n = s.edit(i)
			n.role, n.exclude = role, exclude
		}
	}
	return s
}

// chooseSource decides which node is the source, if that is clear.
func (s *state) chooseSource() {
	if s.pending() {
		if s.source >= 0 && s.nodes[s.source].up && !s.mayLead(s.source) {
			s.source, s.unclear = -1, "not all servers were asked yet"
		}
		return
	}
	i, unclear := s.leader()
	if i < 0 && unclear == "" && s.source >= 0 && !s.nodes[s.source].up {
		return // lost, and nobody took its place: still the source, but down
	}
	s.unclear = unclear
	if i < 0 && unclear == "" {
		s.unclear = s.noWritable()
	}
	if i != s.source || i >= 0 && s.nodes[i].uuid != s.sourceUUID {
		s.setSource(i)
	}
}

// pending tells whether some node may yet turn out to be anything: choosing
// before it is heard could choose the wrong one of two writable nodes.
func (s *state) pending() bool {
	for i, n := range s.nodes {
		if !s.counts(i) {
			continue // whatever it is, it cannot lead
		}
		if !n.heard || n.up && n.refused == "" && n.status == nil && !n.statusTried {
			return true
		}
	}
	return false
}

// mayLead tells whether node i can be written to, as far as is known.
func (s *state) mayLead(i int) bool {
	n := s.nodes[i]
	return n.up && s.counts(i) && n.refused == "" && n.status != nil && s.refuseGTID(i) == "" && !n.status.readOnly &&
		n.status.group.refuse() == "" && s.twin(i) < 0 && !s.fenced(i) && !s.backlogged(i)
}

// leader picks the source among the writable nodes. -1 with words: it is not
// clear; without: there is none.
//
// A fenced node is never among them. One that an operator named is it. Else a
// writable node without a replication channel comes first; see contend for
// several. Only if there is none, one that has channels
// but leads in fact: others follow it, and its own channels are stopped
// (promoted, not yet cleaned) or form a ring.
func (s *state) leader() (int, string) {
	if i := s.byUUID(s.chosen); i >= 0 && s.mayLead(i) && !s.nodes[i].status.active() {
		return i, ""
	}
	var plain, channelled []int
	for i, n := range s.nodes {
		switch {
		case !s.mayLead(i):
		case !n.status.isReplica() && n.status.group.mayLead():
			plain = append(plain, i)
		case s.followers(i) > 0 && s.leadsInFact(i):
			channelled = append(channelled, i)
		}
	}
	candidates := plain
	if len(candidates) == 0 {
		candidates = channelled
	}
	s.blurred = false
	if len(candidates) > 1 {
		i := s.contend(candidates)
		switch {
		case i < 0 && s.blurred:
			return -1, "more than one server is writable, and what they have executed is being compared: " + s.addrs(candidates)
		case i < 0:
			return -1, "more than one server is writable: " + s.addrs(candidates)
		}
		candidates = []int{i}
	}
	if len(candidates) == 0 {
		return -1, s.multiPrimary()
	}
	i := candidates[0]
	if s.stranger(i) {
		return -1, "the only writable server " + s.nodes[i].addr + " has none of this cluster's transactions"
	}
	if why := s.ambiguous(i); why != "" {
		return -1, why
	}
	return i, ""
}

// contend picks one of several writable nodes: the one that was seen to be promoted;
// else the one that has executed all that each other has, and more; else the only one
// that others replicate from.
// -1: neither is clear, or not yet. The nodes were not asked at the same time,
// so one seems to lack what it has got since: only a question sent after the
// other's answer proves a lack. Until that is so the source stays the source if
// all others seem to be behind it, and else there is none.
func (s *state) contend(candidates []int) int {
	if i := s.successor(candidates); i >= 0 {
		return i
	}
	s.blurred = s.isBlurred(candidates)
	for _, i := range candidates {
		if s.aheadOfAll(i, candidates) && (!s.blurred || i == s.source) {
			return i
		}
	}
	if s.blurred {
		return -1
	}
	followed := slices.DeleteFunc(slices.Clone(candidates), func(i int) bool { return s.followers(i) == 0 })
	if len(followed) != 1 {
		return -1
	}
	return followed[0]
}

// successor is the candidate that was seen to be promoted while the source lives: it and
// others replicated from the source, now they replicate from it, and nobody from the
// source. That the source has executed more by then says nothing: it takes writes for as
// long as it is sent some. -1: there is none.
func (s *state) successor(candidates []int) int {
	found := -1
	for _, i := range candidates {
		if i != s.source && s.hasLeft(i) && slices.ContainsFunc(s.nodes, func(o *node) bool { return o.led == s.sourceUUID && o.follows(s.nodes[i].uuid) }) {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	if found < 0 || !slices.Contains(candidates, s.source) || slices.ContainsFunc(s.nodes, func(o *node) bool { return o.up && o.follows(s.sourceUUID) }) {
		return -1
	}
	return found
}

// noteLed remembers who replicates from the source.
func (s *state) noteLed() {
	for i, n := range s.nodes {
		if s.source >= 0 && n.led != s.sourceUUID && n.follows(s.sourceUUID) {
			s.edit(i).led = s.sourceUUID
		}
	}
}

// hasLeft tells of a node that was seen to replicate from the source, and does not now.
func (s *state) hasLeft(i int) bool {
	n := s.nodes[i]
	return n.led != "" && n.led == s.sourceUUID && n.status != nil && !n.follows(s.sourceUUID)
}

func (s *state) isBlurred(candidates []int) bool {
	for _, i := range candidates {
		for _, j := range candidates {
			if a, b := s.nodes[i], s.nodes[j]; !a.pos.Contains(b.pos) && !a.provablyLacks(b) {
				return true
			}
		}
	}
	return false
}

// provablyLacks tells whether n has not got something that o had before n was
// asked. The last but one position of o counts too: one that takes writes has a
// new one with every answer.
func (n *node) provablyLacks(o *node) bool {
	return !n.pos.Contains(o.pos) && !n.posAsked.Before(o.posNew) || !n.pos.Contains(o.older) && !n.posAsked.Before(o.olderNew)
}

func (s *state) aheadOfAll(i int, candidates []int) bool {
	pos := s.nodes[i].pos
	for _, j := range candidates {
		if other := s.nodes[j].pos; j != i && (!pos.Contains(other) || other.Contains(pos)) {
			return false
		}
	}
	return true
}

// followers counts the nodes that replicate from node i by their last status,
// also those that are down: a promotion does not wait for them to come back.
func (s *state) followers(i int) int {
	count := 0
	for j, n := range s.nodes {
		if j != i && s.counts(j) && n.follows(s.nodes[i].uuid) {
			count++
		}
	}
	return count
}

func (n *node) follows(uuid string) bool {
	return n.status != nil && slices.ContainsFunc(n.status.channels, func(c channel) bool { return sameUUID(c.sourceUUID, uuid) })
}

// leadsInFact is asked of a writable node with channels.
func (s *state) leadsInFact(i int) bool {
	for _, c := range s.nodes[i].status.channels {
		up := s.byUUID(c.sourceUUID)
		ring := up >= 0 && s.nodes[up].follows(s.nodes[i].uuid) && !s.mayLead(up)
		if c.replicates() && !ring {
			return false
		}
	}
	return true
}

// stranger tells whether node i, which nobody follows, shares nothing with the
// source that is known: another cluster's server behind a node's address must
// not be written to.
func (s *state) stranger(i int) bool {
	n := s.nodes[i]
	past := s.history.latest.set
	return !sameUUID(n.uuid, s.sourceUUID) && s.followers(i) == 0 && !past.IsEmpty() && n.pos.Intersect(past).IsEmpty()
}

// twin returns another node that answers with node i's server_uuid and has the
// better claim to it, -1 if there is none.
func (s *state) twin(i int) int {
	n := s.nodes[i]
	for j, o := range s.nodes {
		if j == i || !o.up || !sameUUID(o.uuid, n.uuid) {
			continue
		}
		if own, other := s.counts(i), s.counts(j); own != other {
			if other {
				return j
			}
			continue
		}
		if o.claim() > n.claim() || o.claim() == n.claim() && j < i {
			return j
		}
	}
	return -1
}

// claim ranks nodes with the same server_uuid: a copy that forgot to delete
// auto.cnf is more often a replica.
func (n *node) claim() int {
	if n.status != nil && !n.status.readOnly && !n.status.isReplica() {
		return 1
	}
	return 0
}

// setSource makes node i the source, -1: none.
func (s *state) setSource(i int) {
	s.source = i
	if i < 0 {
		return
	}
	n := s.nodes[i]
	same := sameUUID(n.uuid, s.sourceUUID)
	if known := s.history.latest.set; (same || n.addr == s.sourceAddr) && !n.pos.Contains(known) {
		s.beginEpoch(i, known.Subtract(n.pos), n.contact) // reset, or restored from a backup
	}
	if !same {
		s.newSource()
		s.promoted(i)
	}
	s.sourceUUID, s.sourceAddr = n.uuid, n.addr
	s.noteMode()
	s.remember()
	if !slices.Contains(s.sources, n.uuid) {
		s.sources = append(slices.Clone(s.sources[max(0, len(s.sources)+1-maxSources):]), n.uuid)
	}
	s.sampleSource(sample{n.posAsked, n.pos})
}

// newSource begins another history. What replicas were fresh as of stays true;
// what joining nodes must cover is asked for anew.
func (s *state) newSource() {
	s.history = history{}
	for i, n := range s.nodes {
		if n.joining && n.hasTarget {
			n = s.edit(i)
			n.target, n.hasTarget = gtid.Set{}, false
		}
	}
}

// sourceUp tells whether there is a source that serves.
func (s *state) sourceUp() bool {
	return s.source >= 0 && s.nodes[s.source].up && s.nodes[s.source].exclude == ""
}

func (s *state) byUUID(uuid string) int {
	return slices.IndexFunc(s.nodes, func(n *node) bool { return uuid != "" && sameUUID(n.uuid, uuid) })
}

func (s *state) addrs(list []int) string {
	var out []string
	for _, i := range list {
		out = append(out, s.nodes[i].addr)
	}
	return strings.Join(out, ", ")
}

func sameUUID(a, b string) bool { return strings.EqualFold(a, b) }

// role names what node i is, given the source.
func (s *state) role(i int) backend.Role {
	n := s.nodes[i]
	switch {
	case i == s.source:
		return backend.RoleSource
	case n.status != nil && s.counts(i) && n.status.isReplica() && n.status.group.refuse() == "" && n.refused == "" && s.twin(i) < 0:
		return backend.RoleReplica
	default:
		return backend.RoleUnknown
	}
}
