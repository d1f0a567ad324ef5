package classes

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

const (
	qps, burst = 50, 100
	sessions   = 6
	hammer     = 4 * time.Second
	oldValue   = 1
	newValue   = 2
)

// config has a small budget and bounds that a test can wait for. F0 errors soon.
const config = `
[[class]]
name = "F1"
max_staleness = "500ms"
[[class]]
name = "F2"
max_staleness = "600ms"
[routing]
max_wait = "200ms"
[fallback]
qps = 50
burst = 100
`

var shared *cluster.Cluster

func TestMain(m *testing.M) { cluster.Main(m, cluster.Options{}, cluster.Keep(&shared)) }

// lay makes tables that all nodes know.
func lay(t *testing.T) {
	t.Helper()
	stmts := []string{"DROP DATABASE IF EXISTS classes", "CREATE DATABASE classes",
		"CREATE TABLE classes.r (id INT PRIMARY KEY, v INT NOT NULL)", "CREATE TABLE classes.money LIKE classes.r",
		"INSERT INTO classes.money VALUES (1, 1)"}
	for id := range sessions {
		stmts = append(stmts, fmt.Sprintf("INSERT INTO classes.r VALUES (%d, %d)", id, oldValue))
	}
	shared.Lay(t, stmts...)
}

func dial(t *testing.T, cw *cluster.Causeway, caps wire.Capability) *raw.Client {
	t.Helper()
	return cluster.OpenRaw(t, raw.Options{Addr: cw.Addr, DB: "classes", Caps: raw.Modern | caps})
}

// tally is what the reads of one class got.
type tally struct{ fresh, stale, refused atomic.Int64 }

// read reads one row and judges it: an old value is right with a warning only.
func (n *tally) read(t *testing.T, c *raw.Client, sql string) {
	a, err := c.Query(sql)
	switch {
	case err != nil:
		t.Errorf("%s: %v", sql, err)
	case a.Err() != nil:
		n.refused.Add(1)
		if !strings.Contains(a.Err().Error(), "fallback budget") {
			t.Errorf("%s: %v", sql, a.Err())
		}
	case a[0].Warnings > 0:
		n.stale.Add(1)
		w, err := c.Query("SHOW WARNINGS")
		if err != nil || len(w[0].Rows) != 1 || !strings.Contains(string(w[0].Rows[0][2]), "old") {
			t.Errorf("%s: SHOW WARNINGS: %v %v", sql, w, err)
		}
	default:
		n.fresh.Add(1)
		if a.Value() != fmt.Sprint(newValue) {
			t.Errorf("%s: %s without a warning", sql, a.Value())
		}
	}
}

