package budget

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
)

const (
	qps      = 50
	burst    = 100
	sessions = 16
	maxWait  = 200 * time.Millisecond
	hammer   = 4 * time.Second
	oldValue = 1
)

var shared *cluster.Cluster

func TestMain(m *testing.M) { cluster.Main(m, cluster.Options{}, cluster.Keep(&shared)) }

func config(qps, burst float64, maxWait time.Duration) string {
	return fmt.Sprintf("[fallback]\nqps = %g\nburst = %g\n\n[routing]\nmax_wait = %q\n", qps, burst, maxWait)
}

// lay makes a table with one row a session, known to all nodes.
func lay(t *testing.T) {
	t.Helper()
	stmts := []string{"DROP DATABASE IF EXISTS budget", "CREATE DATABASE budget", "CREATE TABLE budget.r (id INT PRIMARY KEY, v INT NOT NULL)"}
	for id := range sessions {
		stmts = append(stmts, fmt.Sprintf("INSERT INTO budget.r VALUES (%d, %d)", id, oldValue))
	}
	shared.Lay(t, stmts...)
}

func dial(t *testing.T, cw *cluster.Causeway) *raw.Client {
	t.Helper()
	return cluster.OpenRaw(t, raw.Options{Addr: cw.Addr, DB: "budget", Caps: raw.Modern})
}

// equal wants a metric to have grown by exactly n.
func equal(t *testing.T, m rig.Metrics, n int64, name string, labels ...string) {
	t.Helper()
	if got := m.Sum(name, labels...); got != float64(n) {
		t.Errorf("%s%v grew by %v, wanted %d", name, labels, got, n)
	}
}

// TestReadsAfterAWrite: sessions with a token read from the source as far as
// the budget reaches; then they wait and get an error that names the budget.
func TestReadsAfterAWrite(t *testing.T) {
	lay(t)
	cw := cluster.StartCauseway(t, shared, config(qps, burst, maxWait))
	shared.StopAppliers(t)
	log := shared.Source().LogStatements(t)
	clients := make([]*raw.Client, sessions)
	for id := range clients {
		clients[id] = dial(t, cw)
		raw.Query(t, clients[id], fmt.Sprintf("UPDATE r SET v = %d WHERE id = %d", oldValue+1, id))
	}
	before := rig.MustMetrics(t, cw.HTTP)
	var served, refused atomic.Int64
	start := time.Now()
	var wg sync.WaitGroup
	for id, c := range clients {
		wg.Go(func() {
			for time.Since(start) < hammer {
				readOwn(t, c, id, &served, &refused)
			}
		})
	}
	wg.Wait()
	took := time.Since(start)

	allowed := burst + qps*took.Seconds()
	onSource := log.CountStart(t, "SELECT /* own */")
	t.Logf("in %v: %d reads from the source of %.0f allowed, %d refused", took, onSource, allowed, refused.Load())
	if float64(onSource) > allowed+1 {
		t.Errorf("%d reads reached the source, the budget allows %.0f", onSource, allowed)
	}
	if float64(onSource) < 0.8*allowed {
		t.Errorf("%d reads reached the source, the budget allows %.0f: it was not used", onSource, allowed)
	}
	if served.Load() != int64(onSource) || refused.Load() == 0 {
		t.Errorf("%d reads served, %d refused, %d on the source", served.Load(), refused.Load(), onSource)
	}
	grown := rig.MustMetrics(t, cw.HTTP).Minus(before)
	equal(t, grown, served.Load(), "causeway_fallback_total", `outcome="used"`)
	equal(t, grown, refused.Load(), "causeway_fallback_total", `outcome="refused"`)
	equal(t, grown, served.Load(), "causeway_queries_total", `target="source"`, `reason="fallback"`)
	equal(t, grown, refused.Load(), "causeway_queries_total", `target="local"`, `reason="refused"`)
	equal(t, grown, 0, "causeway_queries_total", `target="replica"`)
}

// readOwn reads the session's own row once.
func readOwn(t *testing.T, c *raw.Client, id int, served, refused *atomic.Int64) {
	start := time.Now()
	a, err := c.Query(fmt.Sprintf("SELECT /* own */ v FROM r WHERE id = %d", id))
	switch {
	case err != nil:
		t.Errorf("session %d: %v", id, err)
	case a.Err() == nil:
		served.Add(1)
		if a.Value() != fmt.Sprint(oldValue+1) {
			t.Errorf("session %d read %s: stale", id, a.Value())
		}
	default:
		refused.Add(1)
		if !strings.Contains(a.Err().Error(), "budget") {
			t.Errorf("session %d: the error does not name the budget: %v", id, a.Err())
		}
		if took := time.Since(start); took < maxWait {
			t.Errorf("session %d was refused after %v, before max_wait %v", id, took, maxWait)
		}
	}
}

