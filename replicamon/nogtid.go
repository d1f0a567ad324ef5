package replicamon

import (
	"time"

	"causeway/gtid"
)

// A cluster without GTIDs (gtid_mode = OFF on its source) is taken only where the
// options say so. Positions tell nothing there: they are taken as empty, no read is
// proved fresh, and how far a replica is behind is what its own applier says.

// gtidMode is what is known of the cluster's GTIDs.
type gtidMode uint8

const (
	gtidsUnknown gtidMode = iota // no source was known yet
	gtidsOn
	gtidsOff
)

// modeOff is gtid_mode of a server without GTIDs.
const modeOff = "OFF"

func (st *status) mode() gtidMode {
	if st.gtidMode == modeOff {
		return gtidsOff
	}
	return gtidsOn
}

// noteMode takes the source's mode for the cluster's. It stays while there is none.
func (s *state) noteMode() {
	if s.source >= 0 && s.nodes[s.source].status != nil {
		s.gtids = s.nodes[s.source].status.mode()
	}
}

// refuseGTID returns why node i's GTID configuration cannot be used, or "". All
// servers of a cluster must have the same: only the source itself may change it.
func (s *state) refuseGTID(i int) string {
	n := s.nodes[i]
	st, source := n.status, sameUUID(n.uuid, s.sourceUUID)
	switch {
	case !s.rules.withoutGTIDs && st.gtidMode == modeOff:
		return st.refuseGTID() + ", or take it as a cluster without GTIDs by [routing] sticky"
	case !s.rules.withoutGTIDs:
	case st.gtidMode == modeOff && (s.gtids != gtidsOn || source):
		return ""
	case st.gtidMode == "ON" && s.gtids == gtidsOff && !source:
		return "refused: gtid_mode is ON, the source's is OFF; all servers must have the same"
	}
	return st.refuseGTID()
}

// ambiguous tells why node i does not take the last source's place by itself, ""
// if it may. Without GTIDs nobody can tell what it lacks, or whether it is ahead
// of others, so that what people or tools have done must leave no doubt.
func (s *state) ambiguous(i int) string {
	n := s.nodes[i]
	if n.status.mode() != gtidsOff || s.sourceUUID == "" || sameUUID(n.uuid, s.sourceUUID) {
		return ""
	}
	for j, o := range s.nodes {
		switch {
		case j == i || !s.counts(j):
		case sameUUID(o.uuid, s.sourceUUID) && (!o.up || o.status != nil && o.status.readOnly):
		case !o.follows(n.uuid):
			return "without GTIDs nobody can tell what " + n.addr + " lacks: it takes the source's place by itself only when the old one is gone or read only" +
				" and all others replicate from it; " + o.addr + " does not"
		}
	}
	return ""
}

// measureBlind is measure where positions tell nothing.
func (s *state) measureBlind(i int) (joined bool) {
	n := s.edit(i)
	n.sourceAt, n.freshAsOf, n.posLag, n.transport = s.history.latest.asked, time.Time{}, -1, -1
	if i == s.source {
		n.posLag = 0
	}
	joined, n.joining = n.joining, false
	return joined
}

// unsure tells why what a replica of a cluster without GTIDs says of its lag means
// nothing, "" if it does. What it cannot receive from a lost source is not its fault.
func (s *state) unsure(i int) string {
	if s.gtids != gtidsOff {
		return ""
	}
	st := s.nodes[i].status
	applier, receiver := st.unsteady()
	switch {
	case applier != "":
		return applier + ", and without GTIDs nothing else tells what it has"
	case s.sourceLost():
		return ""
	case receiver != "":
		return receiver + ", and without GTIDs nothing else tells what it has"
	case st.behind() < 0:
		return "its lag is unknown (Seconds_Behind_Source is NULL), and without GTIDs nothing else tells what it has"
	}
	return ""
}

// behind is Seconds_Behind_Source, of several channels the most; -1: unknown.
func (st *status) behind() time.Duration {
	most := time.Duration(-1)
	for _, c := range st.channels {
		if c.behind < 0 {
			return -1
		}
		most = max(most, c.behind)
	}
	return most
}

// ownLag is how far a replica is behind by what its applier says: whole seconds,
// and by timestamps what its workers are at; -1: unknown.
func (n *node) ownLag() time.Duration {
	lag := n.status.behind()
	if lag < 0 {
		return -1
	}
	for _, w := range n.status.workers {
		if w.applying != "" {
			lag = max(lag, trueAge(w.applyingAge, n.shift))
		}
	}
	return lag
}

// seen is what a position tells under these rules: what a server without GTIDs
// executed while it had some says nothing of what it has now.
func (r rules) seen(p position) position {
	if r.withoutGTIDs && p.gtidMode == modeOff {
		p.executed = gtid.Set{}
	}
	return p
}
