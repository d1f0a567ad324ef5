package replicamon

import (
	"math"
	"slices"
	"time"
)

// windowSlots bounds the memory of a window: samples that come closer together
// than a window's part of this are one sample, the worst of them.
const windowSlots = 600

// lagSample is one look at a replica's lag.
type lagSample struct {
	at    time.Time
	apply time.Duration // -1: unknown
	// judged is what the limits look at: the apply lag or the transport lag,
	// whichever is more, so that a dead link is no fresh replica. -1: unknown.
	judged time.Duration
	// why says why the lag is unknown.
	why string
	// blind marks a sample that says nothing about the replica: it is the
	// source's position that is not known, or the replica is joining.
	blind bool
	// held marks a blind one of the time without a source: what was judged before stands.
	held bool
}

// worse returns the worse of two looks: what is unknown is worst.
func (s lagSample) worse(o lagSample) lagSample {
	if orInfinite(o.judged) >= orInfinite(s.judged) {
		return lagSample{at: s.at, apply: o.apply, judged: o.judged, why: o.why, blind: o.blind, held: o.held}
	}
	return s
}

// window holds the samples of some time, oldest first. It is a value: add
// returns another one.
type window []lagSample

// add takes s in and lets go what is older than span by then. One taken before
// the newest brings no news.
func (w window) add(s lagSample, span time.Duration) window {
	n := len(w)
	if n > 0 && !s.at.After(w[n-1].at) {
		return w
	}
	first := 0
	for first < n && s.at.Sub(w[first].at) > span {
		first++
	}
	out := append(make(window, 0, n-first+1), w[first:]...)
	// A sample that takes others in keeps its time, so it ends with its slot.
	if n = len(out); n > 0 && s.at.Sub(out[n-1].at) < span/windowSlots {
		out[n-1] = out[n-1].worse(s)
		return out
	}
	return append(out, s)
}

// last returns the newest sample; the zero sample of an empty window is blind.
func (w window) last() lagSample {
	if len(w) == 0 {
		return lagSample{apply: -1, judged: -1, blind: true}
	}
	return w[len(w)-1]
}

// quantiles of a window; -1: unknown.
type quantiles struct{ p50, p95, p99 time.Duration }

// quantiles returns what half, 95 and 99 % of the samples from a moment on are
// within (nearest rank). Unknown ones count as endless, blind ones not at all.
func (w window) quantiles(from time.Time, of func(lagSample) time.Duration) quantiles {
	values := make([]time.Duration, 0, len(w))
	for _, s := range w {
		if !s.blind && !s.at.Before(from) {
			values = append(values, orInfinite(of(s)))
		}
	}
	if len(values) == 0 {
		return quantiles{-1, -1, -1}
	}
	slices.Sort(values)
	return quantiles{rank(values, 50), rank(values, 95), rank(values, 99)}
}

// rank returns the value that percent of the sorted values are within.
func rank(sorted []time.Duration, percent int) time.Duration {
	i := (len(sorted)*percent + 99) / 100
	if v := sorted[i-1]; v < endless {
		return v
	}
	return -1
}

const endless = time.Duration(math.MaxInt64)

func orInfinite(d time.Duration) time.Duration {
	if d < 0 {
		return endless
	}
	return d
}

func applyOf(s lagSample) time.Duration  { return s.apply }
func judgedOf(s lagSample) time.Duration { return s.judged }
