package server

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"causeway/wire"
)

const readOnlyRefused = "Cannot execute statement in a READ ONLY transaction."

func TestReadOnlyTransactionLivesOnAReplica(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	l.forget()
	k.run("START TRANSACTION READ ONLY")
	k.wantFrom("replica1", "SELECT a FROM t")
	k.wantFrom("replica1", "SELECT b FROM t")
	if r := k.query("COMMIT"); r.ok.Status.Has(wire.StatusInTrans) {
		t.Errorf("status %x after COMMIT", r.ok.Status)
	}
	wantTexts(t, l.source)
	wantTexts(t, l.r(), "START TRANSACTION READ ONLY", "SELECT a FROM t", "SELECT b FROM t", "COMMIT")
}

// The token holds for the whole transaction: a replica that lacks the session's
// writes does not get it.
func TestReadOnlyTransactionNeedsTheToken(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("INSERT INTO t VALUES (1)")
	l.forget()
	k.run("START TRANSACTION READ ONLY")
	k.wantFrom("source", "SELECT a FROM t")
	k.run("COMMIT")
	wantTexts(t, l.r())
	if l.budget.Taken() != 0 {
		t.Error("a transaction spent the budget of single reads")
	}
}

// DML is refused here as the source would refuse it; the replica never sees it.
func TestReadOnlyTransactionRefusesWrites(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("START TRANSACTION READ ONLY")
	for _, used := range []bool{false, true} {
		if used {
			k.wantFrom("replica1", "SELECT a FROM t")
		}
		l.forget()
		for _, sql := range []string{"INSERT INTO t VALUES (1)", "UPDATE t SET a=1", "DELETE FROM t", "REPLACE INTO t VALUES (1)"} {
			k.wantError(wire.ErrReadOnlyTransaction, readOnlyRefused, sql)
		}
		wantTexts(t, l.r())
		wantTexts(t, l.source)
	}
	k.wantFrom("replica1", "SELECT a FROM t")
}

// super_read_only gives 1290 where the source would give 1792.
func TestReadOnlyTransactionTranslates1290(t *testing.T) {
	l := startLab(t, 1)
	l.r().on("SELECT f", func(c *fakeConn, _ string) { c.fail(1290, "super-read-only") })
	l.r().on("CALL", func(c *fakeConn, _ string) { c.fail(1290, "super-read-only") })
	k := l.client()
	k.run("START TRANSACTION READ ONLY")
	k.wantFrom("replica1", "SELECT a FROM t")
	k.wantError(wire.ErrReadOnlyTransaction, readOnlyRefused, "CALL p()")
	k.wantFrom("replica1", "SELECT a FROM t")
}

// A statement with implicit commit ends it there and runs on the source.
func TestReadOnlyTransactionEndsByImplicitCommit(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("START TRANSACTION READ ONLY")
	k.wantFrom("replica1", "SELECT a FROM t")
	l.forget()
	if r := k.query("CREATE TABLE u (a INT)"); r.err != nil || r.ok.Status.Has(wire.StatusInTrans) {
		t.Errorf("CREATE TABLE: %v, status %x", r.err, r.ok.Status)
	}
	wantTexts(t, l.r(), "COMMIT AND NO CHAIN NO RELEASE")
	wantTexts(t, l.source, "CREATE TABLE u (a INT)")
	if got, want := k.route("Token"), sourceUUID+":101"; got != want {
		t.Errorf("token %q, want %q", got, want)
	}
	l.apply()
	k.wantFrom("replica1", "SELECT a FROM t")
}

// Before its first read it can be moved: the source begins the same transaction.
func TestReadOnlyTransactionMoves(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("START TRANSACTION READ ONLY")
	l.forget()
	k.wantFrom("source", "SELECT a FROM t FOR SHARE")
	wantTexts(t, l.r())
	wantTexts(t, l.source, "START TRANSACTION READ ONLY", "SELECT a FROM t FOR SHARE")
	k.wantFrom("source", "SELECT a FROM t")
	k.run("COMMIT")
	k.wantFrom("replica1", "SELECT a FROM t")
}

