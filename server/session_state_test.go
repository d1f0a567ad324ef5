package server

import (
	"slices"
	"strings"
	"testing"

	"causeway/wire"
)

// What brings a replica's connection into the session's state travels with the
// read: the replica holds its answer back until the read is there.
func TestSessionReplaysStateInTheReadsOwnWrite(t *testing.T) {
	l := startLab(t, 1)
	held := 0
	l.r().on("SET SESSION ", func(c *fakeConn, text string) {
		next := c.read() // a proxy that waits for the answer first would wait for ever
		c.SetSequence(1)
		c.query(text)
		c.SetSequence(1)
		held++
		c.serve(next)
	})
	k := l.client()
	k.run("SET time_zone='+01:00'")
	l.forget()
	k.wantFrom("replica1", "SELECT a FROM t")
	wantTexts(t, l.r(), "SET SESSION time_zone='+01:00'", "SELECT a FROM t")
	k.wantFrom("replica1", "SELECT b FROM t")
	wantTexts(t, l.r(), "SELECT b FROM t")
	if held != 1 {
		t.Errorf("the state was replayed %d times, want once", held)
	}
}

func TestSessionReplaysSchema(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.wantFrom("replica1", "SELECT a FROM t")
	k.run("USE other")
	l.forget()
	k.wantFrom("replica1", "SELECT a FROM t")
	wantTexts(t, l.r(), "COM_INIT_DB other", "SELECT a FROM t")
	k.command(wire.ComInitDB, "third")
	k.answer(textValue)
	k.wantFrom("replica1", "SELECT a FROM t")
	wantTexts(t, l.r(), "COM_INIT_DB third", "SELECT a FROM t")
}

// MySQL does not stop a pipeline: the read has run in the wrong state. Nothing
// of its answer may reach the client, and the connection is not used again.
func TestSessionReplayRefused(t *testing.T) {
	l := startLab(t, 1)
	l.r().on("SET SESSION ", func(c *fakeConn, _ string) { c.fail(1193, "Unknown system variable") })
	k := l.client()
	k.run("SET time_zone='+01:00'")
	l.forget()
	for range 3 {
		if from := k.query("SELECT a FROM t").first(); from == "replica1" {
			t.Error("an answer in the wrong state reached the client")
		}
	}
	conns := map[uint32]bool{}
	for _, e := range l.r().entries() {
		if e.text != "SELECT a FROM t" {
			continue
		}
		if conns[e.conn] {
			t.Errorf("connection %d was used again", e.conn)
		}
		conns[e.conn] = true
	}
	k.run("INSERT INTO t VALUES (1)") // the session goes on
}

// The schema and the variables fail or hold together.
func TestSessionReplayOfAMissingSchema(t *testing.T) {
	l := startLab(t, 1)
	l.r().on("COM_INIT_DB", func(c *fakeConn, _ string) { c.fail(1049, "Unknown database") })
	k := l.client()
	k.wantFrom("replica1", "SELECT a FROM t")
	k.run("USE fresh")
	k.wantFrom("source", "SELECT a FROM t")
}

func TestSessionResetForgetsState(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("SET time_zone='+01:00'", "INSERT INTO t VALUES (1)")
	l.apply()
	k.wantFrom("replica1", "SELECT a FROM t")
	k.command(wire.ComResetConnection, "")
	if r := k.answer(textValue); r.err != nil || r.lost != nil {
		t.Fatal(r.err, r.lost)
	}
	l.forget()
	k.wantFrom("replica1", "SELECT a FROM t")
	wantTexts(t, l.r(), "SET SESSION time_zone='SYSTEM'", "SELECT a FROM t")
	if got, want := k.route("Token"), sourceUUID+":101"; got != want {
		t.Errorf("token %q after the reset, want %q: it stays", got, want)
	}
	if got := k.route("Schema"); got != "db" {
		t.Errorf("schema %q after the reset, want db: it stays", got)
	}
}

func TestSessionResetEndsTransactions(t *testing.T) {
	for _, begin := range []string{"BEGIN", "START TRANSACTION READ ONLY"} {
		l := startLab(t, 1)
		k := l.client()
		k.run(begin)
		k.query("SELECT a FROM t")
		k.command(wire.ComResetConnection, "")
		if r := k.answer(textValue); r.err != nil || r.ok.Status.Has(wire.StatusInTrans) {
			t.Errorf("after %s: %v, status %x", begin, r.err, r.ok.Status)
		}
		k.wantFrom("replica1", "SELECT a FROM t")
		k.run("INSERT INTO t VALUES (1)")
	}
}

