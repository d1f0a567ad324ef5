package session

// stateScripts are about schema, variables, charsets and what else a session
// has that changes what a statement means.
var stateScripts = []script{
	{name: "schema", steps: seq(
		"SELECT v FROM t ORDER BY id", "USE sess2", "SELECT v FROM t ORDER BY id", "SELECT DATABASE()",
		"USE nosuch", "SELECT v FROM t ORDER BY id", initDB("sess"), "SELECT v FROM t ORDER BY id", "SELECT v FROM t ORDER BY id",
		initDB("nosuch"), "SELECT SCHEMA()", "SELECT v FROM t ORDER BY id", "SELECT v FROM sess2.t", "use `sess2`", "SELECT COUNT(*) FROM t",
	)},
	{name: "schema dropped under the session", steps: seq(
		"CREATE DATABASE sess3", "USE sess3", "CREATE TABLE x (id INT)", "SELECT * FROM x", "DROP DATABASE sess3",
		"SELECT DATABASE()", "SELECT * FROM x", "SELECT * FROM t", "USE sess3", "USE sess", "SELECT COUNT(*) FROM t",
	)},
	{name: "no schema", nodb: true, steps: seq(
		"SELECT DATABASE()", "SELECT * FROM t", "SELECT COUNT(*) FROM sess.t", "USE sess", "SELECT COUNT(*) FROM t", reset(), "SELECT DATABASE()",
	)},
	{name: "sql_mode changes what a text means", steps: seq(
		`SELECT "v" FROM t WHERE id = 1`, "SET sql_mode = 'ANSI_QUOTES'", `SELECT "v" FROM t WHERE id = 1`, `SELECT "v" FROM "t" WHERE "id" = 2`,
		"SET sql_mode = 'NO_BACKSLASH_ESCAPES'", `SELECT 'a\', v FROM t WHERE id = 1 -- '`, `SELECT 'a\n', s FROM t WHERE id = 1`, "SELECT 1",
		"SET sql_mode = 'PIPES_AS_CONCAT'", "SELECT v || s FROM t WHERE id = 1", "SET sql_mode = DEFAULT", "SELECT v || s FROM t WHERE id = 1", "SHOW WARNINGS",
		"SET sql_mode = 'IGNORE_SPACE'", "SELECT COUNT (*) FROM t", "SET sql_mode = ''", "SELECT COUNT (*) FROM t",
		"SET @@SESSION.sql_mode = 'ANSI'", `SELECT "v" FROM t ORDER BY id LIMIT 1`, "SELECT @@sql_mode",
	)},
	{name: "sql_mode changes what is allowed", steps: seq(
		"SELECT v, COUNT(*) FROM t", "SET sql_mode = ''", "SELECT COUNT(*) + 0 * v FROM t", "INSERT INTO t (v) VALUES ('abc')", "SHOW WARNINGS",
		"SET sql_mode = 'STRICT_ALL_TABLES'", "INSERT INTO t (v) VALUES ('abc')", "SHOW WARNINGS", "SELECT 1 / 0 FROM t LIMIT 1",
		"SET sql_mode = 'ERROR_FOR_DIVISION_BY_ZERO'", "SELECT 1 / 0 FROM t LIMIT 1", "SHOW WARNINGS",
		"SET sql_mode = 'NO_UNSIGNED_SUBTRACTION'", "SELECT CAST(id AS UNSIGNED) - 10 FROM t WHERE id = 1",
		"SET sql_mode = 'HIGH_NOT_PRECEDENCE'", "SELECT NOT v BETWEEN -5 AND 5 FROM t WHERE id = 1",
		"SET sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES')", `SELECT "s" FROM t WHERE id = 1`, "SELECT @@sql_mode",
		"SET sql_mode = 'NOSUCH'", `SELECT "s" FROM t WHERE id = 1`,
	)},
	{name: "several assignments in one SET", steps: seq(
		"SET sql_mode = 'ANSI_QUOTES', time_zone = '+02:00'", `SELECT "ts" FROM times WHERE id = 1`,
		"SET sql_mode = '', time_zone = 'nonsense'", `SELECT "ts" FROM times WHERE id = 1`,
		"SET @old = @@sql_mode, sql_mode = ''", `SELECT "ts" FROM times WHERE id = 1`, "SET sql_mode = @old", `SELECT "ts" FROM times WHERE id = 1`,
		"SET /* comment */ time_zone /* more */ = '+03:00' -- end", "SELECT ts FROM times WHERE id = 1",
		"SET time_zone = '+04:00', @@group_concat_max_len = 5, NAMES latin1", "SELECT ts FROM times WHERE id = 1", "SELECT GROUP_CONCAT(s) FROM t", "SELECT s FROM words WHERE id = 1",
		"SET nosuch = 1, time_zone = '+00:00'", "SELECT ts FROM times WHERE id = 1",
	)},
	{name: "time_zone", steps: seq(
		"SELECT ts, dt FROM times WHERE id = 1", "SET time_zone = '+05:00'", "SELECT ts, dt FROM times WHERE id = 1", "SELECT ts, dt FROM times WHERE id = 1",
		"SET SESSION time_zone = '-03:30'", "SELECT ts FROM times WHERE id = 1", "SELECT ts FROM times WHERE ts < '2024-05-06 04:00:00'",
		"SET time_zone = 'nowhere'", "SELECT ts FROM times WHERE id = 1", "SET @@time_zone = DEFAULT", "SELECT ts FROM times WHERE id = 1",
		"INSERT INTO times VALUES (3, '2024-01-01 00:00:00', NULL, NULL, NULL)", "SET time_zone = '+01:00'", "SELECT ts FROM times WHERE id = 3",
	)},
	{name: "NAMES", steps: seq(
		"SELECT s, l FROM words ORDER BY id", "SET NAMES latin1", "SELECT s, l FROM words ORDER BY id", "SELECT id FROM words WHERE s = '\xe9'", "SELECT id FROM words WHERE s = 'é'",
		"SET NAMES utf8mb4", "SELECT id FROM words WHERE s = 'é'", "SET NAMES binary", "SELECT s, l FROM words ORDER BY id",
		"SET NAMES utf8mb4 COLLATE utf8mb4_bin", "SELECT 'a' = 'A', id FROM words WHERE id = 1", "SET NAMES 'utf8mb3'", "SELECT s FROM words ORDER BY id",
		"SET NAMES nosuch", "SELECT s FROM words ORDER BY id", "SET NAMES DEFAULT", "SELECT s FROM words WHERE id = 1",
	)},
	{name: "charset variables one by one", steps: seq(
		"SET CHARACTER SET latin1", "SELECT s FROM words WHERE id = 1", "SET character_set_results = NULL", "SELECT s, l FROM words WHERE id = 1",
		"SET character_set_results = latin1", "SELECT s FROM words WHERE id = 3", "SET character_set_client = latin1", "SELECT id, '\xe9' FROM words WHERE id = 1",
		"SET collation_connection = latin1_general_cs", "SELECT 'a' = 'A' FROM t WHERE id = 1", "SET charset utf8mb4", "SELECT s FROM words WHERE id = 3",
		"SET character_set_connection = utf8mb4", "SELECT HEX('é') FROM t WHERE id = 1", "SET character_set_client = utf16", "SELECT s FROM words WHERE id = 1",
	)},
	{name: "multi-byte client charsets", steps: seq(
		"SET NAMES gbk", "SELECT s FROM words WHERE id = 2", "SELECT id FROM words WHERE s = '\xc8\xd5\xb1\xbe'", "SELECT '\xbf\\', v FROM t WHERE id = 1 -- '",
		"INSERT INTO words (id, s) VALUES (10, '\xbf\\')", "SELECT HEX(s) FROM words WHERE id = 10",
		"SET NAMES sjis", "SELECT s FROM words WHERE id = 2", "SELECT '\x95\\', v FROM t WHERE id = 1", "SET NAMES utf8mb4", "SELECT s FROM words WHERE id = 2",
	)},
	{name: "session variables that change results", steps: seq(
		"SET group_concat_max_len = 4 + 6", "SELECT GROUP_CONCAT(s ORDER BY id) FROM t", "SHOW WARNINGS", "SET group_concat_max_len = DEFAULT", "SELECT GROUP_CONCAT(s ORDER BY id) FROM t",
		"SET sql_select_limit = 2", "SELECT id FROM t ORDER BY id", "SET sql_select_limit = DEFAULT", "SELECT id FROM t ORDER BY id",
		"SET div_precision_increment = 9", "SELECT v / 7 FROM t WHERE id = 1", "SET default_week_format = 6", "SELECT WEEK(d) FROM times WHERE id = 1",
		"SET lc_time_names = 'de_DE'", "SELECT DAYNAME(d), MONTHNAME(d) FROM times WHERE id = 1", "SET timestamp = 1000000000", "SELECT UNIX_TIMESTAMP(NOW()), id FROM t WHERE id = 1",
		"SET timestamp = DEFAULT", "SELECT NOW() > '2024-01-01' FROM t WHERE id = 1", "SET cte_max_recursion_depth = 5",
		"WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 50) SELECT MAX(n) FROM c",
		"SET block_encryption_mode = 'aes-256-cbc'", "SELECT HEX(AES_ENCRYPT(s, 'key', '0123456789abcdef')) FROM t WHERE id = 1",
		"SET sql_auto_is_null = 1", "INSERT INTO t (v) VALUES (99)", "SELECT v FROM t WHERE id IS NULL",
		"SET max_error_count = 1", "SELECT CAST('a' AS SIGNED), CAST('b' AS SIGNED) FROM t WHERE id = 1", "SHOW WARNINGS",
		"SET rand_seed1 = 7, rand_seed2 = 11", "SELECT RAND()", "SET max_execution_time = 5000", "SELECT COUNT(*) FROM t", "SET explicit_defaults_for_timestamp = 1",
	)},
	{name: "variables that guard writes", steps: seq(
		"SET sql_safe_updates = 1", "UPDATE t SET v = 1", "DELETE FROM t WHERE v = 1", "SET sql_safe_updates = 0", "UPDATE t SET v = v + 1",
		"SELECT v FROM t ORDER BY id", "SET foreign_key_checks = 0", "SET unique_checks = 0", "SELECT @@foreign_key_checks, @@unique_checks",
		"SET auto_increment_increment = 10", "INSERT INTO t (v) VALUES (1), (2)", "SELECT id FROM t WHERE id > 5 ORDER BY id", "SET insert_id = 777", "INSERT INTO t (v) VALUES (3)", "SELECT id FROM t WHERE id > 100",
		"SET sql_notes = 0", "DROP TABLE IF EXISTS nosuch", "SHOW WARNINGS", "SET sql_warnings = 1", "INSERT INTO t (v) VALUES (1)",
	)},
	{name: "reading variables", steps: seq(
		"SELECT @@autocommit, @@session.sql_mode, @@time_zone", "SHOW VARIABLES LIKE 'sql_mode'", "SHOW SESSION VARIABLES LIKE 'time_zone'", "SET SESSION wait_timeout = 1234",
		"SELECT @@wait_timeout", "SHOW VARIABLES LIKE 'wait_timeout'", "SELECT @@nosuch", "SELECT @@global.nosuch", "SELECT VARIABLE_VALUE FROM performance_schema.session_variables WHERE VARIABLE_NAME = 'wait_timeout'",
		"SET GLOBAL nosuch = 1", "SET SESSION port = 1", "SET PERSIST nosuch = 1", "SELECT @@version_compile_machine IS NULL", "SELECT @@in_transaction", "SELECT @@port IS NOT NULL",
	)},
	{name: "user variables", steps: seq(
		"SELECT @a", "SET @a = 1, @b := 'x'", "SELECT @a, @b", "SELECT v FROM t WHERE id = @a", "SELECT @a := @a + 1", "SELECT @a", "SELECT @a",
		"SELECT v INTO @c FROM t WHERE id = 2", "SELECT @c", "SELECT v, @n := @n + 1 FROM t, (SELECT @n := 0) x ORDER BY id", "SELECT @n", "SELECT 5 INTO @d", "SELECT @d",
		"SELECT v, s FROM t WHERE id = 3 INTO @e, @f", "SELECT @e, @f", "SELECT v INTO @g FROM t", "SHOW WARNINGS", "SELECT @nosuch", "SET @a = NULL", "SELECT @a",
		"UPDATE t SET v = (@z := v + 1) WHERE id = 1", "SELECT @z", "SET @`odd name` = 3", "SELECT @`odd name`", "SELECT '@a', v FROM t WHERE id = 1",
	)},
	{name: "temporary tables", steps: seq(
		"CREATE TEMPORARY TABLE tt (id INT PRIMARY KEY, v INT)", "INSERT INTO tt VALUES (1, 100), (2, 200)", "SELECT t.v, tt.v FROM t JOIN tt USING (id) ORDER BY id", "SELECT COUNT(*) FROM tt",
		prepare("temp", "SELECT v FROM tt WHERE id = ?"), execute("temp", int64p(2)), "CREATE TEMPORARY TABLE t (id INT, v INT, s INT)", "SELECT * FROM t", "INSERT INTO t VALUES (1, 2, 3)", "SELECT * FROM t",
		"DROP TABLE t", "SELECT COUNT(*) FROM t", "ALTER TABLE tt ADD COLUMN x INT DEFAULT 5", "SELECT * FROM tt ORDER BY id", "TRUNCATE TABLE tt", "SELECT COUNT(*) FROM tt",
		"DROP TEMPORARY TABLE tt", "SELECT * FROM tt", "SELECT COUNT(*) FROM t", "DROP TEMPORARY TABLE tt", "CREATE TEMPORARY TABLE t5 SELECT * FROM t", "SELECT COUNT(*) FROM t5", "DROP TABLE t5, nosuch", "SELECT * FROM t5",
	)},
	{name: "temporary tables come in many ways", steps: seq(
		"CALL temporary()", "SELECT * FROM made", "DROP TEMPORARY TABLE made", prepare("c", "CREATE TEMPORARY TABLE bin (id INT)"), execute("c"), "INSERT INTO bin VALUES (1)", "SELECT * FROM bin",
		"BEGIN", "CREATE TEMPORARY TABLE intrx (id INT)", "INSERT INTO intrx VALUES (3)", "ROLLBACK", "SELECT * FROM intrx", "/* c */ create /*x*/ temporary table com (id int)", "SELECT * FROM com",
		"CREATE TEMPORARY TABLE a1 (id INT); CREATE TEMPORARY TABLE a2 (id INT)", "SELECT COUNT(*) FROM a1, a2", "DROP TABLE a1; SELECT 1", "SELECT * FROM a1", "SELECT * FROM a2", reset(), "SELECT * FROM a2",
	)},
	{name: "isolation level", steps: seq(
		"SELECT @@transaction_isolation", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SELECT @@transaction_isolation", "BEGIN", "SELECT v FROM t WHERE id = 1",
		on(1, seq("UPDATE t SET v = 11 WHERE id = 1")...), "SELECT v FROM t WHERE id = 1", "COMMIT", "SET transaction_isolation = 'REPEATABLE-READ'", "BEGIN", "SELECT v FROM t WHERE id = 1",
		on(1, seq("UPDATE t SET v = 12 WHERE id = 1")...), "SELECT v FROM t WHERE id = 1", "COMMIT", "SELECT v FROM t WHERE id = 1",
		"SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", "BEGIN", on(1, seq("BEGIN", "UPDATE t SET v = 13 WHERE id = 1")...), "SELECT v FROM t WHERE id = 1", "COMMIT", on(1, seq("ROLLBACK")...),
		"BEGIN", "SELECT v FROM t WHERE id = 1", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "COMMIT", "SELECT @@transaction_isolation", "SET SESSION transaction_isolation = 'nonsense'",
	)},
	{name: "trackers switched off by the client", steps: seq(
		"SET session_track_system_variables = ''", "SET sql_mode = 'ANSI_QUOTES'", `SELECT "v" FROM t WHERE id = 1`, "SET time_zone = '+05:00'", "SELECT ts FROM times WHERE id = 1", "SET session_track_schema = OFF", "USE sess2", `SELECT "v" FROM t`,
		"SET session_track_gtids = OFF", "INSERT INTO t (v) VALUES (5)", "SELECT COUNT(*) FROM t", "SET session_track_state_change = OFF", "CREATE TEMPORARY TABLE tt (id INT)", "SELECT COUNT(*) FROM tt", "SET session_track_transaction_info = 'OFF'", "BEGIN", "INSERT INTO t (v) VALUES (6)", "SELECT COUNT(*) FROM t", "COMMIT", "SELECT COUNT(*) FROM t",
		"SET SESSION session_track_system_variables = 'sql_mode'", "SET sql_mode = ''", `SELECT "v" FROM t WHERE id = 1`, "SET session_track_schema = DEFAULT", "USE sess", "SELECT v FROM t WHERE id = 1",
	)},
}
