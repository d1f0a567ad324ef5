package classifier

import (
	"testing"

	"causeway/classifier"
)

// TestImplicitCommits runs statements inside a transaction and looks, after a
// ROLLBACK, whether the row written before is there.
func TestImplicitCommits(t *testing.T) {
	s := newSession(t)
	c := classifier.New(classifier.Options{})
	for _, text := range []string{
		"CREATE TABLE x1 (id INT)", "CREATE TABLE x2 SELECT 1 AS a", "ALTER TABLE x1 ADD b INT",
		"CREATE INDEX i ON x1 (id)", "DROP INDEX i ON x1", "TRUNCATE x1", "RENAME TABLE x1 TO x3",
		"DROP TABLE x2", "DROP TABLE IF EXISTS nosuch", "CREATE TEMPORARY TABLE tt (id INT)",
		"DROP TEMPORARY TABLE tt", "DROP TEMPORARY TABLE IF EXISTS nosuch", "CREATE VIEW w AS SELECT 1",
		"DROP VIEW w", "CREATE DATABASE x4", "ALTER DATABASE x4 CHARACTER SET utf8mb4", "DROP DATABASE x4",
		"CREATE FUNCTION g() RETURNS INT DETERMINISTIC RETURN 1", "DROP FUNCTION g",
		"CREATE PROCEDURE pp() SELECT 1", "DROP PROCEDURE pp",
		"CREATE USER x5", "ALTER USER x5 ACCOUNT LOCK", "GRANT SELECT ON *.* TO x5", "REVOKE SELECT ON *.* FROM x5",
		"SET PASSWORD FOR x5 = 'x'", "RENAME USER x5 TO x6", "DROP USER x6",
		"CREATE ROLE x7", "SET DEFAULT ROLE NONE TO x7", "DROP ROLE x7",
		"ANALYZE TABLE t", "OPTIMIZE TABLE t", "REPAIR TABLE t", "CHECK TABLE t",
		"FLUSH STATUS", "FLUSH TABLES", "FLUSH LOCAL PRIVILEGES", "CHECKSUM TABLE t",
		"CACHE INDEX t IN default", "LOAD INDEX INTO CACHE t",
		"BEGIN", "START TRANSACTION READ ONLY", "SAVEPOINT sp", "ROLLBACK TO sp_outer", "LOCK TABLES t READ",
		"SET sql_mode = ''", "SET @x = 1", "SET NAMES utf8mb4", "SET SESSION TRANSACTION READ WRITE",
		"SET autocommit = 0", "USE cases", "DO 1", "SELECT 1", "SELECT * FROM t FOR UPDATE", "SHOW TABLES",
		"SHOW BINARY LOG STATUS", "PREPARE s FROM 'SELECT 1'", "DEALLOCATE PREPARE s", "CALL wr_p()",
		"INSERT INTO u (tid) VALUES (5)", "SELECT wr_f(1)", "HANDLER t OPEN", "HANDLER t CLOSE",
		"EXPLAIN ANALYZE SELECT * FROM t", "DESCRIBE t", "KILL QUERY 999999", "LOCK INSTANCE FOR BACKUP", "UNLOCK INSTANCE",
	} {
		s.must("DELETE FROM log")
		s.must("BEGIN")
		s.must("INSERT INTO log (what) VALUES ('before')")
		s.must("SAVEPOINT sp_outer")
		_ = s.exec(text)
		s.must("ROLLBACK")
		s.must("UNLOCK TABLES")
		s.must("SET autocommit = 1")
		committed := s.value("SELECT COUNT(*) FROM log WHERE what = 'before'") == "1"
		class := c.Classify([]byte(text), classifier.Mode{})
		if committed != class.Is(classifier.ImplicitCommit) {
			t.Errorf("%s: %s %s, but committed = %v", text, class.Kind, class.Flags, committed)
		}
	}
}