// TestLagOfAllReplicas: no replica applies anything, and readers of all classes
// go on. F0 sees what it wrote or gets an error; F1 is fresh within its share of
// the budget and else stale with a warning; F2 never reaches the source.
func TestLagOfAllReplicas(t *testing.T) {
	lay(t)
	cw := cluster.StartCauseway(t, shared, config)
	shared.StopAppliers(t)
	check.Must(t, shared.Source().Exec(t.Context(), fmt.Sprintf("UPDATE classes.r SET v = %d", newValue)))
	probe := dial(t, cw, 0)
	check.Until(t, "both classes' bounds are passed", func() bool {
		return !strings.Contains(raw.Query(t, probe, "EXPLAIN CAUSEWAY SELECT 1 FROM r /*causeway_class='F2'*/").Fact("Choice"), "by round_robin")
	})
	log := shared.Source().LogStatements(t)
	before := rig.MustMetrics(t, cw.HTTP)
	var f0, f1, f2 tally
	start := time.Now()
	var wg sync.WaitGroup
	for id := range sessions {
		for class, n := range map[string]*tally{"F0": &f0, "F1": &f1, "F2": &f2} {
			c := dial(t, cw, 0)
			if class == "F0" {
				raw.Query(t, c, fmt.Sprintf("UPDATE r SET v = v WHERE id = %d", id))
				raw.Query(t, c, fmt.Sprintf("INSERT INTO r VALUES (%d, %d)", 100+id, newValue)) // it holds a token
			}
			raw.Query(t, c, "SET @causeway_class = '"+class+"'")
			wg.Go(func() {
				for time.Since(start) < hammer {
					n.read(t, c, fmt.Sprintf("SELECT /* %s */ v FROM r WHERE id = %d", class, id))
				}
			})
		}
	}
	wg.Wait()
	took := time.Since(start)

	allowed := burst + qps*took.Seconds()
	on := map[string]int{}
	for _, class := range []string{"F0", "F1", "F2"} {
		on[class] = log.CountStart(t, "SELECT /* "+class+" */")
	}
	t.Logf("in %v, reads on the source %v of %.0f allowed; fresh/stale/refused: F0 %d/%d/%d, F1 %d/%d/%d, F2 %d/%d/%d", took, on, allowed,
		f0.fresh.Load(), f0.stale.Load(), f0.refused.Load(), f1.fresh.Load(), f1.stale.Load(), f1.refused.Load(), f2.fresh.Load(), f2.stale.Load(), f2.refused.Load())
	if sum := on["F0"] + on["F1"]; float64(sum) > allowed+1 || float64(sum) < 0.7*allowed {
		t.Errorf("%d reads on the source, the budget allows %.0f", sum, allowed)
	}
	if on["F2"] != 0 || f2.fresh.Load() != 0 || f2.refused.Load() != 0 || f2.stale.Load() == 0 {
		t.Errorf("F2 has %d reads on the source", on["F2"])
	}
	if f0.stale.Load() != 0 || f0.fresh.Load() != int64(on["F0"]) || on["F0"] < burst*3/10-1 {
		t.Errorf("F0 was served stale, or did not get the reserved part of the budget: %d", on["F0"])
	}
	if f1.refused.Load() != 0 || f1.stale.Load() == 0 || f1.fresh.Load() != int64(on["F1"]) {
		t.Error("F1 must be fresh within the budget and stale beyond it, and never fail")
	}
	after := rig.MustMetrics(t, cw.HTTP)
	grown := after.Minus(before)
	for class, n := range map[string]*tally{"F0": &f0, "F1": &f1, "F2": &f2} {
		label := fmt.Sprintf("class=%q", class)
		if got := grown.Sum("causeway_stale_reads_total", label); got != float64(n.stale.Load()) {
			t.Errorf("%s: %v stale reads counted", class, got)
		}
		if got := grown.Sum("causeway_fallback_total", label, `outcome="used"`); got != float64(on[class]) {
			t.Errorf("%s: %v fallbacks counted", class, got)
		}
	}
	check.Until(t, "the ratio of F0 is raised", func() bool {
		return strings.Contains(raw.Query(t, probe, "SHOW CAUSEWAY STATUS").Fact("Class F0"), "ALERT")
	})
	if got := raw.Query(t, probe, "SHOW CAUSEWAY STATUS").Fact("Class F2"); strings.Contains(got, "ALERT") {
		t.Errorf("F2: %s", got)
	}
}

// TestPromotion: a session of F2 that has written reads as F0 until its write is
// on every replica.
func TestPromotion(t *testing.T) {
	lay(t)
	cw := cluster.StartCauseway(t, shared, config)
	heal := shared.StopAppliers(t)
	c := dial(t, cw, 0)
	raw.Query(t, c, "SET @causeway_class = 'F2'")
	raw.Query(t, c, "UPDATE r SET v = 7 WHERE id = 1")
	for range 10 {
		if a := raw.Query(t, c, "SELECT v FROM r WHERE id = 1"); a.Value() != "7" || a[0].Warnings != 0 {
			t.Fatalf("read %s", a.Value())
		}
	}
	if class, promoted := raw.Route(t, c, "Class"), raw.Route(t, c, "Promoted"); class != "F2" || !strings.HasPrefix(promoted, "as F0") {
		t.Errorf("class %q, promoted %q", class, promoted)
	}
	heal()
	check.Until(t, "it reads as F2 again", func() bool {
		if a := raw.Query(t, c, "SELECT v FROM r WHERE id = 1"); a.Value() != "7" {
			t.Fatalf("read %s", a.Value())
		}
		r := raw.Query(t, c, "SHOW CAUSEWAY ROUTE")
		return r.Fact("Promoted") == "" && r.Fact("Role") == "replica"
	})
}