// Afterwards it cannot: its snapshot is the replica's.
func TestReadOnlyTransactionDoesNotMoveItsSnapshot(t *testing.T) {
	l := startLab(t, 1)
	for _, begin := range []string{"START TRANSACTION READ ONLY, WITH CONSISTENT SNAPSHOT", "START TRANSACTION READ ONLY"} {
		k := l.client()
		k.run(begin)
		if !strings.Contains(begin, "SNAPSHOT") {
			k.wantFrom("replica1", "SELECT a FROM t")
		}
		k.wantError(wire.ErrReadOnlyTransaction, "has read from a replica", "SELECT GET_LOCK('x', 0), a FROM t")
		k.wantError(wire.ErrReadOnlyTransaction, "Cannot execute statement", "CREATE TEMPORARY TABLE x (a INT)")
		k.wantFrom("replica1", "SELECT a FROM t")
	}
}

func TestReadOnlySessions(t *testing.T) {
	l := startLab(t, 1)
	l.source.on("SET SESSION TRANSACTION", func(c *fakeConn, text string) {
		value := "OFF"
		if strings.HasSuffix(text, "ONLY") {
			value = "ON"
		}
		c.ok(func(ok *wire.OK) { ok.Track = wire.AppendTrackVariable(nil, "transaction_read_only", value) })
	})
	k := l.client()
	k.run("SET SESSION TRANSACTION READ ONLY")
	l.forget()
	k.run("BEGIN")
	k.wantFrom("replica1", "SELECT a FROM t")
	k.run("COMMIT")
	wantTexts(t, l.source)
	k.run("SET SESSION TRANSACTION READ WRITE", "BEGIN")
	k.wantFrom("source", "SELECT a FROM t")
	k.run("COMMIT")

	k.run("SET SESSION TRANSACTION READ ONLY", "SET autocommit=0")
	l.forget()
	k.wantFrom("replica1", "SELECT a FROM t")
	if r := k.query("SELECT b FROM t"); r.first() != "replica1" || !r.ok.Status.Has(wire.StatusInTrans) {
		t.Errorf("answered by %q with status %x", r.first(), r.ok.Status)
	}
	k.run("COMMIT")
	wantTexts(t, l.source)
}

// SET TRANSACTION holds for one transaction, wherever that will run.
func TestSetTransactionReadOnly(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	l.forget()
	k.run("SET TRANSACTION READ ONLY", "BEGIN")
	k.wantFrom("replica1", "SELECT a FROM t")
	k.run("COMMIT")
	wantTexts(t, l.r(), "SET TRANSACTION READ ONLY", "BEGIN", "SELECT a FROM t", "COMMIT")
	wantTexts(t, l.source)
	k.run("BEGIN")
	k.wantFrom("source", "SELECT a FROM t")
	k.run("COMMIT")
}

