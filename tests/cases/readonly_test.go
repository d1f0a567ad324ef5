package cases

import (
	"fmt"
	"slices"
	"strings"
)

// readOnlyCases: READ ONLY transactions, which run on a replica where they can,
// and SET TRANSACTION.
var readOnlyCases = []theCase{
	{row: "X37", name: "what a READ ONLY transaction refuses after its first read", steps: inReadOnly("a: SELECT v FROM t WHERE id = 1 => 10")},
	{row: "X37", name: "what a READ ONLY transaction refuses at first", steps: inReadOnly("a: SELECT 1")},
	{row: "X38", name: "LAST_INSERT_ID in a READ ONLY transaction", steps: steps(
		"a: INSERT INTO t (v) VALUES (7)", "a: START TRANSACTION READ ONLY", "a: SELECT v FROM t WHERE id = 1 => 10 @replica", "a: SELECT v FROM t WHERE id = LAST_INSERT_ID() => 7 @replica", "a: SELECT LAST_INSERT_ID() => 6", "a: SELECT LAST_INSERT_ID(id) FROM t WHERE id = 2 => 2 @replica", "a: SELECT LAST_INSERT_ID() => 2", "a: SELECT v FROM t WHERE id = LAST_INSERT_ID() => 20 @replica", "a: COMMIT",
		"a: SELECT LAST_INSERT_ID() => 2", "a: SELECT v FROM t WHERE id = LAST_INSERT_ID() => 20", "b: SELECT v FROM t WHERE id = LAST_INSERT_ID() => none", "b: START TRANSACTION READ ONLY", "b: SELECT v FROM t WHERE id = 1 => 10", "b: SELECT v FROM t WHERE id = LAST_INSERT_ID() => none", "b: COMMIT", "a: SELECT LAST_INSERT_ID() => 2", "a: INSERT INTO t (v) VALUES (8)", "a: SELECT LAST_INSERT_ID() => 7",
	)},
	{row: "X39", name: "user variables of a READ ONLY transaction are its session's", steps: steps(
		"a: START TRANSACTION READ ONLY", "a: SELECT v FROM t WHERE id = 1 => 10 @replica", "a: SET @x = 1 + 1", "a: SET @y = 'lit'", "a: SELECT v, @x, @y FROM t WHERE id = 1 => 10,2,lit @replica", "a: COMMIT",
		"b: START TRANSACTION READ ONLY", "b: SELECT v FROM t WHERE id = 1 => 10 @replica", "b: SELECT v, @x, @y FROM t WHERE id = 1 => 10,NULL,NULL @replica", "b: COMMIT",
	)},
	{row: "X40", name: "SET TRANSACTION that is wrong", steps: steps(
		"a: SET TRANSACTION READ ONLY, READ WRITE => ERR 1064", "a: SHOW WARNINGS", "a: SET TRANSACTION READ ONLY ISOLATION LEVEL READ COMMITTED => ERR 1064", "a: SET TRANSACTION READ ONLY, ISOLATION LEVEL SERIALISABLE => ERR 1064", "a: SET TRANSACTION READ => ERR 1064", "a: SET TRANSACTION READ ONLY x => ERR 1064", "a: SET TRANSACTION ISOLATION LEVEL READ COMMITTED, ISOLATION LEVEL READ COMMITTED => ERR 1064", "a: INSERT INTO t (v) VALUES (1) => OK",
		"a: SET TRANSACTION READ ONLY; => OK", "a: SELECT ROW_COUNT() => 0", "a: INSERT INTO t (v) VALUES (1) => ERR 1792", "a: SELECT v FROM t WHERE id = 1 => 10", "a: INSERT INTO t (v) VALUES (1) => OK",
		"a: SET TRANSACTION READ ONLY", "a: SET TRANSACTION READ WRITE", "a: BEGIN", "a: INSERT INTO t (v) VALUES (1) => OK", "a: COMMIT", "a: SET TRANSACTION READ ONLY", "a: SET @@transaction_read_only = 0", "a: INSERT INTO t (v) VALUES (1) => OK",
		"a: BEGIN", "a: SET TRANSACTION READ ONLY => ERR 1568", "a: INSERT INTO t (v) VALUES (1) => OK", "a: COMMIT",
	)},
	{row: "X42", name: "the first statement of a READ ONLY transaction fails", steps: firstFails("a: START TRANSACTION READ ONLY", "a: COMMIT")},
	{row: "X42", name: "the first statement with autocommit off fails", two: true, steps: firstFails("a: SET autocommit = 0", "a: SET autocommit = 1")},
	{row: "X42", name: "the first statement with autocommit off and READ ONLY fails", steps: slices.Concat(steps("a: SET SESSION TRANSACTION READ ONLY"), firstFails("a: SET autocommit = 0", "a: SET autocommit = 1"))},
	{row: "X42", name: "locks of a first statement that failed", two: true, steps: steps(
		"a: SET autocommit = 0", "a: INSERT INTO t (id, v) VALUES (1, 1) => ERR 1062", "b: SET innodb_lock_wait_timeout = 1", "b: UPDATE t SET v = 98 WHERE id = 1 => ERR 1205", "a: COMMIT", "b: UPDATE t SET v = 99 WHERE id = 1 => OK", "a: SELECT v FROM t WHERE id = 1 => 99", "a: COMMIT",
		"a: INSERT INTO t (id, v) VALUES (1, 1) => ERR 1062", "a: SET autocommit = 1", "b: UPDATE t SET v = 97 WHERE id = 1 => OK",
	)},
	{row: "X43", name: "metadata locks of a statement that failed with autocommit off", steps: metadataLocks(
		"SELECT nosuch FROM t => ERR 1054", "INSERT INTO t (nosuch) VALUES (1) => ERR 1054", "SELECT SUM(v), COUNT(*) FROM t GROUP BY nosuch => ERR 1054", "SELECT nosuch FROM t FOR UPDATE => ERR 1054",
	)},
	{row: "X43", name: "metadata locks of a table that does not exist", steps: steps(
		"x: SET lock_wait_timeout = 1", "a: SET autocommit = 0", "a: DESCRIBE nosuch => ERR 1146", "x: CREATE TABLE nosuch (a INT) => ERR 1205", "a: ROLLBACK", "x: CREATE TABLE nosuch (a INT) => OK", "x: DROP TABLE nosuch => OK",
	)},
	{row: "X43", name: "metadata locks end with BEGIN, and with autocommit", steps: steps(
		"x: SET lock_wait_timeout = 1", "a: SET autocommit = 0", "a: SELECT nosuch FROM t => ERR 1054", "a: SELECT 1 => 1", "x: ALTER TABLE t COMMENT 'x' => ERR 1205", "a: BEGIN", "x: ALTER TABLE t COMMENT 'x' => OK", "a: COMMIT",
		"a: SELECT nosuch FROM t => ERR 1054", "a: SET autocommit = 1", "x: ALTER TABLE t COMMENT 'y' => OK", "a: SELECT v FROM t WHERE id = 1 => 10",
		"a: SET autocommit = 0", "a: SELECT nosuch FROM t => ERR 1054", "x: ALTER TABLE t COMMENT 'z' => ERR 1205", `a: \quit`, "x: ALTER TABLE t COMMENT 'z' => OK",
	)},
	{row: "X43", name: "metadata locks of tables without transactions", steps: slices.Concat(
		steps("x: CREATE TABLE mem (a INT) ENGINE = MEMORY", "x: CREATE TABLE my (a INT) ENGINE = MyISAM", "x: SET lock_wait_timeout = 1", "a: SET autocommit = 0"),
		altered("mem", "SELECT COUNT(*) FROM mem => 0", "a: COMMIT"), altered("my", "UPDATE my SET a = 3 WHERE FALSE => OK", "a: ROLLBACK"), altered("mem", "EXPLAIN DELETE FROM mem", `a: \quit`),
	)},
	{row: "X43", name: "a transaction that began in a text that failed", steps: steps(
		"a: BEGIN; INSERT INTO t (v) VALUES (60); INSERT INTO t (id, v) VALUES (1, 1) => ERR 1062", "a: SELECT COUNT(*) FROM t => 6", "x: SELECT COUNT(*) FROM t => 5", "a: ROLLBACK", "a: SELECT COUNT(*) FROM t => 5",
		"x: SET innodb_lock_wait_timeout = 1", "x: UPDATE t SET v = 99 WHERE id = 1 => OK", "a: SELECT v FROM t WHERE id = 1 => 99",
	)},
	{row: "X41", name: "what uses SET TRANSACTION up", steps: usedUp()},
	{row: "X41", name: "what uses SET TRANSACTION up, sent to the source", steps: usedUp("a: SELECT v FROM t WHERE id = 1 FOR UPDATE")},
}