// TestHints: comments, query attributes and variables, in both protocols.
func TestHints(t *testing.T) {
	lay(t)
	cw := cluster.StartCauseway(t, shared, config)
	c := dial(t, cw, wire.CapQueryAttributes)
	want := func(class string) {
		t.Helper()
		if got := raw.Route(t, c, "Class"); got != class {
			t.Errorf("class %q, want %q", got, class)
		}
	}
	explained := func(class string) {
		t.Helper()
		if got := raw.Query(t, c, "EXPLAIN CAUSEWAY SELECT v FROM r WHERE id = 1").Fact("Class"); got != class {
			t.Errorf("explained as of class %q, want %q", got, class)
		}
	}
	raw.Query(t, c, "SELECT v FROM r WHERE id = 1")
	want("F0")
	raw.Query(t, c, "SELECT v FROM r WHERE id = 1 /*traceparent='00-1',causeway_class='F2'*/")
	want("F2")
	raw.Query(t, c, "SELECT v FROM r WHERE id = 1 /*causeway_class='F1'*/", raw.Attr{Name: "causeway_class", Value: "F2"})
	want("F2")
	raw.Query(t, c, "SELECT '/*causeway_class=''F2''*/', v FROM r WHERE id = 1")
	want("F0")
	raw.Query(t, c, "SET @causeway_class = 'F1', @causeway_max_staleness = 30")
	raw.Query(t, c, "SELECT v FROM r WHERE id = 1")
	want("F1")
	if got := raw.Route(t, c, "Max_staleness"); got != "30s" {
		t.Errorf("bound %q", got)
	}
	if a := raw.Query(t, c, "SELECT @causeway_class"); a.Value() != "F1" {
		t.Errorf("the server has %q", a.Value())
	}
	raw.Query(t, c, "SET @other = NOW()") // what nobody can follow changes nothing for the class
	raw.Query(t, c, "SET @causeway_class = 'F2'")
	explained("F2")
	raw.Query(t, c, "SET @causeway_class = CONCAT('F', 1)") // the server is asked what that is
	explained("F1")
	db := cluster.OpenApp(t, cw.Addr, "classes") // a driver that prepares
	db.SetMaxOpenConns(1)
	var v int
	check.Must(t, db.QueryRow("SELECT v FROM r WHERE id = ? /*causeway_class='F2'*/", 1).Scan(&v))
	rows, err := db.Query("SHOW CAUSEWAY ROUTE")
	check.Must(t, err)
	defer rows.Close()
	got := ""
	for rows.Next() {
		var name, value string
		check.Must(t, rows.Scan(&name, &value))
		if name == "Class" {
			got = value
		}
	}
	if got != "F2" {
		t.Errorf("the prepared statement's class is %q", got)
	}
}

const rules = `
[[rule]]
name = "no deletes"
regex = "^delete "
table = "classes.money"
deny = true
[[rule]]
name = "money"
table = "money"
target = "source"
[[rule]]
name = "slow"
regex = "sleep|slow"
timeout = "300ms"
[[rule]]
name = "elsewhere"
client = "192.0.2.0/24"
deny = true
[[rule]]
name = "lists"
regex = " order by "
class = "F1"
`

