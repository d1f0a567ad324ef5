package cases

// trxCases: a transaction is one connection, and leaves nothing behind.
var trxCases = []theCase{
	{row: "T1", name: "READ ONLY does not leak", steps: steps(
		"a: SET SESSION TRANSACTION READ ONLY => OK",
		"a: SELECT v FROM t WHERE id = 1 => 10",
		"b: INSERT INTO t (v) VALUES (1) => OK",
		"a: INSERT INTO t (v) VALUES (2) => ERR 1792",
		"b: INSERT INTO t (v) VALUES (3) => OK",
		"b: SELECT @@transaction_read_only => 0", "a: SELECT @@transaction_read_only => 1",
		`a: \quit`,
		"c: INSERT INTO t (v) VALUES (4) => OK", "c: SELECT @@transaction_read_only => 0",
		"c: SELECT COUNT(*) FROM t => 8",
	)},
	{row: "T1", name: "a READ ONLY transaction that is left open", classic: true, steps: steps(
		"a: SET SESSION TRANSACTION READ ONLY", "a: BEGIN", "a: SELECT COUNT(*) FROM t => 5", `a: \drop`,
		"b: INSERT INTO t (v) VALUES (1) => OK", "b: BEGIN", "b: INSERT INTO t (v) VALUES (2) => OK", "b: COMMIT",
		"b: SELECT COUNT(*) FROM t => 7",
	)},
	{row: "T2", name: "READ ONLY runs on a replica", steps: steps(
		"a: INSERT INTO t (v) VALUES (60) => OK",
		"a: START TRANSACTION READ ONLY",
		"a: SELECT v FROM t WHERE id = 6 => 60 @replica",
		"x: UPDATE t SET v = 61 WHERE id = 6",
		"a: SELECT v FROM t WHERE id = 6 => 60 @replica", "a: SELECT COUNT(*) FROM t => 6 @replica",
		"a: INSERT INTO t (v) VALUES (1) => ERR 1792", "a: DELETE FROM t => ERR 1792",
		"a: SELECT v FROM t WHERE id = 6 => 60 @replica",
		"a: COMMIT", "a: SELECT v FROM t WHERE id = 6 => 61 @replica",
		"a: INSERT INTO t (v) VALUES (1) => OK @source",
	)},
	{row: "T2", name: "READ ONLY is on one replica", run: oneServer},
	{row: "T3", name: "one snapshot for a transaction", steps: steps(
		"a: START TRANSACTION", "a: SELECT v FROM t WHERE id = 1 => 10 @source",
		"x: UPDATE t SET v = 11",
		"b: SELECT v FROM t WHERE id = 1 => 11 @replica",
		"a: SELECT v FROM t WHERE id = 1 => 10 @source", "a: SELECT v FROM t WHERE id = 2 => 20",
		"a: COMMIT", "a: SELECT v FROM t WHERE id = 2 => 11",
		"a: START TRANSACTION WITH CONSISTENT SNAPSHOT",
		"x: UPDATE t SET v = 12",
		"a: SELECT v FROM t WHERE id = 1 => 11 @source",
		"a: COMMIT", "a: SELECT v FROM t WHERE id = 1 => 12",
	)},
	{row: "T3", name: "BEGIN takes no snapshot yet", steps: steps(
		"a: BEGIN", "x: UPDATE t SET v = 11", "a: SELECT v FROM t WHERE id = 1 => 11", "x: UPDATE t SET v = 12", "a: SELECT v FROM t WHERE id = 1 => 11", "a: ROLLBACK",
		"a: START TRANSACTION READ ONLY, WITH CONSISTENT SNAPSHOT", "x: UPDATE t SET v = 13", "a: SELECT v FROM t WHERE id = 1 => 12", "a: COMMIT",
	)},
	{row: "T5", name: "savepoints", steps: steps(
		"a: BEGIN", "a: INSERT INTO t (v) VALUES (1)", "a: SAVEPOINT sp", "a: INSERT INTO t (v) VALUES (2)",
		"b: SELECT COUNT(*) FROM t => 5 @replica",
		"a: ROLLBACK TO sp => OK", "a: RELEASE SAVEPOINT sp => OK", "a: ROLLBACK TO sp => ERR 1305", "a: COMMIT",
		"a: SELECT COUNT(*) FROM t => 6",
		"b: SAVEPOINT sp => OK", "b: ROLLBACK TO sp => ERR 1305",
		"a: SET autocommit = 0", "a: INSERT INTO t (v) VALUES (3)", "a: SAVEPOINT sp", "a: DELETE FROM t", "a: SELECT COUNT(*) FROM t => 0",
		"a: ROLLBACK TO SAVEPOINT sp => OK", "a: SELECT COUNT(*) FROM t => 7", "a: COMMIT", "a: ROLLBACK TO sp => ERR 1305", "a: SET autocommit = 1",
	)},
	{row: "T5", name: "a savepoint before the first statement", steps: steps(
		"a: SET autocommit = 0", "a: SAVEPOINT sp", "a: INSERT INTO t (v) VALUES (1)", "a: ROLLBACK TO sp => OK", "a: SELECT COUNT(*) FROM t => 5", "a: COMMIT", "a: SET autocommit = 1",
		"b: BEGIN", "b: SAVEPOINT sp", "b: SELECT COUNT(*) FROM t => 5 @source", "b: UPDATE t SET v = 0", "b: ROLLBACK TO sp => OK", "b: COMMIT", "x: SELECT SUM(v) FROM t => 150",
	)},
	{row: "T6", name: "ROLLBACK undoes all", steps: steps(
		"a: BEGIN", "a: INSERT INTO t (v) VALUES (1)", "a: UPDATE t SET v = 0", "a: DELETE FROM t WHERE id = 2",
		"b: SELECT SUM(v) FROM t => 150 @replica",
		"a: ROLLBACK => OK", "a: SELECT SUM(v), COUNT(*) FROM t => 150,5", "x: SELECT SUM(v), COUNT(*) FROM t => 150,5",
		"b: BEGIN", "b: UPDATE t SET v = 1 WHERE id = 1", "b: INSERT INTO t (id) VALUES (2) => ERR 1062", "b: SELECT v FROM t WHERE id = 1 => 1", "b: ROLLBACK", "b: SELECT v FROM t WHERE id = 1 => 10",
		"a: BEGIN", "a: DELETE FROM t", "a: ROLLBACK AND CHAIN", "a: DELETE FROM t WHERE id = 1", "a: ROLLBACK", "x: SELECT COUNT(*) FROM t => 5",
	)},
	{row: "T7", name: "reads inside a transaction", steps: steps(
		prep("a", "r", "SELECT COUNT(*) FROM t"),
		"a: BEGIN", "a: INSERT INTO t (v) VALUES (1) => OK @source",
		"a: SELECT COUNT(*) FROM t => 6 @source", exe("a", "r").at("source"), "a: SHOW TABLES LIKE 'words' => words @source",
		"a: SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'cases' => 5 @source", "a: SELECT v FROM t WHERE id = 6 FOR UPDATE => 1 @source",
		"a: SELECT 1 => 1", "a: (SELECT COUNT(*) FROM t) => 6 @source", prep("a", "r2", "SELECT v FROM t WHERE id = 6"), exe("a", "r2").at("source"),
		"a: COMMIT", "a: SELECT COUNT(*) FROM t => 6 @replica", exe("a", "r").at("replica"),
	)},
	{row: "T8", name: "READ ONLY in an open transaction", steps: steps(
		"a: BEGIN", "a: UPDATE t SET v = 11 WHERE id = 1", "a: SET SESSION TRANSACTION READ ONLY => OK",
		"a: SELECT v FROM t WHERE id = 1 => 11 @source", "a: UPDATE t SET v = 12 WHERE id = 1 => OK @source",
		"a: SET TRANSACTION READ ONLY => ERR 1568", "a: SELECT v FROM t WHERE id = 1 => 12 @source", "a: COMMIT => OK",
		"a: UPDATE t SET v = 13 WHERE id = 1 => ERR 1792", "a: SELECT v FROM t WHERE id = 1 => 12 @replica",
		"a: BEGIN", "a: SELECT v FROM t WHERE id = 1 => 12 @replica", "a: SET SESSION TRANSACTION READ WRITE => OK", "a: UPDATE t SET v = 13 => ERR 1792", "a: SELECT v FROM t WHERE id = 1 => 12 @replica", "a: COMMIT",
		"a: UPDATE t SET v = 13 WHERE id = 1 => OK", "b: UPDATE t SET v = 14 WHERE id = 1 => OK",
	)},
	{row: "T11", name: "XA", steps: steps(
		"a: XA START 'cases1' => OK", "a: INSERT INTO t (v) VALUES (1) => OK @source", "a: SELECT COUNT(*) FROM t => 6 @source",
		"b: SELECT COUNT(*) FROM t => 5 @replica",
		"a: BEGIN => ERR 1399", "a: COMMIT => ERR 1399", "a: XA END 'cases1' => OK", "a: XA PREPARE 'cases1' => OK",
		"b: SELECT COUNT(*) FROM t => 5 @replica", "b: XA COMMIT 'cases1' => OK", "b: SELECT COUNT(*) FROM t => 6",
		"a: SELECT COUNT(*) FROM t => 6", "a: INSERT INTO t (v) VALUES (2) => OK",
	)},
	{row: "T11", name: "COMMIT as a prepared statement", steps: steps(
		prep("a", "w", "INSERT INTO t (v) VALUES (?)"), prep("a", "c", "COMMIT"), prep("a", "r", "ROLLBACK"), prep("a", "n", "SELECT COUNT(*) FROM t"),
		"a: BEGIN", exe("a", "w", num(1)).at("source"), exe("a", "n").at("source"), exe("a", "c").is("OK"), exe("a", "n").at("replica"), "x: SELECT COUNT(*) FROM t => 6",
		"a: BEGIN", exe("a", "w", num(2)), exe("a", "r").is("OK"), exe("a", "n").at("replica"), "b: INSERT INTO t (v) VALUES (3) => OK", "x: SELECT COUNT(*) FROM t => 7",
		prep("a", "xs", "XA START 'cases2'"), exe("a", "xs"), prep("a", "xe", "XA END 'cases2'"), prep("a", "xr", "XA ROLLBACK 'cases2'"), exe("a", "xe"), exe("a", "xr"), "a: XA END 'cases2'", "a: XA ROLLBACK 'cases2'", "a: SELECT COUNT(*) FROM t => 7",
	)},
	{row: "T12", name: "after XA END", steps: steps(
		"a: XA START 'cases3'", "a: DELETE FROM t WHERE id = 1", "a: XA END 'cases3'",
		"a: SELECT COUNT(*) FROM t => ERR 1399", "a: INSERT INTO t (v) VALUES (1) => ERR 1399", prep("a", "n", "SELECT COUNT(*) FROM t"), exe("a", "n"),
		"b: SELECT COUNT(*) FROM t => 5 @replica",
		"a: XA ROLLBACK 'cases3' => OK", "a: SELECT COUNT(*) FROM t => 5",
		"b: INSERT INTO t (v) VALUES (1) => OK",
		"a: XA START 'cases4'", "a: DELETE FROM t WHERE id = 1", "a: XA END 'cases4'", "a: XA COMMIT 'cases4' ONE PHASE => OK", "a: SELECT COUNT(*) FROM t => 5",
		"b: DELETE FROM t WHERE id = 2 => OK", "a: XA START 'cases5'", "a: DELETE FROM t", `a: \quit`,
		"b: SELECT COUNT(*) FROM t => 4", "b: INSERT INTO t (v) VALUES (3) => OK", "b: XA END 'cases5' => ERR 1399",
	)},
	{row: "T14", name: "two transactions one after the other", steps: steps(
		"a: SET autocommit = 0", "a: INSERT INTO t (v) VALUES (1)", "a: ROLLBACK", "b: INSERT INTO t (v) VALUES (2) => OK",
		"a: INSERT INTO t (v) VALUES (3)", "x: SELECT COUNT(*) FROM t => 6", "a: COMMIT", "x: SELECT COUNT(*) FROM t => 7",
		"b: BEGIN", "b: DELETE FROM t WHERE id = 1", "b: ROLLBACK", "a: DELETE FROM t WHERE id = 2", "a: COMMIT",
		"b: BEGIN", "b: DELETE FROM t WHERE id = 3", "b: COMMIT", "a: SET autocommit = 1", "a: INSERT INTO t (v) VALUES (4)", "x: SELECT COUNT(*) FROM t => 6",
		"a: ROLLBACK", "x: SELECT COUNT(*) FROM t => 6",
	)},
}

