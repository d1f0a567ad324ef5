package cases

import (
	"fmt"
	"strings"

	"causeway/tests/cluster"
	"causeway/tests/session/raw"
)

// preparedCases: a prepared statement is its session's own, wherever it runs.
var preparedCases = []theCase{
	{row: "S1", name: "many and none closed", run: neverClosed},
	{row: "S2", name: "prepared and closed again and again", run: closedAgain},
	{row: "S3", name: "gone after reset and change of user", steps: steps(
		prep("a", "p", "SELECT v FROM t WHERE id = ?"), exe("a", "p", num(1)), `a: \user app cases`, exe("a", "p", num(1)).is("ERR 1243"), prep("a", "p", "SELECT s FROM t WHERE id = ?"), exe("a", "p", num(1)), `a: \reset`, exe("a", "p", num(1)).is("ERR 1243"),
		prep("a", "w", "INSERT INTO t (v) VALUES (?)"), prep("b", "w", "INSERT INTO t (v) VALUES (? + 100)"), `a: \reset`, exe("a", "w", num(1)).is("ERR 1243"), exe("b", "w", num(1)).is("OK"), "a: SELECT MAX(v) FROM t => 101",
	)},
	{row: "S4", name: "routed when executed", steps: steps(
		prep("a", "r", "SELECT v FROM t WHERE id = ?"), exe("a", "r", num(1)).at("replica"), "a: BEGIN", "a: UPDATE t SET v = 11 WHERE id = 1", exe("a", "r", num(1)).at("source"), "a: COMMIT", exe("a", "r", num(1)).at("replica"),
		"a: SET autocommit = 0", exe("a", "r", num(1)).at("source"), "a: COMMIT", "a: SET autocommit = 1", exe("a", "r", num(1)).at("replica"), "a: START TRANSACTION READ ONLY", exe("a", "r", num(2)).at("replica"), "a: COMMIT", "a: BEGIN", prep("a", "r2", "SELECT s FROM t WHERE id = ?"), exe("a", "r2", num(1)).at("source"), "a: ROLLBACK", exe("a", "r2", num(1)).at("replica"),
		prep("a", "w", "UPDATE t SET v = ? WHERE id = 1"), exe("a", "w", num(12)).at("source"), exe("a", "r", num(1)).at("replica"), prep("a", "l", "SELECT v FROM t WHERE id = ? FOR UPDATE"), exe("a", "l", num(1)).at("source"),
	)},
	{row: "S5", name: "unknown ids", steps: steps(
		foreign("a", 4242).is("ERR 1243"), foreign("a", 0).is("ERR 1243"), foreign("a", 4294967295).is("ERR 1243"), "a: SELECT 1 => 1", prep("a", "p", "SELECT 1"), closeStmt("a", "p"), exe("a", "p").is("ERR 1243"), fetch("a", "p", 1).is("ERR 1243"), closeStmt("a", "p"), long("a", "p", 0, "x"), "a: SELECT 2 => 2", exe("a", "p").is("ERR 1243"), "b: INSERT INTO t (v) VALUES (1) => OK",
	)},
	{row: "S7", name: "columns that change", steps: steps(
		prep("a", "p", "SELECT * FROM t WHERE id = ?"), exe("a", "p", num(1)), "a: ALTER TABLE t ADD COLUMN more INT DEFAULT 9", exe("a", "p", num(1)), exe("a", "p", num(2)), "b: ALTER TABLE t DROP COLUMN s, MODIFY v BIGINT", exe("a", "p", num(1)), exe("a", "p", num(1)),
		prep("a", "w", "INSERT INTO t VALUES (?, ?, ?)"), exe("a", "w", num(9), num(1), num(2)), "a: ALTER TABLE t DROP COLUMN more", exe("a", "w", num(10), num(1), num(2)).is("ERR 1136"), exe("a", "p", num(9)), "a: DROP TABLE child, t", exe("a", "p", num(1)).is("ERR 1146"), "a: CREATE TABLE t (id VARCHAR(10), x TEXT)", "a: INSERT INTO t VALUES ('1', 'new')", exe("a", "p", num(1)), exe("a", "p", str("1")),
	)},
	{row: "S9", name: "SET as a prepared statement", steps: steps(
		prep("a", "m", "SET sql_mode = ?"), `a: SELECT "v" FROM t WHERE id = 1 => v`, exe("a", "m", str("ANSI_QUOTES")).is("OK"), `a: SELECT "v" FROM t WHERE id = 1 => 10`, `b: SELECT "v" FROM t WHERE id = 1 => v`, exe("a", "m", str("")).is("OK"), `a: SELECT "v" FROM t WHERE id = 1 => v`, exe("a", "m", str("NOSUCH")).is("ERR 1231"),
		prep("a", "z", "SET time_zone = '+06:00'"), exe("a", "z"), "a: SELECT ts FROM times => 2024-05-06 13:08:09", "b: SELECT ts FROM times FOR UPDATE => 2024-05-06 07:08:09", prep("a", "o", "SET autocommit = ?"), exe("a", "o", num(0)), "a: SELECT v FROM t WHERE id = 1 => 10 @source", "a: ROLLBACK", exe("a", "o", num(1)), "a: SELECT v FROM t WHERE id = 1 => 10 @replica", prep("a", "u", "SET @u = ?"), exe("a", "u", num(5)), "a: SELECT @u => 5", prep("a", "n", "SET NAMES latin1"), exe("a", "n"), "a: SELECT l FROM words WHERE id = 1 => \xe9", "b: SELECT l FROM words WHERE id = 1 => é",
	)},
	{row: "S10", name: "each session has its ids", steps: steps(
		prep("a", "p", "SELECT 'a', v FROM t WHERE id = ?"), prep("b", "p", "SELECT 'b', s, id FROM t WHERE id > ?"), prep("a", "q", "SELECT 'aa' WHERE ? > 0"), exe("b", "p", num(3)), exe("a", "p", num(1)), exe("a", "q", num(1)), closeStmt("a", "p"), exe("b", "p", num(4)), exe("a", "p", num(1)).is("ERR 1243"), prep("a", "p", "SELECT 'new' FROM t LIMIT ?"), exe("a", "p", num(1)), exe("b", "p", num(4)),
		prep("a", "w", "INSERT INTO t (v, s) VALUES (?, 'a')"), prep("b", "w", "UPDATE t SET v = ? WHERE id = 1"), exe("a", "w", num(1)), exe("b", "w", num(2)), closeStmt("b", "w"), exe("a", "w", num(3)), `b: \quit`, exe("a", "w", num(4)), exe("a", "q", num(1)), "x: SELECT v FROM t WHERE id IN (1, 6, 7, 8) ORDER BY id => 2 | 1 | 3 | 4",
	)},
	{row: "S10", name: "the same text in two sessions", classic: true, steps: steps(
		prep("a", "p", "SELECT v FROM t WHERE id = ?"), prep("b", "p", "SELECT v FROM t WHERE id = ?"), exe("a", "p", num(1)), exe("b", "p", str("2")), exe("a", "p", num(3)), exeSame("b", "p", str("4")), closeStmt("a", "p"), exe("b", "p", str("5")), prep("a", "p", "SELECT v FROM t WHERE id = ?"), exe("a", "p", double(1)), exeSame("a", "p", double(2)), exeSame("b", "p", str("1")),
	)},
	{row: "S13", name: "what cannot be prepared", steps: steps(
		prep("a", "a", "PREPARE x FROM 'SELECT 1'").is("ERR 1295"), prep("a", "b", "LOCK INSTANCE FOR BACKUP"), prep("a", "c", "USE cases2").is("ERR 1295"), prep("a", "d", "LOCK TABLES t READ").is("ERR 1295"), prep("a", "e", "LOAD DATA LOCAL INFILE 'x' INTO TABLE t").is("ERR 1295"), prep("a", "f", "HANDLER t OPEN").is("ERR 1295"), prep("a", "g", "SELECT 1; SELECT 2").is("ERR 1064"), prep("a", "h", "").is("ERR 1065"), prep("a", "i", "XA START 'x'"), prep("a", "j", "START TRANSACTION"), prep("a", "k", "SAVEPOINT x"), prep("a", "l", "UNLOCK TABLES"), prep("a", "m", "EXPLAIN SELECT 1"), prep("a", "n", "GET DIAGNOSTICS @n = NUMBER"), prep("a", "o", "KILL 1"), prep("a", "p", "SHOW WARNINGS"), prep("a", "q", "SELECT * FROM nosuch").is("ERR 1146"), "a: SELECT 1 => 1",
	)},
	{row: "S14", name: "PREPARE in a text", steps: steps(
		"a: PREPARE p FROM 'SELECT v FROM t WHERE id = ?' => OK", "a: SET @i = 2", "a: EXECUTE p USING @i => 20", "b: SELECT v FROM t WHERE id = 1 => 10 @replica", "a: EXECUTE p USING @i => 20", "a: DEALLOCATE PREPARE p => OK", "b: EXECUTE p USING @i => ERR 1243", "b: SELECT 1 => 1", "a: EXECUTE p USING @i => ERR 1243",
		"a: SET @q = 'INSERT INTO t (v) VALUES (?)'", "a: PREPARE w FROM @q", "a: EXECUTE w USING @i => OK", "a: SELECT COUNT(*) FROM t => 6", "a: DROP PREPARE w => OK", "b: INSERT INTO t (v) VALUES (1) => OK", "a: PREPARE p FROM 'SELECT 1'", `a: \quit`, "c: EXECUTE p => ERR 1243", "c: PREPARE p FROM 'SELECT 5'", `c: \reset`, "c: EXECUTE p => ERR 1243", "b: INSERT INTO t (v) VALUES (1) => OK", "b: EXECUTE IMMEDIATE 'SELECT 7'",
	)},
	// That ids wrap and pass over those in use is shown by TestPreparedIDsWrap
	// of package server: nobody prepares 2^32 statements here.
	{row: "S15", name: "ids are never given twice", run: distinctIDs},
	{row: "S17", name: "prepared anew after a lost connection", run: preparedAnew},
}

