package cases

import (
	"causeway/tests/session/raw"
	"causeway/wire"
)

// multiCases: several statements in a text, several results.
var multiCases = []theCase{
	{row: "M1", name: "INSERT and LAST_INSERT_ID", steps: steps(
		"a: INSERT INTO t (v) VALUES (1); SELECT LAST_INSERT_ID(); => 6 @source", "b: INSERT INTO t (v) VALUES (2); SELECT LAST_INSERT_ID(), ROW_COUNT() => 7,1 @source", "a: SELECT LAST_INSERT_ID() => 6", "a: SELECT v FROM t WHERE id = 6; SELECT LAST_INSERT_ID(); SELECT FOUND_ROWS() => 1 | 6 | 1", "b: SELECT LAST_INSERT_ID(); SELECT COUNT(*) FROM t => 7 | 7", "a: SELECT COUNT(*) FROM t => 7 @replica",
	)},
	{row: "M3", name: "COM_SET_OPTION", options: map[string]func(*raw.Options){"a": single, "b": single}, steps: steps(
		"a: SELECT 1; SELECT 2 => ERR 1064", "a: SELECT 1", `a: \multi on`, "a: SELECT 1; SELECT 2 => 1 | 2", "b: SELECT 1; SELECT 2 => ERR 1064", "b: INSERT INTO t (v) VALUES (1); DELETE FROM t => ERR 1064", "a: INSERT INTO t (v) VALUES (2); SELECT COUNT(*) FROM t => 6", "b: SELECT COUNT(*) FROM t; SELECT 2 => ERR 1064", `a: \multi off`, "a: DELETE FROM t; SELECT 1 => ERR 1064", "a: SELECT v FROM t WHERE id = 1; => 10", "c: SELECT 1; SELECT 2 => 1 | 2", `a: \multi on`, `a: \quit`, "b: DELETE FROM t; SELECT 1 => ERR 1064", `c: \multi off`, "c: DELETE FROM t; SELECT 1 => ERR 1064", "x: SELECT COUNT(*) FROM t => 6", `c: \reset`, "c: SELECT 1; SELECT 2",
	)},
	{row: "M4", name: "counts and flags of results", steps: multiResults()},
	{row: "M4", name: "the same without DEPRECATE_EOF", classic: true, steps: multiResults()},
	{row: "M5", name: "several UPDATEs", steps: steps(
		"a: UPDATE t SET v = 11 WHERE id = 1; UPDATE t SET v = 12 WHERE id = 2; UPDATE t SET v = 13 WHERE id IN (3, 4); => OK @source", "a: SELECT v FROM t ORDER BY id => 11 | 12 | 13 | 13 | 50 @replica", "a: UPDATE t SET v = 1 WHERE id = 1; UPDATE nosuch SET v = 2; UPDATE t SET v = 3 WHERE id = 3 => ERR 1146", "a: SELECT v FROM t ORDER BY id => 1 | 12 | 13 | 13 | 50", "b: UPDATE t SET v = 5; SELECT SUM(v) FROM t => 25", "a: BEGIN; UPDATE t SET v = 6; COMMIT; SELECT SUM(v) FROM t => 30", "a: BEGIN; UPDATE t SET v = 7", "a: SELECT SUM(v) FROM t => 35 @source", "a: ROLLBACK; SELECT SUM(v) FROM t => 30", "b: INSERT INTO t (v) VALUES (1) => OK",
	)},
	{row: "M5", name: "what a text set before it failed", two: true, steps: steps(
		"a: SET @a = 6; INSERT INTO t (id) VALUES (1) => ERR 1062", "b: SET @a = 99", "c: SET @a = 98", "a: SELECT @a => 6", `a: \reset`,
		"a: SET @a = 1 + 5; SELECT 1; SELECT * FROM nosuch => ERR 1146", "b: SET @a = 99", "c: SET @a = 98", "a: SELECT @a => 6", `a: \reset`,
		"a: SET @a = 6; SIGNAL SQLSTATE '45000' => ERR 1644", "b: SET @a = 99", "c: SET @a = 98", "a: SELECT @a => 6", "a: SET @a = NULL; USE nosuch => ERR 1049", "b: SET @a = 99", "c: SET @a = 98", "a: SELECT @a => NULL", `a: \reset`,
		"a: SET timestamp = 1000; SET time_zone = 'bogus' => ERR 1298", "b: SET @a = 99", "c: SET @a = 98", "a: SELECT UNIX_TIMESTAMP() => 1000", `a: \reset`,
		"a: CREATE TEMPORARY TABLE x (id INT); SELECT * FROM nosuch => ERR 1146", "b: SET @a = 99", "c: SET @a = 98", "a: SELECT COUNT(*) FROM x => 0", `a: \reset`,
		"a: PREPARE s FROM 'SELECT 5'; PREPARE s2 FROM 'SELEC' => ERR 1064", "b: SET @a = 99", "c: SET @a = 98", "a: EXECUTE s => 5", `a: \reset`,
		"a: HANDLER t OPEN; HANDLER nosuch OPEN => ERR 1146", "b: SET @a = 99", "c: SET @a = 98", "a: HANDLER t READ `PRIMARY` FIRST", `a: \reset`,
	)},
	{row: "M5", name: "what a statement set before it failed", two: true, steps: steps(
		"a: SELECT @a := 6, (SELECT 1 UNION SELECT 2) => ERR 1242", "b: SET @a = 99", "c: SET @a = 98", "a: SELECT @a => 6", `a: \reset`,
		"a: SET time_zone = '+02:00', @a = 6, gtid_next = 'bogus' => ERR 1774", "b: SET @a = 99", "c: SET @a = 98", "a: SELECT @@time_zone, @a => +02:00,6", `a: \reset`,
		"a: SET @a = 6, time_zone = 'bogus' => ERR 1298", "b: SET @a = 99", "c: SET @a = 98", "a: SELECT @a => NULL",
		"a: DO GET_LOCK('cases_part', 0), (SELECT 1 UNION SELECT 2) => ERR 1242", "b: SET @a = 99", "c: SET @a = 98", "a: SELECT RELEASE_LOCK('cases_part') => 1",
	)},
	{row: "M6", name: "any write takes the text to the source", steps: steps(
		"a: SELECT v FROM t WHERE id = 1; UPDATE t SET v = 11 WHERE id = 1; SELECT v FROM t WHERE id = 1 => 10 | 11 @source", "a: SELECT v FROM t WHERE id = 1 => 11 @replica", "a: SELECT 1; SELECT v FROM t WHERE id = 1; SELECT v FROM t WHERE id = 2 FOR UPDATE => 1 | 11 | 20 @source", "a: SELECT ';', v FROM t WHERE id = 1 -- ; DELETE FROM t => ;,11 @replica", "a: SELECT v FROM t WHERE id = 1; => 11 @replica", "a: SELECT 1 /*! ; DELETE FROM t WHERE id = 5 */", "x: SELECT COUNT(*) FROM t", `a: SELECT "a\"; DELETE FROM t; --" AS x, v FROM t WHERE id = 2 @replica`, "a: SET @a = 3; SELECT @a => 3", "a: SET sql_mode = 'NO_BACKSLASH_ESCAPES'", `a: SELECT 'a\'; DELETE FROM t WHERE id = 4; -- '`, "a: SELECT COUNT(*) FROM t", "a: SELECT SLEEP(0); CALL put(3); SELECT COUNT(*) FROM t",
	)},
}

