package routing

import (
	"strings"

	"causeway/classifier"
	"causeway/classifier/cases"
)

// where is where a statement must go.
type where string

const (
	source  where = "source"
	replica where = "replica" // one replica, whichever
	last    where = "last"    // the node that ran the statement before it
	nobody  where = "nobody"  // Causeway answers itself
)

// row is a statement and where it must go. {m} in it is replaced by its mark,
// where a comment would not come through; else the mark is put before it.
type row struct {
	sql    string
	to     where
	before []string // sent first, on the same connection, each with a mark
	errno  uint16   // the error it must give, 0 for none
	args   []any    // not nil: prepared and executed in the binary protocol
}

// table is every statement of this test.
func table() []row {
	all := fromCases()
	for _, part := range [][]row{diagnostics, state, transactions, readOnly, writes, ddl, others, multi, prepared} {
		all = append(all, part...)
	}
	return all
}

// invalid are cases whose text is not valid on purpose.
var invalid = map[string]bool{
	"SELECT a FROM t */": true,
	"SELECT ?":           true,
	"SELECT a FROM t WHERE id = ? AND c IN (?, ?)": true,
}

// fromCases takes the statements of the classifier's own table that can be run
// anywhere without harm: plain reads belong on a replica, all others on the
// source.
func fromCases() []row {
	var rows []row
	for _, c := range cases.All() {
		if invalid[c.SQL] {
			continue
		}
		switch c.Kind {
		case classifier.Read:
			rows = append(rows, row{sql: c.SQL, to: replica})
		case classifier.ReadSource, classifier.LockingRead:
			if strings.HasPrefix(c.SQL, "SHOW") && strings.HasSuffix(c.SQL, "PROCESSLIST") {
				rows = append(rows, row{sql: c.SQL, to: nobody})
				continue
			}
			rows = append(rows, row{sql: c.SQL, to: source, errno: anyError})
		case classifier.Set:
			if _, ok := classifier.Autocommit([]byte(c.SQL), classifier.Mode{}); ok {
				rows = append(rows, row{sql: c.SQL, to: nobody})
				continue
			}
			if !c.Flags.Has(classifier.SetsGlobal) {
				rows = append(rows, row{sql: c.SQL, to: source, errno: anyError})
			}
		}
	}
	return rows
}

// anyError allows a statement to fail: where it went is what counts.
const anyError = 0xffff

const read = "SELECT a FROM t WHERE id = 1"

// diagnostics are asked for where the statement before was answered.
var diagnostics = []row{
	{sql: "SHOW WARNINGS", to: last, before: []string{"SELECT 1/0, 'x' + 1"}},
	{sql: "SHOW COUNT(*) WARNINGS", to: last, before: []string{"SELECT 'x' + 1"}},
	{sql: "SHOW ERRORS LIMIT 1", to: last, before: []string{read}},
	{sql: "SELECT ROW_COUNT()", to: last, before: []string{read}},
	{sql: "SELECT @@warning_count", to: last, before: []string{read}},
	{sql: "SELECT FOUND_ROWS()", to: last, before: []string{"SELECT SQL_CALC_FOUND_ROWS a FROM t LIMIT 1"}},
	{sql: "SELECT FOUND_ROWS()", to: last, before: []string{read, "SELECT a FROM t FOR UPDATE"}},
	{sql: "SELECT ROW_COUNT()", to: last, before: []string{"UPDATE t SET b = b + 1 WHERE id = 1"}},
	{sql: "SHOW WARNINGS", to: last, before: []string{read, "INSERT IGNORE INTO t (id) VALUES (1)"}},
	{sql: "SHOW WARNINGS", to: last, before: []string{"-SELECT nosuch FROM t FOR UPDATE"}},
	{sql: "GET DIAGNOSTICS @n = NUMBER", to: source, before: []string{"UPDATE t SET b = b WHERE id = 1"}},
}