// isolationCases: the characteristics of transactions are the session's own.
var isolationCases = []theCase{
	{row: "T4", name: "isolation of the session", steps: steps(
		"a: SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED => OK",
		"b: SELECT @@transaction_isolation => REPEATABLE-READ", "a: SELECT @@transaction_isolation => READ-COMMITTED",
		"a: BEGIN", "a: SELECT v FROM t WHERE id = 1 => 10 @source", "x: UPDATE t SET v = 11 WHERE id = 1", "a: SELECT v FROM t WHERE id = 1 => 11 @source", "a: COMMIT",
		"b: BEGIN", "b: SELECT v FROM t WHERE id = 1 => 11 @source", "x: UPDATE t SET v = 12 WHERE id = 1", "b: SELECT v FROM t WHERE id = 1 => 11 @source", "b: COMMIT",
		"a: BEGIN", "a: SELECT v FROM t WHERE id = 1 => 12", "x: UPDATE t SET v = 13 WHERE id = 1", "a: SELECT v FROM t WHERE id = 1 => 13", "a: COMMIT",
		"a: START TRANSACTION READ ONLY", "a: SELECT v FROM t WHERE id = 1 => 13 @replica", "x: UPDATE t SET v = 14 WHERE id = 1", "a: SELECT v FROM t WHERE id = 1 => 14 @replica", "a: COMMIT",
	)},
	{row: "T4", name: "isolation of the next transaction", steps: steps(
		"a: SET TRANSACTION ISOLATION LEVEL READ COMMITTED => OK",
		"b: SELECT v FROM t WHERE id = 1 => 10 @replica", "x: UPDATE t SET v = 11 WHERE id = 1", "b: SELECT v FROM t WHERE id = 1 => 11 @replica",
		"a: BEGIN", "a: SELECT v FROM t WHERE id = 1 => 11", "x: UPDATE t SET v = 12 WHERE id = 1", "a: SELECT v FROM t WHERE id = 1 => 12", "a: COMMIT",
		"a: BEGIN", "a: SELECT v FROM t WHERE id = 1 => 12", "x: UPDATE t SET v = 13 WHERE id = 1", "a: SELECT v FROM t WHERE id = 1 => 12", "a: COMMIT",
		"a: SET TRANSACTION READ ONLY", "a: INSERT INTO t (v) VALUES (1) => ERR 1792", "a: INSERT INTO t (v) VALUES (1)", "a: BEGIN", "a: COMMIT", "a: INSERT INTO t (v) VALUES (1) => OK",
		"a: SET TRANSACTION READ ONLY", `a: \quit`, "b: INSERT INTO t (v) VALUES (1) => OK",
	)},
	{row: "T10", name: "levels set and reset", steps: levels()},
}

