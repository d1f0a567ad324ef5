package cases

import (
	"causeway/tests/session/raw"
	"causeway/wire"
)

// droppedCases: a schema that is dropped while a session is in it. What needs
// the schema fails, all else goes on, and no row of another schema changes.
var droppedCases = []theCase{
	{row: "X4", name: "what goes on in a schema that was dropped", steps: steps(
		toCases3("a"), "b: DROP DATABASE cases3 => OK",
		"a: SELECT 1 => 1", "b: SELECT COUNT(*) FROM t => 5", "a: SELECT COUNT(*) FROM cases.t => 5",
		"a: SELECT COUNT(*) FROM t => ERR 1049", "b: SELECT v FROM t WHERE id = 1 => 10", "a: DELETE FROM t => ERR 1049", "a: SHOW WARNINGS", "b: USE cases2",
		"a: UPDATE t SET v = 0 => ERR 1049", "a: INSERT INTO t (v) VALUES (9) => ERR 1049", "a: REPLACE INTO t (id, v) VALUES (1, 9) => ERR 1049", inOtherWords("a", "TRUNCATE TABLE t"), inOtherWords("a", "DROP TABLE t"), "a: ALTER TABLE t ADD COLUMN c INT", "a: CREATE TABLE made (id INT)", "b: SELECT * FROM t => 1,1000,other",
		"a: INSERT INTO cases.t (v) VALUES (60) => OK", "a: SELECT LAST_INSERT_ID(), ROW_COUNT()", "b: INSERT INTO t (v) VALUES (5)", "a: SELECT v FROM cases.t WHERE id = LAST_INSERT_ID() => 60", "a: SET time_zone = '+02:00' => OK", "a: SELECT ts FROM cases.times => 2024-05-06 09:08:09", "b: SELECT ts FROM cases.times => 2024-05-06 07:08:09", "a: SELECT @@time_zone, v FROM cases.t WHERE id = 1 => +02:00,10",
		"a: SET NAMES latin1 => OK", "a: SET @n = 4 => OK", "a: SELECT @n, l FROM cases.words WHERE id = 1 => 4,\xe9", "a: DELETE FROM t => ERR 1049", "a: SHOW TABLES", "a: SELECT v FROM t FOR UPDATE => ERR 1049", "a: LOCK TABLES t WRITE", inOtherWords("a", "ANALYZE TABLE t"), "a: SHOW CREATE TABLE t", "a: EXPLAIN SELECT * FROM t", `a: \fields t`, `a: \ping`, `a: \use cases3`, "a: USE cases3 => ERR 1049",
		"a: SELECT 1; DELETE FROM t", "a: DELETE FROM t; SELECT 1", "a: DO 1 => OK", "b: SELECT COUNT(*) FROM t => 2",
		"b: CREATE DATABASE cases3", "a: DELETE FROM t => ERR 1146", "b: CREATE TABLE cases3.t LIKE cases.t", "a: INSERT INTO t (v) VALUES (7) => OK", "a: SELECT v FROM t => 7", "b: SELECT COUNT(*) FROM t => 2", "a: SELECT v FROM t => 7 @replica", "a: USE cases", "a: SELECT COUNT(*) FROM t => 6 @replica", "x: SELECT COUNT(*) FROM cases3.t => 1",
	)},
	{row: "X4", name: "transactions in a schema that was dropped", steps: steps(
		toCases3("a"), "x: DROP DATABASE cases3 => OK", "b: USE cases2", "b: SELECT COUNT(*) FROM t => 1",
		"a: BEGIN", "a: DELETE FROM t => ERR 1049", "a: INSERT INTO cases.t (v) VALUES (1) => OK", "a: DELETE FROM t => ERR 1049", "a: SELECT COUNT(*) FROM cases.t => 6", "a: ROLLBACK", "b: INSERT INTO t (v) VALUES (5) => OK",
		"a: START TRANSACTION READ ONLY", "a: SELECT COUNT(*) FROM cases.t => 5", "a: SELECT COUNT(*) FROM t => ERR 1049", "a: COMMIT", "b: DELETE FROM t WHERE v = 5 => OK", "a: SET autocommit = 0", "a: UPDATE t SET v = 0 => ERR 1049", "a: SELECT COUNT(*) FROM cases.t => 5", "a: UPDATE cases.t SET v = 11 WHERE id = 1 => OK", "a: COMMIT", "a: SET autocommit = 1",
		"b: SELECT v FROM t => 1000", "b: SELECT v FROM cases.t WHERE id = 1 => 11", `a: \reset`, "a: DELETE FROM t => ERR 1049", "a: SELECT 2 => 2", `a: \user app cases2`, "a: SELECT COUNT(*) FROM t => 1", `a: \user app`, "a: DELETE FROM t => ERR 1046", "b: SELECT v FROM t => 1000",
	)},
	{row: "X4", name: "prepared statements and a schema that was dropped", classic: true, steps: steps(
		toCases3("a"), prep("a", "d", "DELETE FROM t WHERE id > ?"), prep("a", "r", "SELECT COUNT(*) FROM t"), prep("a", "w", "INSERT INTO t (v) VALUES (?)"), prep("a", "one", "SELECT 1"), exe("a", "w", num(1)).is("OK"), exe("a", "r"),
		"b: SELECT COUNT(*) FROM t => 5", "b: DROP DATABASE cases3 => OK", "b: USE cases2", "b: SELECT COUNT(*) FROM t => 1",
		exe("a", "d", num(0)).is("ERR 1049"), exe("a", "r").is("ERR 1049"), "b: SELECT COUNT(*) FROM t => 1", exe("a", "w", num(1)).is("ERR 1049"), exe("a", "d", num(0)).is("ERR 1049"), prep("a", "p", "DELETE FROM t").is("ERR 1049"), prep("a", "q", "SELECT COUNT(*) FROM cases.t"), exe("a", "q"), "b: SELECT * FROM t => 1,1000,other", exe("a", "q"),
		prep("b", "w2", "INSERT INTO t (v) VALUES (?)"), exe("b", "w2", num(3)), "a: USE cases", exe("a", "d", num(0)).is("ERR 1049"), "a: SELECT COUNT(*) FROM t => 5", exe("b", "w2", num(4)), "b: SELECT COUNT(*) FROM t => 3", "a: SELECT COUNT(*) FROM t => 5",
	)},
	{row: "X4", name: "prepared in a schema that was dropped, and run in another", steps: steps(
		"a: CREATE DATABASE cases3", "a: CREATE TABLE cases3.t LIKE t", "a: USE cases3", prep("a", "d", "DELETE FROM t WHERE id = ?"), "x: DROP DATABASE cases3", "a: USE cases", exe("a", "d", num(1)).is("ERR 1049"), `a: \quit`, "b: UPDATE t SET v = 11 WHERE id = 1 => OK",
	)},
	// b's connections are of another kind, so that a needs a new one each time.
	{row: "X4", name: "a new connection for a schema that was dropped", options: map[string]func(*raw.Options){"b": func(o *raw.Options) { o.Caps |= wire.CapFoundRows }}, steps: steps(
		toCases3("a"), "b: DROP DATABASE cases3 => OK", "b: USE cases2", "b: SELECT COUNT(*) FROM t => 1", "a: SELECT 1, COUNT(*) FROM cases.t => 1,5", "b: SELECT COUNT(*) FROM t FOR UPDATE => 1", "a: DELETE FROM t => ERR 1049", "b: SELECT COUNT(*) FROM t FOR UPDATE => 1", "a: INSERT INTO cases.t (v) VALUES (1) => OK", "b: SELECT COUNT(*) FROM t FOR UPDATE => 1", "a: SELECT COUNT(*) FROM t => ERR 1049", "b: CREATE DATABASE cases3 => OK", "a: DELETE FROM t => ERR 1146", "a: USE cases2", "a: SELECT COUNT(*) FROM t => 1 @replica",
	)},
	{row: "X4", name: "dropped by the session itself", steps: steps(
		toCases3("a"), "a: DROP DATABASE cases3 => OK", "a: SELECT DATABASE() => NULL", "a: DELETE FROM t => ERR 1046", "b: SELECT COUNT(*) FROM t => 5", "a: SELECT COUNT(*) FROM t => ERR 1046", "a: INSERT INTO cases.t (v) VALUES (1) => OK", "b: USE cases2", "a: DELETE FROM t => ERR 1046", "a: CREATE DATABASE cases3 => OK", "a: DELETE FROM t => ERR 1046", "a: USE cases3", "a: SELECT COUNT(*) FROM t => ERR 1146", "b: SELECT COUNT(*) FROM t => 1",
	)},
	{row: "X4", name: "what a statement names is gone when it is prepared again", steps: steps(
		prep("a", "r", "SELECT COUNT(*) FROM words"), exe("a", "r"), "b: INSERT INTO t (v) VALUES (1)", "b: RENAME TABLE words TO words2 => OK", "a: BEGIN", "a: UPDATE t SET v = 11 WHERE id = 1 => OK", exe("a", "r").is("ERR 1146"), "a: SELECT v FROM t WHERE id = 1 => 11", "a: COMMIT => OK", "b: SELECT v FROM t WHERE id = 1 => 11", exe("a", "r").is("ERR 1146"), "b: RENAME TABLE words2 TO words", exe("a", "r"),
	)},
}

// toCases3 has a session go to a schema of its own making.
func toCases3(session string) []step {
	return each(session, "CREATE DATABASE cases3 => OK", "CREATE TABLE cases3.t LIKE t", "USE cases3 => OK", "INSERT INTO t (v) VALUES (1) => OK")
}

// inOtherWords runs what MySQL and Causeway refuse for the same reason, but by
// different errors.
func inOtherWords(session, sql string) step {
	return step{session: session, name: sql, do: func(_ *player, c *raw.Client) (outcome, error) {
		_, err := c.Query(sql)
		return outcome{"refused\n", "refused"}, err
	}}
}