// state that a session has on its source connection, and what it does to the
// reads after it.
var state = []row{
	{sql: read, to: replica, before: []string{"CREATE TEMPORARY TABLE tt (id INT)"}},
	{sql: "SELECT a FROM t WHERE id IN (SELECT id FROM tt)", to: source, before: []string{"CREATE TEMPORARY TABLE tt (id INT)"}},
	{sql: read, to: source, before: []string{"CREATE TEMPORARY TABLE t (id INT, a INT)"}},
	{sql: "SELECT * FROM tt", to: source, before: []string{"CREATE TEMPORARY TABLE tt (id INT)"}},
	{sql: read, to: source, before: []string{"LOCK TABLES t READ"}},
	{sql: read, to: replica, before: []string{"LOCK TABLES t READ", "UNLOCK TABLES"}},
	{sql: read, to: replica, before: []string{"SET timestamp = 1000000000"}},
	{sql: read, to: replica, before: []string{"SET timestamp = UNIX_TIMESTAMP('2020-01-01')"}},
	{sql: read, to: replica, before: []string{"SET @x = 1"}},
	{sql: "SELECT a FROM t WHERE id = @x", to: source, before: []string{"SET @x = 1"}},
	{sql: "SELECT @x := 5", to: source, before: []string{read}},
	{sql: read, to: replica, before: []string{"SELECT @@version"}},
	{sql: read, to: replica, before: []string{"SET sql_mode = 'ANSI_QUOTES'"}},
	{sql: `SELECT "a" FROM t`, to: replica, before: []string{"SET sql_mode = 'ANSI_QUOTES'"}},
	{sql: `SELECT "wr_f"(1)`, to: source, before: []string{"SET sql_mode = 'ANSI_QUOTES'"}},
	{sql: `SELECT 'a\', a FROM t -- '`, to: replica, before: []string{"SET sql_mode = 'NO_BACKSLASH_ESCAPES'"}},
	{sql: `SELECT 'a\', a FROM t FOR UPDATE -- '`, to: source, before: []string{"SET sql_mode = 'NO_BACKSLASH_ESCAPES'"}},
	{sql: "SELECT now () FROM t", to: replica, before: []string{"SET sql_mode = 'IGNORE_SPACE'"}},
	{sql: read, to: replica, before: []string{"SET time_zone = '+03:00', group_concat_max_len = 5000"}},
	{sql: read, to: replica, before: []string{"SET NAMES latin1"}},
	{sql: "SELECT '\xc4\xe3' FROM t", to: replica, before: []string{"SET NAMES gbk"}},
	{sql: "SELECT '\xbf\\' FROM t WHERE 1 = 1 -- '", to: source, before: []string{"SET NAMES gbk"}},
	{sql: "SELECT 'abc' FROM t", to: replica, before: []string{"SET NAMES gbk"}},
	{sql: "SELECT LAST_INSERT_ID()", to: source, before: []string{"INSERT INTO u (tid) VALUES (1)"}},
	{sql: "SELECT LAST_INSERT_ID() AS id;", to: source, before: []string{"INSERT INTO u (tid) VALUES (1)", read}},
	{sql: "SELECT * FROM u WHERE id = LAST_INSERT_ID()", to: source, before: []string{"INSERT INTO u (tid) VALUES (1)"}},
	{sql: "SELECT tid FROM u ORDER BY id DESC LIMIT 1", to: replica, before: []string{"INSERT INTO u (tid) VALUES (1)"}},
	{sql: read, to: replica, before: []string{"UPDATE t SET b = b + 1 WHERE id = 1"}},
	{sql: read, to: replica, before: []string{"USE cases"}},
	{sql: "SELECT a FROM cases.t", to: replica, before: []string{"USE app"}},
	{sql: "SELECT user FROM user", to: source, before: []string{"USE mysql"}},
	{sql: "SELECT COUNT(*) FROM tables", to: source, before: []string{"USE information_schema"}},
	{sql: "SHOW TABLES", to: source, before: []string{"USE performance_schema"}},
	{sql: read, to: replica, before: []string{"USE mysql", "USE cases"}},
	{sql: "SELECT RELEASE_LOCK('rt')", to: source, before: []string{"SELECT GET_LOCK('rt', 1)"}},
	{sql: "SELECT IS_USED_LOCK('rt')", to: source, before: []string{"SELECT GET_LOCK('rt', 1)"}},
	{sql: "DO RELEASE_ALL_LOCKS()", to: source, before: []string{"DO GET_LOCK('rt', 1)"}},
	{sql: "EXECUTE s", to: source, before: []string{"PREPARE s FROM 'SELECT a FROM t'"}},
	{sql: "EXECUTE s USING @a", to: source, before: []string{"SET @a = 1", "PREPARE s FROM 'SELECT a FROM t WHERE id = ?'"}},
	{sql: "DEALLOCATE PREPARE s", to: source, before: []string{"PREPARE s FROM 'SELECT 1'"}},
	{sql: "PREPARE s FROM 'SELECT 1'", to: source},
	{sql: "HANDLER t READ FIRST", to: source, before: []string{"HANDLER t OPEN"}},
	{sql: "HANDLER t CLOSE", to: source, before: []string{"HANDLER t OPEN"}},
}