// longDataCases: cursors and long data bind a statement to a connection.
var longDataCases = []theCase{
	{row: "S8", name: "cursors", steps: steps(
		prep("a", "c", "SELECT id, s FROM t WHERE id > ? ORDER BY id"), cursor("a", "c", num(1)), fetch("a", "c", 1), "b: SELECT v FROM t WHERE id = 1 => 10", fetch("a", "c", 2), "a: SELECT COUNT(*) FROM words => 3", fetch("a", "c", 10), fetch("a", "c", 1), "b: INSERT INTO t (v) VALUES (1) => OK",
		cursor("a", "c", num(2)), fetch("a", "c", 1), resetStmt("a", "c"), fetch("a", "c", 1), "b: INSERT INTO t (v) VALUES (1) => OK", cursor("a", "c", num(2)), fetch("a", "c", 1), closeStmt("a", "c"), fetch("a", "c", 1), "b: UPDATE t SET v = 0 => OK",
		prep("a", "l", "SELECT v FROM t WHERE id <= ? ORDER BY id FOR UPDATE"), "a: BEGIN", cursor("a", "l", num(3)), fetch("a", "l", 1), fetch("a", "l", 5), "a: COMMIT", "b: UPDATE t SET v = 1 => OK", prep("a", "two", "SELECT id FROM t ORDER BY id"), prep("a", "three", "SELECT s FROM words ORDER BY id"), cursor("a", "two"), cursor("a", "three"), fetch("a", "two", 1), fetch("a", "three", 1), fetch("a", "two", 1), fetch("a", "three", 5), fetch("a", "two", 9), `a: \reset`, "b: UPDATE t SET v = 2 => OK",
	)},
	{row: "S8", name: "two cursors of one text", steps: steps(
		prep("a", "c", "SELECT id FROM t WHERE id > ? ORDER BY id"), prep("a", "d", "SELECT id FROM t WHERE id > ? ORDER BY id"), cursor("a", "c", num(0)), cursor("a", "d", num(3)), fetch("a", "c", 1), fetch("a", "d", 1), fetch("a", "c", 1), prep("a", "e", "SELECT id FROM t WHERE id > ? ORDER BY id"), fetch("a", "c", 1), exe("a", "e", num(2)), closeStmt("a", "d"), fetch("a", "c", 9),
		prep("a", "n", "SELECT id FROM t ORDER BY id"), "a: BEGIN", "a: UPDATE t SET v = 0 WHERE id = 1", cursor("a", "n"), fetch("a", "n", 1), prep("a", "m", "SELECT id FROM t ORDER BY id"), exe("a", "m"), fetch("a", "n", 1), "a: COMMIT", fetch("a", "n", 1),
	)},
	{row: "S8", name: "a cursor stays open", run: staysOpen},
	{row: "S8", name: "executed after a cursor", run: afterCursor},
	{row: "S8", name: "cursors without DEPRECATE_EOF", classic: true, steps: steps(
		prep("a", "c", "SELECT id FROM t ORDER BY id"), cursor("a", "c"), fetch("a", "c", 2), fetch("a", "c", 2), fetch("a", "c", 2), prep("a", "e", "SELECT id FROM t WHERE id > 100"), cursor("a", "e"), fetch("a", "e", 1), prep("a", "w", "UPDATE t SET v = 0 WHERE id = 1"), cursor("a", "w"), "a: SELECT v FROM t WHERE id = 1 => 0", cursor("a", "c"), fetch("a", "c", 1), `a: \drop`, "b: UPDATE t SET v = 1 => OK",
	)},
	{row: "S11", name: "COM_STMT_RESET", steps: steps(
		prep("a", "w", "INSERT INTO blobs VALUES (?, ?, 'x')"), long("a", "w", 1, "forgotten"), resetStmt("a", "w").is("OK"), exe("a", "w", num(1), str("new")).is("OK"), "a: SELECT b FROM blobs WHERE id = 1 => new", "b: SELECT v FROM t WHERE id = 1 FOR UPDATE => 10", resetStmt("a", "w").is("OK"), exe("a", "w", num(1), str("again")).is("ERR 1062"), long("a", "w", 1, "more"), exe("a", "w", num(1), raw.Long()), resetStmt("a", "w").is("OK"), exe("a", "w", num(2), str("after")).is("OK"), "b: SELECT b FROM blobs ORDER BY id => new | after",
		prep("a", "c", "SELECT id FROM t ORDER BY id"), cursor("a", "c"), fetch("a", "c", 1), resetStmt("a", "c").is("OK"), fetch("a", "c", 1), resetStmt("a", "c").is("OK"), cursor("a", "c"), fetch("a", "c", 9), "b: UPDATE t SET v = 1 => OK",
	)},
	{row: "S12", name: "long data", steps: steps(
		prep("a", "w", "INSERT INTO blobs VALUES (?, ?, ?)"), long("a", "w", 1, "abc"), "b: SELECT v FROM t WHERE id = 1 => 10 @replica", long("a", "w", 1, "def"), long("a", "w", 2, strings.Repeat("long", 50000)), exe("a", "w", num(1), raw.Long(), raw.Long()).is("OK"), "a: SELECT b, LENGTH(x) FROM blobs WHERE id = 1 => abcdef,200000", exe("a", "w", num(2), str("plain"), raw.Null()).is("OK"), "b: SELECT b, x FROM blobs WHERE id = 2 => plain,NULL",
		prep("a", "r", "SELECT id FROM blobs WHERE b = ? AND id > ?"), long("a", "r", 0, "abc"), long("a", "r", 0, "def"), exe("a", "r", raw.Long(), num(0)), exe("a", "r", str("plain"), num(0)), long("a", "r", 9, "no such parameter"), exe("a", "r", str("plain"), num(0)), exe("a", "r", str("plain"), num(0)), resetStmt("a", "r"), exe("a", "r", str("plain"), num(0)), "b: INSERT INTO t (v) VALUES (1) => OK", long("a", "w", 1, "lost"), `a: \quit`, "b: SELECT COUNT(*) FROM blobs FOR UPDATE => 2", "b: INSERT INTO t (v) VALUES (1) => OK", prep("b", "w", "INSERT INTO blobs VALUES (?, ?, ?)"), exe("b", "w", num(3), str("mine"), raw.Null()).is("OK"), "b: SELECT b FROM blobs WHERE id = 3 => mine",
	)},
	{row: "S12", name: "long data of one of two statements of a text", steps: steps(
		prep("a", "w", "INSERT INTO blobs VALUES (?, ?, ?)"), prep("a", "v", "INSERT INTO blobs VALUES (?, ?, ?)"), long("a", "w", 1, "long "), exe("a", "v", num(1), str("two"), str("two")).is("OK"), prep("a", "u", "INSERT INTO blobs VALUES (?, ?, ?)"), long("a", "w", 1, "of one"), exe("a", "u", num(2), str("three"), str("three")).is("OK"), exe("a", "w", num(3), raw.Long(), str("one")).is("OK"), "a: SELECT b, x FROM blobs ORDER BY id => two,two | three,three | long of one,one",
	)},
	{row: "S16", name: "rows that begin with 0xFE", run: rowsLikeEOF},
	{row: "S16", name: "the same without DEPRECATE_EOF", classic: true, run: rowsLikeEOF},
}

