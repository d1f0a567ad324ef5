package server

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"causeway/backend"
	"causeway/balance"
	"causeway/wire"
)

// explain returns EXPLAIN CAUSEWAY's value of a name.
func (k *dbClient) explain(name, sql string) string {
	k.t.Helper()
	r := k.query("EXPLAIN CAUSEWAY " + sql)
	for _, row := range r.rows {
		if row[0] == name {
			return row[1]
		}
	}
	if r.err != nil {
		k.t.Errorf("EXPLAIN CAUSEWAY %s: %v", sql, r.err)
	}
	return ""
}

// maybeRoute is route for what need not be there.
func (k *dbClient) maybeRoute(name string) string {
	for _, row := range k.query("SHOW CAUSEWAY ROUTE").rows {
		if row[0] == name {
			return row[1]
		}
	}
	return ""
}

// stillBudget never refills while a test runs.
func stillBudget(o *Options) { o.Budget = balance.NewBudget(1e-6, 1000, time.Now()) }

// TestClassOfARead: each place where a class can be named, and which one wins.
func TestClassOfARead(t *testing.T) {
	l := startLab(t, 1, func(o *Options) {
		o.ListenClass = "F1"
		o.Users = append(o.Users, User{Name: "office", Password: "pw", Class: "F2"}, User{Name: "capped", Password: "pw", MaxClass: "F2"})
		o.Rules = []Rule{{Name: "cards", Table: "cards", Class: "F2"}}
	})
	want := func(k *dbClient, class, from, sql string) {
		t.Helper()
		k.wantFrom("replica1", sql)
		if got := k.route("Class") + ", " + k.route("Class_from"); got != class+", "+from {
			t.Errorf("%s: %s, want %s, %s", sql, got, class, from)
		}
		if got := k.explain("Class", sql) + ", " + k.explain("Class_from", sql); got != class+", "+from {
			t.Errorf("EXPLAIN CAUSEWAY %s: %s, want %s, %s", sql, got, class, from)
		}
	}
	k := l.client()
	want(k, "F1", "listener", "SELECT a FROM t")
	want(k, "F2", "rule", "SELECT a FROM cards")
	k.run("SET @causeway_class = 'F0', @causeway_max_staleness = '30s'")
	want(k, "F0", "session variable", "SELECT a FROM cards")
	if got := k.route("Max_staleness"); got != "30s" {
		t.Errorf("bound %q", got)
	}
	want(k, "F2", "statement", "SELECT a FROM t /*causeway_class='f2'*/")
	k.run("SET @causeway_class = NULL")
	want(k, "F1", "listener", "SELECT a FROM t")
	want(k, "F1", "listener", "SELECT a FROM t /*causeway_class='F9'*/")
	if got := k.route("Ignored_hint"); !strings.Contains(got, `"F9"`) {
		t.Errorf("ignored hint %q", got)
	}
	if n := int(valueOf(l.srv.metrics.ignoredHints)); n != 1 {
		t.Errorf("%d ignored hints counted", n)
	}
	k.run("SET @causeway_class = 'F8', @causeway_max_staleness = 'soon'")
	want(k, "F1", "listener", "SELECT a FROM t /*causeway_class='F7'*/")
	for _, part := range []string{`"F7"`, `"F8"`, `"soon"`} {
		if got := k.route("Ignored_hint"); !strings.Contains(got, part) {
			t.Errorf("ignored hint %q lacks %s", got, part)
		}
	}
	k.run("SET @causeway_class = NULL, @causeway_max_staleness = NULL")
	want(l.clientAs("office", "pw"), "F2", "user", "SELECT a FROM t")
	want(l.clientAs("capped", "pw"), "F2", "statement, lowered to max_class", "SELECT a FROM t /*causeway_class='F0'*/")
	k.run("SELECT a FROM t FOR UPDATE")
	if got := k.maybeRoute("Class"); got != "" {
		t.Errorf("a locking read has class %q", got)
	}
}

// A bound of 0 is none that a replica could be proved to keep: it is told of, and
// the class's own holds.
func TestNoStalenessAtAll(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("SET @causeway_max_staleness = 0")
	k.wantFrom("replica1", "SELECT a FROM t")
	if got := k.route("Ignored_hint"); !strings.Contains(got, `causeway_max_staleness "0": it must be more than 0`) {
		t.Errorf("ignored hint %q", got)
	}
	if n := int(valueOf(l.srv.metrics.ignoredHints)); n != 1 {
		t.Errorf("%d ignored hints counted", n)
	}
}