// inReadOnly tries what changes something in a READ ONLY transaction after a
// first statement.
func inReadOnly(first string) []step {
	var all []step
	for _, sql := range []string{
		"CREATE TEMPORARY TABLE x (id INT)", "CREATE TEMPORARY TABLE IF NOT EXISTS x (id INT)", "CREATE TEMPORARY TABLE x SELECT v FROM t", "DROP TEMPORARY TABLE nosuch", "DROP TEMPORARY TABLE IF EXISTS nosuch",
		"DELETE FROM child", "INSERT INTO t (v) VALUES (1)", "UPDATE nosuch SET v = 1", "INSERT INTO t (v) VALUES (1), (2); SELECT 1", "SELECT 1; DELETE FROM t", "LOAD DATA INFILE '/nosuch' INTO TABLE t",
	} {
		all = append(all, steps("a: START TRANSACTION READ ONLY", first, "a: "+sql, "a: SELECT ROW_COUNT()", "a: "+sql, "a: SHOW WARNINGS", "a: SELECT @@error_count", "a: SELECT COUNT(*) FROM t", "a: COMMIT")...)
	}
	return all
}

// firstFails: what a transaction's first statement read is read until its end,
// also if the statement failed, and nobody else reads it.
func firstFails(begin, end string) []step {
	return steps(begin, "a: SELECT v FROM t WHERE v = (SELECT id FROM t) => ERR 1242", "a: SELECT ROW_COUNT()", "x: UPDATE t SET v = 11 WHERE id = 1", "b: SELECT v FROM t WHERE id = 1 => 11", "a: SELECT v FROM t WHERE id = 1 => 10", "b: SET autocommit = 0", "b: SELECT v FROM t WHERE id = 1 => 11", "b: COMMIT",
		"x: UPDATE t SET v = 12 WHERE id = 1", "a: SELECT v FROM t WHERE id = 1 => 10", "b: SELECT v FROM t WHERE id = 1 => 12", "b: COMMIT", end, "a: SELECT v FROM t WHERE id = 1 => 12", "x: UPDATE t SET v = 13 WHERE id = 1", "b: SELECT v FROM t WHERE id = 1 => 13", "b: COMMIT", "c: SELECT v FROM t WHERE id = 1 => 13", "c: START TRANSACTION READ ONLY", "c: SELECT v FROM t WHERE id = 1 => 13", "c: COMMIT",
	)
}

