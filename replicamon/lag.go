package replicamon

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"causeway/backend"
)

// lag explains how far a node is behind, for people and metrics.
func (n *node) lag() backend.Lag {
	l := backend.Lag{Position: n.posLag, Transport: n.transport, Apply: -1}
	st := n.status
	if st == nil {
		return l
	}
	l.SampledAt = st.asked
	l.Channels = len(st.channels)
	if len(st.channels) == 0 {
		return l
	}
	l.IOThread, l.SQLThread = st.threads()
	l.LastError = st.lastError()
	for _, c := range st.channels {
		l.Delay = max(l.Delay, c.delay)
	}
	l.ReceivedUnapp = st.received().Subtract(n.pos).Count()
	l.Workers = len(st.workers)
	for _, w := range st.workers {
		if w.applying != "" {
			l.WorkersBusy++
			l.OldestTrx = max(l.OldestTrx, w.applyingFor)
		}
	}
	l.WorkerDetail = st.workerDetail()
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

// applyLag is how long ago the oldest transaction that is received but not
// applied was committed on its source, by the timestamps in the binary log; 0
// if all is applied. It suffers when the hosts' clocks differ. -1: unknown.
func (n *node) applyLag(unapplied uint64, sqlThread string) time.Duration {
	oldest, applied := time.Duration(-1), time.Duration(-1)
	for _, w := range n.status.workers {
		if w.applying != "" {
			oldest = max(oldest, w.applyingAge)
		}
		if w.appliedAge >= 0 && (applied < 0 || w.appliedAge < applied) {
			applied = w.appliedAge
		}
	}
	switch {
	case oldest >= 0:
		return oldest
	case unapplied == 0 && sqlThread == "Yes":
		return 0
	case unapplied == 0, len(n.status.workers) == 0:
		return -1 // a stopped applier receives nothing that would tell
	case unapplied == 1 && n.status.channels[0].queuedAge >= 0:
		return n.status.channels[0].queuedAge
	case applied >= 0 && n.posLag >= 0:
		return min(applied, n.posLag) // both are bounds from above
	default:
		return max(applied, n.posLag)
	}
}

// workerDetail tells what the busy workers hold, the longest first.
func (st *status) workerDetail() string {
	busy := slices.DeleteFunc(slices.Clone(st.workers), func(w worker) bool { return w.applying == "" })
	slices.SortFunc(busy, func(a, b worker) int { return int(b.applyingFor - a.applyingFor) })
	var out []string
	for _, w := range busy {
		text := fmt.Sprintf("worker %d: %s for %s", w.id, w.applying, w.applyingFor.Round(time.Millisecond))
		if w.retries > 0 {
			text += fmt.Sprintf(" (retried %d times)", w.retries)
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}
