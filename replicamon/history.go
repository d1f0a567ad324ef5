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
// committed when the question was asked.
type sample struct {
	asked time.Time
	set   gtid.Set
}

// history is the source's past, oldest first, within one life of one source.
// It is a value: add returns a new one. The newest sample is not among kept, so
// that an idle source, or one asked a thousand times a second, costs nothing.
type history struct {
	latest sample
	known  bool
	kept   []sample
}

// add takes a sample in. One asked before the latest brings no news.
func (h history) add(s sample) history {
	if h.known && !s.asked.After(h.latest.asked) {
		return h
	}
	was, known := h.latest, h.known
	h.latest, h.known = s, true
	if !known || was.set.Equal(s.set) {
		return h
	}
	n := len(h.kept)
	if n > 0 && was.asked.Sub(h.kept[n-1].asked) < historyGap {
		return h
	}
	first := max(0, n+1-historyLen)
	h.kept = append(append(make([]sample, 0, n-first+1), h.kept[first:]...), was)
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
	// Sets grow, so what covers one covers all before it. (Two answers that
	// overtook each other may break the order; what is found is covered anyway.)
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
