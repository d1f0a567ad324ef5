package cases

import (
	"fmt"

	"causeway/tests/session/raw"
	"causeway/wire"
)

// ownCases are what the list does not name and a user expects all the same.
var ownCases = []theCase{
	{row: "X1", name: "insert_id holds once and for its session", steps: steps(
		"a: SET insert_id = 777", "x: INSERT INTO t (v) VALUES (1) => OK", "b: SELECT COUNT(*) FROM t => 6 @replica", "a: UPDATE t SET v = 0 WHERE id = 1", "a: SELECT LAST_INSERT_ID() => 0", "a: INSERT INTO words (id) VALUES (9)", "a: INSERT INTO t (v) VALUES (2)", "a: INSERT INTO t (v) VALUES (3)", "x: SELECT id FROM t WHERE id > 5 ORDER BY id => 6 | 777 | 778", "a: SET insert_id = 900", `a: \quit`, "b: INSERT INTO t (v) VALUES (4)", "b: SELECT LAST_INSERT_ID() => 779", "a: SET insert_id = 950", `a: \reset`, "a: INSERT INTO t (v) VALUES (5)", "a: SELECT LAST_INSERT_ID() => 780",
	)},
	{row: "X2", name: "timestamp and seeds", steps: steps(
		"a: SET timestamp = 1000000000", "b: SELECT NOW() > '2024-01-01' => 1", "a: SELECT UNIX_TIMESTAMP(NOW()), v FROM t WHERE id = 1 => 1000000000,10", "b: INSERT INTO words (id, s) VALUES (9, NOW() > '2024-01-01')", "a: INSERT INTO words (id, s) VALUES (10, UNIX_TIMESTAMP(NOW()))", "x: SELECT s FROM words WHERE id > 8 ORDER BY id => 1 | 1000000000", "a: SET timestamp = DEFAULT", "a: SELECT NOW() > '2024-01-01', v FROM t WHERE id = 1 => 1,10",
		"a: SET rand_seed1 = 7, rand_seed2 = 11", "a: SELECT RAND()", "b: SELECT RAND() < 1 => 1", "a: SET timestamp = 1000000000", `a: \quit`, "c: SELECT NOW() > '2024-01-01' FROM t WHERE id = 1 FOR UPDATE => 1",
	)},
	{row: "X3", name: "schemas of two sessions", steps: steps(
		"a: USE cases2", "b: SELECT v FROM t WHERE id = 1 => 10", "a: SELECT v FROM t WHERE id = 1 => 1000", "b: INSERT INTO t (v) VALUES (1)", "a: INSERT INTO t (v) VALUES (2)", "b: UPDATE t SET v = 11 WHERE id = 1", "a: SELECT DATABASE() => cases2", "b: SELECT DATABASE() => cases", `b: \use cases2`, `a: \use cases`, "a: DELETE FROM t WHERE id = 1", "b: SELECT v FROM t ORDER BY id => 1000 | 2", "a: USE nosuch => ERR 1049", "a: SELECT COUNT(*) FROM t => 5", `a: \use nosuch`, "a: DELETE FROM t WHERE id = 2", "b: SELECT COUNT(*) FROM t => 2", `a: \fields t`, `b: \fields t`, `b: \quit`, "c: SELECT DATABASE() => cases",
	)},
	{row: "X3", name: "no schema", options: map[string]func(*raw.Options){"a": func(o *raw.Options) { o.DB = "" }}, steps: steps(
		"a: SELECT DATABASE() => NULL", "b: SELECT v FROM t WHERE id = 1 => 10", "a: SELECT v FROM t => ERR 1046", "b: INSERT INTO t (v) VALUES (1)", "a: INSERT INTO t (v) VALUES (1) => ERR 1046", "a: DELETE FROM t => ERR 1046", "a: SELECT COUNT(*) FROM cases.t => 6", "a: USE cases2", "a: SELECT v FROM t => 1000", `a: \reset`, "a: SELECT DATABASE()", "a: USE cases", `a: \user app`, "a: SELECT DATABASE() => NULL", "b: DELETE FROM t WHERE id = 1", "a: DELETE FROM t => ERR 1046",
	)},
	{row: "X4", name: "a schema dropped between two statements", steps: steps(
		"a: CREATE DATABASE cases3", "a: CREATE TABLE cases3.t LIKE t", "a: USE cases3", "a: INSERT INTO t (v) VALUES (1) => OK", "b: DROP DATABASE cases3 => OK", "b: SELECT COUNT(*) FROM t => 5", "a: DELETE FROM t => ERR 1049", "a: SELECT COUNT(*) FROM t FOR UPDATE => ERR 1049", "a: INSERT INTO t (v) VALUES (2) => ERR 1049", "b: UPDATE t SET v = 1 WHERE id = 1", "a: UPDATE t SET v = 2 => ERR 1049", prep("a", "p", "DELETE FROM t").is("ERR 1049"), "a: BEGIN", "a: DELETE FROM t => ERR 1049", "a: COMMIT", "a: DO 1", "b: CREATE DATABASE cases3", "a: SELECT COUNT(*) FROM t => ERR 1146", "a: USE cases", "a: SELECT COUNT(*), SUM(v) FROM t => 5,141",
	)},
	{row: "X5", name: "foreign_key_checks and unique_checks", steps: steps(
		"a: SET foreign_key_checks = 0", "b: INSERT INTO child VALUES (1, 99) => ERR 1452", "a: INSERT INTO child VALUES (2, 99) => OK", "b: INSERT INTO child VALUES (3, 99) => ERR 1452", "a: INSERT INTO child VALUES (4, 99) => OK", `a: \quit`, "c: INSERT INTO child VALUES (5, 99) => ERR 1452", "c: DELETE FROM t WHERE id = 1 => OK", "x: SELECT COUNT(*) FROM child => 2",
	)},
	{row: "X6", name: "clients that leave things open", steps: steps(
		"a: BEGIN", "a: DELETE FROM t", `a: \drop`, "b: SELECT COUNT(*) FROM t FOR UPDATE => 5", "a: SET autocommit = 0", "a: UPDATE t SET v = 0", `a: \quit`, "b: INSERT INTO t (v) VALUES (1) => OK", "x: SELECT SUM(v) FROM t => 151", "a: HANDLER t OPEN", `a: \drop`, "b: HANDLER t READ FIRST => ERR 1109", "b: ALTER TABLE t ADD COLUMN c INT => OK", "a: SET SESSION TRANSACTION READ ONLY", "a: SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", `a: \quit`, "b: UPDATE t SET v = 1 => OK", "a: SET time_zone = '+09:00', sql_mode = '', @v = 1, NAMES latin1", "a: UPDATE t SET v = 2", `a: \drop`, "c: SELECT @@time_zone, @v, @@character_set_client => SYSTEM,NULL,utf8mb4", "c: INSERT INTO t (v) VALUES ('abc') => ERR 1366", "c: SELECT ts, l FROM times, words WHERE words.id = 1 FOR UPDATE => 2024-05-06 07:08:09,é",
	)},
	{row: "X7", name: "one text prepared in two schemas and modes", steps: steps(
		"b: USE cases2", prep("a", "p", "SELECT v FROM t ORDER BY id LIMIT 1"), prep("b", "p", "SELECT v FROM t ORDER BY id LIMIT 1"), exe("a", "p"), exe("b", "p"), exe("a", "p"), prep("a", "w", "INSERT INTO t (v) VALUES (?)"), prep("b", "w", "INSERT INTO t (v) VALUES (?)"), exe("a", "w", num(1)), exe("b", "w", num(2)), "a: USE cases2", exe("a", "p"), exe("a", "w", num(3)), "x: SELECT COUNT(*) FROM cases.t => 7", "x: SELECT COUNT(*) FROM cases2.t => 2",
		"b: USE cases", "a: USE cases", "a: SET sql_mode = 'ANSI_QUOTES'", prep("a", "q", `SELECT "v" FROM t WHERE id = 1`), prep("b", "q", `SELECT "v" FROM t WHERE id = 1`), exe("a", "q"), exe("b", "q"), "a: SET sql_mode = ''", exe("a", "q"), "b: SET sql_mode = 'ANSI_QUOTES'", exe("b", "q"), exe("a", "q"), "a: SET NAMES latin1", prep("a", "c", "SELECT HEX('\xe9'), l FROM words WHERE id = 1"), "b: SET NAMES utf8mb4", prep("b", "c", "SELECT HEX('\xe9'), l FROM words WHERE id = 1"), exe("a", "c"), exe("b", "c"), exe("a", "c"),
	)},
	{row: "X8", name: "empty transactions", steps: steps(
		"a: BEGIN", "b: INSERT INTO t (v) VALUES (1) => OK", "a: SELECT COUNT(*) FROM t => 6", "a: COMMIT", "a: BEGIN", "a: COMMIT", "b: BEGIN", "b: ROLLBACK", "a: START TRANSACTION", "a: SELECT 1", "a: SET @x = 1", "a: ROLLBACK", "a: SET autocommit = 0", "b: INSERT INTO t (v) VALUES (2) => OK", "a: COMMIT", "a: SELECT 1 => 1", "b: INSERT INTO t (v) VALUES (3) => OK", "a: SELECT COUNT(*) FROM t => 8", "a: COMMIT", "a: SET autocommit = 1", "a: START TRANSACTION READ ONLY", "a: COMMIT", "a: BEGIN", "a: BEGIN", "a: START TRANSACTION READ WRITE", "b: INSERT INTO t (v) VALUES (4) => OK", "a: COMMIT AND CHAIN", "a: ROLLBACK", "a: INSERT INTO t (v) VALUES (5)", "x: SELECT COUNT(*) FROM t => 10",
	)},
	{row: "X9", name: "user variables set by reads", steps: steps(
		"a: SELECT @n := 5 => 5", "a: SELECT v, @n := @n + 1 FROM t ORDER BY id LIMIT 2 => 10,6 | 20,7", "b: SELECT v FROM t WHERE id = 1 => 10 @replica", "a: SELECT @n => 7", "a: SELECT v INTO @c FROM t WHERE id = 2", "a: SELECT v FROM t WHERE id = 3 INTO @d", "a: SELECT @c, @d => 20,30", "a: UPDATE t SET v = (@z := v + 1) WHERE id = 1", "a: SELECT @z => 11", "a: SET @m = (SELECT MAX(v) FROM t), @l = LAST_INSERT_ID()", "a: SELECT @m, @l => 50,0", "a: SELECT v FROM t WHERE v = @m => 50", `a: \quit`, "b: SELECT @n, @c, @d, @z, @m => NULL,NULL,NULL,NULL,NULL", "b: INSERT INTO t (v) VALUES (@m) => OK",
	)},
	{row: "X9", name: "user variables set in a read only transaction", steps: steps(
		"a: START TRANSACTION READ ONLY", "a: SELECT v FROM t WHERE id = 1 => 10 @replica", "a: SET @u = 5", "a: SELECT @u, v FROM t WHERE id = 1 => 5,10 @replica", "a: COMMIT", "b: START TRANSACTION READ ONLY", "b: SELECT v FROM t WHERE id = 1 => 10 @replica", "b: SELECT @u, v FROM t WHERE id = 1 => NULL,10 @replica", "b: COMMIT", "b: SET @u = NULL", "b: INSERT INTO t (v) VALUES (@u) => OK", "a: SELECT @u => 5",
	)},
	{row: "X10", name: "trackers that a client sets", steps: steps(
		"a: SET session_track_gtids = OFF, session_track_system_variables = '', session_track_schema = OFF", "a: INSERT INTO t (v) VALUES (1)", "a: SELECT COUNT(*) FROM t => 6", "a: SET sql_mode = 'ANSI_QUOTES'", `a: SELECT "v" FROM t WHERE id = 1 => 10`, "b: INSERT INTO t (v) VALUES (2)", "b: SELECT COUNT(*) FROM t => 7 @replica", `b: SELECT "v" FROM t WHERE id = 1 => v`, "a: USE cases2", "a: SELECT v FROM t => 1000", "b: SET time_zone = '+05:00'", "b: SELECT ts FROM times => 2024-05-06 12:08:09", "a: SELECT ts FROM cases.times => 2024-05-06 07:08:09", `a: \quit`, "b: INSERT INTO t (v) VALUES (3)", "b: SELECT COUNT(*) FROM t => 8 @replica", "c: INSERT INTO t (v) VALUES (4)", "c: SELECT COUNT(*) FROM t => 9 @replica",
	)},
	{row: "X11", name: "small commands between two sessions", steps: steps(
		"a: USE cases2", `a: \ping`, `b: \ping`, `a: \fields t`, `b: \fields words`, `a: \statistics`, `b: \statistics`, "a: SELECT 1 => 1", `b: \fields nosuch`, `a: \fields t`, `b: \use cases2`, `b: \fields t`, `a: \use cases`, `a: \fields words`, "b: SELECT v FROM t => 1000", "a: BEGIN", `a: \ping`, `b: \ping`, `a: \statistics`, "a: COMMIT",
	)},
	{row: "X12", name: "HANDLER", steps: steps(
		"a: HANDLER t OPEN => OK", "a: HANDLER t READ FIRST => 1,10,one", "b: SELECT v FROM t WHERE id = 1 => 10 @replica", "a: HANDLER t READ NEXT => 2,20,two", "a: SELECT COUNT(*) FROM t => 5", "a: HANDLER t READ NEXT LIMIT 2 => 3,30,three | 4,40,four", "a: HANDLER t CLOSE => OK", "b: HANDLER t READ FIRST => ERR 1109", "b: INSERT INTO t (v) VALUES (1) => OK", "a: HANDLER t READ FIRST => ERR 1109", "a: HANDLER t OPEN AS h", "a: HANDLER h READ `PRIMARY` LAST => 6,1,NULL", `a: \reset`, "a: HANDLER h READ FIRST => ERR 1109", "b: DROP TABLE child, t => OK",
	)},
	{row: "X13", name: "errors and what they say are the session's own", steps: steps(
		"a: SELECT * FROM nosuch => ERR 1146", "b: SELECT v FROM t WHERE id = 1 => 10", "b: SHOW ERRORS => none", "b: SELECT @@error_count => 0", "a: INSERT INTO t (id) VALUES (1) => ERR 1062", "b: SHOW WARNINGS => none", "a: SELEC => ERR 1064", "b: INSERT INTO t (v) VALUES (1) => OK", "b: SHOW ERRORS => none", "a: CALL nosuch() => ERR 1305", "a: GET DIAGNOSTICS CONDITION 1 @no = MYSQL_ERRNO", "a: SELECT @no => 1305", `a: \reset`, "a: SHOW ERRORS => none", "a: SELECT 1 => 1",
	)},
	{row: "X14", name: "limits of results", steps: steps(
		"a: SET sql_select_limit = 2", "b: SELECT id FROM t ORDER BY id => 1 | 2 | 3 | 4 | 5", "a: SELECT id FROM t ORDER BY id => 1 | 2", "b: INSERT INTO words SELECT id + 100, s, NULL FROM t => OK", "a: SELECT id FROM t ORDER BY id FOR UPDATE => 1 | 2", "b: SELECT id FROM t ORDER BY id FOR UPDATE => 1 | 2 | 3 | 4 | 5", "a: SET max_join_size = 3", "a: SELECT * FROM t, words, t w", "b: SELECT COUNT(*) FROM t, words, times => 40", `a: \quit`, "c: SELECT id FROM t ORDER BY id FOR UPDATE => 1 | 2 | 3 | 4 | 5",
	)},
	{row: "X15", name: "FOUND_ROWS clients beside others", options: map[string]func(*raw.Options){"a": func(o *raw.Options) { o.Caps |= wire.CapFoundRows }, "c": func(o *raw.Options) { o.Caps |= wire.CapIgnoreSpace }}, steps: steps(
		"a: UPDATE t SET v = 10 WHERE id = 1", "b: UPDATE t SET v = 10 WHERE id = 1", "a: UPDATE t SET v = 20 WHERE id = 2", "a: SELECT ROW_COUNT() => 1", "b: UPDATE t SET v = 20 WHERE id = 2", "b: SELECT ROW_COUNT() => 0", "c: SELECT COUNT (*) FROM t => 5", "b: SELECT COUNT (*) FROM t => ERR 1064", "c: SELECT COUNT (*) FROM t FOR UPDATE => 5", "b: SELECT COUNT (*) FROM t FOR UPDATE => ERR 1064",
	)},
	{row: "X16", name: "a client that leaves in the middle of a result", run: leavesInResult},
	{row: "X17", name: "CONNECTION_ID is the id of the login", run: connectionID},
	{row: "X18", name: "reads are on replicas again after the last DROP", steps: steps(
		"a: CREATE TEMPORARY TABLE tt (id INT)", "a: SELECT v FROM t WHERE id = 1 => 10", "a: DROP TEMPORARY TABLE tt", "a: SELECT v FROM t WHERE id = 1 => 10 @replica",
	)},
	{row: "X19", name: "lock waits and deadlocks", steps: steps(
		"a: SET innodb_lock_wait_timeout = 1", "x: BEGIN", "x: UPDATE t SET v = 1 WHERE id = 1", "a: UPDATE t SET v = 2 WHERE id = 1 => ERR 1205", "a: BEGIN", "a: INSERT INTO t (v) VALUES (1)", "a: SELECT v FROM t WHERE id = 1 FOR UPDATE NOWAIT => ERR 3572", "a: SELECT COUNT(*) FROM t => 6 @source", "a: SELECT id FROM t WHERE id < 3 FOR UPDATE SKIP LOCKED => 2", "x: ROLLBACK", "a: COMMIT", "b: SELECT @@innodb_lock_wait_timeout => 50", "a: SELECT COUNT(*) FROM t => 6 @replica", "b: UPDATE t SET v = 3 WHERE id = 1 => OK",
	)},
	{row: "X20", name: "COMMIT AND CHAIN, RELEASE and completion_type", steps: steps(
		"a: BEGIN", "a: INSERT INTO t (v) VALUES (1)", "a: COMMIT AND CHAIN", "a: INSERT INTO t (v) VALUES (2)", "x: SELECT COUNT(*) FROM t => 6", "a: ROLLBACK", "b: INSERT INTO t (v) VALUES (3) => OK", "a: SET completion_type = 1", "a: BEGIN", "a: INSERT INTO t (v) VALUES (4)", "a: COMMIT", "a: INSERT INTO t (v) VALUES (5)", "x: SELECT COUNT(*) FROM t => 8", "a: SET completion_type = 0", "a: ROLLBACK", "b: SELECT @@completion_type => NO_CHAIN", "b: BEGIN", "b: INSERT INTO t (v) VALUES (6)", "b: COMMIT", "x: SELECT COUNT(*) FROM t => 9", "a: BEGIN", "a: COMMIT RELEASE", "a: SELECT 1 => CLOSED", "b: INSERT INTO t (v) VALUES (7) => OK", "c: START TRANSACTION READ ONLY", "c: SELECT COUNT(*) FROM t => 10 @replica", "c: COMMIT AND CHAIN", "c: INSERT INTO t (v) VALUES (1) => ERR 1792", "c: ROLLBACK", "c: INSERT INTO t (v) VALUES (8) => OK",
	)},
	{row: "X23", name: "trackers read back", steps: steps(
		"a: SELECT @@session_track_gtids => OFF", "a: SET session_track_schema = OFF", "a: SELECT @@session_track_schema => 0", "b: SELECT @@session_track_schema => 1", "a: BEGIN", "a: SET session_track_schema = ON", "a: INSERT INTO t (v) VALUES (1) => OK", "a: SELECT @@session_track_schema => 1", "a: COMMIT => OK", "b: SELECT COUNT(*) FROM t FOR UPDATE => 6",
	)},
	{row: "X40", name: "what the statement before left, inside another one", steps: steps(
		"a: INSERT INTO t (v) VALUES (1) => OK", "b: UPDATE t SET v = 2 WHERE id < 4", "a: SELECT ROW_COUNT() + 10 => 11", "a: SELECT id FROM t ORDER BY id LIMIT 3", "b: SELECT id FROM t LIMIT 1 FOR UPDATE", "a: SELECT FOUND_ROWS() + 10 => 13",
	)},
	{row: "X41", name: "the id of an INSERT with a warning", steps: steps(
		"a: INSERT IGNORE INTO t (v) VALUES ('x') => OK", "a: SELECT v FROM t WHERE id = 1 => 10", "b: UPDATE t SET v = 11 WHERE id = 1", "b: INSERT INTO t (v) VALUES (3) => OK", "a: SELECT LAST_INSERT_ID() => 6",
	)},
	{row: "X31", name: "COM_STMT_RESET of an unknown statement", steps: steps(
		prep("a", "p", "SELECT 1"), closeStmt("a", "p"), resetStmt("a", "p").is("ERR 1243"),
	)},
	{row: "X32", name: "warnings of COM_SET_OPTION", steps: steps("a: SELEC => ERR 1064", `a: \multi on`)},
}

