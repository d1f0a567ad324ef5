package balance

import (
	"math"
	"time"

	"causeway/backend"
)

const (
	// decay is the time in which an old peak loses 63 % of its weight; after
	// four times that, 10 s, it is nearly forgotten (2 % left).
	decay = 2500 * time.Millisecond

	// errorPenalty is what a failed answer counts as, at least: a replica that
	// fails fast must not look fast. It wears off like any peak, so a replica
	// that is well again is tried again.
	errorPenalty = time.Second
)

// processStart is the zero of Live.EWMAAt. Only differences are used.
var processStart = time.Now()

// Observe records that a command sent to the node took latency until its
// answer began, and whether it failed in a way that speaks against the node (a
// broken connection, a timeout; not a user's syntax error). It changes only
// Live.EWMA, Live.EWMAAt and Live.Times.
//
// The average is a peak EWMA as in Twitter's Finagle: a slower answer counts at
// once and in full, faster ones pull it down with exp(-age/decay). So a replica
// that gets into trouble is left after one slow answer, and has to show for
// some seconds that it is well before it gets its share again.
func Observe(live *backend.Live, latency time.Duration, failed bool, now time.Time) {
	if failed {
		latency = max(latency, errorPenalty)
	}
	live.Times.Add(latency)
	seen := uint64(max(latency, 1)) // 0 means: never observed
	// Swap gives each observer its own piece of time: none decays it twice.
	at := int64(now.Sub(processStart))
	keep := kept(at - live.EWMAAt.Swap(at))
	for {
		old := live.EWMA.Load()
		next := seen
		if old > seen {
			next = seen + uint64(float64(old-seen)*keep)
		}
		if live.EWMA.CompareAndSwap(old, next) {
			return
		}
	}
}

// ExpectedLatency returns the node's peak EWMA as of now: one that has not been
// observed for a while decays too, so a replica that is left for its slowness
// comes to be tried again. 0: never observed.
func ExpectedLatency(live *backend.Live, now time.Time) time.Duration {
	if live == nil {
		return 0
	}
	ewma := live.EWMA.Load()
	if ewma == 0 {
		return 0
	}
	age := int64(now.Sub(processStart)) - live.EWMAAt.Load()
	return max(1, time.Duration(float64(ewma)*kept(age)))
}

// kept is the share of an old value that is left after age nanoseconds.
func kept(age int64) float64 {
	if age <= 0 {
		return 1
	}
	return math.Exp(-float64(age) / float64(decay))
}