// transactions are the source's from their first statement to their last.
var transactions = []row{
	{sql: "BEGIN", to: nobody},
	{sql: "START TRANSACTION", to: nobody},
	{sql: "START TRANSACTION READ WRITE", to: nobody},
	{sql: "START TRANSACTION WITH CONSISTENT SNAPSHOT", to: source},
	{sql: read, to: source, before: []string{"BEGIN"}},
	{sql: read, to: source, before: []string{"START TRANSACTION"}},
	{sql: "SELECT 1", to: source, before: []string{"BEGIN"}},
	{sql: read, to: source, before: []string{"START TRANSACTION WITH CONSISTENT SNAPSHOT"}},
	{sql: read, to: source, before: []string{"BEGIN", "UPDATE t SET b = 1 WHERE id = 1"}},
	{sql: "SHOW TABLES", to: source, before: []string{"BEGIN"}},
	{sql: "SAVEPOINT s", to: source, before: []string{"BEGIN"}},
	{sql: "ROLLBACK TO s", to: source, before: []string{"BEGIN", "SAVEPOINT s"}},
	{sql: "RELEASE SAVEPOINT s", to: source, before: []string{"BEGIN", "SAVEPOINT s"}},
	{sql: read, to: source, before: []string{"BEGIN", "SAVEPOINT s", "ROLLBACK TO s"}},
	{sql: "COMMIT", to: nobody, before: []string{"BEGIN"}},
	{sql: "COMMIT", to: source, before: []string{"BEGIN", read}},
	{sql: "ROLLBACK", to: source, before: []string{"BEGIN", "SELECT 1"}},
	{sql: "ROLLBACK", to: nobody, before: []string{"BEGIN"}},
	{sql: read, to: replica, before: []string{"BEGIN", "COMMIT"}},
	{sql: read, to: replica, before: []string{"BEGIN", "UPDATE t SET b = b + 1 WHERE id = 1", "COMMIT"}},
	{sql: read, to: replica, before: []string{"BEGIN", "ROLLBACK"}},
	{sql: read, to: source, before: []string{"BEGIN", "COMMIT AND CHAIN"}},
	{sql: read, to: replica, before: []string{"BEGIN", "CREATE TABLE IF NOT EXISTS implicit (id INT)"}},
	{sql: read, to: source, before: []string{"SET autocommit = 0"}},
	{sql: read, to: source, before: []string{"SET SESSION autocommit = OFF", "SELECT 1"}},
	{sql: read, to: source, before: []string{"SET autocommit = 0", read, "COMMIT"}},
	{sql: read, to: replica, before: []string{"SET autocommit = 0", read, "SET autocommit = 1"}},
	{sql: "UPDATE t SET b = b WHERE id = 1", to: source, before: []string{"SET autocommit = 0", read}},
	{sql: "COMMIT", to: source, before: []string{"SET autocommit = 0", read}},
	{sql: read, to: source, before: []string{"XA START 'rt1'"}},
	{sql: "XA END 'rt2'", to: source, before: []string{"XA START 'rt2'"}},
	{sql: read, to: replica, before: []string{"XA START 'rt3'", "XA END 'rt3'", "XA ROLLBACK 'rt3'"}},
	{sql: "XA RECOVER", to: source},
	{sql: "SET TRANSACTION ISOLATION LEVEL READ COMMITTED", to: source},
	{sql: "SET TRANSACTION READ WRITE", to: source},
	{sql: read, to: source, before: []string{"BEGIN", "SELECT @@version"}},
	{sql: "SELECT 1 FROM DUAL", to: replica, before: []string{"BEGIN", "COMMIT"}},
}

