package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"causeway/balance"
	"causeway/classifier"
	"causeway/share"
	"causeway/wire"
)

const underK = " /*causeway_key='k'*/"

func TestJudgePublishes(t *testing.T) {
	cl := classifier.New(classifier.Options{CacheEntries: 100})
	for _, c := range []struct {
		sql        string
		idle, open publishes // open: in a transaction that has written
	}{
		{"INSERT INTO t VALUES (1)", publishesOwn, publishesOwn},
		{"CREATE TABLE x (a INT)", publishesOwn, publishesOwn},
		{"CALL p()", publishesOwn, publishesOwn},
		{"EXECUTE s", publishesOwn, publishesOwn},
		{"SELECT f()", publishesOwn, publishesOwn},
		{"DO f()", publishesOwn, publishesOwn},
		{"SET @a = f()", publishesOwn, publishesOwn},
		{"GRANT SELECT ON t TO u", publishesOwn, publishesOwn},
		{"nobody knows this", publishesOwn, publishesOwn},
		{"INSERT INTO t VALUES (1); SELECT 1", publishesOwn, publishesOwn},
		{"ROLLBACK; INSERT INTO t VALUES (1)", publishesOwn, publishesOwn},
		{"XA ROLLBACK 'x'; XA COMMIT 'y'", publishesOwn, publishesOwn},
		{"XA COMMIT 'x'", publishesOwn, publishesOwn},
		{"XA COMMIT 'x' ONE PHASE", publishesOwn, publishesOwn},
		{"COMMIT", publishesNothing, publishesTrx},
		{"COMMIT AND CHAIN", publishesNothing, publishesTrx},
		{"BEGIN", publishesNothing, publishesTrx},
		{"START TRANSACTION READ ONLY", publishesNothing, publishesTrx},
		{"SET autocommit = 1", publishesNothing, publishesTrx},
		{"LOCK TABLES t READ", publishesNothing, publishesTrx},
		{"UNLOCK TABLES", publishesNothing, publishesTrx},
		{"FLUSH TABLES", publishesNothing, publishesTrx},
		{"ANALYZE TABLE t", publishesNothing, publishesTrx},
		{"ROLLBACK", publishesNothing, publishesNothing},
		{"ROLLBACK AND CHAIN", publishesNothing, publishesNothing},
		{"ROLLBACK; ROLLBACK", publishesNothing, publishesNothing},
		{"ROLLBACK TO s", publishesNothing, publishesNothing},
		{"RELEASE SAVEPOINT s", publishesNothing, publishesNothing},
		{"SAVEPOINT s", publishesNothing, publishesNothing},
		{"XA START 'x'", publishesNothing, publishesNothing},
		{"XA END 'x'", publishesNothing, publishesNothing},
		{"XA PREPARE 'x'", publishesNothing, publishesNothing},
		{"XA ROLLBACK 'x'", publishesNothing, publishesNothing},
		{"XA RECOVER", publishesNothing, publishesNothing},
		{"SELECT a FROM t", publishesNothing, publishesNothing},
		{"SELECT a FROM t FOR UPDATE", publishesNothing, publishesNothing},
		{"SELECT a FROM t INTO @a", publishesNothing, publishesNothing},
		{"SELECT 1; SELECT 2", publishesNothing, publishesNothing},
		{"DO 1", publishesNothing, publishesNothing},
		{"DO RELEASE_LOCK('x')", publishesNothing, publishesNothing},
		{"SET @a = 1", publishesNothing, publishesNothing},
		{"SET SESSION TRANSACTION READ ONLY", publishesNothing, publishesNothing},
		{"PREPARE s FROM 'INSERT INTO t VALUES (1)'", publishesNothing, publishesNothing},
		{"DEALLOCATE PREPARE s", publishesNothing, publishesNothing},
		{"CREATE TEMPORARY TABLE x (a INT)", publishesNothing, publishesNothing},
		{"CREATE TEMPORARY TABLE x SELECT f() a", publishesOwn, publishesOwn},
		{"DROP TEMPORARY TABLE x", publishesNothing, publishesNothing},
		{"DROP TABLE x", publishesOwn, publishesOwn},
		{"KILL 7", publishesNothing, publishesNothing},
		{"USE app", publishesNothing, publishesNothing},
		{"SIGNAL SQLSTATE '45000'", publishesNothing, publishesNothing},
		{"HANDLER t OPEN", publishesNothing, publishesNothing},
	} {
		class := cl.Classify([]byte(c.sql), classifier.Mode{})
		if idle, open := judgePublishes(class, false), judgePublishes(class, true); idle != c.idle || open != c.open {
			t.Errorf("%s (%v, %v): idle %d, after a write %d", c.sql, class.Kind, class.Flags, idle, open)
		}
	}
}