// wrongCases are what Causeway does wrong, each as small as it can be. One
// that is mended joins those above.
var wrongCases = []theCase{
	{row: "X22", name: "FOUND_ROWS as the first statement", steps: steps("a: SELECT FOUND_ROWS() => 0")},
	{row: "X24", name: "KILL of an expression", steps: steps(
		"a: SELECT 1", "b: SET @id = ${id of a}", "b: KILL QUERY @id => OK", "b: KILL QUERY ${id of a} + 0 => OK",
	)},
	{row: "X25", name: "metadata after SET NAMES with COLLATE", steps: steps(
		"a: SET NAMES utf8mb4 COLLATE utf8mb4_ja_0900_as_cs", "a: SELECT s FROM words WHERE id = 1 FOR UPDATE => é", "a: SELECT s FROM words WHERE id = 1 => é",
	)},
	{row: "X26", name: "SET autocommit ends a READ ONLY transaction", steps: steps(
		"a: SET autocommit = 0", "a: START TRANSACTION READ ONLY", "a: SELECT v FROM t WHERE id = 1 => 10", "a: SET autocommit = 1 => OK", "x: UPDATE t SET v = 11 WHERE id = 1", "a: SELECT v FROM t WHERE id = 1 => 11", "a: UPDATE t SET v = 12 WHERE id = 1 => OK",
	)},
	{row: "X27", name: "charset after reset of a latin1 login", options: map[string]func(*raw.Options){"a": collation(8)}, steps: steps(
		`a: \reset`, "a: SELECT @@character_set_results => utf8mb4", "a: SELECT l FROM words WHERE id = 1 => é",
	)},
	{row: "X28", name: "prepared in another state than it is executed in", steps: steps(
		"a: SET autocommit = 0", prep("a", "p", "SELECT v FROM t WHERE id = 1"), "a: SET autocommit = 1", exe("a", "p").at("replica"), exe("a", "p").at("replica"),
	)},
	{row: "X29", name: "LOCK TABLES in a text with more", steps: steps(
		"a: LOCK TABLES t WRITE; INSERT INTO t (v) VALUES (1) => OK", "a: SELECT COUNT(*) FROM t => 6 @source", "a: SELECT COUNT(*) FROM words => ERR 1100", "a: UNLOCK TABLES",
	)},
	{row: "X30", name: "SET in a text with more", steps: steps(
		"a: SET time_zone = '+01:00'; INSERT INTO t (v) VALUES (1) => OK", "a: SELECT ts FROM times => 2024-05-06 08:08:09 @replica",
	)},
}