func TestRules(t *testing.T) {
	lay(t)
	cw := cluster.StartCauseway(t, shared, rules+config)
	log := shared.Source().LogStatements(t)
	c := dial(t, cw, 0)
	for _, sql := range []string{"DELETE FROM money", "DELETE FROM classes.money WHERE id = 1"} {
		a, err := c.Query(sql)
		check.Must(t, err)
		if a.Code() != wire.ErrSpecificAccessDenied {
			t.Errorf("%s: %v", sql, a.Err())
		}
	}
	if n := log.CountStart(t, "DELETE"); n != 0 {
		t.Errorf("%d denied statements reached the source", n)
	}
	raw.Query(t, c, "SELECT v FROM money WHERE id = 1")
	if reason, role := raw.Route(t, c, "Reason"), raw.Route(t, c, "Role"); reason != "class" || role != "source" {
		t.Errorf("money: %s on the %s", reason, role)
	}
	raw.Query(t, c, "SELECT v FROM r ORDER BY v")
	if class, from := raw.Route(t, c, "Class"), raw.Route(t, c, "Class_from"); class != "F1" || from != "rule" {
		t.Errorf("lists: %s from %s", class, from)
	}
	a, err := c.Query("SELECT v, SLEEP(20) FROM r")
	check.Must(t, err)
	if a.Code() != wire.ErrQueryTimeout {
		t.Errorf("on the source: %v", a.Err())
	}
	a, err = c.Query("SELECT COUNT(*) AS slow FROM r a, r b, r c, r d, r e, r f, r g, r h, r i, r j WHERE a.v + b.v * c.v > d.id + e.id")
	check.Must(t, err)
	if a.Code() != wire.ErrQueryTimeout || raw.Route(t, c, "Role") != "replica" {
		t.Errorf("on the %s: %v", raw.Route(t, c, "Role"), a.Err())
	}
	raw.Query(t, c, "SELECT v FROM r WHERE id = 1") // the session goes on
	hits := map[string]string{}
	for _, row := range raw.Query(t, c, "SHOW CAUSEWAY RULES")[0].Rows {
		hits[string(row[0])] = string(row[3])
	}
	for name, want := range map[string]string{"no deletes": "2", "money": "1", "slow": "2", "elsewhere": "0", "lists": "1"} {
		if hits[name] != want {
			t.Errorf("rule %s has %s hits, want %s", name, hits[name], want)
		}
	}
}

// TestExplain: EXPLAIN CAUSEWAY and causeway explain say what then happens, and
// nothing of it reaches a server.
func TestExplain(t *testing.T) {
	lay(t)
	cw := cluster.StartCauseway(t, shared, config)
	heal := shared.StopAppliers(t)
	c := dial(t, cw, 0)
	raw.Query(t, c, "UPDATE r SET v = 3 WHERE id = 2")
	log := shared.Source().LogStatements(t)
	a := raw.Query(t, c, "EXPLAIN CAUSEWAY SELECT v FROM r WHERE id = 2")
	if got := a.Fact("Choice"); !strings.Contains(got, "waits up to 10ms, then "+shared.Source().Addr+", the source, within the budget") {
		t.Errorf("choice: %s", got)
	}
	for _, n := range shared.Replicas() {
		if got := a.Fact("Candidate " + n.Addr); !strings.Contains(got, "has not executed 1 GTIDs of the token") {
			t.Errorf("candidate %s: %s", n.Addr, got)
		}
	}
	if n := log.CountStart(t, "EXPLAIN"); n != 0 {
		t.Error("it reached the source")
	}
	heal()
	check.Until(t, "a replica would answer", func() bool {
		return strings.HasSuffix(raw.Query(t, c, "EXPLAIN CAUSEWAY SELECT v FROM r WHERE id = 2").Fact("Choice"), "by round_robin")
	})
	file := filepath.Join(t.TempDir(), "causeway.toml")
	check.Must(t, os.WriteFile(file, []byte(rules+cluster.ConfigText("127.0.0.1:0", "", shared.Addrs())), 0o600))
	binary, err := cluster.Build()
	check.Must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, binary, "explain", "--config", file, "--schema", "classes", "SELECT v FROM r ORDER BY v").CombinedOutput()
	check.Must(t, err)
	for _, want := range []string{"lists: class=F1", "F1", "Candidate " + shared.Replicas()[0].Addr, "eligible", "by round_robin"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}
