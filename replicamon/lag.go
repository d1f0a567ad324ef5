package replicamon

import (
	"fmt"
	"slices"
	"time"

	"causeway/backend"
)

// lag explains how far a node is behind, for people and metrics.
func (n *node) lag() backend.Lag {
	l := backend.Lag{Position: n.posLag, Transport: n.transport, Apply: -1,
		ApplyP50: n.apply.p50, ApplyP95: n.apply.p95, ApplyP99: n.apply.p99,
		SourceAt: n.sourceAt, ReceivedAt: n.receivedAt, OldAfter: n.rules.oldAfter, Failed: n.statusError,
		ClockShift: n.shift, ShiftKnown: n.shiftKnown}
	st := n.status
	if st == nil {
		return l
	}
	l.SampledAt, l.Channels, l.Denied = st.asked, len(st.channels), st.denied
	if len(st.channels) == 0 {
		return l
	}
	l.IOThread, l.SQLThread = st.threads()
	l.LastError, l.IOError, l.SQLError = st.lastError(), st.ioError(), st.sqlError()
	for _, c := range st.channels {
		l.Delay = max(l.Delay, c.delay)
		if c.receiving != "" {
			l.Receiving = c.receiving
		}
	}
	l.ReceivedUnapp = n.received.Subtract(n.pos).Count()
	if st.group != nil { // what waits for certification counts as received
		l.ReceivedUnapp = max(l.ReceivedUnapp, st.group.unapplied) + st.group.queued
	}
	st.tellWorkers(&l)
	l.Apply = n.applyLag(l.ReceivedUnapp, l.SQLThread)
	return l
}

// threads returns the state of the IO and SQL threads, of several channels the
// worst.
func (st *status) threads() (io, sql string) {
	rank := func(s string) int { return slices.Index([]string{"Yes", "Connecting", "No"}, s) }
	for i, c := range st.channels {
		if i == 0 || rank(c.io) > rank(io) {
			io = c.io
		}
		if i == 0 || rank(c.sql) > rank(sql) {
			sql = c.sql
		}
	}
	return io, sql
}

func (st *status) lastError() string {
	for _, c := range st.channels {
		if c.sqlError != "" {
			return "applier: " + c.sqlError
		}
	}
	for _, w := range st.workers {
		if w.errText != "" {
			return fmt.Sprintf("worker %d: %s", w.id, w.errText)
		}
	}
	for _, c := range st.channels {
		if c.ioError != "" {
			return "receiver: " + c.ioError
		}
	}
	return ""
}

// sqlError is what stopped the applier. A worker's own text says more than the
// coordinator's, which says that a worker stopped.
func (st *status) sqlError() string {
	for _, w := range st.workers {
		if w.errText != "" {
			return w.errText
		}
	}
	for _, c := range st.channels {
		if c.sqlError != "" {
			return c.sqlError
		}
	}
	return ""
}

func (st *status) ioError() string {
	for _, c := range st.channels {
		if c.ioError != "" {
			return c.ioError
		}
	}
	return ""
}

// applyLag is how long ago the oldest transaction that is received but not
// applied was committed on its source, by the timestamps in the binary log less
// what the clocks differ by; 0 if all is applied. -1: unknown.
func (n *node) applyLag(unapplied uint64, sqlThread string) time.Duration {
	if n.status.mode() == gtidsOff {
		return n.ownLag()
	}
	oldest, applied := time.Duration(-1), time.Duration(-1)
	for _, w := range n.status.workers {
		if w.applying != "" {
			oldest = max(oldest, trueAge(w.applyingAge, n.shift))
		}
		if a := trueAge(w.appliedAge, n.shift); a >= 0 && (applied < 0 || a < applied) {
			applied = a
		}
	}
	switch {
	case oldest >= 0:
		return n.bounded(oldest)
	case unapplied == 0 && sqlThread == "Yes":
		return 0
	case unapplied == 0, len(n.status.workers) == 0:
		return -1 // a stopped applier receives nothing that would tell
	case unapplied == 1 && n.status.channels[0].queuedAge != noAge:
		return n.bounded(trueAge(n.status.channels[0].queuedAge, n.shift))
	case applied >= 0 && n.posLag >= 0:
		return min(applied, n.posLag) // both are bounds from above
	default:
		return max(applied, n.posLag)
	}
}

// bounded holds an age by timestamps against the position: what was committed
// before the newest sample that the replica covers is applied. Timestamps say
// more only where clocks are wrong, or where they are of another source.
func (n *node) bounded(age time.Duration) time.Duration {
	if n.freshAsOf.IsZero() {
		return age
	}
	return min(age, max(0, n.status.answered.Sub(n.freshAsOf)))
}
