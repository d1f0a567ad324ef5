package balance

import (
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
}

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
	reasonCount = iota
)

var reasonLabels = [reasonCount]string{"eligible", "no_replica", "down", "excluded", "not_covered", "not_fresh"}

// String returns the reason as a metric label.
func (r Reason) String() string {
	if int(r) < len(reasonLabels) {
		return reasonLabels[r]
	}
	return "unknown"
}

// WaitHelps tells whether a replica that fails for this reason may become
// eligible just by applying more: it lives and only lags.
func (r Reason) WaitHelps() bool { return r == NotCovered || r == NotFresh }

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
	}
	return Eligible
}

func fresh(n *backend.Node, need *Need) bool {
	return !n.FreshAsOf.IsZero() && need.Now.Sub(n.FreshAsOf) <= need.MaxStaleness
}