// The count of warnings has the one that goes with a stale read.
func TestStaleReadsAreCountedAsWarnings(t *testing.T) {
	l := startLab(t, 1)
	l.old()
	k := l.client()
	const sql = "SELECT a FROM t /*causeway_class='F2'*/"
	for _, count := range []string{"SELECT @@warning_count", "SHOW COUNT(*) WARNINGS"} {
		if r := k.query(sql); r.ok.Warnings != 1 {
			t.Fatalf("%d warnings", r.ok.Warnings)
		}
		if r := k.query(count); r.first() != "1" {
			t.Errorf("%s: %q, %v", count, r.first(), r.err)
		}
	}
	if r := k.query("SHOW WARNINGS"); len(r.rows) != 1 {
		t.Errorf("after SHOW COUNT(*): %q", r.rows)
	}
	k.run(sql, "SELECT @@warning_count")
	if r := k.query("SHOW WARNINGS"); len(r.rows) != 0 {
		t.Errorf("after SELECT: %q", r.rows)
	}
}

// Query attributes name a class in both protocols.
func TestClassByAttribute(t *testing.T) {
	l := startLab(t, 1)
	k := l.client(wire.CapQueryAttributes)
	attrs := "\x01\x01" + "\x00\x01" + "\xfd\x00\x0ecauseway_class" + "\x02F2"
	k.command(wire.ComQuery, attrs+"SELECT a FROM t /*causeway_class='F1'*/")
	if r := k.answer(textValue); r.first() != "replica1" {
		t.Fatalf("answered by %q: %v %v", r.first(), r.err, r.lost)
	}
	if got := k.commandRoute("Class"); got != "F2" {
		t.Errorf("class %q", got)
	}
}

// commandRoute is route for a client with query attributes.
func (k *dbClient) commandRoute(name string) string {
	k.command(wire.ComQuery, "\x00\x01SHOW CAUSEWAY ROUTE")
	for _, row := range k.answer(textValue).rows {
		if row[0] == name {
			return row[1]
		}
	}
	return ""
}

// A prepared statement has the hints of its text.
func TestClassOfAPreparedStatement(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	id := k.prepare("SELECT a FROM t WHERE b = ? /*causeway_class='F2'*/")
	k.wantExecuted("replica1", id, typed)
	if got := k.route("Class"); got != "F2" {
		t.Errorf("class %q", got)
	}
}

// old makes the replicas' freshness unproved.
func (l *lab) old() {
	l.unproved = true
	l.publish()
}

// F2 is served stale and never asks for the source; F1 asks, and is served stale
// when the budget is gone.
func TestLowClassesAreServedStale(t *testing.T) {
	l := startLab(t, 1, stillBudget)
	l.old()
	k := l.client()
	stale := func(why, sql string) {
		t.Helper()
		r := k.query(sql)
		if r.first() != "replica1" || r.ok.Warnings != 1 {
			t.Errorf("%s: from %q with %d warnings, %v", sql, r.first(), r.ok.Warnings, r.err)
		}
		if r := k.query("SHOW WARNINGS"); len(r.rows) != 1 || !strings.Contains(r.rows[0][2], why) {
			t.Errorf("%s: warnings %q", sql, r.rows)
		}
		if got := k.route("Reason"); got != reasonStale.String() {
			t.Errorf("after SHOW WARNINGS the read's reason is %q", got)
		}
	}
	l.forget()
	for range 50 {
		stale(sourceNotAsked, "SELECT a FROM t /*causeway_class='F2'*/")
	}
	wantTexts(t, l.source)
	if l.srv.opts.Budget.Taken()+l.srv.opts.Budget.Refused() != 0 {
		t.Error("F2 asked the budget")
	}
	k.wantFrom("source", "SELECT a FROM t /*causeway_class='F1'*/")
	for l.srv.opts.Budget.Take(.7, time.Now()) {
	}
	stale(budgetUsedUp, "SELECT a FROM t /*causeway_class='F1'*/")
	if k.run("INSERT INTO t VALUES (1)"); l.srv.opts.Budget.LeftFor(1, time.Now()) < 200 {
		t.Fatal("no reserve")
	}
	k.wantFrom("source", "SELECT a FROM t") // F0 has its reserve
	if got := int(valueOf(l.srv.classes.stats[2].stale)); got != 50 {
		t.Errorf("%d stale reads of F2 counted", got)
	}
}

