package replicamon

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"causeway/backend"
)

// What the server says of a worker that has done its transaction and may not
// commit before another one (replica_preserve_commit_order), and of an applier
// that hands out nothing more before a transaction has committed.
const (
	waitsToCommit = "Waiting for preceding transaction to commit"
	waitsToGoOn   = "Waiting for dependent transaction to commit"
)

// tellWorkers fills in what the workers do.
func (st *status) tellWorkers(l *backend.Lag) {
	l.Workers = len(st.workers)
	for _, w := range st.workers {
		if w.applying == "" {
			continue
		}
		if l.SQLThread == "Yes" { // those of a stopped one only show what they held last
			l.WorkersBusy++
		}
		l.OldestTrx = max(l.OldestTrx, w.applyingFor)
		if w.waits() {
			l.Blocker.Waiting++
		} else if l.Blocker.GTID == "" || w.applyingFor > l.Blocker.For {
			l.Blocker.Worker, l.Blocker.GTID = w.id, w.applying
			l.Blocker.For, l.Blocker.Doing = max(w.applyingFor, 0), w.doing
		}
	}
	for _, c := range st.channels {
		l.Blocker.Stalled = l.Blocker.Stalled || strings.HasPrefix(c.sqlState, waitsToGoOn)
	}
	l.WorkerDetail = st.workerDetail()
}

// waits tells whether the worker is done but for another's commit.
func (w worker) waits() bool { return strings.HasPrefix(w.doing, waitsToCommit) }

// workerDetail tells what the busy workers hold, the longest first.
func (st *status) workerDetail() string {
	busy := slices.DeleteFunc(slices.Clone(st.workers), func(w worker) bool { return w.applying == "" })
	slices.SortFunc(busy, func(a, b worker) int { return int(b.applyingFor - a.applyingFor) })
	var out []string
	for _, w := range busy {
		text := fmt.Sprintf("worker %d: %s for %s", w.id, w.applying, w.applyingFor.Round(time.Millisecond))
		if w.waits() {
			text += ", done, waits for the one before it to commit"
		}
		if w.retries > 0 {
			text += fmt.Sprintf(" (retried %d times)", w.retries)
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}