// storeGone is a lab whose store goes away when the function is called.
func storeGone(t *testing.T, tune ...func(*Options)) (*lab, func()) {
	l, f := startShared(t, append(tune, func(o *Options) { o.StoreDownRefuses = true })...)
	return l, func() {
		f.set(func() { f.away = true })
		until(t, "it notices", func() bool { return !l.srv.others.Joined() })
		l.forget()
	}
}

// TestRefusedCommit: a transaction that has written before the store went away cannot
// be committed, by whatever statement, and can be rolled back.
func TestRefusedCommit(t *testing.T) {
	for _, scope := range []Scope{ScopeSession, ScopeProxy} {
		mark := underK
		if scope == ScopeProxy {
			mark = ""
		}
		for _, ends := range []string{"COMMIT", "BEGIN", "SET autocommit=1", "CREATE TABLE x (a INT)", "COMMIT" + underK} {
			l, gone := storeGone(t, func(o *Options) { o.Users[0].Scope = scope })
			k := l.client()
			k.run("BEGIN", "INSERT INTO t VALUES (1)"+mark)
			gone()
			k.wantError(wire.ErrServerIsntAvailable, "ROLLBACK", ends)
			k.wantError(wire.ErrServerIsntAvailable, "nothing has run", "INSERT INTO t VALUES (1)"+mark)
			wantTexts(t, l.source)
			k.run("SELECT a FROM t"+mark, "SAVEPOINT s", "ROLLBACK TO s", "RELEASE SAVEPOINT s", "ROLLBACK")
			if got := k.query("SELECT 1").ok.Status; got.Has(wire.StatusInTrans) {
				t.Error("the transaction is open after ROLLBACK")
			}
			if got := l.source.position(); !got.Equal(gtidMust(sourceUUID + ":1-100")) {
				t.Errorf("%s: the source has committed %s", ends, got.Line())
			}
			k.run("BEGIN", "SELECT a FROM t FOR UPDATE"+mark, "COMMIT") // nothing of the last one counts any more
		}
	}
}

// TestRefusedCommitLater works when the store is back.
func TestRefusedCommitLater(t *testing.T) {
	l, f := startShared(t, func(o *Options) { o.StoreDownRefuses = true })
	k := l.client()
	k.run("BEGIN", "INSERT INTO t VALUES (1)"+underK)
	f.set(func() { f.away = true })
	until(t, "it notices", func() bool { return !l.srv.others.Joined() })
	k.wantError(wire.ErrServerIsntAvailable, "store_down", "COMMIT")
	f.set(func() { f.away = false })
	until(t, "it joins again", l.srv.others.Joined)
	k.run("COMMIT")
	if got := f.has("app\x00k"); len(got) != 1 || !strings.HasSuffix(got[0], ":1-101") {
		t.Errorf("the store has %q", got)
	}
}

