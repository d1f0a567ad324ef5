package server

import (
	"strings"
	"testing"
	"time"

	"causeway/backend"
	"causeway/balance"
	"causeway/classifier"
	"causeway/gtid"
	"causeway/wire"
)

// startOffLab is a lab without GTIDs, whose servers have executed some before.
func startOffLab(t *testing.T, tune ...func(*Options)) *lab {
	l := startLab(t, 1, append([]func(*Options){sticky}, tune...)...)
	l.source.mu.Lock()
	l.source.noGTIDs = true
	l.source.mu.Unlock()
	l.r().setExecuted(gtid.MustParse(sourceUUID + ":1-7"))
	l.publish(withoutGTIDs)
	return l
}

// withoutGTIDs makes a view one of a cluster without GTIDs.
func withoutGTIDs(v *backend.View) {
	v.WithoutGTIDs, v.SourcePosition = true, gtid.Set{}
	for _, n := range v.Nodes {
		n.Position, n.FreshAsOf = gtid.Set{}, time.Time{}
	}
}

// TestJudgeCommit without GTIDs: by what the statement can do and the server's flags.
func TestJudgeCommit(t *testing.T) {
	cl := classifier.New(classifier.Options{CacheEntries: 100})
	for _, c := range []struct {
		sql         string
		open, wrote bool
		warnings    uint16
		commit, now bool
	}{
		{sql: "INSERT INTO t VALUES (1)", commit: true},
		{sql: "INSERT INTO t VALUES (1)", open: true, now: true},
		{sql: "SELECT 1"},
		{sql: "SELECT 1", open: true, wrote: true, now: true},
		{sql: "SELECT a FROM t FOR UPDATE", open: true},
		{sql: "SELECT f()", commit: true},
		{sql: "BEGIN", open: true},
		{sql: "BEGIN", open: true, wrote: true, commit: true},
		{sql: "COMMIT", wrote: true, commit: true},
		{sql: "COMMIT"},
		{sql: "COMMIT AND CHAIN", open: true, wrote: true, commit: true},
		{sql: "ROLLBACK", wrote: true},
		{sql: "ROLLBACK", wrote: true, warnings: 1, commit: true},
		{sql: "ROLLBACK TO s", open: true, wrote: true, now: true},
		{sql: "SET autocommit = 1", wrote: true, commit: true},
		{sql: "SET autocommit = 0"},
		{sql: "SET @a = f()", commit: true},
		{sql: "CREATE TABLE x (a INT)", commit: true},
		{sql: "CALL p()", commit: true},
		{sql: "CALL p()", open: true, commit: true, now: true},
		{sql: "LOCK TABLES t WRITE", wrote: true, commit: true},
		{sql: "UPDATE t SET a = 1; COMMIT; BEGIN", open: true, commit: true, now: true},
		{sql: "EXECUTE s", commit: true},
		{sql: "PREPARE s FROM 'SELECT 1'"},
		{sql: "XA START 'x'", open: true},
		{sql: "XA END 'x'", wrote: true, now: true},
		{sql: "XA PREPARE 'x'", wrote: true},
		{sql: "XA ROLLBACK 'x'", wrote: true},
		{sql: "DO 1"},
		{sql: "DO f()", commit: true},
		{sql: "CREATE TEMPORARY TABLE x (a INT)"},
		{sql: "XA COMMIT 'x'", wrote: true, commit: true},
		{sql: "USE app"},
	} {
		ok := wire.OK{Warnings: c.warnings}
		if c.open {
			ok.Status = wire.StatusInTrans
		}
		if commit, now := judgeCommit(cl.Classify([]byte(c.sql), classifier.Mode{}), &ok, c.wrote); commit != c.commit || now != c.now {
			t.Errorf("%s (open %v, wrote %v): commit %v, wrote %v", c.sql, c.open, c.wrote, commit, now)
		}
	}
}

// TestWindowWithoutGTIDs opens with what may be a commit, and before the client
// knows of it: others under the key are held to the source as soon as it does.
func TestWindowWithoutGTIDs(t *testing.T) {
	for name, c := range map[string]struct {
		node string
		run  []string
	}{
		"a read":                  {"replica1", []string{plainRead}},
		"a write":                 {"source", []string{insert}},
		"a transaction":           {"source", []string{"BEGIN", insert, "COMMIT"}},
		"a rollback":              {"replica1", []string{"BEGIN", insert, "ROLLBACK"}},
		"a read only transaction": {"replica1", []string{"START TRANSACTION READ ONLY", plainRead, "COMMIT"}},
		"one that only reads":     {"replica1", []string{"BEGIN", plainRead, "COMMIT"}},
		"an implicit commit":      {"source", []string{"BEGIN", insert, "CREATE TABLE x (a INT)"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := startOffLab(t)
			k, other := l.client(), l.client()
			for _, sql := range c.run {
				k.run(sql + " /*causeway_key='k'*/")
			}
			other.wantFrom(c.node, plainRead+" /*causeway_key='k'*/")
			other.wantFrom("replica1", plainRead)
			k.wantFrom(c.node, plainRead)
			if got := valueOf(l.srv.metrics.untracked); got != 0 {
				t.Errorf("%g untracked writes: all are", got)
			}
		})
	}
}