// readOnly transactions live on one replica.
var readOnly = []row{
	{sql: "START TRANSACTION READ ONLY", to: nobody},
	{sql: "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY", to: replica},
	{sql: read, to: last, before: []string{"START TRANSACTION READ ONLY"}},
	{sql: read, to: last, before: []string{"START TRANSACTION READ ONLY", read, "SELECT 1"}},
	{sql: "COMMIT", to: last, before: []string{"START TRANSACTION READ ONLY", read}},
	{sql: "ROLLBACK", to: last, before: []string{"START TRANSACTION READ ONLY", read}},
	{sql: "SHOW TABLES", to: last, before: []string{"START TRANSACTION READ ONLY", read}},
	{sql: "SAVEPOINT s", to: last, before: []string{"START TRANSACTION READ ONLY", read}},
	{sql: "INSERT INTO t (id) VALUES (77)", to: nobody, errno: 1792, before: []string{"START TRANSACTION READ ONLY", read}},
	{sql: "UPDATE t SET b = 1", to: nobody, errno: 1792, before: []string{"START TRANSACTION READ ONLY"}},
	{sql: "CREATE TABLE IF NOT EXISTS ro_ddl (id INT)", to: source, before: []string{"START TRANSACTION READ ONLY", read}},
	{sql: read, to: replica, before: []string{"START TRANSACTION READ ONLY", "COMMIT"}},
	{sql: "BEGIN", to: nobody, before: []string{"SET SESSION TRANSACTION READ ONLY"}},
	{sql: read, to: last, before: []string{"SET SESSION TRANSACTION READ ONLY", "BEGIN"}},
	{sql: read, to: replica, before: []string{"SET SESSION TRANSACTION READ ONLY"}},
	{sql: read, to: replica, before: []string{"SET SESSION TRANSACTION READ ONLY", "SET autocommit = 0"}},
	{sql: read, to: last, before: []string{"SET SESSION TRANSACTION READ ONLY", "SET autocommit = 0", read}},
	{sql: "START TRANSACTION READ WRITE", to: nobody, before: []string{"SET SESSION TRANSACTION READ ONLY"}},
	{sql: "BEGIN", to: nobody, before: []string{"SET SESSION TRANSACTION READ ONLY", "SET SESSION TRANSACTION READ WRITE"}},
	{sql: "SET TRANSACTION READ ONLY", to: nobody},
	{sql: "BEGIN", to: nobody, before: []string{"SET TRANSACTION READ ONLY"}},
	{sql: "BEGIN", to: nobody, before: []string{"SET TRANSACTION READ ONLY", "BEGIN", "COMMIT"}},
}

// writes are the source's.
var writes = []row{
	{sql: "INSERT INTO log (what) VALUES ('x')", to: source},
	{sql: "insert into log (what) values ('x'), ('y')", to: source},
	{sql: "INSERT INTO log SET what = 'x'", to: source},
	{sql: "INSERT INTO log (what) SELECT name FROM u LIMIT 1", to: source},
	{sql: "INSERT INTO log (what) TABLE nosuch", to: source, errno: 1146},
	{sql: "INSERT INTO t (id, a) VALUES (1, 1) AS new ON DUPLICATE KEY UPDATE a = new.a", to: source},
	{sql: "INSERT INTO t (id) VALUES (1)", to: source, errno: 1062},
	{sql: "REPLACE INTO log (id, what) VALUES (1000, 'x')", to: source},
	{sql: "UPDATE t SET b = b + 1 WHERE id = 1", to: source},
	{sql: "UPDATE t, u SET t.b = 1 WHERE t.id = u.tid", to: source},
	{sql: "UPDATE t SET b = 5 WHERE id = 9999", to: source},
	{sql: "DELETE FROM log WHERE id = 100000", to: source},
	{sql: "DELETE log FROM log JOIN u ON u.id = log.id WHERE 0", to: source},
	{sql: "WITH x AS (SELECT 1 AS n) UPDATE t SET b = 1 WHERE id IN (SELECT n FROM x)", to: source},
	{sql: "WITH x (n) AS (SELECT 99999) DELETE FROM log WHERE id IN (SELECT n FROM x)", to: source},
	{sql: "EXPLAIN ANALYZE DELETE FROM log WHERE id = 100000", to: source, errno: anyError},
	{sql: "LOAD DATA INFILE '/nosuch' INTO TABLE log", to: source, errno: anyError},
	{sql: "SELECT a FROM t LIMIT 1 INTO @x", to: source},
	{sql: "SELECT a INTO @x FROM t LIMIT 1", to: source},
	{sql: "SELECT a FROM t WHERE id = 1 FOR UPDATE INTO @x", to: source},
	{sql: "SELECT a FROM t INTO OUTFILE '/nosuch/x'", to: source, errno: anyError},
	{sql: "SELECT a FROM t LIMIT 1 INTO DUMPFILE '/nosuch/x'", to: source, errno: anyError},
	{sql: "TABLE t INTO OUTFILE '/nosuch/x'", to: source, errno: anyError},
	{sql: "SELECT wr_f(1)", to: source},
	{sql: "SELECT cases.wr_f(1)", to: source},
	{sql: "SELECT `wr_f`(1) FROM t", to: source},
	{sql: "SELECT now ()", to: source},
	{sql: "SELECT `now`()", to: source},
	{sql: "SELECT cases.now()", to: source},
	{sql: "SELECT ro_f(1)", to: source},
	{sql: "SELECT * FROM t WHERE wr_f(id) > 0", to: source},
	{sql: "VALUES ROW(wr_f(1))", to: source},
	{sql: "DO wr_f(1)", to: source},
	{sql: "SET @x = wr_f(1)", to: source},
	{sql: "CALL wr_p()", to: source},
	{sql: "CALL cases.wr_p", to: source},
	{sql: "CREATE TEMPORARY TABLE tt (id INT)", to: source},
	{sql: "CREATE TEMPORARY TABLE tt SELECT * FROM t", to: source},
	{sql: "DROP TEMPORARY TABLE IF EXISTS tt", to: source},
}

