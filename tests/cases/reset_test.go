package cases

import "causeway/tests/session/raw"

// resetCases: reset and change of user leave a fresh session, with the token kept.
var resetCases = []theCase{
	{row: "R1", name: "COM_RESET_CONNECTION", steps: steps(dress(), `a: \reset`, undressed("cases2"))},
	{row: "R1", name: "COM_CHANGE_USER to oneself", steps: steps(dress(), `a: \user app cases`, undressed("cases"))},
	{row: "R1", name: "COM_CHANGE_USER without DEPRECATE_EOF", classic: true, steps: steps(dress(), `a: \user app cases2`, undressed("cases2"))},
	{row: "R1", name: "another account", steps: steps(
		"a: INSERT INTO t (v) VALUES (1)", "a: SET @v = 1, time_zone = '+05:00'", `a: \user other cases => OK`, "a: SELECT USER(), DATABASE(), @v, @@time_zone", "a: SELECT COUNT(*) FROM t => 6 @replica", "a: CREATE DATABASE cases3 => ERR 1044", "a: INSERT INTO t (v) VALUES (2) => OK", "b: SELECT COUNT(*) FROM t => 7", "a: SELECT CURRENT_USER() => other@127.0.0.1", "b: SELECT CURRENT_USER() => app@127.0.0.1",
		`a: \user app cases2 => OK`, "a: SELECT CURRENT_USER(), COUNT(*) FROM t => app@127.0.0.1,1", `a: \user nobody cases => ERR 1045`, "a: SELECT 1", "b: INSERT INTO t (v) VALUES (3) => OK", `b: \user other nosuch`, "c: SELECT COUNT(*) FROM t => 8",
	)},
	{row: "R1", name: "the role of an earlier session", steps: steps(
		"x: CREATE ROLE IF NOT EXISTS cases_role", "x: GRANT cases_role TO app@127.0.0.1", "a: SET ROLE cases_role", "a: SELECT CURRENT_ROLE() => `cases_role`@`%`", `a: \quit`, "b: SELECT CURRENT_ROLE() => NONE", "b: INSERT INTO t (v) VALUES (1)", "b: SELECT CURRENT_ROLE() => NONE", "x: DROP ROLE cases_role",
	)},
	{row: "R1", name: "the role that another session's routine has set", steps: steps(
		"x: CREATE ROLE IF NOT EXISTS cases_role", "x: GRANT cases_role TO app@127.0.0.1", "x: CREATE PROCEDURE takes_role() SQL SECURITY INVOKER SET ROLE cases_role", "a: CALL takes_role() => OK", "b: SELECT CURRENT_ROLE() => NONE", "b: INSERT INTO t (v) VALUES (1)", "b: SELECT CURRENT_ROLE() => NONE", "x: DROP ROLE cases_role",
	)},
	{row: "R1", name: "SHOW VARIABLES after another session's INSERT", steps: steps(
		"a: INSERT INTO t (id, v) VALUES (NULL, 1)", "b: INSERT INTO t (id, v) VALUES (NULL, 2)", "a: SHOW VARIABLES LIKE 'last_insert_id'", "b: SHOW SESSION VARIABLES LIKE 'identity'", "a: SELECT variable_value FROM performance_schema.session_variables WHERE variable_name = 'last_insert_id'",
	)},
	{row: "R1", name: "the token is kept", steps: steps(
		"a: INSERT INTO t (v) VALUES (1)", `a: \reset`, "a: SELECT COUNT(*) FROM t => 6 @replica", "a: INSERT INTO t (v) VALUES (2)", `a: \user app cases`, "a: SELECT COUNT(*) FROM t => 7 @replica", "a: BEGIN", "a: INSERT INTO t (v) VALUES (3)", `a: \reset`, "a: SELECT COUNT(*) FROM t => 7 @replica",
	)},
	{row: "R1", name: "the charset of the login comes back", options: map[string]func(*raw.Options){"a": func(o *raw.Options) { o.Collation = 8 }}, steps: steps(
		"a: SELECT @@character_set_client, @@collation_connection => latin1,latin1_swedish_ci", "b: SELECT @@collation_connection => utf8mb4_0900_ai_ci", "a: SET NAMES utf8mb3", `a: \reset`, "a: SELECT @@character_set_client, @@collation_connection, @@character_set_results", "b: SELECT l FROM words WHERE id = 1 => é", `a: \user app cases`, "a: SELECT @@character_set_client, @@collation_connection => latin1,latin1_swedish_ci", "a: SELECT l FROM words WHERE id = 1 => \xe9",
	)},
}

// dress gives session a all the state that there is. Nothing of it is on a
// connection that session b needs.
func dress() []step {
	return steps(
		"a: SET time_zone = '+05:00', sql_mode = 'ANSI_QUOTES', NAMES latin1", "a: SET @v = 1", "a: USE cases2", "a: SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY", "a: SET SESSION TRANSACTION READ WRITE", "a: INSERT INTO cases.t (v) VALUES (1)", prep("a", "p", "SELECT 1"), "a: PREPARE tp FROM 'SELECT 1'", "a: CREATE TEMPORARY TABLE cases.tt (id INT)", "a: SELECT GET_LOCK('cases_r1', 0) => 1", "a: HANDLER t OPEN", "a: SET autocommit = 0", "a: SET insert_id = 500, timestamp = 1000000000", "a: INSERT INTO cases.t (v) VALUES (2)", "a: SET SESSION sql_select_limit = 1, sql_log_off = 0", "a: SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
	)
}

// undressed wants none of it on a, and no trace of it in others.
func undressed(schema string) []step {
	return steps(
		"a: SELECT DATABASE(), @v, @@time_zone, @@sql_mode, @@autocommit, @@transaction_isolation, @@transaction_read_only, LAST_INSERT_ID()", "a: SHOW WARNINGS => none", "a: SELECT @@character_set_client, @@collation_connection, @@sql_select_limit => utf8mb4,utf8mb4_0900_ai_ci,18446744073709551615",
		exe("a", "p").is("ERR 1243"), "a: EXECUTE tp => ERR 1243", "a: SELECT * FROM cases.tt => ERR 1146", "x: SELECT IS_FREE_LOCK('cases_r1') => 1", "a: HANDLER t READ FIRST", "a: SELECT NOW() > '2024-01-01' => 1", "a: SELECT COUNT(*) FROM cases.t => 6", `a: SELECT "v" FROM cases.t WHERE id = 1 => v`, "a: SELECT id FROM cases.t LIMIT 2 => 1 | 2",
		"b: INSERT INTO t (v) VALUES (3) => OK", "b: SELECT LAST_INSERT_ID()", "b: SELECT @@time_zone, @@autocommit, DATABASE() => SYSTEM,1,cases", "a: INSERT INTO cases.t (v) VALUES (4) => OK", "a: SELECT COUNT(*) FROM cases.t => 8", "a: SELECT DATABASE() => "+schema,
	)
}