// A read of a session that has written is F0 until its write is everywhere.
func TestPromotion(t *testing.T) {
	l := startLab(t, 2, stillBudget)
	k := l.client()
	k.run("SET @causeway_class = 'F2'", "INSERT INTO t VALUES (1)")
	l.old()
	k.wantFrom("source", "SELECT a FROM t")
	if got := k.route("Promoted"); !strings.Contains(got, "F0") {
		t.Errorf("promoted: %q", got)
	}
	for range 5 { // one replica has the write: it serves, stale or not for others
		l.replicas[1].setExecuted(l.source.position())
		l.unproved = false
		l.publish()
		k.wantFrom("replica2", "SELECT a FROM t")
	}
	l.apply()
	if k.run("SELECT a FROM t"); k.maybeRoute("Promoted") != "" {
		t.Error("promoted though each replica has the write")
	}
	// Stale, but never without the write.
	k.run("INSERT INTO t VALUES (1)")
	l.replicas[0].setExecuted(l.source.position())
	l.old()
	for l.srv.opts.Budget.Take(1, time.Now()) {
	}
	r := k.query("SELECT a FROM t")
	if r.first() != "replica1" || r.ok.Warnings != 1 {
		t.Errorf("from %q with %d warnings: %v", r.first(), r.ok.Warnings, r.err)
	}
}

// Without promote_on_token the token is not asked for.
func TestOptedOut(t *testing.T) {
	l := startLab(t, 1, func(o *Options) {
		o.Classes = labClasses(time.Millisecond, o.MaxWait)
		o.Classes[2].PromoteOnToken = false
	})
	k := l.client()
	k.run("INSERT INTO t VALUES (1)")
	k.wantFrom("source", "SELECT a FROM t")
	k.wantFrom("replica1", "SELECT a FROM t /*causeway_class='F2'*/")
}

// No replica lives: F2 too is served by the source, within its last share.
func TestLowestClassWithoutReplicas(t *testing.T) {
	l := startLab(t, 1, stillBudget)
	l.publish(func(v *backend.View) { v.Replicas[0].Up = false })
	k := l.client()
	k.wantFrom("source", "SELECT a FROM t /*causeway_class='F2'*/")
	for l.srv.opts.Budget.Take(lastShare, time.Now()) {
	}
	k.wantError(wire.ErrServerIsntAvailable, "fallback budget", "SELECT a FROM t /*causeway_class='F2'*/")
	k.wantFrom("source", "SELECT a FROM t /*causeway_class='F1'*/")
}

// What the operator sends to the source costs no budget.
func TestClassAndRuleOnTheSource(t *testing.T) {
	l := startLab(t, 1, noBudget, func(o *Options) {
		c := labClasses(time.Millisecond, o.MaxWait)
		c[2].Consistency = OnSource
		o.Classes = c
		o.Rules = []Rule{{Name: "money", Table: "money", ToSource: true}}
	})
	k := l.client()
	for _, sql := range []string{"SELECT a FROM money", "SELECT a FROM t /*causeway_class='F2'*/"} {
		k.wantFrom("source", sql)
		if got := k.route("Reason"); got != "class" {
			t.Errorf("%s: reason %q", sql, got)
		}
	}
	k.run("START TRANSACTION READ ONLY") // begins with its first read
	k.wantFrom("source", "SELECT a FROM t /*causeway_class='F2'*/")
	k.wantFrom("source", "SELECT a FROM t")
}

func TestDeny(t *testing.T) {
	l := startLab(t, 1, func(o *Options) {
		o.Rules = []Rule{{Name: "no secrets", Table: "secrets", Deny: true, Comment: "c"}, {Name: "rest", Regex: regexp.MustCompile("."), MaxClass: "F1"}}
	})
	k := l.client()
	k.run("SELECT a FROM t")
	l.forget()
	for _, sql := range []string{"SELECT a FROM secrets", "UPDATE secrets SET a = 1", "SELECT 1 FROM t JOIN db.secrets s"} {
		k.wantError(wire.ErrSpecificAccessDenied, "no secrets", sql)
		if got := k.explain("Choice", sql); !strings.Contains(got, "1227") {
			t.Errorf("EXPLAIN CAUSEWAY %s: %q", sql, got)
		}
	}
	k.command(wire.ComStmtPrepare, "SELECT a FROM secrets WHERE b = ?")
	if r := k.answer(textValue); r.err == nil || r.err.Code != wire.ErrSpecificAccessDenied {
		t.Errorf("PREPARE: %v", r.err)
	}
	wantTexts(t, l.source)
	wantTexts(t, l.r())
	r := k.query("SHOW CAUSEWAY RULES")
	if got := fmt.Sprint(r.rows); got != "[[no secrets table=secrets deny 3 c] [rest regex=. max_class=F1 1 ]]" {
		t.Errorf("rules: %s", got)
	}
}

