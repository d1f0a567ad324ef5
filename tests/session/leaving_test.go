package session

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/session/raw"
)

// running tells on how many nodes a statement with that mark runs right now.
func running(t *testing.T, mark string) []*cluster.Node {
	t.Helper()
	var on []*cluster.Node
	for _, n := range shared.Nodes() {
		v, err := n.Value(t.Context(), "SELECT COUNT(*) FROM performance_schema.threads WHERE PROCESSLIST_INFO LIKE '%"+mark+"%' AND PROCESSLIST_ID <> CONNECTION_ID()")
		if err != nil {
			t.Fatal(err)
		}
		if v != "0" {
			on = append(on, n)
		}
	}
	return on
}

// slowRead is a plain read that takes minutes and calls nothing odd.
const slowRead = "SELECT /* MARK */ COUNT(*) FROM t a, t b, t c, t d, t e, t f, t g, t h, t i, t j, t k, t l, t m, t n WHERE a.v + b.v + c.v + d.v + e.v + f.v + g.v + h.v + i.v + j.v + k.v + l.v + m.v + n.v = 7"

func marked(sql, mark string) string { return strings.Replace(sql, "MARK", mark, 1) }

// TestClientLeavesDuringRead: its read is killed on the node.
func TestClientLeavesDuringRead(t *testing.T) {
	needsCauseway(t)
	lay(t, nil)
	for name, start := range map[string]func(c *raw.Client, mark string) error{
		"text": func(c *raw.Client, mark string) error { return c.SendQuery(marked(slowRead, mark)) },
		"in a read only transaction": func(c *raw.Client, mark string) error {
			if _, err := c.Query("START TRANSACTION READ ONLY"); err != nil {
				return err
			}
			return c.SendQuery(marked(slowRead, mark))
		},
	} {
		t.Run(name, func(t *testing.T) {
			mark := "leaving read " + name
			c := dial(t, raw.Modern)
			if err := start(c, mark); err != nil {
				t.Fatal(err)
			}
			check.Within(t, patience, "the read runs", func() bool { return len(running(t, mark)) == 1 })
			c.Close()
			check.Within(t, patience, "the read of a client that left is gone", func() bool { return len(running(t, mark)) == 0 })
			mustServe(t, "afterwards")
		})
	}
}

// TestClientLeavesDuringWrite: a write under way is let finish, as MySQL does.
func TestClientLeavesDuringWrite(t *testing.T) {
	needsCauseway(t)
	for name, stmts := range map[string][]string{
		"autocommit":  {"UPDATE /* leaving write */ t SET v = 77 WHERE id = 1"},
		"CALL":        {"CALL /* leaving write */ blocked_put(77)"},
		"transaction": {"BEGIN", "INSERT INTO t (v) VALUES (5)", "UPDATE /* leaving write */ t SET v = 77 WHERE id = 1; COMMIT"},
	} {
		t.Run(name, func(t *testing.T) {
			lay(t, []string{"CREATE PROCEDURE sess.blocked_put(n INT) UPDATE /* leaving write */ sess.t SET v = n WHERE id = 1"})
			lock, err := shared.Source().DB.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer lock.Rollback()
			if _, err := lock.Exec("SELECT * FROM sess.t WHERE id = 1 FOR UPDATE"); err != nil {
				t.Fatal(err)
			}
			c := dial(t, profiles[0].caps)
			last := len(stmts) - 1
			for _, s := range stmts[:last] {
				if a, err := c.Query(s); err != nil || a.Err() != nil {
					t.Fatal(a, err)
				}
			}
			if err := c.SendQuery(stmts[last]); err != nil {
				t.Fatal(err)
			}
			check.Within(t, patience, "the write waits for the lock", func() bool { return len(running(t, "leaving write")) == 1 })
			c.Close()
			// It must still be there after as long as a read would take to be killed.
			time.Sleep(1500 * time.Millisecond)
			if len(running(t, "leaving write")) != 1 {
				t.Error("the write of a client that left was ended")
			}
			if err := lock.Rollback(); err != nil {
				t.Fatal(err)
			}
			check.Within(t, patience, "the write finishes", func() bool { return valueOnSource(t, "SELECT v FROM sess.t WHERE id = 1") == "77" })
		})
	}
}

// TestClientLeavesInTransaction: what it did not commit is undone, and its
// locks are free soon.
func TestClientLeavesInTransaction(t *testing.T) {
	needsCauseway(t)
	lay(t, nil)
	c := dial(t, raw.Modern)
	for _, s := range []string{"BEGIN", "UPDATE t SET v = 99 WHERE id = 1", "SELECT GET_LOCK('sess_leaving', 1)"} {
		if a, err := c.Query(s); err != nil || a.Err() != nil {
			t.Fatal(a, err)
		}
	}
	c.Close()
	check.Within(t, patience, "the row lock is free", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		return shared.Source().Exec(ctx, "UPDATE sess.t SET s = 'free' WHERE id = 1") == nil
	})
	if v := valueOnSource(t, "SELECT v FROM sess.t WHERE id = 1"); v != "10" {
		t.Errorf("v = %s after the client left, wanted 10", v)
	}
	check.Within(t, patience, "the named lock is free", func() bool { return valueOnSource(t, "SELECT IS_FREE_LOCK('sess_leaving')") == "1" })
}

// TestIdleClientsLeave: what they held at the nodes is given back.
func TestIdleClientsLeave(t *testing.T) {
	needsCauseway(t)
	lay(t, nil)
	inUse := func() (n int) {
		c := dial(t, raw.Modern)
		defer c.Close()
		a, err := c.Query("SHOW CAUSEWAY POOLS")
		if err != nil || a.Err() != nil {
			t.Fatal(a, err)
		}
		for _, row := range a[0].Rows {
			used, _ := strconv.Atoi(string(row[4]))
			n += used
		}
		return n
	}
	for range 10 {
		c := dial(t, raw.Modern)
		for _, sql := range []string{"BEGIN", "INSERT INTO t (v) VALUES (1)"} {
			if a, err := c.Query(sql); err != nil || a.Err() != nil {
				t.Fatal(a, err)
			}
		}
		c.Close() // without COM_QUIT, as a process that dies
	}
	check.Within(t, patience, "nothing is in use", func() bool { return inUse() == 0 })
}

func valueOnSource(t *testing.T, sql string) string {
	t.Helper()
	v, err := shared.Source().Value(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
