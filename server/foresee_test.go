package server

import (
	"strings"
	"testing"
	"time"

	"causeway/backend"
	"causeway/balance"
	"causeway/gtid"
)

// foretold asks EXPLAIN CAUSEWAY, runs the read, and tells what both said.
func (l *lab) foretold(k *dbClient, sql string) (choice, from string) {
	l.t.Helper()
	choice = k.explain("Choice", sql)
	r := k.query(sql)
	if r.err != nil {
		return choice, r.err.Message
	}
	return choice, r.first()
}

// The warm-up bars a read that nothing proves: EXPLAIN said that a replica would have it.
func TestForetellsWarmup(t *testing.T) {
	l := startLab(t, 2, stillBudget)
	warm := func(v *backend.View) { v.WarmupUntil = time.Now().Add(time.Minute) }
	l.publish(warm)
	k := l.client()
	choice, from := l.foretold(k, "SELECT a FROM t")
	if from != "source" || !strings.HasPrefix(choice, l.source.addr()) {
		t.Errorf("from %s; foretold %q", from, choice)
	}
	if got := k.explain("Warmup", "SELECT a FROM t"); !strings.Contains(got, "left after a promotion") {
		t.Errorf("Warmup %q", got)
	}
	for l.srv.opts.Budget.Take(1, time.Now()) {
	}
	choice, from = l.foretold(k, "SELECT a FROM t") // a warm-up makes no errors
	if !strings.HasPrefix(from, "replica") || !strings.Contains(choice, ", by ") {
		t.Errorf("without a budget from %s; foretold %q", from, choice)
	}
}

// Without a budget a promoted read is served stale, but never without its session's write.
func TestForetellsPromotedWithoutBudget(t *testing.T) {
	l := startLab(t, 2, func(o *Options) {
		o.Classes = labClasses(time.Millisecond, 50*time.Millisecond)
		o.Classes[2].MaxStaleness = time.Second
		o.Budget = balance.NewBudget(0, 0, time.Now())
	})
	k := l.client()
	k.run("SET @causeway_class = 'F2'", "INSERT INTO t VALUES (1)")
	choice, from := l.foretold(k, "SELECT a FROM t")
	if !strings.Contains(from, "no replica has this session's writes after ") || !strings.HasSuffix(choice, ", then an error") {
		t.Errorf("from %q; foretold %q", from, choice)
	}
	l.replicas[1].setExecuted(l.source.position())
	l.publish(func(v *backend.View) {
		for _, n := range v.Replicas {
			n.FreshAsOf = time.Now().Add(-time.Minute)
		}
	})
	choice, from = l.foretold(k, "SELECT a FROM t")
	if from != "replica2" || !strings.Contains(choice, l.replicas[1].addr()+", stale with a warning") {
		t.Errorf("from %q; foretold %q", from, choice)
	}
	if r := k.query("SHOW WARNINGS"); len(r.rows) != 1 || !strings.Contains(r.rows[0][2], l.replicas[1].addr()) {
		t.Errorf("warnings %q", r.rows)
	}
	if got := k.route("Reason"); got != reasonStale.String() {
		t.Errorf("reason %q", got)
	}
}

// A monotonic read goes where the last was, or waits for what it has seen.
func TestForetellsMonotonic(t *testing.T) {
	l, k := monotonicLab(t, true)
	l.ahead(k, "SELECT a FROM t")
	for range 3 {
		choice, from := l.foretold(k, "SELECT a FROM t")
		if from != "replica1" || choice != l.replicas[0].addr()+", which served all that was seen last" {
			t.Errorf("from %s; foretold %q", from, choice)
		}
	}
	l.replicas = l.replicas[1:]
	l.publish()
	if got := k.explain("Candidate "+l.r().addr(), "SELECT a FROM t"); !strings.Contains(got, "of the source's position when Causeway began and what was seen before") {
		t.Errorf("verdict %q", got)
	}
	choice, from := l.foretold(k, "SELECT a FROM t")
	if from != "source" || !strings.HasPrefix(choice, l.source.addr()) {
		t.Errorf("from %s; foretold %q", from, choice)
	}
}

