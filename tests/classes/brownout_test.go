package classes

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/rig"
	"causeway/tests/session/raw"
	"causeway/wire"
)

// brownout has few connections and long waits for them: without refusing the
// reports, all others would wait behind them, and none would fail.
const brownout = `
[pool]
max_connections = 2
wait = "60s"
[brownout]
wait = "100ms"
step = "60s"
recover = "1s"
`

// report takes a server some tenths of a second.
const report = "SELECT COUNT(*) FROM r a, r b, r c, r d, r e, r f, r g, r h WHERE a.v + b.v * c.v > d.id + e.id /*causeway_class='F2'*/"

// crowd is what the reads of some clients got.
type crowd struct{ served, refused, servedInBrownout atomic.Int64 }

// run reads with one client until stop is closed. Only a brownout may refuse.
func (n *crowd) run(t *testing.T, c *raw.Client, sql string, level func() bool, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		in := level()
		a, err := c.Query(sql)
		switch {
		case err != nil:
			t.Errorf("%s: %v", sql, err)
			return
		case a.Code() == wire.ErrServerIsntAvailable:
			n.refused.Add(1)
			time.Sleep(5 * time.Millisecond) // as a client would that tries again
		case a.Err() != nil:
			t.Errorf("%s: %v", sql, a.Err())
			return
		default:
			n.served.Add(1)
			if in && level() {
				n.servedInBrownout.Add(1)
			}
		}
	}
}

// TestBrownout: reports flood the few connections to the replicas. They are
// refused, with an error of their own, while the reads of the other classes go on
// without one; when the flood is over they are served again, without anybody's doing.
func TestBrownout(t *testing.T) {
	lay(t)
	cw := cluster.StartCauseway(t, shared, brownout)
	probe := dial(t, cw, 0)
	status := func() string { return raw.Query(t, probe, "SHOW CAUSEWAY STATUS").Fact("Brownout") }
	if got := status(); !strings.HasPrefix(got, "none") {
		t.Fatalf("before: %s", got)
	}
	var on atomic.Bool
	var f0, f1, f2 crowd
	var reports, others sync.WaitGroup
	noMoreReports, end := make(chan struct{}), make(chan struct{})
	for range 24 {
		c := dial(t, cw, 0)
		reports.Go(func() { f2.run(t, c, report, on.Load, noMoreReports) })
	}
	for id := range 2 {
		own, list := dial(t, cw, 0), dial(t, cw, 0)
		raw.Query(t, own, fmt.Sprintf("UPDATE r SET v = v + 1 WHERE id = %d", id)) // it holds a token
		others.Go(func() { f0.run(t, own, "SELECT v FROM r WHERE id = 1", on.Load, end) })
		others.Go(func() { f1.run(t, list, "SELECT v FROM r WHERE id = 1 /*causeway_class='F1'*/", on.Load, end) })
	}
	check.Until(t, "reports are refused, and others served meanwhile", func() bool {
		on.Store(strings.HasPrefix(status(), "level 1 of 2: refuses F2"))
		return f2.refused.Load() >= 100 && f0.servedInBrownout.Load() >= 100 && f1.servedInBrownout.Load() >= 100
	})
	close(noMoreReports)
	reports.Wait()
	check.Until(t, "it is over", func() bool { return strings.HasPrefix(status(), "none") })
	close(end)
	others.Wait()
	raw.Query(t, probe, report)
	if role := raw.Route(t, probe, "Role"); role != "replica" {
		t.Errorf("the report ran on the %s", role)
	}
	t.Logf("served/refused/served in brownout: F0 %d/%d/%d, F1 %d/%d/%d, F2 %d/%d", f0.served.Load(), f0.refused.Load(), f0.servedInBrownout.Load(),
		f1.served.Load(), f1.refused.Load(), f1.servedInBrownout.Load(), f2.served.Load(), f2.refused.Load())
	if f0.refused.Load()+f1.refused.Load() != 0 || f2.served.Load() == 0 {
		t.Error("only F2 is refused, and not all of it")
	}
	m := rig.MustMetrics(t, cw.HTTP)
	for class, n := range map[string]*crowd{"F0": &f0, "F1": &f1, "F2": &f2} {
		if got := m.Sum("causeway_brownout_refused_total", fmt.Sprintf("class=%q", class)); got != float64(n.refused.Load()) {
			t.Errorf("%s: %v refusals counted, %d seen", class, got, n.refused.Load())
		}
	}
	if m.Sum("causeway_brownout_level") != 0 {
		t.Error("the metric says that it goes on")
	}
}