// A connection to the source that was closed while the session was idle is
// replaced, in the session's state.
func TestSessionSourceConnectionLostIdle(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("SET time_zone='+01:00'", "USE other")
	l.source.closeConns()
	l.forget()
	k.run("INSERT INTO t VALUES (1)")
	got := l.source.texts()
	if len(got) != 2 || !strings.Contains(got[0], "time_zone='+01:00'") || got[1] != "INSERT INTO t VALUES (1)" {
		t.Errorf("the source was asked %q", got)
	}
}

// A client that was told may begin anew without a ROLLBACK, as a pool's next
// borrower does.
func TestSessionBeginsAnewAfterALostTransaction(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("BEGIN", "INSERT INTO t VALUES (1)")
	l.source.closeConns()
	k.wantError(wire.ErrServerIsntAvailable, "transaction was lost", "INSERT INTO t VALUES (2)")
	k.run("BEGIN", "INSERT INTO t VALUES (3)", "COMMIT")
}

// Within a transaction the client must know, and must end what is no more.
func TestSessionSourceConnectionLostInATransaction(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("BEGIN", "INSERT INTO t VALUES (1)")
	l.source.closeConns()
	l.forget()
	k.wantError(wire.ErrServerIsntAvailable, "transaction was lost", "INSERT INTO t VALUES (2)")
	k.wantError(wire.ErrServerIsntAvailable, "transaction was lost", "SELECT a FROM t")
	k.wantError(wire.ErrServerIsntAvailable, "transaction was lost", "SAVEPOINT s")
	if r := k.query("ROLLBACK"); r.err != nil || r.ok.Status.Has(wire.StatusInTrans) {
		t.Errorf("ROLLBACK: %v, status %x", r.err, r.ok.Status)
	}
	for _, text := range l.source.texts() {
		if hasPrefix(text, "INSERT") {
			t.Errorf("%q ran outside of its transaction", text)
		}
	}
	k.run("INSERT INTO t VALUES (3)")
}

// COMMIT of a lost transaction is an error once, and ends it.
func TestSessionCommitOfALostTransaction(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("BEGIN", "INSERT INTO t VALUES (1)")
	l.source.closeConns()
	k.wantError(wire.ErrServerIsntAvailable, "transaction was lost", "SELECT a FROM t")
	k.wantError(wire.ErrServerIsntAvailable, "transaction was lost", "COMMIT")
	k.run("INSERT INTO t VALUES (2)")
}

// Prepared commands know of the lost transaction too.
func TestSessionPrepareInALostTransaction(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("BEGIN", "INSERT INTO t VALUES (1)")
	l.source.closeConns()
	k.wantError(wire.ErrServerIsntAvailable, "transaction was lost", "SELECT a FROM t")
	for _, text := range []string{"SELECT a FROM t WHERE b=?", "ROLLBACK"} {
		k.command(wire.ComStmtPrepare, text)
		if p, err := k.c.ReadPacket(); err != nil || p[0] != wire.HeaderERR {
			t.Errorf("PREPARE of %s was answered by % x, %v", text, p, err)
		}
	}
	k.run("ROLLBACK")
	l.apply()
	k.wantFrom("replica1", "SELECT a FROM t")
}

// State that no other connection can be given ends the session with its connection.
func TestSessionSourceConnectionLostWithItsState(t *testing.T) {
	for _, sticky := range []string{"CREATE TEMPORARY TABLE x (a INT)", "LOCK TABLES t READ", "SET @a=(SELECT 1)", "SELECT GET_LOCK('a', 1)", "XA START 'x'"} {
		t.Run(sticky, func(t *testing.T) {
			l := startLab(t, 1)
			k := l.client()
			k.t = t
			l.mon.locks.Store(strings.Contains(sticky, "GET_LOCK"))
			k.run(sticky)
			l.source.closeConns()
			k.wantError(wire.ErrServerIsntAvailable, "connect again", "INSERT INTO t VALUES (1)")
			k.wantGone()
		})
	}
}

func TestSessionSourceMoves(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("INSERT INTO t VALUES (1)")
	l.apply()
	l.source, l.replicas[0] = l.replicas[0], l.source // a failover
	l.mon.source = l.source
	l.publish()
	l.forget()
	k.run("INSERT INTO t VALUES (2)")
	if got := l.source.texts(); !slices.Contains(got, "INSERT INTO t VALUES (2)") {
		t.Errorf("the new source was asked %q", got)
	}
	wantTexts(t, l.replicas[0])
}

// While no source is known, reads go on and writes fail after a while.
func TestSessionNoSource(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	l.publish(noSource)
	k.wantFrom("replica1", "SELECT a FROM t")
	l.source.closeConns()
	k.wantError(wire.ErrServerIsntAvailable, "no source is known", "INSERT INTO t VALUES (1)")
	l.publish()
	k.run("INSERT INTO t VALUES (1)")
}