// leavesInResult has clients go away while rows come, in a transaction or
// not. The next session gets its own rows.
func leavesInResult(e *env) string {
	for _, begin := range []string{"SELECT 1", "BEGIN", "START TRANSACTION READ ONLY", "SET autocommit = 0"} {
		c := e.dial()
		if c == nil {
			return ""
		}
		e.query(c, begin)
		if err := c.SendQuery("SELECT t.v, REPEAT('x', 1000000) FROM t, t a, t b"); err != nil {
			e.errorf("%v", err)
		}
		if _, err := c.Conn().ReadPacket(); err != nil {
			e.errorf("%v", err)
		}
		c.Close()
		next := e.dial()
		if next == nil {
			return ""
		}
		e.want(next, "SELECT v FROM t WHERE id = 1", "10")
		e.want(next, "SELECT v FROM t WHERE id = 2 FOR UPDATE", "20")
		e.want(next, "SELECT @@autocommit", "1")
		e.query(next, "UPDATE t SET s = 'again' WHERE id = 1")
		next.Quit()
	}
	return ""
}

func connectionID(e *env) string {
	c := e.dial()
	if c == nil {
		return ""
	}
	defer c.Quit()
	e.want(c, "SELECT CONNECTION_ID()", fmt.Sprint(c.Greeting.ConnectionID))
	return ""
}