// TestReadsWithoutAToken never fail: beyond the budget the freshest replica
// answers, and the answer says so.
func TestReadsWithoutAToken(t *testing.T) {
	lay(t)
	cw := cluster.StartCauseway(t, shared, config(qps, burst, maxWait)+"max_staleness = \"500ms\"\n")
	shared.StopAppliers(t)
	log := shared.Source().LogStatements(t)
	check.Must(t, shared.Source().Exec(t.Context(), fmt.Sprintf("UPDATE budget.r SET v = %d", oldValue+1)))
	time.Sleep(time.Second) // beyond max_staleness: the replicas are provably too old
	before := rig.MustMetrics(t, cw.HTTP)
	var fresh, warned atomic.Int64
	start := time.Now()
	var wg sync.WaitGroup
	for id := range sessions {
		c := dial(t, cw)
		wg.Go(func() {
			for time.Since(start) < hammer {
				readAny(t, c, id, &fresh, &warned)
			}
		})
	}
	wg.Wait()
	took := time.Since(start)

	allowed := burst + qps*took.Seconds()
	onSource := log.CountStart(t, "SELECT /* any */")
	t.Logf("in %v: %d reads from the source of %.0f allowed, %d with a warning", took, onSource, allowed, warned.Load())
	if float64(onSource) > allowed+1 || float64(onSource) < 0.8*allowed {
		t.Errorf("%d reads reached the source, the budget allows %.0f", onSource, allowed)
	}
	if fresh.Load() != int64(onSource) || warned.Load() == 0 {
		t.Errorf("%d reads without and %d with a warning, %d on the source", fresh.Load(), warned.Load(), onSource)
	}
	grown := rig.MustMetrics(t, cw.HTTP).Minus(before)
	equal(t, grown, fresh.Load(), "causeway_fallback_total", `outcome="used"`)
	equal(t, grown, warned.Load(), "causeway_fallback_total", `outcome="refused"`)
	equal(t, grown, fresh.Load(), "causeway_queries_total", `target="source"`, `reason="fallback"`)
	equal(t, grown, warned.Load(), "causeway_queries_total", `target="replica"`, `reason="stale"`)
	equal(t, grown, warned.Load(), "causeway_stale_reads_total")
}

// readAny reads some row on a session that never wrote. An old value without
// a warning would break max_staleness.
func readAny(t *testing.T, c *raw.Client, id int, fresh, warned *atomic.Int64) {
	a, err := c.Query(fmt.Sprintf("SELECT /* any */ v FROM r WHERE id = %d", id))
	if err == nil {
		err = a.Err()
	}
	if err != nil {
		t.Errorf("session %d, which never wrote: %v", id, err)
		return
	}
	if a[0].Warnings == 0 {
		fresh.Add(1)
		if a.Value() != fmt.Sprint(oldValue+1) {
			t.Errorf("session %d read %s without a warning", id, a.Value())
		}
		return
	}
	warned.Add(1)
	w, err := c.Query("SHOW WARNINGS")
	if err != nil || len(w[0].Rows) != 1 || !strings.Contains(string(w[0].Rows[0][2]), "Causeway") {
		t.Errorf("session %d: SHOW WARNINGS after a stale read: %v %v", id, w, err)
	}
}

// TestWhatTheBudgetDoesNotCount: reads that no replica could have served work
// on, however empty the budget is.
func TestWhatTheBudgetDoesNotCount(t *testing.T) {
	lay(t)
	cw := cluster.StartCauseway(t, shared, config(0.001, 1, maxWait))
	shared.StopAppliers(t)
	c := dial(t, cw)
	raw.Query(t, c, "UPDATE r SET v = 5 WHERE id = 1")
	for range 2 { // the one read that the budget has, and one more
		_, err := c.Query("SELECT v FROM r WHERE id = 1")
		check.Must(t, err)
	}
	before := rig.MustMetrics(t, cw.HTTP)
	for range 20 {
		for _, sql := range []string{
			"SELECT v FROM r WHERE id = 1 FOR UPDATE", "BEGIN", "SELECT v FROM r WHERE id = 1", "COMMIT", "SELECT @@server_id",
			"SET autocommit = 0", "SELECT v FROM r WHERE id = 1", "COMMIT", "SET autocommit = 1", "SHOW VARIABLES LIKE 'port'",
			"SET @x = 1", "SELECT v FROM r WHERE id = @x", "SELECT v, GET_LOCK('budget', 1) FROM r WHERE id = 1", "DO RELEASE_LOCK('budget')",
			"START TRANSACTION READ ONLY", "SELECT v FROM r WHERE id = 1", "COMMIT", "UPDATE r SET v = v + 1 WHERE id = 1",
		} {
			raw.Query(t, c, sql)
		}
	}
	grown := rig.MustMetrics(t, cw.HTTP).Minus(before)
	equal(t, grown, 0, "causeway_fallback_total")
}

// TestWaitEndsWhenAReplicaHasIt: beyond the budget a read waits; the wait ends
// with the replica that catches up, not with the limit.
func TestWaitEndsWhenAReplicaHasIt(t *testing.T) {
	lay(t)
	const limit = 30 * time.Second
	cw := cluster.StartCauseway(t, shared, config(0.001, 1, limit))
	shared.StopAppliers(t)
	c, other := dial(t, cw), dial(t, cw)
	raw.Query(t, c, "UPDATE r SET v = 5 WHERE id = 1")
	raw.Query(t, c, "SELECT v FROM r WHERE id = 1") // the one read that the budget has
	start := time.Now()
	check.Must(t, c.SendQuery("SELECT v FROM r WHERE id = 1"))
	raw.Query(t, other, "SELECT @@server_id") // whoever waits holds up nobody else
	time.Sleep(300 * time.Millisecond)
	check.Must(t, shared.Replica(1).Resume(t.Context()))
	a, err := c.ReadAnswer()
	check.Must(t, err)
	took := time.Since(start)
	if a.Err() != nil || a.Value() != "5" {
		t.Fatalf("after %v: %v", took, a)
	}
	if took > limit/3 {
		t.Errorf("the wait took %v; the replica had it after about 0.3 s", took)
	}
	route := raw.Query(t, c, "SHOW CAUSEWAY ROUTE").String()
	if !strings.Contains(route, `"Role", "replica"`) || !strings.Contains(route, "token_waited") {
		t.Errorf("the route of the read that waited:\n%s", route)
	}
	t.Logf("answered %v after it was sent", took)
}