// TestNotRefused: what others need not be told of runs while the store is away.
func TestNotRefused(t *testing.T) {
	l, gone := storeGone(t)
	k := l.client()
	k.run("SET @causeway_key = 'k'")
	gone()
	for _, run := range [][]string{
		{"DO 1"}, {"UNLOCK TABLES"}, {"XA RECOVER"}, {"CREATE TEMPORARY TABLE x (a INT)", "DROP TEMPORARY TABLE x"},
		{"BEGIN", "SELECT a FROM t", "COMMIT"}, {"BEGIN", "SELECT a FROM t FOR UPDATE", "ROLLBACK"},
		{"START TRANSACTION READ ONLY", "SELECT a FROM t", "COMMIT"},
		{"SET autocommit=0", "SELECT a FROM t FOR UPDATE", "SET autocommit=1"},
	} {
		k.run(run...)
	}
	k.command(wire.ComStmtPrepare, "INSERT INTO t VALUES (1)")
	if p := k.packet(&reply{}); p[0] != 0 {
		t.Errorf("PREPARE: % x", p)
	}
	k.wantError(wire.ErrServerIsntAvailable, "nothing has run", "INSERT INTO t VALUES (1)")
	k.run("BEGIN")
	k.wantError(wire.ErrServerIsntAvailable, "ROLLBACK ends it", "INSERT INTO t VALUES (1)")
	k.run("COMMIT")
}

// TestRefusedAfterFailedRoutine: it may have written before it failed.
func TestRefusedAfterFailedRoutine(t *testing.T) {
	l, gone := storeGone(t)
	l.source.on("CALL", func(c *fakeConn, _ string) { c.fail(1644, "on purpose") })
	l.source.on("INSERT", func(c *fakeConn, _ string) { c.fail(1062, "duplicate") })
	k, other := l.client(), l.client()
	k.run("BEGIN")
	k.wantError(1644, "on purpose", "CALL p()"+underK)
	other.run("BEGIN")
	other.wantError(1062, "duplicate", "INSERT INTO t VALUES (1)"+underK)
	gone()
	k.wantError(wire.ErrServerIsntAvailable, "nothing was committed", "COMMIT")
	k.run("ROLLBACK")
	other.run("COMMIT")
}

// TestRefusedLongData: a write whose data was sent before it is one like any other.
func TestRefusedLongData(t *testing.T) {
	l, gone := storeGone(t)
	k := l.client()
	k.run("SET @causeway_key = 'k'")
	id := k.prepare("INSERT INTO t VALUES (?)")
	k.command(wire.ComStmtSendLongData, le(id)+"\x00\x00first")
	gone()
	if r := k.execute(id, 0, typed); r.err == nil || !strings.Contains(r.err.Message, "nothing has run") {
		t.Errorf("executed: %v, %v", r.err, r.lost)
	}
}

// TestRefusedReadThatWrites: a read that turns out to write on a replica is not sent
// to the source.
func TestRefusedReadThatWrites(t *testing.T) {
	l, gone := storeGone(t)
	l.r().on("SELECT a FROM v", func(c *fakeConn, _ string) { c.fail(wire.ErrReadOnlyTransaction, "read only") })
	k := l.client()
	gone()
	k.wantError(wire.ErrServerIsntAvailable, "nothing has run", "SELECT a FROM v"+underK)
	wantTexts(t, l.source)
}

// TestOneName: where another process has this one's name writes are refused before
// they run, and work when that has ended.
func TestOneName(t *testing.T) {
	l, f := startShared(t, func(o *Options) { o.MaxWait = 300 * time.Millisecond })
	k := l.client()
	k.run("BEGIN", "INSERT INTO t VALUES (1)"+underK)
	f.set(func() { f.usurped = true })
	until(t, "it notices", l.srv.others.Doubled)
	l.forget()
	b := l.client()
	b.wantError(wire.ErrServerIsntAvailable, "another process holds the lease of this Causeway's name", "INSERT INTO t VALUES (1)"+underK)
	k.wantError(wire.ErrServerIsntAvailable, "nothing was committed", "COMMIT")
	wantTexts(t, l.source)
	b.run("INSERT INTO t VALUES (1)") // nobody's but its own
	k.run("ROLLBACK")
	if got := b.status("Store_trusted"); got != "no: not_joined" {
		t.Errorf("Store_trusted: %s", got)
	}
	f.set(func() { f.usurped = false })
	until(t, "it joins", l.srv.others.Joined)
	b.run("INSERT INTO t VALUES (1)" + underK)
}

