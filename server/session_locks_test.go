package server

import (
	"slices"
	"testing"
	"time"

	"causeway/classifier"
)

// noEngineTrx has a node answer as one whose tables have no transactions.
func noEngineTrx(n *fakeNode) {
	n.on("SELECT a FROM mem", func(c *fakeConn, _ string) { c.rows(1, []string{n.name}) })
	n.on("UPDATE mem", func(c *fakeConn, _ string) { c.ok() })
	n.on("DO (", func(c *fakeConn, _ string) { c.ok() })
}

// With autocommit = 0 a table without transactions is locked until COMMIT, which no
// flag of its statement tells: COMMIT goes where that ran, and who leaves unlocks it.
func TestLocksOfATableWithoutTransactions(t *testing.T) {
	for _, first := range []string{"SELECT a FROM mem", "UPDATE mem SET a=3 WHERE FALSE", "DO (SELECT a FROM mem)"} {
		l := startLab(t, 1)
		noEngineTrx(l.source)
		k := l.client()
		k.run("SET autocommit=0")
		for range 2 {
			k.run(first)
			l.forget()
			k.run("COMMIT")
			wantTexts(t, l.source, "COMMIT")
		}
		k.run(first)
		l.forget()
		k.close()
		l.awaitReset(l.source)
	}
}

func TestLocksOnAReplica(t *testing.T) {
	l := startLab(t, 1)
	noEngineTrx(l.r())
	k := l.client()
	k.run("SET autocommit=0", "SET transaction_read_only='ON'")
	for range 2 {
		k.wantFrom("replica1", "SELECT a FROM mem")
		l.forget()
		k.run("COMMIT")
		wantTexts(t, l.r(), "COMMIT")
	}
	k.wantFrom("replica1", "SELECT a FROM mem")
	l.forget()
	k.run("SELECT GET_LOCK('a', 0)", "SELECT GET_LOCK('a', 0), a FROM t") // no snapshot forbids it
	wantTexts(t, l.r(), "COMMIT AND NO CHAIN NO RELEASE")
	k.run("ROLLBACK")
	k.wantFrom("replica1", "SELECT a FROM mem")

	other := l.client()
	other.run("SET autocommit=0", "SET transaction_read_only='ON'")
	other.wantFrom("replica1", "SELECT a FROM mem")
	l.forget()
	other.close()
	l.awaitReset(l.r())
}

// awaitReset waits until a connection to a node is reset.
func (l *lab) awaitReset(n *fakeNode) {
	l.t.Helper()
	for end := time.Now().Add(loginTimeout); !slices.Contains(n.texts(), "COM_RESET_CONNECTION"); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			l.t.Fatalf("no connection to %s was reset", n.name)
		}
	}
}

func TestMayKeepLocks(t *testing.T) {
	c := classifier.New(classifier.Options{CacheEntries: 100})
	for sql, want := range map[string]bool{
		"SELECT * FROM t": true, "SELECT * FROM t FOR UPDATE": true, "EXPLAIN SELECT * FROM t": true, "CHECKSUM TABLE t": true, "SELECT a FROM t INTO @a": true,
		"SELECT ROW_COUNT(), (SELECT a FROM t)": true, "SET @a = (SELECT a FROM t)": true, "SET @a = f()": true, "SELECT f()": true, "CALL p()": true,
		"EXECUTE s": true, "SHOW TABLES; SELECT * FROM t": true, "DELETE FROM t WHERE FALSE": true,
		"SELECT 1": false, "SELECT @@version": false, "SHOW VARIABLES": false, "SHOW TABLES": false, "DESC t": false, "SHOW WARNINGS": false, "SELECT ROW_COUNT()": false,
		"SET @a = 1": false, "DO SLEEP(0)": false, "PREPARE s FROM 'SELECT * FROM t'": false, "HANDLER t OPEN": false, "SAVEPOINT a": false, "USE app": false,
		"UNLOCK TABLES": false, "XA RECOVER": false, "GET DIAGNOSTICS @a = NUMBER": false,
	} {
		if got := mayKeepLocks(c.Classify([]byte(sql), classifier.Mode{})); got != want {
			t.Errorf("%s: %v", sql, got)
		}
	}
}
