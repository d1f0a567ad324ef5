package balance

import (
	"time"

	"causeway/backend"
)

// Freshest returns the replica for a read that accepts stale data when no
// other can be had: of the usable ones, that which is provably fresh as of the
// latest moment; among equals, and where nothing is proved, one of
// Causeway's own zone, then the one that has executed more. A replica of weight 0 is taken only if no other is usable.
// stale is how far behind it is at most, -1 if unproved. nil: none is usable.
func Freshest(nodes []*backend.Node, now time.Time) (best *backend.Node, stale time.Duration) {
	live := Need{AnyLive: true}
	for _, n := range nodes {
		if check(n, &live) == Eligible && (best == nil || fresher(n, best)) {
			best = n
		}
	}
	if best == nil || best.FreshAsOf.IsZero() {
		return best, -1
	}
	return best, max(0, now.Sub(best.FreshAsOf))
}

func fresher(a, b *backend.Node) bool {
	if az, bz := weight(a) == 0, weight(b) == 0; az != bz {
		return bz
	}
	if !a.FreshAsOf.Equal(b.FreshAsOf) {
		return a.FreshAsOf.After(b.FreshAsOf)
	}
	if a.Far != b.Far {
		return b.Far
	}
	// Counts prove nothing, but among stale replicas no proof is asked for.
	return a.Position.Count() > b.Position.Count()
}
