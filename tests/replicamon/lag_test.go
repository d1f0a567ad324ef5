package replicamon

import (
	"strings"
	"testing"
	"time"

	"causeway/backend"
	"causeway/tests/check"
	"causeway/tests/cluster"
)

// soon is a deadline that only a failure reaches.
func soon() time.Time { return time.Now().Add(30 * time.Second) }

func TestPausedReplica(t *testing.T) {
	shared.HealAfter(t)
	r := watchOver(t, shared.Addrs(), nil)
	r.allServe()
	slow, quick := shared.Replica(1), shared.Replica(2)
	check.Must(t, slow.Pause(r.ctx))
	before := time.Now()
	need := write(t, shared)
	after := time.Now()
	v := r.until("the other replica covers a sample from after the write", func(v *backend.View) bool {
		return v.Node(quick.Addr).Position.Contains(need) && v.Node(quick.Addr).FreshAsOf.After(after)
	})
	if n := v.Node(slow.Addr); n.Position.Contains(need) || !n.FreshAsOf.Before(after) || n.Lag.Position <= 0 {
		t.Errorf("paused replica: fresh as of %v after the write began, lag %v", n.FreshAsOf.Sub(before), n.Lag.Position)
	}
	r.until("its state explains it", func(v *backend.View) bool {
		n := v.Node(slow.Addr)
		l := n.Lag
		return n.Usable() && l.SQLThread == "No" && l.IOThread == "Yes" && l.ReceivedUnapp > 0 && l.Apply > 0 && l.Transport == 0
	})
	if r.metric("causeway_replica_sql_running", slow.Addr) != 0 {
		t.Error("the metric says that the applier runs")
	}
	check.Must(t, slow.Resume(r.ctx))
	v = r.until("it caught up", func(v *backend.View) bool {
		n := v.Node(slow.Addr)
		return n.FreshAsOf.After(after) && n.Lag.SQLThread == "Yes" && n.Lag.ReceivedUnapp == 0 && n.Lag.Apply == 0
	})
	if !v.Node(slow.Addr).Position.Contains(need) {
		t.Error("fresh without covering")
	}
}

func TestDelayedReplica(t *testing.T) {
	shared.HealAfter(t)
	r := watchOver(t, shared.Addrs(), nil)
	r.allServe()
	n := shared.Replica(1)
	check.Must(t, n.Lag(r.ctx, 3))
	need := write(t, shared)
	written := time.Now()
	v := r.until("the delay is seen", func(v *backend.View) bool { return v.Node(n.Addr).Lag.Delay == 3*time.Second })
	if v.Node(n.Addr).Position.Contains(need) && time.Since(written) < 2*time.Second {
		t.Error("applied before its delay")
	}
	v = r.until("applied, late", func(v *backend.View) bool { return v.Node(n.Addr).Position.Contains(need) })
	if time.Since(written) < 2*time.Second || v.Node(n.Addr).Lag.Apply == 0 && v.Node(n.Addr).Lag.SampledAt.Before(written) {
		t.Errorf("seen after %v", time.Since(written))
	}
}

func TestBlockedWorker(t *testing.T) {
	shared.HealAfter(t)
	r := watchOver(t, shared.Addrs(), nil)
	r.allServe()
	write(t, shared)
	check.Must(t, shared.WaitCaughtUp(r.ctx))
	n := shared.Replica(1)
	lock, err := n.DB.Conn(r.ctx)
	check.Must(t, err)
	_, err = lock.ExecContext(r.ctx, "LOCK TABLES test.m READ")
	check.Must(t, err)
	need := write(t, shared)
	v := r.until("a worker is blocked", func(v *backend.View) bool {
		l := v.Node(n.Addr).Lag
		return l.WorkersBusy > 0 && l.OldestTrx > 0 && l.Apply > 0
	})
	if d := v.Node(n.Addr).Lag.WorkerDetail; !strings.Contains(d, "worker") || !strings.Contains(d, v.Source.Incarnation.ServerUUID) {
		t.Errorf("detail %q", d)
	}
	check.Must(t, lock.Close()) // the pool keeps the session: unlock by ending it
	_, err = n.DB.ExecContext(r.ctx, "UNLOCK TABLES")
	check.Must(t, err)
	if _, ok := r.WaitCovered(r.ctx, need, soon()); !ok {
		t.Error("not applied")
	}
}

func TestFrozenReplica(t *testing.T) {
	shared.HealAfter(t)
	r := watchOver(t, shared.Addrs(), nil)
	r.allServe()
	n, other := shared.Replica(1), shared.Replica(2)
	check.Must(t, n.Freeze())
	v := r.until("down", func(v *backend.View) bool { return !v.Node(n.Addr).Up })
	if !strings.HasPrefix(v.Node(n.Addr).Exclude, "down: ") {
		t.Error(v.Node(n.Addr).Exclude)
	}
	need := write(t, shared)
	if v, ok := r.WaitCovered(r.ctx, need, soon()); !ok || !v.Node(other.Addr).Position.Contains(need) {
		t.Error("the other replica is held up")
	}
	check.Must(t, n.Thaw())
	v = r.until("back", func(v *backend.View) bool { return v.Node(n.Addr).Usable() })
	if g := v.Node(n.Addr).Incarnation.Generation; g != 1 {
		t.Errorf("generation %d: nothing restarted", g)
	}
}

func TestKilledReplica(t *testing.T) {
	shared.HealAfter(t)
	r := watchOver(t, shared.Addrs(), nil)
	r.allServe()
	n := shared.Replica(1)
	check.Must(t, n.Kill())
	r.until("down", func(v *backend.View) bool { return !v.Node(n.Addr).Up })
	need := write(t, shared)
	r.until("the monitor knows the write", func(v *backend.View) bool { return v.SourcePosition.Contains(need) })
	check.Must(t, n.StartNode())
	v := r.until("back", func(v *backend.View) bool { return v.Node(n.Addr).Usable() })
	if p := v.Node(n.Addr); p.Incarnation.Generation != 2 || !p.Position.Contains(need) {
		t.Errorf("generation %d, covers %v", p.Incarnation.Generation, p.Position.Contains(need))
	}
	if v.Node(shared.Replica(2).Addr).Incarnation.Generation != 1 {
		t.Error("another node's generation changed")
	}
}

// A killed probe connection is no dead server.
func TestKilledConnections(t *testing.T) {
	r := watchOver(t, shared.Addrs(), nil)
	r.allServe()
	n := shared.Source()
	for range 5 {
		rows, err := n.DB.QueryContext(r.ctx, "SELECT id FROM information_schema.processlist WHERE user = ?", cluster.MonitorUser)
		check.Must(t, err)
		var ids []string
		for rows.Next() {
			var id string
			check.Must(t, rows.Scan(&id))
			ids = append(ids, id)
		}
		check.Must(t, rows.Close())
		for _, id := range ids {
			_ = n.Exec(r.ctx, "KILL "+id) // it may be gone already
		}
		r.samples(3)
		if v := r.View(); !v.Source.Usable() || v.Source.Incarnation.Generation != 1 {
			t.Fatalf("source: %s, generation %d", v.Source.Exclude, v.Source.Incarnation.Generation)
		}
	}
}