// fewStatements tells whether no node holds more prepared statements than its
// connections from Causeway may keep, 50 each, and some of others.
func (e *env) fewStatements() bool {
	for _, n := range lab.cluster.Nodes() {
		v, err := n.Value(e.t.Context(), "SELECT VARIABLE_VALUE <= 20 + 50 * (SELECT COUNT(*) FROM performance_schema.threads WHERE PROCESSLIST_USER IN ('app', 'other')) FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Prepared_stmt_count'")
		if err != nil {
			e.errorf("%v", err)
		}
		if v != "1" {
			return false
		}
	}
	return true
}

// neverClosed is the client that prepares each time and closes nothing. All
// must work, and what four such clients leave behind must be no more than
// what the connections may keep.
func neverClosed(e *env) string {
	const texts = 80
	for range 4 {
		c := e.dial()
		if c == nil {
			return ""
		}
		var stmts []*raw.Stmt
		for i := range texts {
			s, err := c.Prepare(fmt.Sprintf("SELECT v + %d FROM t WHERE id = ?", i))
			if err != nil {
				e.errorf("statement %d: %v", i, err)
				return ""
			}
			stmts = append(stmts, s)
		}
		for i, s := range stmts {
			if a, err := s.Execute(raw.NoCursor, num(1)); err != nil || a.Err() != nil || len(a[0].Rows) != 1 {
				e.errorf("executing statement %d: %v %v", i, err, a.Err())
			}
		}
		c.Quit()
	}
	e.eventually("the statements are closed on the nodes, but for 50 a connection", e.fewStatements)
	return ""
}