// single takes the right to several statements from a client.
func single(o *raw.Options) { o.Caps &^= wire.CapMultiStatements }

func multiResults() []step {
	return steps(
		"a: SELECT 1; SELECT 2; SELECT 3 => 1 | 2 | 3", "a: SELECT 1; SET @x = 1; SELECT v FROM t WHERE id > 100; INSERT INTO t (v) VALUES (1); SELECT 5 => 1 | 5", "a: SELECT 1; SELECT * FROM nosuch; SELECT 3 => ERR 1146", "a: SELECT 4 => 4", "b: SELECT 5 => 5", "a: SELECT 1; SELEC 2 => ERR 1064", "a: SELECT 1;; SELECT 2", "a: ; => ERR 1065",
		"a: SET @n = 4", "a: CALL two_results(@n) => 1 | 2 | second,4", "a: SELECT @n => 5", "b: SELECT 1 => 1", "a: CALL two_results(@n); SELECT 7 => 1 | 2 | second,5 | 7", prep("a", "c", "CALL two_results(?)"), exe("a", "c", num(10)), "a: CALL put(5); SELECT COUNT(*) FROM t => 7", "b: SELECT COUNT(*) FROM t => 7", "a: SELECT CAST('x' AS SIGNED); SHOW WARNINGS", "a: SHOW WARNINGS; SELECT 1", "a: SELECT 1; CREATE TEMPORARY TABLE x (id INT); SELECT COUNT(*) FROM x; DROP TEMPORARY TABLE x => 1 | 0", `a: \reset`, "b: INSERT INTO t (v) VALUES (3); SELECT ROW_COUNT() => 1")
}
