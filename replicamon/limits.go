package replicamon

import (
	"fmt"
	"time"

	"causeway/backend"
)

// LagLimit is how far behind a replica may be for the reads of a class.
type LagLimit struct {
	Name string // the class, for logs, metrics and SHOW CAUSEWAY SERVERS
	// P95 is what 95 % of the window's samples must be within. Above twice of
	// it one sample in a hundred excludes at once.
	P95 time.Duration
	// FarP95 is the same for replicas in other zones than Causeway's; 0: half of P95.
	FarP95 time.Duration
}

// of is the limit for a node.
func (l LagLimit) of(at site) time.Duration {
	switch {
	case !at.far:
		return l.P95
	case l.FarP95 == 0:
		return l.P95 / 2
	}
	return l.FarP95
}

// recovery says how a replica comes back after an exclusion.
type recovery struct {
	window    time.Duration // for so long every sample must be within the limit
	slowStart time.Duration // from the least share to the whole
}

// leastShare is the percentage of its weight with which a replica comes back.
const leastShare = 10

// limitPhase is where a replica stands with one limit.
type limitPhase uint8

const (
	limitNew      limitPhase = iota // no sample has told anything yet
	limitServing                    // within the limit, or not outside of it for long enough
	limitExcluded                   // until the recovery window has passed
)

// limitState is a replica's standing with one limit: a state machine whose
// clock is the time of the window's newest sample.
//
// The way out is quick and the way back is slow, and only the way back asks for
// an unbroken time inside: a lag that swings around the limit excludes once.
type limitState struct {
	phase    limitPhase
	blind    bool      // the newest sample says nothing about the replica
	held     bool      // because there is no source
	cold     bool      // new: it began another life, and serves slowly at first
	why      string    // of the exclusion
	inside   time.Time // excluded: since when every sample is within; zero: the newest is not
	from     time.Time // older samples are not judged again: they are from before the return
	returned time.Time // zero: it was never excluded, and needs no slow start
}

// next takes in the newest sample of w.
func (l limitState) next(limit time.Duration, w window, r recovery) limitState {
	s := w.last()
	l.blind, l.held = s.blind, s.held
	switch {
	case l.phase == limitExcluded:
		return l.recover(limit, s, r)
	case s.blind:
		return l
	}
	if why := overLimit(limit, s, w.quantiles(l.from, judgedOf)); why != "" {
		return l.exclude(why)
	}
	if l.cold {
		l.cold, l.returned = false, s.at
	}
	l.phase = limitServing
	return l
}

// exclude begins an exclusion.
func (l limitState) exclude(why string) limitState {
	return limitState{phase: limitExcluded, blind: l.blind, held: l.held, why: why}
}

// recover counts the time inside the limit during an exclusion.
func (l limitState) recover(limit time.Duration, s lagSample, r recovery) limitState {
	switch {
	case s.judged < 0 || s.judged > limit:
		l.inside = time.Time{}
		return l
	case l.inside.IsZero():
		l.inside = s.at
	}
	if s.at.Sub(l.inside) < r.window {
		return l
	}
	return limitState{phase: limitServing, from: l.inside, returned: s.at}
}

// overLimit says what is over the limit, "" if nothing is.
func overLimit(limit time.Duration, s lagSample, q quantiles) string {
	switch {
	case s.judged < 0:
		return "its lag is unknown: " + s.why
	case q.p99 < 0 || q.p95 < 0:
		return "its lag was unknown within the window"
	case q.p99 > 2*limit:
		return fmt.Sprintf("lag p99 was %s, more than twice the limit of %s", rounded(q.p99), limit)
	case q.p95 > limit:
		return fmt.Sprintf("lag p95 was %s, the limit is %s", rounded(q.p95), limit)
	}
	return ""
}

func rounded(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// Why a replica serves nothing under a limit until a status probe of its life has
// told how far behind it is.
const (
	lagNotKnownYet = "its lag is not known yet"
	lagBlind       = "its lag is unknown: the source's position is not known, or the replica is joining, or has yet to connect to it"
)

// shown is the standing as the View tells it at a moment. Its text holds no
// number that changes during an exclusion.
func (l limitState) shown(name string, now time.Time, r recovery) backend.Limit {
	switch {
	case l.phase == limitExcluded:
		back := backend.Limit{Name: name, Excluded: l.why, Held: l.held}
		if !l.inside.IsZero() {
			back.Returns = l.inside.Add(r.window)
		}
		return back
	case l.blind && !(l.held && l.phase == limitServing):
		return backend.Limit{Name: name, Excluded: lagBlind, Unjudged: true}
	case l.phase == limitNew:
		return backend.Limit{Name: name, Excluded: lagNotKnownYet, Unjudged: true}
	}
	return backend.Limit{Name: name, Share: l.share(now, r), Held: l.held}
}

// share grows from the least share to 100 during the slow start.
func (l limitState) share(now time.Time, r recovery) uint8 {
	since := now.Sub(l.returned)
	if l.returned.IsZero() || since >= r.slowStart {
		return 100
	}
	return uint8(leastShare + (100-leastShare)*float64(max(since, 0))/float64(r.slowStart))
}