func TestSetTransactionTwice(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	l.forget()
	k.run("SET TRANSACTION READ ONLY", "SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "BEGIN")
	k.wantFrom("replica1", "SELECT a FROM t")
	wantTexts(t, l.r(), "SET TRANSACTION READ ONLY", "SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "BEGIN", "SELECT a FROM t")
	wantTexts(t, l.source)
}

// A held SET TRANSACTION that turns out to be for the source is sent there.
func TestSetTransactionThenWrite(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	l.forget()
	k.run("SET TRANSACTION READ ONLY", "START TRANSACTION READ WRITE", "INSERT INTO t VALUES (1)", "ROLLBACK")
	wantTexts(t, l.source, "SET TRANSACTION READ ONLY", "START TRANSACTION READ WRITE", "INSERT INTO t VALUES (1)", "ROLLBACK")
	wantTexts(t, l.r())
}

// PREPARE does not use it up.
func TestSetTransactionThenPrepare(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	l.forget()
	k.run("SET TRANSACTION READ ONLY")
	k.prepare("SELECT a FROM t WHERE b=?")
	k.run("BEGIN")
	k.wantFrom("replica1", "SELECT a FROM t")
	got := l.r().texts()
	if len(got) < 3 || got[len(got)-3] != "SET TRANSACTION READ ONLY" || got[len(got)-2] != "BEGIN" {
		t.Errorf("the replica was asked %q", got)
	}
}

// One that was sent to the source holds for the next statement there.
func TestSetTransactionIsolation(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	l.forget()
	k.run("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
	k.wantFrom("source", "SELECT a FROM t")
	k.wantFrom("replica1", "SELECT a FROM t")
	wantTexts(t, l.source, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SELECT a FROM t", "COM_RESET_CONNECTION")
}

// The replica of a read-only transaction is lost: its snapshot is gone.
func TestReadOnlyTransactionLost(t *testing.T) {
	for _, how := range []string{"idle", "during a read"} {
		l := startLab(t, 1)
		k := l.client()
		k.run("START TRANSACTION READ ONLY")
		k.wantFrom("replica1", "SELECT a FROM t")
		if how == "idle" {
			l.r().closeConns()
		} else {
			l.r().on("SELECT b", func(c *fakeConn, _ string) { c.hangUp() })
		}
		k.wantError(wire.ErrNetRead, "replica", "SELECT b FROM t")
		k.wantError(wire.ErrServerIsntAvailable, "transaction was lost", "SELECT a FROM t")
		k.run("ROLLBACK")
		k.wantFrom("replica1", "SELECT a FROM t")
	}
}

func TestCommitRelease(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("BEGIN", "COMMIT RELEASE")
	k.wantGone()
}

// SHOW WARNINGS asks the connection that ran the last statement.
func TestDiagnosticsFollowTheLastStatement(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.wantFrom("replica1", "SELECT a FROM t")
	l.forget()
	k.run("SHOW WARNINGS")
	wantTexts(t, l.r(), "SHOW WARNINGS")
	k.run("INSERT INTO t VALUES (1)")
	l.forget()
	k.run("SHOW WARNINGS", "SHOW WARNINGS")
	wantTexts(t, l.source, "SHOW WARNINGS", "SHOW WARNINGS")
	wantTexts(t, l.r())
}

// A transaction that is READ WRITE in so many words, and empty, gives way to one on a
// replica: a replica with super_read_only refuses to begin it.
func TestReadOnlySnapshotAfterEmptyReadWrite(t *testing.T) {
	l := startLab(t, 1)
	l.r().on("START TRANSACTION READ WRITE", func(c *fakeConn, _ string) { c.fail(1290, "super-read-only") })
	k := l.client()
	k.run("START TRANSACTION READ WRITE", "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
	k.wantFrom("replica1", "SELECT a FROM t")
}

// A server refuses to begin what was begun for the client alone: the statement fails,
// the transaction stays open, and what comes next is not committed by itself.
func TestBeginRefused(t *testing.T) {
	l := startLab(t, 1)
	var refused atomic.Bool
	refused.Store(true)
	l.source.on("START TRANSACTION READ WRITE", func(c *fakeConn, _ string) {
		if refused.Load() {
			c.fail(1290, "read-only")
			return
		}
		c.status |= wire.StatusInTrans
		c.ok()
	})
	k := l.client()
	k.run("START TRANSACTION READ WRITE")
	k.wantError(1290, "read-only", "INSERT INTO t VALUES (1)")
	refused.Store(false)
	if r := k.query("INSERT INTO t VALUES (2)"); r.err != nil || !r.ok.Status.Has(wire.StatusInTrans) {
		t.Errorf("the second statement: %v, status %x", r.err, r.ok.Status)
	}
	k.run("ROLLBACK")
	if got := l.source.texts(); !slices.Contains(got, "ROLLBACK") {
		t.Errorf("the source was sent %q", got)
	}
}
