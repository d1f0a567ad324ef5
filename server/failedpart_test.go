package server

import (
	"slices"
	"strings"
	"testing"

	"causeway/backend"
	"causeway/wire"
)

// What a text did before it failed is the session's, and on that connection alone.
func TestSessionFailedPart(t *testing.T) {
	held := backend.Held{UserVars: vars("b", "6"), UserLocks: true}
	for _, c := range []struct {
		text string
		code uint16
		held backend.Held
		pins string
	}{
		{"SET @b = 6; INSERT INTO t VALUES (1)", 1062, held, "user_locks,user_variables"},
		{"SET @b = 1 + 5; SELECT * FROM nosuch", 1146, backend.Held{UserVars: vars("b", "6")}, "user_variables"},
		{"SET @b = 6; USE nosuch", 1049, backend.Held{}, ""},
		{"SELECT 1; UPDATE t SET a = 1; DO 1", 1062, backend.Held{UserVars: vars("b", "6")}, "user_variables"},
		{"SELECT @b := 6, (SELECT a FROM t)", 1242, backend.Held{UserVars: vars("b", "6")}, "user_variables"},
		{"SELECT @b := 6, nosuch FROM t", 1054, backend.Held{}, ""},
		{"SELECT @b := 6 FROM", 1064, held, ""},
		{"DO GET_LOCK('a', 0), (SELECT a FROM t)", 1242, backend.Held{UserLocks: true}, "user_locks"},
		{"SET @b = 6, gtid_next = 'x'", 1774, backend.Held{UserVars: vars("b", "6")}, "user_variables,session_variables"},
		{"SET sql_mode = '', @b = nosuch", 1054, backend.Held{}, ""},
		{"INSERT INTO t VALUES (1)", 1062, held, ""}, // nobody asks
		{"CREATE TEMPORARY TABLE tt (id INT); INSERT INTO t VALUES (1)", 1062, backend.Held{}, "temporary_tables"},
		{"CREATE TEMPORARY TABLE tt (id INT)", 1050, backend.Held{}, ""},
		{"PREPARE p FROM 'SELECT 1'; SELECT * FROM nosuch", 1146, backend.Held{}, "unknown_statement"},
		{"PREPARE p FROM 'SELECT 1'; PREPARE q FROM 'SELEC'", 1064, backend.Held{}, "text_prepared"},
		{"HANDLER t OPEN; HANDLER nosuch OPEN", 1146, backend.Held{}, "handler"},
		{"XA START 'a'; XA END 'a'; XA COMMIT 'b'", 1397, backend.Held{}, "xa"},
		{"SET insert_id = 7; SET time_zone = 'bogus'", 1298, backend.Held{}, "session_variables"},
		{"CREATE TEMPORARY TABLE tt (id INT); SELEC", 1064, backend.Held{}, "temporary_tables,unknown_statement"},
	} {
		l := startLab(t, 1)
		l.mon.held.Store(&c.held)
		l.source.on(c.text, func(f *fakeConn, _ string) { f.fail(c.code, "no") })
		k := l.client(wire.CapMultiStatements)
		if got := k.query(c.text); got.err == nil || got.err.Code != c.code {
			t.Fatalf("%s: %v", c.text, got.err)
		}
		k.run("SELECT a FROM u FOR UPDATE") // what the trackers have to tell is looked at first
		pins := ""
		if rows := k.query("SHOW CAUSEWAY PINS").rows; len(rows) == 1 {
			pins = rows[0][3]
		}
		if pins != c.pins {
			t.Errorf("after %s the session is pinned by %q, want %q", c.text, pins, c.pins)
		}
	}
}

// A timestamp that a text set before it failed is asked for: it goes where the session goes.
func TestSessionTimestampOfAFailedText(t *testing.T) {
	l := startLab(t, 1)
	l.source.on("SET timestamp = 1000;", func(c *fakeConn, _ string) { c.fail(1298, "no") })
	l.source.on("SELECT @@timestamp", func(c *fakeConn, _ string) { c.rows(1, []string{"1000.000000"}) })
	l.source.on("SELECT FOUND_ROWS()", func(c *fakeConn, text string) {
		n := strings.Count(text, ",") + 1
		c.rows(n, slices.Repeat([]string{"0"}, n))
	})
	l.source.on("SHOW WARNINGS", func(c *fakeConn, _ string) { c.rows(3, []string{"Error", "1298", "no"}) })
	k := l.client(wire.CapMultiStatements)
	k.query("SET timestamp = 1000; SET time_zone = 'bogus'")
	l.forget()
	k.wantFrom("replica1", "SELECT a FROM t")
	wantTexts(t, l.r(), "SET SESSION timestamp=1000.000000", "SELECT a FROM t")
}
