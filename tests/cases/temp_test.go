package cases

import (
	"strings"

	"causeway/tests/session/raw"
)

// tempCases: a temporary table is on one connection and nobody else's.
var tempCases = []theCase{
	{row: "P1", name: "create and select", steps: steps(
		"a: CREATE TEMPORARY TABLE tt (id INT PRIMARY KEY, v INT) => OK", "a: INSERT INTO tt VALUES (1, 100), (2, 200) => OK",
		"b: SELECT v FROM t WHERE id = 1 => 10 @replica",
		"a: SELECT v FROM tt ORDER BY id => 100 | 200 @source", "a: SELECT t.v, tt.v FROM t JOIN tt USING (id) ORDER BY id => 10,100 | 20,200 @source", "a: WITH c AS (SELECT * FROM tt) SELECT COUNT(*) FROM c => 2 @source",
		"a: DROP TEMPORARY TABLE tt => OK", "a: SELECT * FROM tt => ERR 1146", "b: SELECT * FROM tt => ERR 1146", "b: INSERT INTO t (v) VALUES (1) => OK",
	)},
	{row: "P1", name: "in the place of a table", steps: steps(
		"a: CREATE TEMPORARY TABLE t (id INT, v INT) => OK", "a: INSERT INTO t VALUES (1, 7)", "a: SELECT * FROM t => 1,7", "b: SELECT COUNT(*) FROM t => 5 @replica", prep("a", "r", "SELECT COUNT(*) FROM t"), exe("a", "r"), "a: DROP TABLE t => OK", "a: SELECT COUNT(*) FROM t => 5", exe("a", "r"),
		"b: UPDATE t SET v = 11 WHERE id = 1 => OK", "a: SELECT v FROM t WHERE id = 1 => 11",
	)},
	{row: "P2", name: "created in a procedure", steps: steps(
		"a: CALL temporary() => OK", "b: SELECT v FROM t WHERE id = 1 => 10 @replica", "a: SELECT * FROM made => 5 @source", "a: INSERT INTO made VALUES (6)", "a: SELECT COUNT(*) FROM made => 2 @source", "a: DROP TEMPORARY TABLE made => OK", "a: SELECT * FROM made => ERR 1146", "b: CALL temporary() => OK", "b: SELECT * FROM made => 5", `b: \quit`, "a: CALL temporary() => OK",
	)},
	{row: "P3", name: "created by a prepared statement", steps: steps(
		prep("a", "c", "CREATE TEMPORARY TABLE tt (id INT)"), "a: SELECT * FROM tt => ERR 1146", exe("a", "c").is("OK"), prep("a", "w", "INSERT INTO tt VALUES (?)"), exe("a", "w", num(3)), "b: SELECT v FROM t WHERE id = 1 => 10 @replica", "a: SELECT * FROM tt => 3 @source",
		prep("a", "r", "SELECT id FROM tt WHERE id = ?"), exe("a", "r", num(3)).at("source"), "a: TRUNCATE TABLE tt", exe("a", "r", num(3)), prep("a", "d", "DROP TEMPORARY TABLE tt"), exe("a", "d").is("OK"), exe("a", "r", num(3)).is("ERR 1146"), exe("a", "c").is("OK"), "a: SELECT COUNT(*) FROM tt => 0",
		"a: PREPARE p FROM 'CREATE TEMPORARY TABLE tt2 (id INT)'", "a: EXECUTE p => OK", "a: SELECT COUNT(*) FROM tt2 => 0 @source",
	)},
	{row: "P4", name: "gone with its session", steps: steps(
		"a: CREATE TEMPORARY TABLE tt (id INT) => OK", `a: \quit`, "b: CREATE TEMPORARY TABLE tt (id INT) => OK", `b: \reset`, "b: SELECT * FROM tt => ERR 1146", "c: CREATE TEMPORARY TABLE tt (id INT) => OK", `c: \drop`,
		"b: CREATE TEMPORARY TABLE tt (id INT) => OK", `b: \user app cases`, "c: CREATE TEMPORARY TABLE tt (id INT) => OK", "c: DROP TEMPORARY TABLE tt",
		"a: CREATE TEMPORARY TABLE t (id INT) => OK", `a: \quit`, "b: SELECT COUNT(*) FROM t FOR UPDATE => 5 @source", "b: DELETE FROM t WHERE v = 50 => OK", "x: SELECT COUNT(*) FROM t => 4",
	)},
	{row: "P6", name: "lost with its connection", run: tempLost},
	{row: "P7", name: "stays where it is", steps: staying()},
}

func staying() []step {
	list := steps("a: CREATE TEMPORARY TABLE tt (id INT) => OK")
	for range 4 {
		list = append(list, steps("a: INSERT INTO tt VALUES (1) => OK", "b: SELECT v FROM t WHERE id = 1 => 10 @replica", "a: SELECT MIN(id) FROM tt => 1 @source", `c: \ping`, "a: USE cases2", "a: SELECT MAX(id) FROM cases.tt => 1 @source", "a: SET time_zone = '+02:00'", "a: BEGIN", "a: SELECT MAX(id) FROM cases.tt => 1 @source", "a: COMMIT", "a: USE cases")...)
	}
	return append(list, steps("a: SELECT COUNT(*) FROM tt => 4", "a: DROP TEMPORARY TABLE tt", "b: INSERT INTO t (v) VALUES (1) => OK")...)
}

// tempLost kills the connection that holds a temporary table. The session must
// not go on as if nothing had happened.
func tempLost(e *env) string {
	c := e.dial()
	if c == nil {
		return ""
	}
	defer c.Close()
	e.query(c, "CREATE TEMPORARY TABLE tt (id INT)")
	e.query(c, "SELECT GET_LOCK('cases_p6', 5)")
	thread := e.onSource("SELECT IS_USED_LOCK('cases_p6')")
	if err := lab.cluster.Source().Exec(e.t.Context(), "KILL "+thread); err != nil {
		e.errorf("%v", err)
	}
	e.eventually("the lock is free", func() bool { return e.onSource("SELECT IS_FREE_LOCK('cases_p6')") == "1" })
	var last error
	for range 3 { // an error may come first, but then the connection must end
		a, err := c.Query("SELECT COUNT(*) FROM tt")
		if last = err; last != nil {
			break
		}
		if a.Err() == nil || strings.Contains(a.Err().Error(), "doesn't exist") {
			e.errorf("a session that has lost its temporary table goes on: %s", a)
		}
	}
	if last == nil {
		e.errorf("the client's connection stays open")
	}
	if c := e.dial(func(o *raw.Options) { o.Attrs = nil }); c != nil {
		e.want(c, "INSERT INTO t (v) VALUES (1); SELECT COUNT(*) FROM t", "6")
		c.Quit()
	}
	return ""
}