// usedUp plays, for each statement: a SET TRANSACTION, the statement, and a write,
// which fails as long as the characteristics still hold.
func usedUp(before ...any) []step {
	all := steps(before...)
	for i, sql := range []string{
		"SELECT @@transaction_isolation, @@transaction_read_only", "SELECT 1", "SELECT v FROM t WHERE id = 1", "SELECT v FROM nosuch", "SELECT nosuch FROM t", "SHOW TABLES", "SHOW WARNINGS", "SELECT * FROM (SELECT 1) x", "DESC t", "EXPLAIN SELECT v FROM t", "SHOW VARIABLES LIKE 'autocommit'",
		"SET @a = 1", "SET @a = (SELECT MAX(id) FROM t)", "DO 1", "DO SLEEP(0)", "USE cases", "COMMIT", "ROLLBACK", "SELECT plus_one(4)", "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'cases'", "SELECT v FROM t WHERE id = LAST_INSERT_ID()", "SELECT 2 INTO @b", "SELECT v FROM t WHERE id = 1 INTO @b", "SELECT v FROM t WHERE FALSE", "SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS (x INT PATH '$')) j", "INSERT INTO t (nosuch) VALUES (1)", "KILL 999999999", "SELEC 1", "VALUES ROW(1)", "TABLE t LIMIT 0",
	} {
		set := []string{"SET TRANSACTION READ ONLY", "SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY", "SET @@transaction_read_only = 1"}[i%3]
		all = append(all, steps("a: "+set, "a: "+sql, fmt.Sprintf("a: INSERT INTO t (id, v) VALUES (%d, 1)", 100+i), "a: COMMIT", "a: SELECT MAX(id) FROM t")...)
		if strings.Contains(sql, "@a = (") || strings.Contains(sql, "INTO @") { // such a variable keeps the connection
			all = append(all, steps(`a: \reset`)...)
		}
		all = append(all, steps("b: BEGIN", "b: SELECT MAX(v) FROM t", "b: COMMIT", fmt.Sprintf("a: DELETE FROM t WHERE id = %d", 100+i))...)
	}
	return all
}

// altered: a statement keeps a table from being altered until its transaction ends, and
// no longer.
func altered(table, text, end string) []step {
	return steps("a: "+text, "x: ALTER TABLE "+table+" COMMENT 'x' => ERR 1205", end, "x: ALTER TABLE "+table+" COMMENT 'x' => OK", "x: ALTER TABLE "+table+" COMMENT '' => OK")
}

// metadataLocks: with autocommit off a statement that failed keeps the table from
// being altered until COMMIT or ROLLBACK, and no longer.
func metadataLocks(failing ...string) []step {
	all := steps("x: SET lock_wait_timeout = 1", "a: SET autocommit = 0")
	for i, text := range failing {
		end := []string{"a: COMMIT", "a: ROLLBACK"}[i%2]
		all = append(all, steps("a: "+text, "x: ALTER TABLE t COMMENT 'x' => ERR 1205", end, fmt.Sprintf("x: ALTER TABLE t COMMENT 'y%d' => OK", i))...)
	}
	return all
}
