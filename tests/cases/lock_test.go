package cases

// lockCases: a lock holds from its statement to its end, and is on one connection.
var lockCases = []theCase{
	{row: "K1", name: "LOCK TABLES", steps: steps(
		"a: LOCK TABLES t WRITE, words AS w READ => OK", tableLocks("1"), "a: UPDATE t SET v = 11 WHERE id = 1 => OK @source", "a: SELECT v FROM t WHERE id = 1 => 11 @source", "a: SELECT COUNT(*) FROM words AS w => 3 @source", "a: SELECT COUNT(*) FROM times => ERR 1100",
		prep("a", "r", "SELECT COUNT(*) FROM t"), exe("a", "r").at("source"), tableLocks("1"), "a: SELECT 1 => 1", "a: UNLOCK TABLES => OK", tableLocks("0"), "a: SELECT COUNT(*) FROM times => 1 @replica", "b: INSERT INTO t (v) VALUES (1) => OK",
		"a: LOCK TABLES t WRITE", "a: START TRANSACTION", tableLocks("0"), "a: COMMIT", "a: LOCK TABLES t WRITE", "a: INSERT INTO t (v) VALUES (2)", `a: \quit`, "b: INSERT INTO t (v) VALUES (3) => OK", "b: SELECT COUNT(*) FROM t => 8",
		"a: LOCK TABLES t WRITE", `a: \reset`, "b: INSERT INTO t (v) VALUES (4) => OK", "a: UNLOCK TABLES => OK",
	)},
	{row: "K1", name: "locks in a text with more", steps: steps(
		"a: LOCK TABLES t WRITE; INSERT INTO t (v) VALUES (1) => OK", tableLocks("1"), "a: SELECT COUNT(*) FROM t => 6", "a: SELECT 1; UNLOCK TABLES => 1", tableLocks("0"), "a: SELECT COUNT(*) FROM words => 3 @replica", "b: DELETE FROM t WHERE id = 6 => OK",
		"a: SET autocommit = 0", "a: LOCK TABLES t WRITE", "a: INSERT INTO t (v) VALUES (2)", "a: COMMIT", "a: SELECT COUNT(*) FROM words => ERR 1100", "a: UNLOCK TABLES", "a: SET autocommit = 1", "b: SELECT COUNT(*) FROM t => 6",
	)},
	{row: "K2", name: "FLUSH TABLES WITH READ LOCK", steps: steps(
		"a: FLUSH TABLES => OK", "a: FLUSH TABLES WITH READ LOCK => OK", globalLocks("1"), "a: SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "a: START TRANSACTION /*!40100 WITH CONSISTENT SNAPSHOT */ => OK", quiet("a", "SHOW BINARY LOG STATUS"),
		globalLocks("1"), "a: UNLOCK TABLES => OK", globalLocks("0"), "b: SELECT COUNT(*) FROM t => 5", "x: INSERT INTO t (v) VALUES (1)", "a: SELECT COUNT(*) FROM t => 5 @source", "a: SAVEPOINT sp", "a: SHOW CREATE TABLE t", "a: SELECT /*!40001 SQL_NO_CACHE */ COUNT(*) FROM t => 5", "a: ROLLBACK TO SAVEPOINT sp", "a: COMMIT", "b: INSERT INTO t (v) VALUES (1) => OK",
		"a: FLUSH TABLES t WITH READ LOCK => OK", "a: INSERT INTO t (v) VALUES (1) => ERR 1099", "a: SELECT COUNT(*) FROM t => 7 @source", "a: UNLOCK TABLES", "b: INSERT INTO t (v) VALUES (1) => OK", "a: FLUSH TABLES WITH READ LOCK", `a: \drop`, "b: INSERT INTO t (v) VALUES (2) => OK",
	)},
	{row: "K2", name: "LOCK INSTANCE FOR BACKUP", steps: steps(
		"a: LOCK INSTANCE FOR BACKUP => OK", backupLocks("1"), "a: INSERT INTO t (v) VALUES (1) => OK", "b: SELECT COUNT(*) FROM t => 6 @replica", backupLocks("1"), "a: UNLOCK INSTANCE => OK", backupLocks("0"), "b: CREATE TABLE made (id INT) => OK", "a: LOCK INSTANCE FOR BACKUP", `a: \quit`, "b: CREATE TABLE made2 (id INT) => OK", "a: LOCK INSTANCE FOR BACKUP", `a: \reset`, "b: CREATE TABLE made3 (id INT) => OK",
	)},
	{row: "K2", name: "a backup's locks beside a transaction", steps: steps(
		"a: FLUSH TABLES WITH READ LOCK", "a: BEGIN", "a: SELECT COUNT(*) FROM t => 5 @source", "a: COMMIT", globalLocks("1"), "a: UNLOCK INSTANCE", globalLocks("1"), "a: UNLOCK TABLES", globalLocks("0"), "b: INSERT INTO t (v) VALUES (1) => OK",
		"a: LOCK INSTANCE FOR BACKUP", "a: BEGIN", "a: INSERT INTO t (v) VALUES (1)", "a: COMMIT", backupLocks("1"), "a: FLUSH TABLES WITH READ LOCK", "a: UNLOCK TABLES", backupLocks("1"), "a: UNLOCK INSTANCE", backupLocks("0"), "b: CREATE TABLE made4 (id INT) => OK",
		"a: CREATE PROCEDURE lock_all() FLUSH TABLES WITH READ LOCK", "a: CALL lock_all() => OK", globalLocks("1"), "a: SELECT COUNT(*) FROM t => 7 @source", globalLocks("1"), "a: UNLOCK TABLES", globalLocks("0"), "b: INSERT INTO t (v) VALUES (1) => OK",
	)},
	{row: "K3", name: "GET_LOCK", steps: steps(
		"a: SELECT GET_LOCK('cases_k3', 0) => 1", "x: SELECT IS_FREE_LOCK('cases_k3') => 0", "a: SELECT COUNT(*) FROM t => 5", "a: INSERT INTO t (v) VALUES (1) => OK", "x: SELECT GET_LOCK('cases_k3', 0) => 0", "a: SELECT RELEASE_LOCK('cases_k3') => 1", "a: SELECT RELEASE_LOCK('cases_k3') => NULL",
		"b: SELECT GET_LOCK('cases_k3', 0) => 1", "b: SELECT GET_LOCK('cases_k3', 0) => 1", "b: SELECT RELEASE_LOCK('cases_k3') => 1", "x: SELECT IS_FREE_LOCK('cases_k3') => 0", "b: SELECT RELEASE_LOCK('cases_k3') => 1", "x: SELECT IS_FREE_LOCK('cases_k3') => 1",
		"a: DO GET_LOCK('cases_k3', 0), GET_LOCK('cases_k3b', 0)", "a: SELECT v FROM t WHERE id = 1 => 10", "x: SELECT IS_FREE_LOCK('cases_k3b') => 0", "a: SELECT RELEASE_ALL_LOCKS() => 2", "x: SELECT IS_FREE_LOCK('cases_k3'), IS_FREE_LOCK('cases_k3b') => 1,1",
		"b: SELECT GET_LOCK('cases_k3', 0) => 1", `b: \quit`, "x: SELECT GET_LOCK('cases_k3', 10), RELEASE_LOCK('cases_k3') => 1,1", "a: SELECT IS_FREE_LOCK('cases_k3') => 1",
	)},
	{row: "K3", name: "GET_LOCK where it hides", steps: steps(
		"a: SELECT v FROM t WHERE GET_LOCK('cases_k3', 0) AND id = 1 => 10", held("0"), "a: SELECT RELEASE_LOCK('cases_k3') > 0 AS r", held("1"), prep("a", "g", "SELECT GET_LOCK(?, 0)"), exe("a", "g", str("cases_k3")), held("0"), "b: SELECT COUNT(*) FROM t => 5 @replica", held("0"), prep("a", "r", "DO RELEASE_LOCK(?)"), exe("a", "r", str("cases_k3")), held("1"),
		"a: SET @l = GET_LOCK('cases_k3', 0)", held("0"), "a: SELECT @l => 1", "a: BEGIN", "a: COMMIT", held("0"), `a: \reset`, held("1"), "a: INSERT INTO words (id, s) SELECT 9, GET_LOCK('cases_k3', 0)", held("0"), "a: UPDATE words SET s = RELEASE_LOCK('cases_k3') WHERE id = 9", held("1"),
		"a: SELECT GET_LOCK('cases_k3', 0) INTO @l", held("0"), `a: \user app cases`, held("1"), "a: SELECT 1; SELECT GET_LOCK('cases_k3', 0); SELECT 2 => 1 | 1 | 2", held("0"), "a: SELECT RELEASE_ALL_LOCKS() => 1", held("1"), `a: \reset`, "b: INSERT INTO t (v) VALUES (1) => OK",
	)},
}

// held asks the world outside whether the lock is free.
func held(free string) step {
	return steps("x: SELECT IS_FREE_LOCK('cases_k3') => " + free)[0]
}

func tableLocks(n string) step {
	return steps("root: SELECT COUNT(*) FROM performance_schema.metadata_locks WHERE OBJECT_NAME = 't' AND LOCK_TYPE = 'SHARED_NO_READ_WRITE' => " + n)[0]
}

func globalLocks(n string) step {
	return steps("root: SELECT COUNT(*) FROM performance_schema.metadata_locks WHERE OBJECT_TYPE = 'GLOBAL' AND LOCK_TYPE = 'SHARED' => " + n)[0]
}

func backupLocks(n string) step {
	return steps("root: SELECT COUNT(*) FROM performance_schema.metadata_locks WHERE OBJECT_TYPE = 'BACKUP LOCK' AND LOCK_TYPE = 'SHARED' => " + n)[0]
}