// EXPLAIN CAUSEWAY goes by the key of its statement, and makes no entry for it.
func TestForetellsKey(t *testing.T) {
	l, k := monotonicLab(t, true)
	for range 2 {
		k.explain("Choice", "SELECT a FROM t /*causeway_key='k'*/")
	}
	if n := l.srv.scopes.keys.Len(); n != 0 {
		t.Errorf("%d keys", n)
	}
	k.run("INSERT INTO t VALUES (1) /*causeway_key='w'*/")
	for _, key := range []string{"w", "v"} {
		if got := k.explain("Scope", "SELECT a FROM t /*causeway_key='"+key+"'*/"); !strings.HasSuffix(got, ", key "+key) {
			t.Errorf("key %s: scope %q", key, got)
		}
	}
	if got := k.route("Scope"); !strings.HasSuffix(got, ", key w") {
		t.Errorf("EXPLAIN has left scope %q", got)
	}
	l.ahead(k, "SELECT a FROM t /*causeway_key='k'*/")
	choice, from := l.foretold(l.client(), "SELECT a FROM t /*causeway_key='k'*/")
	if from != "replica1" || !strings.HasPrefix(choice, l.replicas[0].addr()) {
		t.Errorf("from %s; foretold %q", from, choice)
	}
}

// A session whose writes were lost is told so by its next read.
func TestForetellsLoss(t *testing.T) {
	for _, forgets := range []bool{false, true} {
		l := startLab(t, 1, stillBudget, func(o *Options) { o.ForgetLostWrites = forgets })
		k := l.client()
		k.run("INSERT INTO t VALUES (1)")
		l.epoch++
		l.source.setExecuted(gtid.MustParse(sourceUUID + ":1-100"))
		l.publish()
		const told = "writes of this session were lost"
		choice, from := l.foretold(k, "SELECT a FROM t")
		if strings.Contains(choice, told) == forgets || strings.Contains(from, told) == forgets {
			t.Errorf("forgets %v: from %q; foretold %q", forgets, from, choice)
		}
		choice, from = l.foretold(k, "SELECT a FROM t")
		if from != "replica1" || !strings.HasPrefix(choice, l.r().addr()) {
			t.Errorf("forgets %v, then: from %q; foretold %q", forgets, from, choice)
		}
	}
}

// No token is spoken of where there is none.
func TestForetellsWithoutToken(t *testing.T) {
	l := startLab(t, 1, stillBudget, func(o *Options) {
		o.Classes = labClasses(time.Millisecond, 50*time.Millisecond)
		o.Classes = append(o.Classes, o.Classes[0])
		o.Classes[3].Name, o.Classes[3].Consistency = "all", Global
	})
	k := l.client()
	for _, class := range []string{"F0", "F1", "F2", "all"} {
		r := k.query("EXPLAIN CAUSEWAY SELECT a FROM t /*causeway_class='" + class + "'*/")
		for _, row := range r.rows {
			switch {
			case row[0] == "Token" && !strings.HasPrefix(row[1], "none"), strings.HasPrefix(row[0], "Candidate") && strings.Contains(row[1], "covers the token"):
				t.Errorf("%s: %q", class, row)
			}
		}
	}
}

// A hint that is not read is told of before it is ignored.
func TestForetellsIgnoredHint(t *testing.T) {
	l := startLab(t, 1)
	const sql = "SELECT a FROM t /*causeway_class=F2*/"
	k := l.client()
	said := k.explain("Ignored_hint", sql)
	k.run(sql)
	if did := k.route("Ignored_hint"); said != did || said == "" {
		t.Errorf("EXPLAIN %q, ROUTE %q", said, did)
	}
}