// EXPLAIN CAUSEWAY runs nothing, spends nothing and counts no reads.
func TestExplainCauseway(t *testing.T) {
	l := startLab(t, 2)
	k := l.client()
	k.run("INSERT INTO t VALUES (1)")
	l.replicas[1].setExecuted(l.source.position())
	l.publish()
	l.forget()
	for name, want := range map[string]string{
		"Kind": "read", "Rule": "none", "Class": "F0", "Token": sourceUUID + ":101", "Choice": l.replicas[1].addr() + ", by round_robin",
		"Candidate " + l.replicas[0].addr(): "has not executed 1 GTIDs", "Candidate " + l.replicas[1].addr(): "eligible", "On_lag": "wait:1ms, source",
	} {
		if got := k.explain(name, "SELECT a FROM t WHERE b = 'secret'"); !strings.HasPrefix(strings.ToLower(got), strings.ToLower(want)) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	k.run("INSERT INTO t VALUES (1)")
	l.forget()
	if got := k.explain("Choice", "SELECT a FROM t"); !strings.Contains(got, "waits up to 1ms, then "+l.source.addr()+", the source, within the budget") {
		t.Errorf("choice %q", got)
	}
	if got := k.explain("Choice", "DELETE FROM t"); !strings.Contains(got, l.source.addr()) {
		t.Errorf("a write: %q", got)
	}
	k.wantError(wire.ErrParse, "needs a statement", "EXPLAIN CAUSEWAY")
	wantTexts(t, l.source)
	wantTexts(t, l.r())
	if l.srv.opts.Budget.Taken() != 0 || l.srv.classes.stats[0].reads.Load() != 0 {
		t.Error("it was counted")
	}
	rows, err := l.srv.Explain("app", "db", "SELECT a FROM t /*causeway_class='F2'*/")
	if err != nil || !strings.Contains(fmt.Sprint(rows), "[Class F2]") || !strings.Contains(fmt.Sprint(rows), "nothing was written") {
		t.Errorf("Explain: %v %v", rows, err)
	}
	if _, err := l.srv.Explain("nobody", "", "SELECT 1"); err == nil {
		t.Error("an unknown user is explained")
	}
}

func TestShowClasses(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("SELECT a FROM t", "SELECT a FROM t")
	r := k.query("SHOW CAUSEWAY CLASSES")
	if len(r.rows) != 3 || r.rows[0][0] != "F0" || r.rows[0][10] != "2" || r.rows[0][11] != "2" || r.rows[2][3] != "stale" {
		t.Errorf("classes: %q", r.rows)
	}
}

// A read that runs too long is killed and gets MySQL's error for that.
func TestReadTimeout(t *testing.T) {
	l := startLab(t, 1, func(o *Options) {
		o.Rules = []Rule{{Name: "slow", Table: "slow", Timeout: 20 * time.Millisecond}}
	})
	killed := make(chan bool, 9)
	l.r().on("SELECT a FROM slow", func(c *fakeConn, _ string) {
		<-killed
		c.fail(wire.ErrQueryInterrupted, "Query execution was interrupted")
	})
	l.r().on("KILL QUERY ", func(c *fakeConn, _ string) {
		c.ok()
		killed <- true
	})
	k := l.client()
	k.wantError(wire.ErrQueryTimeout, "maximum statement execution time exceeded", "SELECT a FROM slow")
	k.wantFrom("replica1", "SELECT a FROM t")
	if n := int(valueOf(l.srv.metrics.timeouts)); n != 1 {
		t.Errorf("%d timeouts counted", n)
	}
}

// A session that has named its class still reads in READ ONLY transactions on
// replicas; one with other user variables may need them there.
func TestReadOnlyTransactionsOfAClass(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("SET @causeway_class = 'F2', @causeway_max_staleness = 5", "START TRANSACTION READ ONLY")
	k.wantFrom("replica1", "SELECT a FROM t")
	k.run("COMMIT", "SET @other = 1", "START TRANSACTION READ ONLY")
	k.wantFrom("source", "SELECT a FROM t")
}
