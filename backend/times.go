package backend

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// The buckets of AnswerTimes: each power of two of microseconds has subBuckets,
// so what is read out of them is at most an eighth too much. The last ends at 16 s.
const (
	subBits    = 3
	subBuckets = 1 << subBits
	buckets    = 24 * subBuckets
)

// timesSpan is how long AnswerTimes counts into one set of buckets; answers are
// told of for one to two of it.
const timesSpan = 15 * time.Second

// fewestTimes is how many answers a p95 needs: below it the slowest one or two
// would be all that it tells.
const fewestTimes = 40

// AnswerTimes is a node's answer times of the last 15 to 30 seconds, in fixed
// memory: an answer adds one to one counter, without a lock. The zero value is
// ready for use.
type AnswerTimes struct {
	sets [2][buckets]atomic.Uint32
	now  atomic.Uint32 // which set is counted into
	p95  atomic.Int64

	turned time.Time // of the last change of sets; Refresh's own
}

// Add counts one answer.
func (t *AnswerTimes) Add(took time.Duration) {
	t.sets[t.now.Load()&1][bucketOf(took)].Add(1)
}

// P95 is what 95 % of the answers were within at the last Refresh, rounded up to
// the end of its bucket; 0: there were too few to tell.
func (t *AnswerTimes) P95() time.Duration { return time.Duration(t.p95.Load()) }

// Refresh computes P95 anew and forgets what is too old. One goroutine at a
// time may call it, about every second.
func (t *AnswerTimes) Refresh(now time.Time) {
	if t.turned.IsZero() {
		t.turned = now
	}
	if now.Sub(t.turned) >= timesSpan {
		t.turned = now
		next := (t.now.Load() + 1) & 1
		for i := range t.sets[next] {
			t.sets[next][i].Store(0)
		}
		t.now.Store(next)
	}
	t.p95.Store(int64(t.quantile95()))
}

func (t *AnswerTimes) quantile95() time.Duration {
	var counts [buckets]uint64
	var total uint64
	for i := range counts {
		counts[i] = uint64(t.sets[0][i].Load()) + uint64(t.sets[1][i].Load())
		total += counts[i]
	}
	if total < fewestTimes {
		return 0
	}
	need, seen := (total*95+99)/100, uint64(0)
	for i, c := range counts {
		if seen += c; seen >= need {
			return bucketEnd(i)
		}
	}
	panic("BUG: fewer answers in the buckets than in their sum")
}

// bucketOf returns the bucket of a time: below 8 us one for each microsecond,
// above that the power of two and the three bits after its first.
func bucketOf(took time.Duration) int {
	us := uint64(max(took.Microseconds(), 0))
	if us < subBuckets {
		return int(us)
	}
	shift := bits.Len64(us) - 1 - subBits
	return min((shift+1)*subBuckets+int(us>>shift)-subBuckets, buckets-1)
}

// bucketEnd is where the bucket ends.
func bucketEnd(i int) time.Duration {
	if i < subBuckets {
		return time.Duration(i+1) * time.Microsecond
	}
	shift := i/subBuckets - 1
	return time.Duration(uint64(i%subBuckets+subBuckets+1)<<shift) * time.Microsecond
}
