package packets

import (
	"testing"

	"causeway/tests/session/raw"
)

const (
	read  = "SELECT v FROM t WHERE id = 1"
	write = "UPDATE t SET v = v + 1 WHERE id = 1"
)

// TestPackets counts what statements cost, in one cluster for all.
func TestPackets(t *testing.T) {
	x := newLab(t)
	for _, test := range []struct {
		name string
		run  func(x *lab, a, b *raw.Client)
	}{
		{"equal state", equalState},
		{"changed state before a read", changedBeforeRead},
		{"changed state before a write", changedBeforeWrite},
		{"SET", sets},
		{"user variables", userVariables},
		{"transactions", transactions},
		{"prepared statements", prepared},
		{"what needs no server", local},
	} {
		t.Run(test.name, func(t *testing.T) {
			y := *x
			y.t = t
			a, b := y.session("pk"), y.session("pk")
			y.free(b, read, write, read)
			y.free(a, write, read)
			test.run(&y, a, b)
		})
	}
}

func equalState(x *lab, a, b *raw.Client) {
	for range 50 {
		x.query(a, read, "replica: own")
	}
	x.query(b, read, "replica: own") // another session in the same state
	x.query(a, read, "replica: own")
	for range 20 {
		x.query(a, write, "source: own")
		x.query(b, write, "source: own")
	}
	x.query(a, "SELECT v FROM t WHERE id = 1 FOR UPDATE", "source: own")
	x.query(a, "UPDATE t SET v = 1; SELECT v FROM t; UPDATE t SET v = 2", "source: own")
}

func changedBeforeRead(x *lab, a, b *raw.Client) {
	x.free(b, "USE pk2", "SET sql_mode = 'ANSI_QUOTES', time_zone = '+05:00', group_concat_max_len = 77", "DO 0", read)
	x.query(a, read, "replica: schema pk | SET | own")
	x.query(a, read, "replica: own")
	if got := x.query(b, read, "replica: schema pk2 | SET | own").Value(); got != "1000" {
		x.t.Errorf("b read %s", got)
	}
	x.query(b, read, "replica: own")
	x.free(b, "USE pk")
	x.query(b, read, "replica: schema pk | own")
	x.query(a, read, "replica: SET | own")
}

// Before a write the state is confirmed: MySQL does not stop a pipeline.
func changedBeforeWrite(x *lab, a, b *raw.Client) {
	x.free(a, "INSERT INTO t (v) VALUES (1)") // may bring LAST_INSERT_ID() along: nobody asked what an ended session had left
	x.query(a, "INSERT INTO t (v) VALUES (2)", "source: own")
	x.query(b, write, "source: SELECT LAST_INSERT_ID()", "source: SET | own") // a may still ask for its id, and a trigger for b's, which travels along
	x.query(b, "INSERT INTO t (v) VALUES (3)", "source: own")
	x.query(b, "INSERT INTO t (v) VALUES (4)", "source: own")
	x.query(b, "SELECT LAST_INSERT_ID()", "source: own")
	x.free(b, "USE pk2", "SET sql_mode = 'ANSI_QUOTES', time_zone = '+05:00'", write)
	x.query(a, write, "source: SELECT LAST_INSERT_ID()", "source: schema pk | SET", "source: SET | own")
	x.query(a, write, "source: own")
	x.query(b, write, "source: schema pk2 | SET", "source: SET | own")
	x.query(b, write, "source: own")
}

func sets(x *lab, a, _ *raw.Client) {
	x.query(a, "SET time_zone = '+01:00'", "source: SET")
	x.query(a, read, "replica: SET | own")
	x.query(a, read, "replica: own")
	x.query(a, write, "source: own")
	x.query(a, "SET time_zone = '+01:00'", "source: SET")
	x.query(a, read, "replica: own")
	x.query(a, "SET autocommit = 0")
	x.query(a, "SET autocommit = 1")
	x.query(a, read, "replica: SET | own") // autocommit is written down now
	x.query(a, read, "replica: own")
	x.free(a, write, read)
	x.query(a, "USE pk2", "source: own")
	x.query(a, read, "replica: schema pk2 | own")
}

func userVariables(x *lab, a, b *raw.Client) {
	x.query(a, "SET @v = 3", "source: SET")
	x.query(a, read, "replica: own") // it does not use them
	x.query(a, "SELECT @v", "source: own")
	x.query(a, write, "source: own")
	x.query(b, read, "replica: own") // nor did the replica get them
	x.query(a, read, "replica: own")
	x.query(a, "SELECT @v", "source: own")
}

func transactions(x *lab, a, _ *raw.Client) {
	x.query(a, "BEGIN")
	x.query(a, "COMMIT")
	x.query(a, "START TRANSACTION READ ONLY")
	x.query(a, "ROLLBACK")
	x.query(a, "SET autocommit = 0")
	x.query(a, "COMMIT")
	x.query(a, "SET autocommit = 1")
	x.free(a, write, read)
	x.query(a, "BEGIN")
	x.query(a, write, "source: BEGIN", "source: own")
	x.query(a, read, "source: own")
	x.query(a, "COMMIT", "source: own")
	x.query(a, "START TRANSACTION READ ONLY")
	x.query(a, read, "replica: START TRANSACTION READ ONLY", "replica: own")
	x.query(a, read, "replica: own")
	x.query(a, "COMMIT", "replica: own")
}

func prepared(x *lab, a, b *raw.Client) {
	var r, w, same *raw.Stmt
	prepare := func(c *raw.Client, st **raw.Stmt, sql string, want ...string) {
		x.t.Helper()
		x.costs(c, sql, func() (a raw.Answer, err error) { *st, err = c.Prepare(sql); return nil, err }, want...)
	}
	execute := func(c *raw.Client, st *raw.Stmt, want ...string) {
		x.t.Helper()
		x.costs(c, "execute", func() (raw.Answer, error) { return st.Execute(raw.NoCursor, raw.Int64(1)) }, want...)
	}
	prepare(a, &r, "SELECT v FROM t WHERE id = ?", "replica: prepare")
	execute(a, r, "replica: own")
	x.free(a, "BEGIN", write)
	execute(a, r, "source: prepare", "source: own")
	execute(a, r, "source: own")
	x.free(a, "COMMIT", write, read)
	execute(a, r, "replica: own")
	prepare(a, &w, "UPDATE t SET v = ? WHERE id = 1", "source: prepare")
	execute(a, w, "source: own")
	prepare(b, &same, "SELECT v FROM t WHERE id = ?", "replica: prepare")
	execute(b, same, "replica: own")
	x.free(b, "SET time_zone = '+05:00'", "USE pk2", read)
	execute(a, r, "replica: schema pk | SET | own")
	execute(a, r, "replica: own")
}

func local(x *lab, a, _ *raw.Client) {
	ping := func() (raw.Answer, error) { return a.Ping() }
	x.costs(a, "ping", ping)
	x.query(a, "SELECT CONNECTION_ID()")
	x.query(a, "SELECT ROW_COUNT()")
	x.query(a, "SHOW WARNINGS")
	x.query(a, "SHOW CAUSEWAY ROUTE")
	x.costs(a, "reset", func() (raw.Answer, error) { return a.Reset() })
}
