package balance

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Defaults of the fallback budget, [fallback] qps and burst.
//
// The source must survive the moment when all replicas lag at once, which is
// when it is busiest itself, as a burst of writes is what makes replicas lag.
// If a point select takes a server some 100 microseconds of CPU (an estimate), 1000 a
// second are about a tenth of one core: no source that carries its writes falls
// over from that, and it is far more than people checking their own changes
// make. The burst of 2000, two seconds' worth, lets a short hiccup pass without
// anyone waiting; a longer one is a lag that replicas should show, not hide.
const (
	DefaultFallbackQPS   = 1000
	DefaultFallbackBurst = 2000
)

// sourceShare is the part of the source's own read rate that fallback reads may
// add to it, if that is more than qps: a source that serves many reads by
// itself is sized for them.
const sourceShare = 0.3

// Budget is a token bucket shared by all sessions: how many reads that a
// replica could have served the source may be given. Reads that only the
// source may answer do not ask it. Safe for concurrent use.
type Budget struct {
	taken, refused atomic.Uint64

	mu     sync.Mutex // held for a few instructions, never while waiting
	qps    float64    // as configured; 0: nothing ever
	rate   float64    // tokens a second now, >= qps
	burst  float64
	tokens float64
	last   time.Time // of the last refill
}

// NewBudget returns a full bucket that refills with qps tokens a second up to
// burst. With qps 0 nothing is ever granted, whatever the burst; with a
// greater qps the burst is at least one.
func NewBudget(qps, burst float64, now time.Time) *Budget {
	b := &Budget{last: now}
	if qps > 0 { // false for NaN too
		b.qps = min(qps, math.MaxFloat64)
		b.burst = max(1, burst)
	}
	b.rate, b.tokens = b.qps, b.burst
	return b
}

// Take grants one read to a class with that share of the budget, or refuses
// it, and counts which. A share s reaches only down to 1-s of the burst: what is
// below is reserved for classes with a greater share, so that the reads of the
// lower ones can never use up what the highest needs. A clock that goes backwards
// refills nothing.
//
//	burst 100, left   share 1   share 0.7   share 0
//	100               granted   granted     refused
//	31                granted   granted     refused
//	30                granted   refused     refused
//	1                 granted   refused     refused
func (b *Budget) Take(share float64, now time.Time) bool {
	ok := b.Ask(share, now)
	if !ok {
		b.refused.Add(1)
	}
	return ok
}

// Ask is Take for one who asks again: that it was refused is not counted.
func (b *Budget) Ask(share float64, now time.Time) bool {
	b.mu.Lock()
	b.refill(now)
	ok := b.tokens >= 1 && share > 0 && (share >= 1 || b.tokens > b.reserved(share))
	if ok {
		b.tokens--
	}
	b.mu.Unlock()
	if ok {
		b.taken.Add(1)
	}
	return ok
}

// Refuse counts one that asked in vain.
func (b *Budget) Refuse() { b.refused.Add(1) }

// reserved is what a share leaves to greater ones.
func (b *Budget) reserved(share float64) float64 {
	return (1 - share) * min(b.burst, math.MaxFloat64)
}

// LeftFor returns how many reads a share would be granted at this moment.
func (b *Budget) LeftFor(share float64, now time.Time) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refill(now)
	switch {
	case !(share > 0) || b.tokens < 1:
		return 0
	case share >= 1:
		return int(min(b.tokens, math.MaxInt32))
	}
	return int(min(max(0, math.Ceil(b.tokens-b.reserved(share))), math.Floor(b.tokens), math.MaxInt32))
}

// SetSourceRate tells how many reads a second the source serves of its own;
// from then on the budget is the greater of qps and 0.3 times that. A budget
// with qps 0 stays closed.
func (b *Budget) SetSourceRate(readsPerSecond float64, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refill(now) // what went by counts at the old rate
	if b.qps > 0 && readsPerSecond*sourceShare > b.qps {
		b.rate = min(readsPerSecond*sourceShare, math.MaxFloat64)
		return
	}
	b.rate = b.qps
}

func (b *Budget) refill(now time.Time) {
	if elapsed := now.Sub(b.last).Seconds(); elapsed > 0 {
		b.tokens = min(b.burst, b.tokens+elapsed*b.rate)
		b.last = now
	}
}

// Left returns how many reads would be granted at this moment, to a share of 1.
func (b *Budget) Left(now time.Time) int { return b.LeftFor(1, now) }

// Rate returns the tokens a second in force and the burst.
func (b *Budget) Rate() (qps, burst float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rate, b.burst
}

// Taken returns how many reads were granted so far.
func (b *Budget) Taken() uint64 { return b.taken.Load() }

// Refused returns how many reads were refused so far.
func (b *Budget) Refused() uint64 { return b.refused.Load() }