// ddl commits implicitly; the source's.
var ddl = []row{
	{sql: "CREATE TABLE d1 (id INT PRIMARY KEY)", to: source},
	{sql: "ALTER TABLE d1 ADD a INT", to: source},
	{sql: "CREATE INDEX i ON d1 (a)", to: source},
	{sql: "DROP INDEX i ON d1", to: source},
	{sql: "TRUNCATE TABLE d1", to: source},
	{sql: "RENAME TABLE d1 TO d2", to: source},
	{sql: "ANALYZE TABLE d2", to: source},
	{sql: "OPTIMIZE TABLE d2", to: source},
	{sql: "CHECK TABLE d2", to: source},
	{sql: "REPAIR TABLE d2", to: source},
	{sql: "DROP TABLE d2", to: source},
	{sql: "DROP TABLE IF EXISTS nosuch", to: source},
	{sql: "CREATE VIEW d3 AS SELECT a FROM t", to: source},
	{sql: "CREATE OR REPLACE VIEW d3 AS SELECT b FROM t", to: source},
	{sql: "DROP VIEW d3", to: source},
	{sql: "CREATE DATABASE d4", to: source},
	{sql: "DROP DATABASE d4", to: source},
	{sql: "CREATE PROCEDURE d5() BEGIN SELECT 1; SELECT 2; END", to: source},
	{sql: "DROP PROCEDURE d5", to: source},
	{sql: "CREATE FUNCTION d6() RETURNS INT DETERMINISTIC RETURN 1", to: source},
	{sql: "DROP FUNCTION d6", to: source},
	{sql: "CREATE TRIGGER d7 BEFORE INSERT ON log FOR EACH ROW SET NEW.what = CONCAT(NEW.what, '!')", to: source},
	{sql: "DROP TRIGGER d7", to: source},
	{sql: "CREATE EVENT d8 ON SCHEDULE EVERY 1 YEAR DO SELECT 1", to: source},
	{sql: "DROP EVENT d8", to: source},
	{sql: "CREATE USER IF NOT EXISTS '{m}'@'localhost' IDENTIFIED BY 'x'", to: source},
	{sql: "GRANT SELECT ON cases.* TO app@127.0.0.1", to: source, errno: anyError},
	{sql: "CREATE ROLE d9", to: source},
	{sql: "DROP ROLE d9", to: source},
	{sql: "FLUSH STATUS", to: source},
	{sql: "FLUSH TABLES", to: source},
	{sql: "FLUSH TABLES t WITH READ LOCK", to: source},
	{sql: "FLUSH LOCAL PRIVILEGES", to: source},
	{sql: "LOCK TABLES t READ", to: source},
	{sql: "UNLOCK TABLES", to: source},
	{sql: "LOCK INSTANCE FOR BACKUP", to: source},
	{sql: "UNLOCK INSTANCE", to: source},
	{sql: "/*!50000 CREATE TABLE d10 (id INT) */", to: source},
	{sql: "/*!50000 DROP TABLE d10 */", to: source},
}

