package balance

import (
	"slices"
	"time"

	"causeway/backend"
	"causeway/gtid"
)

// Need is what a read asks of the replica that serves it.
type Need struct {
	// Token must be contained in the replica's position. The empty token
	// needs nothing: that it is empty and not lost is the caller's to know.
	Token gtid.Set
	// MaxStaleness bounds how stale the replica may be, by proof; 0: no bound.
	// A replica whose freshness is unproved fails any bound.
	MaxStaleness time.Duration
	// Now is the moment of the choice, with a monotonic reading.
	Now time.Time
	// AnyLive waives Token and MaxStaleness: any usable replica will do.
	AnyLive bool
	// Promoted: the read must see a write that is not everywhere yet. Its bound, if it
	// has one, is kept besides, and does not make the token less of a proof.
	Promoted bool
	// Limit is the index into Node.Limits of the lag limit that the read goes
	// by; out of range, or where a node has none: no limit. See proved.
	Limit int
}

// proved tells whether the position alone says that a covering replica is good
// enough: the session holds a token, and no age was asked for, or the token is of a
// write that others lack. A lag limit is about quality then, and may be left where
// nobody within it covers the token. The token of another bounded read is only the
// floor, which proves no age.
func (n *Need) proved() bool { return !n.Token.IsEmpty() && (n.MaxStaleness == 0 || n.Promoted) }

// Reason tells whether a replica may serve a read, and if not which condition
// it fails first. They are in the order of the checks, so the greatest Reason
// among some replicas is that of the one which came nearest.
type Reason uint8

const (
	Eligible    Reason = iota
	NoReplica          // no candidate, or none in the role of a replica
	Down               // does not answer probes
	Excluded           // Node.Exclude says why
	NotCovered         // its position does not contain the token
	NotFresh           // more stale than the bound, or unproved
	OverLimit          // covers all that is needed, but is excluded for its lag
	reasonCount = iota
)

var reasonLabels = [reasonCount]string{"eligible", "no_replica", "down", "excluded", "not_covered", "not_fresh", "over_lag_limit"}

// String returns the reason as a metric label.
func (r Reason) String() string {
	if int(r) < len(reasonLabels) {
		return reasonLabels[r]
	}
	return "unknown"
}

// WaitHelps tells whether one of the nodes may become eligible within the time
// that a read waits: by applying more, or by what the next probe tells. One that
// is excluded for its lag comes back after a recovery window, which no read waits
// for, whatever it applies; that its applier is stopped is no reason not to wait,
// as that is known only afterwards.
//
//	node                         no proof asked   a token is the proof
//	behind, within its limit     yes              yes
//	behind, over its limit       no               yes
//	behind, lag not known yet    yes              yes
//	joining                      yes              yes
//	down, or excluded otherwise  no               no
func WaitHelps(nodes []*backend.Node, need Need) bool {
	return slices.ContainsFunc(nodes, func(n *backend.Node) bool {
		switch check(n, &need) {
		case NoReplica, Down:
			return false
		case Excluded:
			return n.Joining
		}
		l := limit(n, &need)
		return l.Excluded == "" || l.Unjudged || need.proved()
	})
}

// check is the one place that decides eligibility; Pick and Explain both ask it.
func check(n *backend.Node, need *Need) Reason {
	switch {
	case n == nil || n.Role != backend.RoleReplica:
		return NoReplica
	case !n.Up:
		return Down
	case !n.Usable():
		return Excluded
	case need.AnyLive:
		return Eligible
	case !n.Position.Contains(need.Token):
		return NotCovered
	case need.MaxStaleness > 0 && !fresh(n, need):
		return NotFresh
	case limit(n, need).Excluded != "":
		return OverLimit
	}
	return Eligible
}

// unlimited is the standing where there is no limit.
var unlimited = backend.Limit{Share: 100}

// limit returns how n stands to the limit that the read goes by.
func limit(n *backend.Node, need *Need) *backend.Limit {
	if need.AnyLive || need.Limit < 0 || need.Limit >= len(n.Limits) {
		return &unlimited
	}
	return &n.Limits[need.Limit]
}

func fresh(n *backend.Node, need *Need) bool {
	return !n.FreshAsOf.IsZero() && need.Now.Sub(n.FreshAsOf) <= need.MaxStaleness
}
