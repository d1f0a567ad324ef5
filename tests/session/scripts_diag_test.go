package session

import "causeway/tests/session/raw"

func int64p(v int64) raw.Param { return raw.Int64(v) }

// diagScripts are about what a statement leaves behind for the next one.
var diagScripts = []script{
	{name: "LAST_INSERT_ID", steps: seq(
		"SELECT LAST_INSERT_ID()", "INSERT INTO t (v) VALUES (1)", "SELECT LAST_INSERT_ID()", "SELECT v FROM t WHERE id = LAST_INSERT_ID()", "INSERT INTO t (v) VALUES (2), (3)", "SELECT LAST_INSERT_ID();",
		"SELECT v FROM t WHERE id = 1", "SELECT LAST_INSERT_ID() AS ID FROM DUAL", "INSERT INTO t (id, v) VALUES (500, 4)", "SELECT LAST_INSERT_ID()", "SELECT @@last_insert_id, @@identity",
		"INSERT INTO t (v) VALUES (5)", "select /* x */ last_insert_id ( )", "SELECT LAST_INSERT_ID()", "DELETE FROM t WHERE id = LAST_INSERT_ID()", "INSERT INTO sess2.t (v) SELECT v FROM t WHERE id = LAST_INSERT_ID() - 1", "SELECT LAST_INSERT_ID()",
	)},
	{name: "LAST_INSERT_ID of an expression", steps: seq(
		"UPDATE t SET v = LAST_INSERT_ID(v + 1) WHERE id = 1", "SELECT LAST_INSERT_ID()", "SELECT LAST_INSERT_ID(55)", "SELECT LAST_INSERT_ID()", "SELECT v FROM t WHERE id = 1", "SELECT LAST_INSERT_ID()",
		"SELECT LAST_INSERT_ID(v) FROM t WHERE id = 2", "SELECT LAST_INSERT_ID()", "INSERT INTO t (id, v) VALUES (1, 2) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), v = 3", "SELECT LAST_INSERT_ID()",
		"SET last_insert_id = 77", "SELECT LAST_INSERT_ID()", "SET insert_id = 900", "INSERT INTO t (v) VALUES (1)", "SELECT LAST_INSERT_ID()", "INSERT IGNORE INTO t (id, v) VALUES (1, 1)", "SHOW WARNINGS", "SELECT LAST_INSERT_ID()",
		"INSERT INTO t (id, v) VALUES (1, 1)", "SELECT LAST_INSERT_ID()", "INSERT INTO t (id, v) VALUES (NULL, 8)", "SELECT LAST_INSERT_ID()", "REPLACE INTO t (id, v) VALUES (1, 1)", "SELECT LAST_INSERT_ID()",
		prepare("i", "INSERT INTO t (v) VALUES (?)"), execute("i", int64p(4)), prepare("l", "SELECT LAST_INSERT_ID()"), execute("l"), "CALL put(3)", "SELECT LAST_INSERT_ID()", "SELECT writes(4)", "SELECT LAST_INSERT_ID()",
	)},
	{name: "FOUND_ROWS", steps: seq(
		"SELECT SQL_CALC_FOUND_ROWS id FROM t ORDER BY id LIMIT 2", "SELECT FOUND_ROWS()", "SELECT id FROM t ORDER BY id LIMIT 3", "SELECT FOUND_ROWS()", "SELECT id FROM t", "select found_rows() as n",
		"SELECT FOUND_ROWS()", prepare("f", "SELECT SQL_CALC_FOUND_ROWS id FROM t LIMIT 1"), execute("f"), "SELECT FOUND_ROWS()", "UPDATE t SET v = 1 WHERE id < 3", "SELECT FOUND_ROWS()", "SELECT 1 UNION SELECT 2", "SELECT FOUND_ROWS()",
	)},
	{name: "ROW_COUNT", steps: seq(
		"UPDATE t SET v = 1", "SELECT ROW_COUNT()", "SELECT ROW_COUNT()", "UPDATE t SET v = 1", "SELECT ROW_COUNT()", "DELETE FROM t WHERE id > 3", "SELECT ROW_COUNT()", "SELECT id FROM t", "SELECT ROW_COUNT()",
		"INSERT INTO t (id) VALUES (1)", "SELECT ROW_COUNT()", "CREATE TABLE x (id INT)", "SELECT ROW_COUNT()", "INSERT INTO t (v) VALUES (1), (2)", "SELECT ROW_COUNT(), LAST_INSERT_ID()", "REPLACE INTO t (id, v) VALUES (1, 9)", "SELECT ROW_COUNT()",
	)},
	{name: "warnings of reads", steps: seq(
		"SELECT CAST('abc' AS SIGNED) FROM t WHERE id = 1", "SHOW WARNINGS", "SHOW WARNINGS", "SHOW COUNT(*) WARNINGS", "SELECT @@warning_count", "SELECT @@warning_count",
		"SELECT CAST(s AS SIGNED) FROM t", "SHOW WARNINGS LIMIT 2", "SHOW COUNT(*) WARNINGS", "SELECT id FROM t WHERE id = 1", "SHOW WARNINGS", "SELECT v FROM t WHERE s = 0", "SHOW WARNINGS", "SHOW ERRORS",
		prepare("w", "SELECT CAST('x' AS SIGNED), id FROM t WHERE id = ?"), execute("w", int64p(1)), "SHOW WARNINGS", "EXPLAIN SELECT v FROM t WHERE id = 1", "SHOW WARNINGS",
	)},
	{name: "warnings of failing statements", steps: seq(
		"SELECT * FROM nosuch", "SHOW WARNINGS", "SHOW ERRORS", "SHOW COUNT(*) ERRORS", "SELECT @@error_count", "SELECT nosuch FROM t", "SHOW WARNINGS", "SELEC 1", "SHOW WARNINGS", "SELECT id FROM t LIMIT 1", "SHOW WARNINGS",
		"INSERT INTO t (id) VALUES (1)", "SHOW ERRORS", "GET DIAGNOSTICS CONDITION 1 @no = MYSQL_ERRNO, @text = MESSAGE_TEXT", "SELECT @no, @text", "DROP TABLE nosuch", "SHOW WARNINGS", "CALL signals()", "SHOW WARNINGS", "USE nosuch", "SHOW WARNINGS",
		"SET nosuch = 1", "SHOW WARNINGS", "SELECT nosuch(1)", "SHOW WARNINGS", "SELECT * FROM nosuch.t", "SHOW WARNINGS", initDB("nosuch"), "SHOW WARNINGS", "",
	)},
	{name: "warnings of writes", steps: seq(
		"DROP TABLE IF EXISTS nosuch", "SHOW WARNINGS", "INSERT IGNORE INTO t (id, v) VALUES (1, 'abc'), (2, 5)", "SHOW WARNINGS", "SELECT @@warning_count", "CREATE TABLE IF NOT EXISTS t (id INT)", "SHOW WARNINGS",
		"SET sql_mode = ''", "UPDATE t SET v = 'zzz' WHERE id = 1", "SHOW WARNINGS", "GET DIAGNOSTICS @n = NUMBER, @r = ROW_COUNT", "SELECT @n, @r", "BEGIN", "INSERT INTO t (v) VALUES ('q')", "SHOW WARNINGS", "COMMIT", "SHOW WARNINGS",
		"CREATE DATABASE IF NOT EXISTS sess", "SHOW WARNINGS", "SHOW WARNINGS; SELECT 1", "SHOW WARNINGS",
	)},
	{name: "warnings stay through commands that set none", steps: seq(
		"SELECT CAST('abc' AS SIGNED) FROM t WHERE id = 1", ping(), "SHOW WARNINGS", initDB("sess2"), "SHOW WARNINGS", "SELECT CAST('abc' AS SIGNED) FROM sess.t WHERE id = 1", prepare("p", "SELECT 1"), "SHOW WARNINGS",
		"SELECT CAST('abc' AS SIGNED) FROM sess.t WHERE id = 1", "SET @x = 1", "SHOW WARNINGS", "SELECT CAST('abc' AS SIGNED) FROM sess.t WHERE id = 1", statistics(), "SHOW WARNINGS",
	)},
	{name: "counts after commands that run no statement", steps: seq(
		"SELECT id FROM t WHERE id = 1", ping(), "SELECT ROW_COUNT()", "UPDATE t SET v = v + 1 WHERE id < 3", initDB("sess"), "SELECT ROW_COUNT()", "UPDATE t SET v = v + 1 WHERE id < 3", setOption(0), "SELECT ROW_COUNT()",
		"UPDATE t SET v = v + 1 WHERE id < 3", fieldList("t", ""), "SELECT ROW_COUNT()", "UPDATE t SET v = v + 1 WHERE id < 3", prepare("p", "SELECT ?"), "SELECT ROW_COUNT()", "UPDATE t SET v = v + 1 WHERE id < 3", resetStmt("p"), "SELECT ROW_COUNT()",
		"UPDATE t SET v = v + 1 WHERE id < 3", statistics(), "SELECT ROW_COUNT()", "UPDATE t SET v = v + 1 WHERE id < 3", "GET DIAGNOSTICS @n = NUMBER", "SELECT ROW_COUNT()", "SELECT id FROM t LIMIT 2", "DO 0", "SELECT FOUND_ROWS()", "SELECT id FROM t LIMIT 2", ping(), "SELECT FOUND_ROWS()",
	)},
	{name: "conditions after commands that run no statement", steps: seq(
		"SELECT CAST('q' AS SIGNED)", setOption(0), fieldList("t", ""), "SHOW WARNINGS", fieldList("nosuch", ""), "SHOW WARNINGS", "SHOW COUNT(*) ERRORS", "SELEC 1", fieldList("words", ""), "SHOW WARNINGS", "SELECT @@error_count, @@warning_count",
		"SELECT CAST('q' AS SIGNED)", initDB("nosuch"), "SHOW WARNINGS", "SELECT CAST('q' AS SIGNED)", prepare("w", "SHOW WARNINGS"), "SHOW WARNINGS", "SELECT @@warning_count", unknownID(4711), "SHOW WARNINGS", command(0x44, ""), "SHOW WARNINGS",
	)},
	{name: "what the statement before left, inside another one", steps: seq(
		"UPDATE t SET v = v + 1 WHERE id = 1", "SELECT ROW_COUNT() > 0", "SELECT id FROM t LIMIT 2", "SELECT FOUND_ROWS() + 0", "SELECT SQL_CALC_FOUND_ROWS id FROM words LIMIT 1", "SELECT FOUND_ROWS() * 2", "SELECT CAST('q' AS SIGNED)", "SET @w = @@warning_count, @r = ROW_COUNT()", "SELECT @w, @r",
		"SELECT CAST('q' AS SIGNED)", "GET DIAGNOSTICS CONDITION 1 @e = MYSQL_ERRNO, @s = RETURNED_SQLSTATE, @m = MESSAGE_TEXT, @c = CLASS_ORIGIN, @t = TABLE_NAME", "SELECT @e, @s, @m, @c, @t, CHARSET(@m), COERCIBILITY(@m)", "GET DIAGNOSTICS CONDITION 2 @e = MYSQL_ERRNO", "SHOW WARNINGS", "GET STACKED DIAGNOSTICS @e = NUMBER", "SHOW WARNINGS", "DO 0",
	)},
}