// closedAgain must leave nothing on the nodes but what a cache may keep.
func closedAgain(e *env) string {
	c := e.dial()
	if c == nil {
		return ""
	}
	defer c.Quit()
	for i := range 300 {
		s, err := c.Prepare("SELECT v FROM t WHERE id = ?")
		if err != nil {
			e.errorf("time %d: %v", i, err)
			return ""
		}
		if a, err := s.Execute(raw.NoCursor, num(int64(i%5+1))); err != nil || len(a) != 1 || len(a[0].Rows) != 1 {
			e.errorf("time %d: %v %v", i, a, err)
		}
		if err := s.Close(); err != nil {
			e.errorf("time %d: %v", i, err)
		}
	}
	e.query(c, "SELECT v FROM t WHERE id = 1")
	e.query(c, "SELECT v FROM t WHERE id = 1 FOR UPDATE")
	e.eventually("one text is a few statements on the nodes", e.fewStatements)
	return ""
}

func distinctIDs(e *env) string {
	c := e.dial()
	if c == nil {
		return ""
	}
	defer c.Quit()
	seen := map[uint32]bool{}
	for i := range 200 {
		s, err := c.Prepare("SELECT ?")
		if err != nil {
			e.errorf("%v", err)
			return ""
		}
		if s.ID == 0 || seen[s.ID] {
			e.errorf("id %d was given twice, or is none", s.ID)
		}
		seen[s.ID] = true
		if i%2 == 0 {
			s.Close()
		}
	}
	return ""
}

