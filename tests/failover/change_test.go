package failover

import (
	"context"
	"strings"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
)

// TestKilled: the source dies under load, in every third round (the first
// among them) when no replica receives any more: those writes really are lost.
func TestKilled(t *testing.T) {
	rounds(t, func(t *testing.T, i int) outcome {
		lay(t)
		p := start(t, shared.Addrs(), config(t, 30*time.Second))
		l := p.load()
		old, cut := shared.Source(), i%3 == 0
		if cut {
			for _, n := range shared.Replicas() {
				check.Must(t, stopReceiving(t.Context(), n))
			}
			l.Await(clients)
			l.note = "receivers stopped"
		}
		check.Must(t, old.Kill())
		l.resumed(func() { check.Must(t, shared.Promote(shared.Replicas()[0])) })
		l.Await(5 * clients)
		o := l.end(p)
		reportedExactly(t, p, o, cut)
		if got := p.Status("Failovers"); got != "1" {
			t.Errorf("%s failovers counted", got)
		}
		rejoin(t, old)
		check.Until(t, "all serve again", p.allUp)
		return o
	})
}

// stopReceiving stops the receiver, and before it the applier: one that has begun
// on half a transaction takes 60 s to stop.
func stopReceiving(ctx context.Context, n *cluster.Node) error {
	return n.Exec(ctx, "STOP REPLICA SQL_THREAD; STOP REPLICA IO_THREAD")
}

// reportedExactly checks, where writes must have been lost, that they are those
// which were reported.
func reportedExactly(t *testing.T, p *proxy, o outcome, cut bool) {
	t.Helper()
	if cut && (o.missing == 0 || o.missing != o.lost) {
		t.Errorf("%d acknowledged writes are missing, %d were reported: %v", o.missing, o.lost, p.Show("LOST"))
	}
}

// TestFrozen: the source hangs under load, another is promoted, and the old one
// goes on, writable, as if nothing had happened.
func TestFrozen(t *testing.T) {
	rounds(t, func(t *testing.T, _ int) outcome {
		lay(t)
		p := start(t, shared.Addrs(), config(t, 30*time.Second))
		l := p.load()
		old := shared.Source()
		check.Must(t, old.Freeze())
		t.Cleanup(func() { check.Must(t, old.Thaw()) })
		check.Until(t, "it is down", func() bool { return strings.HasPrefix(p.state(old), "down") })
		l.resumed(func() { check.Must(t, shared.Promote(shared.Replicas()[0])) })
		l.Await(5 * clients)
		check.Must(t, old.Thaw())
		log := old.LogStatements(t)
		check.Until(t, "the old source is seen again", func() bool { return strings.HasPrefix(p.state(old), "excluded: fenced") })
		l.Phase.Store(2) // what was sent to it while it hung it runs now
		l.Await(10 * clients)
		o := l.end(p)
		if n := log.Count(t, "phase 2"); n != 0 {
			t.Errorf("%d statements went to the deposed source", n)
		}
		rejoin(t, old)
		check.Until(t, "all serve again", p.allUp)
		return o
	})
}

// TestPlanned: nobody sees an error.
func TestPlanned(t *testing.T) {
	rounds(t, func(t *testing.T, _ int) outcome {
		lay(t)
		p := start(t, shared.Addrs(), config(t, 30*time.Second))
		l := p.load()
		p.Run("CAUSEWAY PAUSE WRITES")
		check.Until(t, "open transactions have finished", func() bool { return p.Status("Open_transactions") == "0" })
		l.resumed(func() { check.Must(t, shared.Promote(shared.Replicas()[0])) })
		l.Await(5 * clients)
		p.Run("CAUSEWAY RESUME")
		o := l.end(p)
		if len(o.errs) > 0 {
			t.Errorf("clients saw errors: %v", o.errs)
		}
		if lost := p.lost(); len(lost) > 0 {
			t.Errorf("lost: %v", lost)
		}
		check.Until(t, "all serve again", p.allUp)
		return o
	})
}