func levels() []step {
	var list []step
	for _, level := range []string{"READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"} {
		list = append(list, steps(
			"a: SET SESSION TRANSACTION ISOLATION LEVEL "+level+" => OK", "a: SELECT @@transaction_isolation", "b: SELECT @@transaction_isolation => REPEATABLE-READ",
			"a: BEGIN", "a: SELECT COUNT(*) FROM t", "a: SELECT @@transaction_isolation", "a: COMMIT", "b: INSERT INTO words (id) SELECT MAX(id) + 1 FROM t => OK", "b: DELETE FROM words WHERE id > 3",
			`a: \reset`, "a: SELECT @@transaction_isolation => REPEATABLE-READ", "a: SET transaction_isolation = REPLACE('"+level+"', ' ', '-') => OK", "a: SELECT @@transaction_isolation",
			"a: SET SESSION transaction_isolation = DEFAULT => OK", "a: SELECT @@transaction_isolation => REPEATABLE-READ", "a: SET @@session.transaction_isolation = REPLACE('"+level+"', ' ', '-')", `a: \quit`, "c: SELECT @@transaction_isolation => REPEATABLE-READ", `c: \quit`)...)
	}
	return list
}

// oneServer wants each read of a READ ONLY transaction from the same server.
func oneServer(e *env) string {
	c := e.dial()
	if c == nil {
		return ""
	}
	defer c.Quit()
	for range 4 {
		e.query(c, "START TRANSACTION READ ONLY")
		first := e.query(c, "SELECT @@server_uuid, COUNT(*) FROM t").Value()
		for range 4 {
			if got := e.query(c, "SELECT @@server_uuid, COUNT(*) FROM t").Value(); got != first {
				e.errorf("a read only transaction began on %s and went on on %s", first, got)
			}
		}
		e.query(c, "COMMIT")
	}
	return ""
}