// preparedAnew: two statements of one text are both there after the
// connections to the replicas were killed. On MySQL that would end the session.
func preparedAnew(e *env) string {
	c := e.dial()
	if c == nil || e.direct {
		return ""
	}
	defer c.Quit()
	var stmts []*raw.Stmt
	for range 2 {
		s, err := c.Prepare("SELECT v FROM t WHERE id = ?")
		if err != nil {
			e.errorf("%v", err)
			return ""
		}
		stmts = append(stmts, s)
	}
	for range 3 {
		for i, s := range stmts {
			a, err := s.Execute(raw.NoCursor, num(1))
			if err != nil || a.Err() != nil || len(a[0].Rows) != 1 {
				e.errorf("statement %d: %v %v", i, err, a.Err())
			}
		}
		for _, n := range lab.cluster.Replicas() {
			e.killApp(n)
		}
	}
	e.want(c, "SELECT v FROM t WHERE id = 2", "20")
	return ""
}

// killApp kills the application's connections on a node.
func (e *env) killApp(n *cluster.Node) {
	ids, err := n.Value(e.t.Context(), "SELECT GROUP_CONCAT(PROCESSLIST_ID) FROM performance_schema.threads WHERE PROCESSLIST_USER = 'app'")
	if err != nil {
		e.errorf("%v", err)
	}
	for _, id := range strings.FieldsFunc(ids, func(r rune) bool { return r == ',' }) {
		_ = n.Exec(e.t.Context(), "KILL "+id) // it may be gone already
	}
}

