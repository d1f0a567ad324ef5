package session

// trxScripts are about transactions and locks.
var trxScripts = []script{
	{name: "transactions", steps: seq(
		"BEGIN", "INSERT INTO t (v) VALUES (1)", "SELECT COUNT(*) FROM t", "ROLLBACK", "SELECT COUNT(*) FROM t", "START TRANSACTION", "UPDATE t SET v = 5 WHERE id = 1", ping(), "SELECT v FROM t WHERE id = 1", on(1, seq("SELECT v FROM t WHERE id = 1")...), "COMMIT",
		"SELECT v FROM t WHERE id = 1", "BEGIN", "UPDATE t SET v = 6 WHERE id = 1", "BEGIN", "ROLLBACK", "SELECT v FROM t WHERE id = 1", "BEGIN", "DELETE FROM t", "CREATE TABLE x (id INT)", "ROLLBACK", "SELECT COUNT(*) FROM t",
		"START TRANSACTION WITH CONSISTENT SNAPSHOT", "SELECT COUNT(*) FROM t", on(1, seq("INSERT INTO t (v) VALUES (1)")...), "SELECT COUNT(*) FROM t", "COMMIT", "SELECT COUNT(*) FROM t", "COMMIT", "ROLLBACK",
	)},
	{name: "savepoints", steps: seq(
		"SAVEPOINT a", "ROLLBACK TO a", "BEGIN", "INSERT INTO t (v) VALUES (1)", "SAVEPOINT a", "INSERT INTO t (v) VALUES (2)", "SAVEPOINT b", "INSERT INTO t (v) VALUES (3)", "ROLLBACK TO b", "RELEASE SAVEPOINT a", "ROLLBACK TO b", "ROLLBACK TO SAVEPOINT nosuch",
		"SELECT v FROM t WHERE id > 5 ORDER BY id", "COMMIT", "SELECT v FROM t WHERE id > 5 ORDER BY id", "SET autocommit = 0", "INSERT INTO t (v) VALUES (4)", "SAVEPOINT c", "INSERT INTO t (v) VALUES (5)", "ROLLBACK TO c", "COMMIT", "SET autocommit = 1", "SELECT COUNT(*) FROM t",
	)},
	{name: "autocommit=0", steps: seq(
		"SET autocommit = 0", "SELECT v FROM t WHERE id = 1", on(1, seq("UPDATE t SET v = 100 WHERE id = 1")...), "SELECT v FROM t WHERE id = 1", "COMMIT", "SELECT v FROM t WHERE id = 1", "UPDATE t SET v = 101 WHERE id = 1", on(1, seq("SELECT v FROM t WHERE id = 1")...), "ROLLBACK",
		"SELECT v FROM t WHERE id = 1", "INSERT INTO t (v) VALUES (1)", "SET autocommit = 1", on(1, seq("SELECT COUNT(*) FROM t")...), "SELECT @@autocommit", "SET @@autocommit = OFF", "DELETE FROM t", "ALTER TABLE t COMMENT = 'x'", "ROLLBACK", "SELECT COUNT(*) FROM t",
		"SELECT 1", "SET autocommit = 0", "SELECT COUNT(*) FROM t", "SET SESSION autocommit = ON", "SELECT COUNT(*) FROM t", "SET autocommit = 2", "SET AUTOCOMMIT = 0, sql_mode = ''", "SELECT COUNT(*) FROM t", reset(), "SELECT @@autocommit", "SELECT COUNT(*) FROM t",
	)},
	{name: "COMMIT and ROLLBACK with words", steps: seq(
		"BEGIN", "INSERT INTO t (v) VALUES (1)", "COMMIT AND CHAIN", "INSERT INTO t (v) VALUES (2)", "ROLLBACK AND CHAIN", "SELECT COUNT(*) FROM t", "COMMIT WORK AND NO CHAIN NO RELEASE", "SET completion_type = 1", "BEGIN", "COMMIT", "SELECT COUNT(*) FROM t", "SET completion_type = 0", "ROLLBACK",
		"BEGIN", "INSERT INTO t (v) VALUES (3)", "COMMIT RELEASE", "SELECT 1",
	)},
	{name: "READ ONLY transactions", steps: seq(
		"START TRANSACTION READ ONLY", "SELECT COUNT(*) FROM t", "SELECT v FROM t WHERE id = 1", "INSERT INTO t (v) VALUES (1)", "SHOW WARNINGS", "UPDATE t SET v = 1", "SELECT v FROM t WHERE id = 2", "SELECT writes(3)", "CALL put(3)", "COMMIT", "SELECT COUNT(*) FROM t",
		"START TRANSACTION READ ONLY", "SELECT COUNT(*) FROM t", "CREATE TABLE x (id INT)", "INSERT INTO x VALUES (1)", "SELECT COUNT(*) FROM x", "COMMIT", "SELECT COUNT(*) FROM x", "START TRANSACTION READ ONLY", "SELECT v FROM t WHERE id = 1 FOR UPDATE", "ROLLBACK",
		"START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY", "SELECT COUNT(*) FROM t", on(1, seq("INSERT INTO t (v) VALUES (1)")...), "SELECT COUNT(*) FROM t", "COMMIT", "SELECT COUNT(*) FROM t", "START TRANSACTION READ ONLY", "SELECT 1", "BEGIN", "INSERT INTO t (v) VALUES (8)", "COMMIT", "SELECT COUNT(*) FROM t",
		"START TRANSACTION READ ONLY, READ WRITE", "START TRANSACTION READ ONLY", "SELECT COUNT(*) FROM t", "SAVEPOINT a", "ROLLBACK TO a", "SELECT @@transaction_read_only", "COMMIT AND CHAIN", "INSERT INTO t (v) VALUES (8)", "ROLLBACK",
	)},
	{name: "READ ONLY transactions and other statements", steps: seq(
		"START TRANSACTION READ ONLY", "SELECT COUNT(*) FROM t", "SET @a = 5", "SELECT @a, v FROM t WHERE id = 1", "SELECT * FROM nosuch", "SELECT COUNT(*) FROM t", "COMMIT", "SELECT @a",
		"CREATE TEMPORARY TABLE tt (id INT)", "START TRANSACTION READ ONLY", "INSERT INTO tt VALUES (1)", "SELECT * FROM tt", "COMMIT", "SELECT * FROM tt", "DROP TEMPORARY TABLE tt",
		"START TRANSACTION READ ONLY", "SELECT v FROM t WHERE id = 1", "SET autocommit = 1", "INSERT INTO t (v) VALUES (1)", "COMMIT", "START TRANSACTION READ ONLY", "LOCK TABLES t READ", "SELECT COUNT(*) FROM t", "UNLOCK TABLES",
		"START TRANSACTION READ ONLY", "USE sess2", "SELECT v FROM t", "COMMIT", "SELECT v FROM t", "USE sess", "START TRANSACTION READ ONLY", "SELECT GET_LOCK('sess_ro', 1)", "SELECT COUNT(*) FROM t", "COMMIT", "SELECT RELEASE_LOCK('sess_ro')",
		"START TRANSACTION READ ONLY", prepare("r", "SELECT v FROM t WHERE id = ?"), execute("r", int64p(1)), prepare("w", "INSERT INTO t (v) VALUES (?)"), execute("w", int64p(1)), "COMMIT", execute("w", int64p(1)), execute("r", int64p(6)),
	)},
	{name: "SET SESSION TRANSACTION READ ONLY", steps: seq(
		"SET SESSION TRANSACTION READ ONLY", "SELECT COUNT(*) FROM t", "INSERT INTO t (v) VALUES (1)", "BEGIN", "SELECT COUNT(*) FROM t", "UPDATE t SET v = 1", "COMMIT", "SELECT @@transaction_read_only", "START TRANSACTION READ WRITE", "INSERT INTO t (v) VALUES (1)", "COMMIT", "SELECT COUNT(*) FROM t",
		"CREATE TABLE x (id INT)", "INSERT INTO x VALUES (1)", "SET SESSION TRANSACTION READ WRITE", "INSERT INTO t (v) VALUES (1)", "SELECT COUNT(*) FROM t", "SET transaction_read_only = 1", "INSERT INTO t (v) VALUES (1)", "SELECT COUNT(*) FROM t", "SET transaction_read_only = 0", "INSERT INTO t (v) VALUES (1)", "SELECT COUNT(*) FROM t",
		"SET SESSION TRANSACTION READ ONLY", "SET autocommit = 0", "SELECT COUNT(*) FROM t", "INSERT INTO t (v) VALUES (1)", "COMMIT", "SET autocommit = 1", reset(), "SELECT @@transaction_read_only", "INSERT INTO t (v) VALUES (1)",
		"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY", "SELECT COUNT(*) FROM t", "DELETE FROM t", "SELECT @@transaction_isolation, @@transaction_read_only",
	)},
	{name: "SET TRANSACTION holds once", steps: seq(
		"SET TRANSACTION READ ONLY", "INSERT INTO t (v) VALUES (1)", "INSERT INTO t (v) VALUES (1)", "SELECT COUNT(*) FROM t", "SET TRANSACTION READ ONLY", "SELECT COUNT(*) FROM t", "INSERT INTO t (v) VALUES (1)", "SET TRANSACTION READ ONLY", "BEGIN", "SELECT COUNT(*) FROM t", "INSERT INTO t (v) VALUES (1)", "COMMIT", "INSERT INTO t (v) VALUES (1)",
		"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SELECT @@transaction_isolation", "BEGIN", "SET TRANSACTION READ ONLY", "COMMIT", "SELECT COUNT(*) FROM t", "SET @@transaction_read_only = 1", "INSERT INTO t (v) VALUES (1)", "INSERT INTO t (v) VALUES (1)", "SELECT COUNT(*) FROM t",
	)},
	{name: "XA", steps: seq(
		"XA START 'sess1'", "INSERT INTO t (v) VALUES (1)", "SELECT COUNT(*) FROM t", "COMMIT", "XA COMMIT 'sess1'", "XA END 'sess1'", "SELECT COUNT(*) FROM t", "XA PREPARE 'sess1'", "XA RECOVER", "XA COMMIT 'sess1'", "SELECT COUNT(*) FROM t",
		"XA START 'sess2'", "DELETE FROM t", "XA END 'sess2'", "XA ROLLBACK 'sess2'", "SELECT COUNT(*) FROM t", "XA COMMIT 'nosuch'", "XA START 'sess3'", "INSERT INTO t (v) VALUES (2)", "XA END 'sess3'", "XA COMMIT 'sess3' ONE PHASE", "SELECT COUNT(*) FROM t", "BEGIN", "XA START 'sess4'", "ROLLBACK", "XA END 'sess4'",
	)},
	{name: "LOCK TABLES", steps: seq(
		"LOCK TABLES t WRITE", "UPDATE t SET v = 5 WHERE id = 1", "SELECT v FROM t WHERE id = 1", "SELECT COUNT(*) FROM words", "UNLOCK TABLES", "SELECT COUNT(*) FROM words", "LOCK TABLES t READ, words AS w READ", "INSERT INTO t (v) VALUES (1)", "SELECT COUNT(*) FROM words AS w", "SELECT COUNT(*) FROM t", "BEGIN", "SELECT COUNT(*) FROM words",
		"COMMIT", "LOCK TABLES nosuch READ", "SELECT COUNT(*) FROM t", "LOCK TABLE t READ LOCAL", "UNLOCK TABLES", "FLUSH TABLES t WITH READ LOCK", "INSERT INTO t (v) VALUES (1)", "UNLOCK TABLES", "INSERT INTO t (v) VALUES (1)", "SELECT COUNT(*) FROM t", "LOCK INSTANCE FOR BACKUP", "CREATE TABLE nope (id INT)", "UNLOCK INSTANCE", "CREATE TABLE yes (id INT)",
	)},
	{name: "GET_LOCK", steps: seq(
		"SELECT GET_LOCK('sess_a', 0)", on(1, seq("SELECT GET_LOCK('sess_a', 0)", "SELECT IS_FREE_LOCK('sess_a')")...), "SELECT COUNT(*) FROM t", "SELECT IS_USED_LOCK('sess_a') = CONNECTION_ID()", "SELECT RELEASE_LOCK('sess_a')", on(1, seq("SELECT GET_LOCK('sess_a', 0)", "SELECT RELEASE_LOCK('sess_a')")...),
		"DO GET_LOCK('sess_a', 0), GET_LOCK('sess_b', 0)", "SELECT RELEASE_ALL_LOCKS()", "SELECT RELEASE_LOCK('sess_a')", "SELECT GET_LOCK('sess_c', 0) AS g, v FROM t WHERE id = 1", on(1, seq("SELECT IS_FREE_LOCK('sess_c')")...), reset(), on(1, seq("SELECT IS_FREE_LOCK('sess_c')")...),
	)},
	{name: "locking reads", steps: seq(
		"SELECT v FROM t WHERE id = 1 FOR UPDATE", "BEGIN", "SELECT v FROM t WHERE id = 1 FOR UPDATE", on(1, seq("SELECT v FROM t WHERE id = 1 FOR UPDATE NOWAIT", "SELECT id FROM t WHERE id < 3 FOR SHARE SKIP LOCKED", "SELECT v FROM t WHERE id = 1 LOCK IN SHARE MODE; ROLLBACK")[:2]...), "COMMIT", "(SELECT v FROM t WHERE id = 1 FOR UPDATE) UNION (SELECT 1)",
		"SELECT * FROM (SELECT v FROM t WHERE id = 1 FOR UPDATE) x", "WITH c AS (SELECT v FROM t WHERE id = 1) SELECT * FROM c FOR UPDATE", "TABLE t ORDER BY id LIMIT 1 FOR UPDATE",
	)},
	{name: "HANDLER", steps: seq(
		"HANDLER t OPEN", "HANDLER t READ FIRST", "HANDLER t READ NEXT LIMIT 2", "HANDLER t READ `PRIMARY` = (4)", "SELECT COUNT(*) FROM t", "HANDLER t READ NEXT", "HANDLER t CLOSE", "HANDLER t READ FIRST", "HANDLER t OPEN AS h", "HANDLER h READ `PRIMARY` LAST", reset(), "HANDLER h READ FIRST",
	)},
	{name: "lock wait timeout and deadlock", steps: seq(
		"SET innodb_lock_wait_timeout = 1", on(1, seq("BEGIN", "UPDATE t SET v = 1 WHERE id = 1")...), "UPDATE t SET v = 2 WHERE id = 1", "BEGIN", "INSERT INTO t (v) VALUES (1)", "UPDATE t SET v = 2 WHERE id = 1", "SELECT COUNT(*) FROM t", "COMMIT", on(1, seq("ROLLBACK")...), "SELECT COUNT(*) FROM t",
	)},
}