// TestForgottenKeyWaits: a read under a key of which nothing is remembered needs the
// floor, and waits for a replica to have it as for any token.
func TestForgottenKeyWaits(t *testing.T) {
	for _, class := range []string{"F0", "F1", "F2"} {
		l := startLab(t, 1, func(o *Options) {
			o.MaxKeys, o.Budget, o.BudgetText = 1, balance.NewBudget(0, 0, time.Now()), "qps=0"
			o.Classes = labClasses(time.Millisecond, loginTimeout)
		})
		a, b := l.client(), l.client()
		a.run("INSERT INTO t VALUES (1)"+underK, "INSERT INTO t VALUES (1) /*causeway_key='l'*/")
		applied := make(chan struct{})
		go func() {
			defer close(applied)
			until(t, "it waits", func() bool { return valueOf(l.srv.metrics.waits.WithLabelValues("timeout")) > 0 }) // the first, short one
			l.apply()
		}()
		b.wantFrom("replica1", fmt.Sprintf("SELECT a FROM t /*causeway_key='never',causeway_class='%s'*/", class))
		<-applied
		if got := b.route("Reason"); got != "waited" && got != "token_waited" {
			t.Errorf("%s: reason %s", class, got)
		}
		b.wantFrom("replica1", "SELECT a FROM t"+underK)
	}
	l := startLab(t, 1, func(o *Options) {
		o.MaxKeys, o.Budget, o.BudgetText = 1, balance.NewBudget(0, 0, time.Now()), "qps=0"
	})
	a := l.client()
	a.run("INSERT INTO t VALUES (1)"+underK, "INSERT INTO t VALUES (1) /*causeway_key='l'*/")
	l.client().wantError(wire.ErrServerIsntAvailable, "nothing is remembered, and no replica has", "SELECT a FROM t"+underK)
}

// TestKeyOnStart: a key, or a class, of START TRANSACTION READ ONLY chooses the
// replica that the transaction reads on.
func TestKeyOnStart(t *testing.T) {
	for _, sql := range []string{"START TRANSACTION READ ONLY" + underK, "SET SESSION TRANSACTION READ ONLY;BEGIN" + underK, "SET TRANSACTION READ ONLY;BEGIN" + underK, "BEGIN;START TRANSACTION READ ONLY" + underK} {
		l := startLab(t, 1, func(o *Options) { o.MaxKeys = 100 })
		l.client().run("INSERT INTO t VALUES (1)" + underK)
		k := l.client()
		k.run(strings.Split(sql, ";")...)
		k.wantFrom("source", plainRead)
		k.run("COMMIT")
		k.wantFrom("replica1", plainRead)
		l.apply()
		k.run("START TRANSACTION READ ONLY" + underK)
		k.wantFrom("replica1", plainRead)
		k.run("COMMIT")
	}
	l := startLab(t, 1, func(o *Options) {
		o.Classes = append(labClasses(time.Millisecond, o.MaxWait), Class{Name: "now", Consistency: OnSource})
	})
	k := l.client()
	k.run("START TRANSACTION READ ONLY /*causeway_class='now'*/")
	k.wantFrom("source", plainRead)
}

// TestStoreLog: a store that cannot be used is a warning, once for each change.
func TestStoreLog(t *testing.T) {
	var out strings.Builder
	told := (&Server{log: zerolog.New(&out)}).storeLog()
	for _, st := range []share.State{
		{Phase: share.Leaving}, {Phase: share.Out},
		{Phase: share.Out, Error: "read tcp 127.0.0.1:40001->127.0.0.1:6379: i/o timeout"},
		{Phase: share.Out, Error: "read tcp 127.0.0.1:40002->127.0.0.1:6379: i/o timeout"},
		{Phase: share.Joining, Error: "read tcp 127.0.0.1:40002->127.0.0.1:6379: i/o timeout"},
		{Phase: share.Leaving, Error: "taken"}, {Phase: share.Out, Error: "taken"}, {Phase: share.Joining, Error: "taken"},
		{Phase: share.Joined, Distrust: share.Leaseless, About: "b"},
		{Phase: share.Joined},
	} {
		told(st)
	}
	var levels []string
	for line := range strings.Lines(out.String()) {
		levels = append(levels, strings.SplitN(line, `"`, 5)[3])
	}
	if got := strings.Join(levels, ", "); got != "warn, warn, warn, info" {
		t.Errorf("logged %s:\n%s", got, out.String())
	}
}