// rowsLikeEOF reads values whose length takes nine bytes, so that their row
// begins as an EOF does, and goes on in a second packet.
func rowsLikeEOF(e *env) string {
	c := e.dial()
	if c == nil {
		return ""
	}
	defer c.Quit()
	s, err := c.Prepare("SELECT REPEAT('x', ?), 5")
	if err != nil {
		e.errorf("%v", err)
		return ""
	}
	for _, n := range []int{1 << 24} {
		a, err := c.Query(fmt.Sprintf("SELECT REPEAT('x', %d), 5 UNION ALL SELECT 'y', 6", n))
		if err != nil || len(a) != 1 || len(a[0].Rows) != 2 || len(a[0].Rows[0][0]) != n || string(a[0].Rows[1][1]) != "6" {
			e.errorf("a row of %d bytes: %d results, %v %v", n, len(a), err, a.Err())
			continue
		}
		b, err := s.Execute(raw.NoCursor, num(int64(n)))
		if err != nil || len(b) != 1 || len(b[0].Rows) != 1 || len(b[0].Rows[0][0]) < n {
			e.errorf("a binary row of %d bytes: %d results, %v %v", n, len(b), err, b.Err())
		}
	}
	e.want(c, "SELECT v FROM t WHERE id = 1", "10")
	return ""
}

// staysOpen fetches from a cursor between commands after which Causeway's other
// connections and statements are not what they were.
func staysOpen(e *env) string {
	c := e.dial()
	if c == nil {
		return ""
	}
	defer c.Quit()
	s, err := c.Prepare("SELECT id FROM t ORDER BY id")
	if err != nil {
		e.errorf("%v", err)
		return ""
	}
	s.Execute(raw.CursorReadOnly)
	var got []string
	for _, between := range []func(){
		func() {},
		func() { c.SetOption(1) },
		func() {
			for i := range 60 { // more than a connection keeps
				if o, err := c.Prepare(fmt.Sprintf("SELECT v + %d FROM t WHERE id = ?", i)); err == nil {
					o.Execute(raw.NoCursor, num(1))
				}
			}
		},
	} {
		between()
		r, err := s.Fetch(1)
		got = append(got, fmt.Sprint(r, err))
	}
	return strings.Join(got, "\n")
}

// afterCursor executes without a cursor what this client, and another, had executed
// with one. MySQL 9.7 itself cannot on one statement: it answers with columns and an OK.
func afterCursor(e *env) string {
	const text = "SELECT id FROM t WHERE id > ? ORDER BY id"
	for range 2 {
		c := e.dial()
		if c == nil {
			return ""
		}
		s, err := c.Prepare(text)
		if err != nil {
			e.errorf("%v", err)
			return ""
		}
		if !e.direct {
			s.Execute(raw.CursorReadOnly, num(1))
			s.Fetch(100)
		}
		if a, err := s.Execute(raw.NoCursor, num(1)); err != nil || a.Err() != nil || len(a[0].Rows) != 4 {
			e.errorf("%v, %v: %s", err, a.Err(), a)
		}
		s.Close()
		c.Quit()
	}
	return ""
}
