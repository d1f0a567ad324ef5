package doubt

import (
	"strings"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/session/raw"
)

// TestLostTransactions: the server's thread of an open transaction is killed
// between two statements. Whatever the client does next, it is told that the
// transaction is gone, and what ends one leaves the session fit for others: a pool
// of connections may hand it on without a further word.
func TestLostTransactions(t *testing.T) {
	check.Must(t, shared.Source().Exec(t.Context(), "DROP DATABASE IF EXISTS losttrx; CREATE DATABASE losttrx; CREATE TABLE losttrx.t (id INT PRIMARY KEY)"))
	check.Must(t, shared.WaitCaughtUp(check.Patience(t)))
	cw := cluster.StartCauseway(t, shared, "[pool]\nmin_idle = 0\n") // none comes anew by itself while they are killed
	for _, begin := range []struct {
		how   string
		texts []string
	}{
		{"a write", []string{"BEGIN", "INSERT INTO t VALUES (%d)"}},
		{"READ ONLY", []string{"START TRANSACTION READ ONLY", "SELECT COUNT(*) FROM t"}},
		{"autocommit off", []string{"SET autocommit = 0", "INSERT INTO t VALUES (%d)"}},
	} {
		for _, next := range []string{"ROLLBACK", "COMMIT", "BEGIN", "START TRANSACTION READ ONLY", "SET autocommit = 1", "CREATE TABLE IF NOT EXISTS u (id INT)", "SELECT 1"} {
			t.Run(begin.how+", "+next, func(t *testing.T) {
				c := cluster.OpenRaw(t, raw.Options{Addr: cw.Addr, DB: "losttrx", Caps: raw.Modern})
				for _, text := range begin.texts {
					works(t, c, strings.Replace(text, "%d", "7", 1))
				}
				killThreads(t)
				loses(t, c, begin.how, next)
			})
		}
	}
}

// loses runs the first statement after the loss, and what a session of a pool does
// then.
func loses(t *testing.T, c *raw.Client, how, next string) {
	t.Helper()
	a, err := c.Query(next)
	check.Must(t, err)
	switch {
	case next == "ROLLBACK" && a.Err() != nil:
		t.Errorf("nothing is lost by a ROLLBACK: %v", a.Err())
	case how != "READ ONLY" && next != "ROLLBACK" && a.Err() == nil:
		t.Errorf("%s: the client does not learn that its transaction is lost", next)
	}
	if next == "SELECT 1" {
		if a, err := c.Query("SELECT 1"); err != nil || a.Err() == nil {
			t.Errorf("a statement of the lost transaction was run: %v %v", a, err)
		}
		works(t, c, "ROLLBACK")
	}
	if how == "READ ONLY" { // of which nothing can be lost, so some statements go on with it, or with the next
		works(t, c, "ROLLBACK")
	}
	works(t, c, "SET autocommit = 1")
	works(t, c, "SELECT COUNT(*) FROM t")
	works(t, c, "REPLACE INTO t VALUES (8)")
	if a := works(t, c, "SELECT COUNT(*) FROM t WHERE id = 7"); a.Value() != "0" {
		t.Errorf("the lost write is there: %v", a)
	}
}

func works(t *testing.T, c *raw.Client, text string) raw.Answer {
	t.Helper()
	a, err := c.Query(text)
	if err == nil {
		err = a.Err()
	}
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return a
}

// killThreads kills all of the application's connections on all servers, and
// waits until they have ended.
func killThreads(t *testing.T) {
	t.Helper()
	const list = "SELECT COALESCE(GROUP_CONCAT(ID), '') FROM information_schema.PROCESSLIST WHERE USER = '" + cluster.AppUser + "'"
	for _, n := range append(shared.Replicas(), shared.Source()) {
		ids, err := n.Value(t.Context(), list)
		check.Must(t, err)
		for id := range strings.SplitSeq(ids, ",") {
			if id != "" {
				_ = n.Exec(t.Context(), "KILL "+id) // it may have ended by itself
			}
		}
		for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			ids, err := n.Value(t.Context(), list)
			check.Must(t, err)
			if ids == "" {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%s still has %s", n.Name, ids)
			}
		}
	}
}
