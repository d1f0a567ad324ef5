package session

import (
	"strings"

	"causeway/tests/session/raw"
	"causeway/wire"
)

// commandScripts are about commands other than a single text.
var commandScripts = []script{
	{name: "several statements", steps: seq(
		"SELECT 1; SELECT 2", "INSERT INTO t (v) VALUES (1); SELECT LAST_INSERT_ID(); UPDATE t SET v = 2 WHERE id = 1; SELECT ROW_COUNT()", "SELECT 1; SELECT * FROM nosuch; SELECT 3", "SELECT v FROM t WHERE id = 1; SELECT v FROM t WHERE id = 2;", "SELECT 1;", ";", "SELECT 1;;SELECT 2",
		"BEGIN; INSERT INTO t (v) VALUES (5); COMMIT", "SELECT COUNT(*) FROM t", "SET @a = 3; SELECT @a", "USE sess2; SELECT v FROM t", "SELECT v FROM t", "SET sql_mode = 'ANSI_QUOTES'; SELECT \"v\" FROM t", "SELECT \"v\" FROM t", "SELECT 'a;b'; SELECT \"v\" FROM t -- ; SELECT 3",
		"CREATE TEMPORARY TABLE x (id INT); INSERT INTO x VALUES (1); SELECT * FROM x", "SELECT * FROM x", "BEGIN; SELECT 1", "INSERT INTO t (v) VALUES (8)", "ROLLBACK; SELECT 2", "SELECT COUNT(*) FROM t",
	)},
	{name: "COM_SET_OPTION", steps: seq(
		"SELECT 1; SELECT 2", setOption(1), "SELECT 1; SELECT 2", "SELECT 1;", setOption(0), "SELECT v FROM t WHERE id = 1; SELECT 2", setOption(7), "SELECT 1",
	)},
	{name: "CALL", steps: seq(
		"CALL put(5)", "SELECT COUNT(*) FROM t", "SET @n = 4", "CALL two_results(@n)", "SELECT @n", "CALL nosuch()", "CALL put()", "CALL signals()", "SELECT COUNT(*) FROM t", "CALL two_results(5)", "CALL two_results(@n); SELECT 7",
		prepare("c", "CALL two_results(?)"), execute("c", int64p(10)), prepare("p", "CALL put(?)"), execute("p", int64p(6)), "SELECT COUNT(*) FROM t", "SELECT plus_one(v) FROM t WHERE id = 1", "SELECT nosuch(1)", "SELECT writes(9)", "SELECT COUNT(*) FROM t", "DO writes(3)", "SELECT COUNT(*) FROM t",
	)},
	{name: "empty and wrong texts", steps: seq(
		"", " ", ";", "/* nothing */", "-- nothing", "# nothing", "/* open", "SELEC 1", "SELECT", "SELECT 'open", "SELECT * FROM", "SELECT v FROM t WHERE", "\x00", "SELECT 1 /* open", "/*! SELECT */ 1", "/*!99999 nonsense */ SELECT 1", "/*!50000 SELECT */ v FROM t WHERE id = 1", "SELECT /*!50000 v, */ s FROM t WHERE id = 1", "SELECT 1 -- x", "SELECT 1 # x", "SELECT 1--1", "/*T! nonsense */ SELECT v FROM t WHERE id = 1",
	)},
	{name: "reads of every form", steps: seq(
		"SELECT 1", "SELECT NULL", "SELECT * FROM t ORDER BY id", "(SELECT v FROM t WHERE id = 1) UNION ALL (SELECT v FROM t WHERE id = 2) ORDER BY 1", "TABLE t ORDER BY id LIMIT 2", "VALUES ROW(1, 'a'), ROW(2, 'b')", "WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 3) SELECT * FROM c",
		"SELECT * FROM tv ORDER BY id", "SELECT * FROM kinds ORDER BY id", "SELECT * FROM times ORDER BY id", "DESC t", "SHOW COLUMNS FROM t", "SHOW TABLES", "SHOW CREATE TABLE t", "EXPLAIN FORMAT=TREE SELECT v FROM t WHERE id = 1", "SELECT t.v, (SELECT COUNT(*) FROM words) FROM t WHERE EXISTS (SELECT 1 FROM words w WHERE w.id = t.id) ORDER BY t.id",
		"SELECT v, ROW_NUMBER() OVER (ORDER BY v DESC) FROM t", "SELECT * FROM JSON_TABLE('[1,2]', '$[*]' COLUMNS (x INT PATH '$')) j", "SELECT s, COUNT(*) FROM t GROUP BY s WITH ROLLUP", "SELECT v FROM t LIMIT 0", "SELECT * FROM t WHERE FALSE", "SELECT SLEEP(0)", "CHECKSUM TABLE t", "SELECT /*+ MAX_EXECUTION_TIME(1000) */ v FROM t WHERE id = 1", "SELECT UUID() = UUID()",
		"SELECT REPEAT('x', 70000)", "SELECT USER(), CURRENT_USER()", "HELP 'nosuchtopic'", "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'sess'", "SHOW TABLES FROM sess2", "SELECT ST_AsText(ST_GeomFromText('POINT(1 2)'))",
	)},
	{name: "writes of every form", steps: seq(
		"INSERT INTO t SET v = 1", "INSERT INTO t (v) SELECT v FROM t WHERE id < 3", "INSERT INTO t (id, v) VALUES (1, 5) AS new ON DUPLICATE KEY UPDATE v = new.v", "REPLACE INTO t (id, v) VALUES (2, 7)", "UPDATE t SET v = v WHERE id = 1", "UPDATE t SET v = v + 1 WHERE id < 3", "UPDATE t JOIN words w USING (id) SET t.s = w.s", "DELETE FROM t WHERE id = 1 LIMIT 1",
		"WITH c AS (SELECT 3 AS n) UPDATE t, c SET v = 0 WHERE id = n", "WITH c AS (SELECT 4 AS n) DELETE t FROM t, c WHERE t.id = c.n", "SELECT * FROM t ORDER BY id", "TRUNCATE TABLE t", "SELECT COUNT(*) FROM t", "INSERT INTO t (v) VALUES (1)", "SELECT id FROM t", "INSERT INTO t VALUES ()", "INSERT INTO t (nosuch) VALUES (1)", "INSERT INTO t (v) VALUES (1, 2)", "EXPLAIN DELETE FROM t", "SELECT COUNT(*) FROM t",
		"INSERT INTO words SELECT id + 100, s, 'x' FROM t WHERE v IS NOT NULL", "SELECT COUNT(*) FROM words", "UPDATE t SET s = '' WHERE id = 1", "DELETE t, w FROM t JOIN words w ON w.id = t.id", "SELECT COUNT(*) FROM t",
	)},
	{name: "DDL", steps: seq(
		"CREATE TABLE x (id INT PRIMARY KEY, s VARCHAR(10))", "SELECT * FROM x", "INSERT INTO x VALUES (1, 'a')", "ALTER TABLE x ADD COLUMN n INT DEFAULT 3", "SELECT * FROM x", "CREATE INDEX xs ON x (s)", "RENAME TABLE x TO y", "SELECT * FROM x", "SELECT * FROM y", "CREATE TABLE z LIKE y", "SELECT COUNT(*) FROM z", "CREATE VIEW vy AS SELECT id FROM y", "SELECT * FROM vy", "DROP VIEW vy", "SELECT * FROM vy",
		"DROP TABLE y, z", "SELECT * FROM y", "CREATE DATABASE sess3", "CREATE TABLE sess3.q (id INT)", "SELECT * FROM sess3.q", "DROP DATABASE sess3", "SELECT * FROM sess3.q", "CREATE FUNCTION one() RETURNS INT DETERMINISTIC RETURN 1", "SELECT one()", "DROP FUNCTION one", "SELECT one()", "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET NEW.v = 42", "INSERT INTO t (v) VALUES (1)", "SELECT v FROM t ORDER BY id DESC LIMIT 1", "DROP TRIGGER tr",
		"ANALYZE TABLE t", "CHECK TABLE t", "OPTIMIZE TABLE t", "FLUSH TABLES t", "CREATE TABLE t (id INT)", "CREATE TABLE copy SELECT * FROM t", "SELECT COUNT(*) FROM copy",
	)},
	{name: "LOAD DATA LOCAL", steps: seq(
		load("LOAD DATA LOCAL INFILE 'numbers' INTO TABLE t (v)", "1\n2\n3\n", 0), "SELECT v FROM t WHERE id > 5 ORDER BY id", load("LOAD DATA LOCAL INFILE 'x' INTO TABLE t (v)", "abc\n5\n", 2), "SHOW WARNINGS", load("LOAD DATA LOCAL INFILE 'empty' INTO TABLE t (v)", "", 0), load("LOAD DATA LOCAL INFILE 'x' INTO TABLE nosuch (v)", "1\n", 0), "SELECT COUNT(*) FROM t",
		load("LOAD DATA LOCAL INFILE 'dup' REPLACE INTO TABLE t FIELDS TERMINATED BY ',' (id, v)", "1,77\n2,88\n", 3), "SELECT v FROM t WHERE id < 3 ORDER BY id", load("SELECT 1; LOAD DATA LOCAL INFILE 'a' INTO TABLE t (v); SELECT ROW_COUNT()", "4\n", 0), load("LOAD DATA LOCAL INFILE 'long' INTO TABLE t (v)", strings.Repeat("9\n", 40000), 1000), "SELECT COUNT(*) FROM t",
		"BEGIN", load("LOAD DATA LOCAL INFILE 'x' INTO TABLE t (v)", "5\n", 0), "ROLLBACK", "SELECT COUNT(*) FROM t",
	)},
	{name: "COM_RESET_CONNECTION", steps: seq(
		"SET sql_mode = 'ANSI_QUOTES'", "SET @a = 1", "CREATE TEMPORARY TABLE tt (id INT)", "SET time_zone = '+09:00'", "SET NAMES latin1", prepare("p", "SELECT 1"), "INSERT INTO t (v) VALUES (1)", "BEGIN", "INSERT INTO t (v) VALUES (2)", "USE sess2", "LOCK TABLES t READ", reset(),
		`SELECT "v" FROM t`, "SELECT @a", "SELECT * FROM tt", "SELECT ts FROM sess.times WHERE id = 1", "SELECT s FROM sess.words WHERE id = 1", execute("p"), "SELECT LAST_INSERT_ID()", "SELECT COUNT(*) FROM sess.t", "SELECT DATABASE()", "SELECT v FROM t", "SELECT @@transaction_isolation", reset(), reset(), "SELECT v FROM t", "SHOW WARNINGS",
	)},
	{name: "COM_CHANGE_USER", steps: seq(
		"SET sql_mode = 'ANSI_QUOTES'", "SET @a = 1", "CREATE TEMPORARY TABLE tt (id INT)", prepare("p", "SELECT 1"), "BEGIN", "INSERT INTO t (v) VALUES (2)", changeUser("app", "app_pw", "sess2"), "SELECT v FROM t", `SELECT "v" FROM t`, "SELECT @a", "SELECT * FROM tt", execute("p"), "SELECT COUNT(*) FROM sess.t", "SELECT CURRENT_USER()",
		changeUser("app", "app_pw", ""), "SELECT DATABASE()", "SELECT * FROM t", "USE sess", "SELECT COUNT(*) FROM t",
	)},
	{name: "COM_CHANGE_USER is refused", steps: seq("SELECT 1", changeUser("app", "wrong", "sess"), "SELECT 1")},
	{name: "COM_CHANGE_USER to an unknown user", steps: seq("SELECT 1", changeUser("nobody", "x", "sess"), "SELECT 1")},
	{name: "COM_CHANGE_USER to an unknown schema", steps: seq("SELECT 1", changeUser("app", "app_pw", "nosuch"), "SELECT 1")},
	{name: "small commands", steps: seq(
		ping(), statistics(), "SELECT 1", ping(), fieldList("t", ""), fieldList("t", "v%"), fieldList("nosuch", ""), fieldList("kinds", ""), "SELECT 1", initDB(""), initDB("sess"), fieldList("t", "nothing"),
	)},
	{name: "commands that are gone", steps: seq(
		command(wire.ComCreateDB, "x"), command(wire.ComDropDB, "x"), command(wire.ComTime, ""), command(wire.ComDelayedInsert, ""), command(wire.ComConnectOut, ""), command(wire.ComSleep, ""), command(wire.Command(0x77), "abc"), "SELECT 1",
	)},
	{name: "query attributes", caps: wire.CapQueryAttributes, steps: seq(
		attributed("SELECT v FROM t WHERE id = 1", raw.Attr{Name: "trace", Value: "abc"}), attributed("INSERT INTO t (v) VALUES (6)", raw.Attr{Name: "a", Value: "1"}, raw.Attr{Name: "b", Value: strings.Repeat("x", 300)}), attributed("SELECT COUNT(*) FROM t"), "SELECT v FROM t WHERE id = 6",
		prepare("p", "SELECT v FROM t WHERE id = ?"), execute("p", int64p(1)), "SELECT 1; SELECT 2",
	)},
	{name: "KILL", steps: seq(
		remember("id", "SELECT CONNECTION_ID()"), "SELECT COUNT(*) FROM t", on(1, seq("KILL QUERY ${id}")...), "SELECT COUNT(*) FROM t", on(1, seq("KILL 999999999", "KILL QUERY 0", "KILL nosuch", "kill /* c */ ${id}", "SELECT SLEEP(0.2)")...), "SELECT 1",
	)},
	{name: "many columns and rows", steps: seq(
		"WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 900) SELECT n, REPEAT('y', n) FROM c", q("SELECT "+strings.TrimSuffix(strings.Repeat("v,", 1500), ",")+" FROM t WHERE id = 1"), q("SELECT "+strings.Repeat("'z',", 500)+"1"),
	)},
}
