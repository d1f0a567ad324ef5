package replicamon

import (
	"time"

	"causeway/gtid"
)

// reborn tells whether an answer comes from another life of the address than
// the last one did. Three things can show it, and any one is enough:
//
//   - another server_uuid;
//   - over a new connection: a start after the last contact, or a connection
//     number that is not above the last one (they grow within a life). Over an
//     old connection there is nothing to ask: it would not have survived;
//   - a gtid_executed that lost something.
func (n *node) reborn(e answered) bool {
	if n.gen == 0 || n.uuid != e.pos.uuid {
		return true
	}
	if e.life != nil && n.restarted(*e.life, e.pos.answered) {
		return true
	}
	// An answer can overtake another one on a second connection: only one whose
	// question was sent after the other had arrived can contradict it.
	return !e.pos.asked.Before(n.posSeen) && !e.pos.executed.Contains(n.pos)
}

// restarted compares the start of the server, known to a second either way,
// with the last contact. In doubt it is a restart: that costs a short
// exclusion, the other mistake would cost a promise.
func (n *node) restarted(l life, now time.Time) bool {
	if n.connID != 0 && l.connID <= n.connID {
		return true
	}
	return now.Add(-l.uptime).After(n.contact.Add(-time.Second))
}

// beginLife voids what was known of the address and starts again.
func (n *node) beginLife(e answered) {
	void := n.void
	if n.uuid != e.pos.uuid || !e.pos.executed.Contains(void.Intersect(n.pos)) {
		void = gtid.Set{} // another server, or a rebuilt one
	}
	n.forget()
	n.gen++
	n.uuid = e.pos.uuid
	n.joining, n.since = true, e.pos.answered
	n.void = void
	if e.life != nil {
		n.start = e.pos.answered.Add(-e.life.uptime)
		n.connID, n.version = e.life.connID, e.life.version
	}
}

// forget drops everything that belongs to a life; gen stays, for it only grows.
func (n *node) forget() {
	*n = node{
		site: n.site, known: n.known, gen: n.gen, heard: n.heard, up: n.up, fails: n.fails, down: n.down,
		start: n.start, connID: n.connID, version: n.version, contact: n.contact,
		posLag: -1, transport: -1, role: n.role, exclude: n.exclude, defaultsSeq: n.defaultsSeq, limits: n.limits, rules: n.rules, clock: n.clock,
	}
	n.distrust()
}

// grow takes in a position of the present life. Answers of two connections can
// arrive in any order; both were true, so what is known only grows.
func (n *node) grow(p position) {
	if !n.pos.Contains(p.executed) && p.answered.After(n.posNew) {
		n.older, n.olderNew, n.posNew = n.pos, n.posNew, p.answered
	}
	switch {
	case n.posAsked.IsZero() || p.executed.Contains(n.pos):
		n.pos = p.executed
	case !n.pos.Contains(p.executed):
		n.pos = n.pos.Union(p.executed)
	}
	if p.asked.After(n.posAsked) {
		n.posAsked = p.asked
	}
	if p.answered.After(n.posSeen) {
		n.posSeen = p.answered
	}
	n.clock = n.clock.seen(p)
}

// setReadOnly notes what the position probe saw, and tells whether that
// contradicts the last status: a promotion or a demotion should not wait for
// the next one.
func (n *node) setReadOnly(p position) (flipped bool) {
	if n.status == nil || p.asked.Before(n.roAsked) {
		return false
	}
	n.roAsked = p.asked
	if n.readOnly == p.readOnly {
		return false
	}
	st := *n.status
	st.readOnly = p.readOnly
	n.status, n.readOnly = &st, p.readOnly
	return true
}

// sourceReborn is called when the source's address answers with another life.
// If that life lost transactions, what tokens name may be given to others.
func (s *state) sourceReborn(e answered) {
	old := s.nodes[s.source]
	if old.uuid != e.pos.uuid {
		// A restored server, or another one altogether: roles will tell.
		s.source = -1
		return
	}
	if s.history.known && !e.pos.executed.Contains(s.history.latest.set) {
		s.beginEpoch(e.i, s.history.latest.set.Subtract(e.pos.executed), e.pos.answered)
	}
}

// beginEpoch voids all tokens: the source no longer has the transactions lost,
// and may give their numbers to others. A node that holds lost ones would seem
// to cover the new ones, so it is barred until it was rebuilt.
func (s *state) beginEpoch(source int, lost gtid.Set, at time.Time) {
	s.epoch++
	s.epochSince = at
	s.history = history{}
	for i := range s.nodes {
		n := s.edit(i)
		n.freshAsOf, n.posLag, n.transport, n.sourceAt = time.Time{}, -1, -1, time.Time{}
		n.target, n.hasTarget = gtid.Set{}, false
		if i == source {
			continue
		}
		has := n.pos
		if n.status != nil {
			has = has.Union(n.status.received()) // it will apply them yet
		}
		n.void = n.void.Union(has.Intersect(lost))
	}
}