// others are what is left.
var others = []row{
	{sql: "", to: source}, // only the mark's comment: MySQL 9 says OK
	{sql: "hello", to: source, errno: 1064},
	{sql: "(SELECT 1", to: source, errno: 1064},
	{sql: "KILL QUERY 4294967290", to: nobody, errno: anyError},
	{sql: "USE cases", to: source},
	{sql: "SIGNAL SQLSTATE '45000'", to: source, errno: 1644},
	{sql: "SHOW VARIABLES LIKE 'server_id'", to: source},
	{sql: "SHOW BINARY LOGS", to: source},
	{sql: "SHOW CAUSEWAY STATUS", to: nobody},
	{sql: "SHOW CAUSEWAY SERVERS", to: nobody},
	{sql: "SHOW CAUSEWAY LAG", to: nobody},
	{sql: "SHOW CAUSEWAY ROUTE", to: nobody},
	{sql: "SET GLOBAL max_connect_errors = 1000", to: source},
	{sql: "SET GLOBAL TRANSACTION READ WRITE", to: source},
}

// multi are several statements in a text: one connection for all of them.
var multi = []row{
	{sql: "SELECT 1; SELECT 2", to: replica},
	{sql: "SELECT a FROM t; SELECT tid FROM u;", to: replica},
	{sql: "SELECT 1; UPDATE t SET b = b + 1 WHERE id = 1", to: source},
	{sql: "INSERT INTO u (tid) VALUES (1); SELECT LAST_INSERT_ID();", to: source},
	{sql: "SELECT 1; SELECT a FROM t FOR UPDATE", to: source},
	{sql: "SELECT 1; SELECT wr_f(1)", to: source},
	{sql: "SELECT 1; SET @x = 1", to: source},
	{sql: "SELECT 1; SELECT @@version", to: source},
	{sql: "BEGIN; INSERT INTO log (what) VALUES ('x'); COMMIT", to: source},
	{sql: "SELECT 1; garbage", to: source, errno: 1064},
	{sql: "SELECT 1; CREATE TEMPORARY TABLE tt (id INT)", to: source},
	{sql: read, to: source, before: []string{"SELECT 1; CREATE TEMPORARY TABLE tt (id INT)"}},
	{sql: read, to: source, before: []string{"SELECT 1; BEGIN"}},
	{sql: read, to: source, before: []string{"SELECT 1; SET autocommit = 0"}},
}

// prepared are sent in the binary protocol; only the execution counts.
var prepared = []row{
	{sql: "SELECT a FROM t WHERE id = ?", to: replica, args: []any{1}},
	{sql: "SELECT a FROM t WHERE id IN (?, ?)", to: replica, args: []any{1, 2}},
	{sql: "SELECT a FROM t WHERE id = ? FOR UPDATE", to: source, args: []any{1}},
	{sql: "SELECT wr_f(?)", to: source, args: []any{1}},
	{sql: "SELECT @x + ?", to: source, args: []any{1}},
	{sql: "SELECT LAST_INSERT_ID() + ?", to: source, args: []any{1}},
	{sql: "UPDATE t SET b = ? WHERE id = 1", to: source, args: []any{1}},
	{sql: "INSERT INTO log (what) VALUES (?)", to: source, args: []any{"x"}},
	{sql: "SELECT a FROM t WHERE id = ?", to: source, args: []any{1}, before: []string{"BEGIN"}},
	{sql: "SELECT a FROM t WHERE id = ?", to: source, args: []any{1}, before: []string{"SET autocommit = 0"}},
	{sql: "SELECT a FROM t WHERE id = ?", to: last, args: []any{1}, before: []string{"START TRANSACTION READ ONLY", read}},
	{sql: "SELECT a FROM t WHERE id = ?", to: replica, args: []any{1}, before: []string{"UPDATE t SET b = b + 1 WHERE id = 1"}},
	{sql: "SELECT a FROM t WHERE id = ?", to: replica, args: []any{1}, before: []string{"CREATE TEMPORARY TABLE tt (id INT)"}},
	{sql: "SELECT id FROM tt WHERE id = ?", to: source, args: []any{1}, before: []string{"CREATE TEMPORARY TABLE tt (id INT)"}},
	{sql: "EXPLAIN SELECT a FROM t WHERE id = ?", to: replica, args: []any{1}},
}
