package replicamon

import (
	"sort"
	"time"

	"causeway/gtid"
)

// The history holds the source's position for about this many samples. A
// replica further behind has no proof of freshness, only a position.
const (
	historyLen = 900
	historyGap = 50 * time.Millisecond // samples closer together are not all kept
)

// sample is the source's position. Whoever covers set saw all that was
// committed when the question was asked; equal answers are kept as one, with
// the latest question.
type sample struct {
	asked time.Time
	set   gtid.Set
}

// history is the source's past, oldest first, within one life of one source,
// so that each set contains the one before. It is a value: add returns a new one.
type history struct {
	latest  sample // always the newest, also if it is not among kept
	known   bool
	kept    []sample
	started time.Time // asked of the newest of kept, when its set was first seen
}

// add takes a sample in. One asked before the latest brings no news.
func (h history) add(s sample) history {
	if h.known && !s.asked.After(h.latest.asked) {
		return h
	}
	same := h.known && h.latest.set.Equal(s.set)
	h.latest, h.known = s, true
	n := len(h.kept)
	if same && n > 0 && h.kept[n-1].set.Equal(s.set) {
		h.kept = append(append(make([]sample, 0, cap(h.kept)), h.kept[:n-1]...), s)
		return h
	}
	if n > 0 && s.asked.Sub(h.started) < historyGap {
		return h
	}
	first := max(0, n+1-historyLen)
	h.kept = append(append(make([]sample, 0, historyLen+1), h.kept[first:]...), s)
	h.started = s.asked
	return h
}

// freshAsOf returns when the newest sample that pos covers was asked for; zero
// if it covers none that is remembered.
func (h history) freshAsOf(pos gtid.Set) time.Time {
	if !h.known {
		return time.Time{}
	}
	if pos.Contains(h.latest.set) {
		return h.latest.asked
	}
	// Sets grow, so what covers one covers all before it.
	n := sort.Search(len(h.kept), func(i int) bool { return !pos.Contains(h.kept[i].set) })
	if n == 0 {
		return time.Time{}
	}
	return h.kept[n-1].asked
}

// behind is the age, at the latest sample, of what asOf proves; -1 unknown.
func (h history) behind(asOf time.Time) time.Duration {
	if asOf.IsZero() || !h.known {
		return -1
	}
	return max(0, h.latest.asked.Sub(asOf))
}
