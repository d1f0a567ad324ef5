package group

import (
	"os"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/load"
)

// writers are clients that write and read back through a Causeway.
type writers struct {
	*load.Load
	p    *proxy
	errs map[string]int // what they saw, once they have ended
}

func (p *proxy) load() *writers {
	p.T.Helper()
	w := &writers{Load: load.Start(p.T, p.app(), clients, limit), p: p}
	w.await()
	return w
}

// await waits until each client could have written and read some more rows.
func (w *writers) await() {
	w.p.T.Helper()
	w.AwaitReads(5 * clients)
}

// end stops the clients and checks what they were told: no stale read, and all
// that was acknowledged is there, on every member once it has caught up.
func (w *writers) end() {
	t := w.p.T
	t.Helper()
	told := w.Stop()
	w.errs = told.Errs
	missing := told.Missing(t, shared.Source(), "grp.t")
	t.Logf("%d writes acknowledged, %d own reads, %d missing; errors: %v", len(told.Acked), told.Reads, missing, told.Errs)
	if missing > 0 {
		t.Errorf("%d acknowledged writes are missing", missing)
	}
	if lost := w.p.Show("LOST"); len(lost) > 0 {
		t.Errorf("reported as lost: %v", lost)
	}
	if told.Stale > 0 {
		t.Errorf("%d reads missed their session's own write", told.Stale)
	}
}

// noErrors is for changes that no client may notice.
func (w *writers) noErrors() {
	w.p.T.Helper()
	if len(w.errs) > 0 {
		w.p.T.Errorf("clients saw errors: %v", w.errs)
	}
}

// resumed waits for the group's new primary and then for writes there, and
// tells how long after it was open for writes the first one was acknowledged.
func (w *writers) resumed() *cluster.Node {
	t := w.p.T
	t.Helper()
	n, err := shared.Elected(patience(t))
	check.Must(t, err)
	w.Mark()
	took := w.AwaitAck()
	t.Logf("%s is the primary; a write at most %v after it was open for writes", n.Name, took)
	if os.Getenv("CAUSEWAY_GROUP_TIMED") != "" && took > 2*time.Second {
		t.Errorf("writes went on %v after the primary was open for writes", took)
	}
	return n
}