// TestErrorWithoutGTIDs may hide a commit, too.
func TestErrorWithoutGTIDs(t *testing.T) {
	l := startOffLab(t)
	l.source.on("CALL", func(c *fakeConn, _ string) { c.fail(1644, "on purpose") })
	k := l.client()
	k.wantError(1644, "on purpose", "CALL p()")
	k.wantFrom("source", plainRead)
	if got := k.route("Reason"); got != "sticky" {
		t.Errorf("reason %s", got)
	}
}

// TestLostWriteWithoutGTIDs: once its outcome is settled a window is open.
func TestLostWriteWithoutGTIDs(t *testing.T) {
	l := startOffLab(t, func(o *Options) { o.MaxWait = loginTimeout })
	l.lostWrite(3)
	k := l.client()
	k.wantError(wire.ErrNetRead, "not known", insert)
	k.wantFrom("source", plainRead)
	if got := k.route("Reason"); got != "sticky" {
		t.Errorf("reason %s", got)
	}
}

// TestWindowEndsWithoutGTIDs: then any replica serves, whatever it has.
func TestWindowEndsWithoutGTIDs(t *testing.T) {
	l := startOffLab(t, func(o *Options) { o.Sticky = 20 * time.Millisecond })
	k := l.client()
	k.run(insert)
	until(t, "the window ends", func() bool { return k.query(plainRead).first() == "replica1" })
	if got := k.route("Reason"); got != "read" {
		t.Errorf("reason %s", got)
	}
}

// TestOnlyTheSourceWithoutGTIDs: a read within a window that cannot go there fails,
// whatever its class would take.
func TestOnlyTheSourceWithoutGTIDs(t *testing.T) {
	classes := labClasses(time.Millisecond, 50*time.Millisecond)
	classes = append(classes, Class{Name: "any", Consistency: Eventual, Priority: 3, PromoteOnToken: true, OnLag: []Step{{Kind: StepStale}}})
	l := startOffLab(t, func(o *Options) { o.Budget, o.Classes = balance.NewBudget(1e-9, 1, time.Now()), classes })
	k := l.client()
	k.run(insert)
	k.wantFrom("source", plainRead)
	for _, sql := range []string{plainRead, plainRead + " /*causeway_class='any'*/"} {
		k.wantError(wire.ErrServerIsntAvailable, "the fallback budget", sql)
	}
	l.publish(withoutGTIDs, func(v *backend.View) { v.Source.Exclude = "down: for a test" })
	k.wantError(wire.ErrServerIsntAvailable, "without GTIDs only the source", plainRead)
	k.run("START TRANSACTION READ ONLY")
	k.wantError(wire.ErrServerIsntAvailable, "without GTIDs only the source", plainRead+" /*causeway_class='any'*/")
	l.client().wantFrom("replica1", plainRead)
}

// TestWhatNeedsGTIDs is refused with the reason.
func TestWhatNeedsGTIDs(t *testing.T) {
	classes := labClasses(time.Millisecond, 50*time.Millisecond)
	classes = append(classes, Class{Name: "all", Consistency: Global, Priority: 3, BudgetShare: 1, OnLag: []Step{{Kind: StepSource}}},
		Class{Name: "steady", Consistency: OwnWrites, Monotonic: true, Priority: 4, BudgetShare: 1, OnLag: []Step{{Kind: StepSource}}})
	l := startOffLab(t, func(o *Options) { o.Classes = classes })
	k := l.client()
	for class, why := range map[string]string{"F1": "class F1 is bounded", "all": "class all is global", "steady": "monotonic reads"} {
		sql := plainRead + " /*causeway_class='" + class + "'*/"
		k.wantError(wire.ErrServerIsntAvailable, why, sql)
		if got := k.explain("Choice", sql); !strings.Contains(got, why) {
			t.Errorf("EXPLAIN CAUSEWAY: %s", got)
		}
	}
	k.wantError(wire.ErrServerIsntAvailable, "max_staleness", plainRead+" /*causeway_max_staleness='1s'*/")
	k.wantError(wire.ErrWrongValueForVar, "no tokens", "SET @causeway_token = '"+sourceUUID+":1'")
	if r := k.query("SELECT @causeway_token"); r.err != nil || r.first() != "" {
		t.Errorf("token %q, %v", r.first(), r.err)
	}
	k.run(insert)
	k.wantError(wire.ErrWrongValueForVar, "no tokens", "SELECT @causeway_token")
	if got := k.explain("Choice", plainRead); !strings.Contains(got, "sticky") {
		t.Errorf("EXPLAIN CAUSEWAY: %s", got)
	}
	if got := l.srv.stickyText(); !strings.HasSuffix(got, "nothing else is promised") {
		t.Errorf("SHOW CAUSEWAY STATUS: %s", got)
	}
}

// TestSharedKeysWithoutGTIDs: a store shares tokens, so that a key's reads are refused.
func TestSharedKeysWithoutGTIDs(t *testing.T) {
	l, _ := startShared(t, sticky)
	l.publish(withoutGTIDs)
	k := l.client()
	k.wantError(wire.ErrServerIsntAvailable, "take [token.store] out", keyed)
	k.wantFrom("replica1", "SELECT a FROM t")
}
