package seq

// Mended is a mistake that the sequences have found, as short as it gets, with a
// word for what went wrong.
type Mended struct {
	Why   string
	Steps []Step
}

// Script is what showed it.
func (m Mended) Script() Script { return Owed{Shows: m.Steps}.Script() }

// by makes steps of a session's, 0 for A and so on.
func by(on int, steps ...Step) []Step {
	for i := range steps {
		steps[i].On = on
	}
	return steps
}

// turns puts the turns of sessions one after the other.
func turns(list ...[]Step) []Step {
	var steps []Step
	for _, l := range list {
		steps = append(steps, l...)
	}
	return steps
}

// MendedSoFar are played over one shared connection.
var MendedSoFar = []Mended{
	{"USE of the schema that a session is in, on a connection that was in another one",
		turns(by(1, write), by(0, write), by(1, initDB("$1")), by(0, t("INSERT INTO t (v) VALUES (3)"), t("SELECT v FROM $1.t ORDER BY id")), by(1, t("SELECT v FROM t ORDER BY id")))},
	{"an insert id, after the warnings of its INSERT have become void",
		turns(by(0, t("INSERT IGNORE INTO $1.t (id, v) VALUES (NULL, 'abc')"), aRead), by(1, write), by(0, t("UPDATE $1.t SET v = 5 WHERE id = LAST_INSERT_ID()"), q("SELECT LAST_INSERT_ID()")))},
	{"the id of an INSERT that failed",
		turns(by(0, write), by(1, write), by(0, t("INSERT INTO $1.t (id, v) VALUES (NULL, 5), (2, 6)")), by(1, write), by(0, q("SELECT LAST_INSERT_ID()")))},
	{"ROW_COUNT() beside an insert id that had to be brought",
		turns(by(0, write, write), by(1, write), by(0, t("DELETE FROM $1.t WHERE id = 3"), q("SELECT ROW_COUNT(), LAST_INSERT_ID()")))},
	{"insert_id after a write that does not use it", by(0, q("SET insert_id = 70001"), t("UPDATE $1.t SET v = 5 WHERE id = 2"), write, write)},
	{"LIMIT of SHOW WARNINGS whose connection is gone",
		turns(by(0, t("SELECT CAST(s AS SIGNED) FROM $1.words ORDER BY id")), by(1, t("SELECT CAST(s AS SIGNED) FROM $1.words ORDER BY id"), t("SELECT v FROM $1.t ORDER BY id"), write),
			by(0, q("SHOW WARNINGS LIMIT 1"), q("SHOW WARNINGS LIMIT 1, 1"), q("SHOW WARNINGS LIMIT 5 OFFSET 2")))},
	{"SHOW WARNINGS in another character set, from another connection",
		turns(by(0, q("SET NAMES sjis"), t("SELECT CAST('x' AS SIGNED), id FROM $1.words ORDER BY id")), by(1, aRead, write), by(0, warnings))},
	{"collation_connection alone on a connection that was reset",
		turns(by(0, t("SELECT $1.writes(id) FROM $1.words ORDER BY id")), by(1, q("SET collation_connection = utf8mb4_bin"), t("SELECT s, l FROM $1.words ORDER BY id")))},
	{"character_set_results alone after SET NAMES COLLATE",
		turns(by(0, q("SET NAMES utf8mb4 COLLATE utf8mb4_bin"), q("SET character_set_results = utf8mb4"), write), by(1, write), by(0, t("SELECT s FROM $1.words ORDER BY id")))},
	{"a SELECT of the counts clears them", turns(by(0, q("DROP TABLE $1.nosuch")), by(1, write), by(0, q("SELECT @@error_count"), q("SELECT @@warning_count")))},
	{"ROW_COUNT() after COM_INIT_DB", turns(by(0, write, initDB("$1")), by(1, write), by(0, q("SELECT ROW_COUNT()")))},
	{"FOUND_ROWS() after writes", by(0, aRead, write, q("SELECT FOUND_ROWS()"), aRead, t("UPDATE $1.t SET v = v WHERE id < 3"), q("SELECT FOUND_ROWS()"))},
	{"the total of SQL_CALC_FOUND_ROWS after a write", by(0, t("SELECT SQL_CALC_FOUND_ROWS id FROM $1.words ORDER BY id LIMIT 2"), write, q("SELECT FOUND_ROWS()"))},
	{"FOUND_ROWS() after COM_RESET_CONNECTION", by(0, aRead, resetStep, q("SELECT FOUND_ROWS()"))},
	{"the count of warnings that COM_RESET_CONNECTION clears", by(0, warns, resetStep, initDB("$1"))},
	{"an error counts as a warning in the OK of COM_INIT_DB, whoever told it",
		by(0, Step{op: opPrepare, stmt: "a", text: "SELECT 1"}, Step{op: opFetch, stmt: "a", num: 1}, initDB("$2"))},
	{"the insert id of LOAD DATA", turns(by(0, Step{op: opLoad, text: "LOAD DATA LOCAL INFILE 'x' INTO TABLE $1.t (v)", table: true}.bound(str("1\n2\n"))), by(1, write), by(0, q("SELECT LAST_INSERT_ID()")))},
	{"a SAVEPOINT before the transaction of autocommit = 0", by(0, q("SET autocommit = 0"), q("SAVEPOINT a"), commit, q("ROLLBACK TO a"))},
	{"the warning of FOUND_ROWS()", by(0, aRead, q("SELECT FOUND_ROWS()"), warnings)},
	{"ROW_COUNT() after an error that began nothing", by(0, q("SELECT 'open"), q("SELECT ROW_COUNT(), LAST_INSERT_ID()"), q("SET autocommit = 0"), t("INSERT INTO $1.t (s) VALUES (REPEAT('long', 20))"), q("SELECT ROW_COUNT()"))},
	{"the warnings of who had the connection before COM_INIT_DB", turns(by(1, write), by(0, t("INSERT IGNORE INTO $1.t (id, v) VALUES (NULL, 'abc')")), by(1, initDB("$2"), q("SHOW COUNT(*) WARNINGS"), q("SELECT @@warning_count")))},
	{"a transaction that a failed statement began", by(0, q("SET autocommit = 0"), t("INSERT INTO $1.t (s) VALUES (REPEAT('long', 20))"), commit, q("SET innodb_lock_wait_timeout = 7"))},
	{"a transaction that was begun by several statements of which the last failed",
		by(0, t("BEGIN; INSERT INTO $1.t (v) VALUES (5); SELECT * FROM $1.nosuch"), t("SELECT COUNT(*) FROM $1.t"), back, t("SELECT COUNT(*) FROM $1.t"))},
	{"diagnostics on a connection that nobody has taken", by(0, warns, q("SELECT ROW_COUNT(), LAST_INSERT_ID()"))},
	{"PREPARE of a write in a READ ONLY transaction",
		by(0, readOnly, Step{op: opPrepare, stmt: "a", text: "INSERT INTO $1.t (v) VALUES (?)", table: true}, warnings, commit)},
	{"a text-prepared statement in a READ ONLY transaction",
		by(0, q("PREPARE txt FROM 'SELECT 7'"), q("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY").pin(PinTrx), q("EXECUTE txt"), q("DEALLOCATE PREPARE txt"), commit)},
	{"a syntax error in a session with a temporary table",
		turns(by(0, q("CREATE TEMPORARY TABLE $0.temp1 (id INT)").pin(PinTemp), q("SELECT 'open"), q("DROP TEMPORARY TABLE $0.temp1")), by(1, write))},
	{"DO GET_LOCK() in a READ ONLY transaction on a replica",
		by(0, readOnly, aRead, q("DO GET_LOCK('$x', 0)"), q("SELECT IS_USED_LOCK('$x') IS NULL"), commit, q("DO RELEASE_LOCK('$x')"))},
	{"a text-prepared statement of a READ ONLY transaction outlives it",
		by(0, q("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY").pin(PinTrx), q("PREPARE txt FROM 'SELECT 7'"), commit, q("EXECUTE txt"), q("DEALLOCATE PREPARE txt"))},
	{"a HANDLER that a READ ONLY transaction opened outlives it",
		by(0, q("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY").pin(PinTrx), q("HANDLER $1.words OPEN AS hand"), q("HANDLER hand READ FIRST"), commit, q("HANDLER hand READ FIRST"), q("HANDLER hand CLOSE"), q("HANDLER hand READ FIRST"))},
	{"a HANDLER that a READ ONLY transaction opened and closed",
		turns(by(0, q("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY").pin(PinTrx), q("HANDLER $1.words OPEN AS hand"), q("HANDLER hand CLOSE"), commit, q("HANDLER hand READ FIRST")), by(1, write))},
	{"a snapshot begun in a READ ONLY transaction is READ ONLY",
		by(0, q("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY").pin(PinTrx), q("START TRANSACTION WITH CONSISTENT SNAPSHOT"), t("INSERT INTO $1.t (v) VALUES (5)"), commit)},
	{"XA START in a READ ONLY transaction", by(0, readOnly, aRead, q("XA START '$x'"), q("XA END '$x'"), q("XA PREPARE '$x'"), aRead, commit)},
	{"XA COMMIT in a READ ONLY transaction", by(0, readOnly, aRead, q("XA COMMIT '$x'"), aRead, q("XA ROLLBACK '$x'"), q("XA RECOVER"), aRead, commit)},
	{"XA START in a READ ONLY transaction that has read nothing", by(0, readOnly, q("XA START '$x'"), aRead, commit)},
	{"errors of commands add up in the OK of COM_INIT_DB",
		by(0, q("SELECT"), initDB("nosuch"), initDB("$1"), initDB("nosuch"), initDB("nosuch"), initDB("$1"), warns, initDB("nosuch"), initDB("$1"), q("SHOW COUNT(*) WARNINGS"))},
	{"errors of statements' commands in the OK of COM_INIT_DB", by(0, warns, Step{op: opPrepare, stmt: "a", text: "SELECT nosuch"}, initDB("$1"), initDB("nosuch"), initDB("$1"))},
	{"FOUND_ROWS() after the one transaction that was to be READ ONLY",
		by(0, q("SET @@transaction_read_only = 1").pin(PinNext), t("SELECT SQL_CALC_FOUND_ROWS id FROM $1.words ORDER BY id LIMIT 2"), q("SELECT FOUND_ROWS()"), commit)},
	{"the warning of FOUND_ROWS() where none are kept", by(0, q("SET max_error_count = 0"), aRead, q("SELECT FOUND_ROWS()"), warnings, warns, q("SHOW COUNT(*) WARNINGS"), initDB("nosuch"), initDB("$1"))},
	{"the count of warnings after SHOW WARNINGS among several statements",
		by(0, q("SELECT CAST('x' AS SIGNED); SHOW WARNINGS"), q("SHOW COUNT(*) WARNINGS"), warnings)},
	{"FOUND_ROWS() after DEALLOCATE PREPARE", by(0, aRead, q("PREPARE txt FROM 'SELECT 7'"), q("DEALLOCATE PREPARE txt"), q("SELECT FOUND_ROWS()"))},
	{"FOUND_ROWS() after a SELECT that failed on another connection",
		turns(by(0, t("SELECT SQL_CALC_FOUND_ROWS id FROM $1.words ORDER BY id LIMIT 2")), by(1, write), by(0, t("SELECT id, COUNT(*) FROM $1.words"), q("SELECT FOUND_ROWS()")))},
	{"FOUND_ROWS() beside a count of warnings that another connection has",
		turns(by(0, t("SELECT SQL_CALC_FOUND_ROWS id FROM $1.words ORDER BY id LIMIT 2")), by(1, write), by(0, t("DELETE FROM $1.t WHERE v = 'x'"), q("SELECT FOUND_ROWS(), @@warning_count")))},
	{"SET by a stored function that writes, in a READ ONLY transaction",
		by(0, q("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY").pin(PinTrx), t("SET @w = $1.writes(1)"), t("SET @w = $1.plus_one(1)"), q("SELECT @w"), commit, q("SELECT @w"), t("SELECT COUNT(*) FROM $1.t"))},
	{"SET by a stored function that writes, first in a READ ONLY transaction", by(0, readOnly, t("SET @w = $1.writes(1)"), aRead, commit)},
	{"SET by a stored function that writes, in a READ ONLY transaction that has read", by(0, readOnly, aRead, t("SET @w = $1.writes(1)"), commit, t("SELECT COUNT(*) FROM $1.t"))},
	{"the schema told of once by the OK of a prepared CALL",
		by(0, q("USE $2"), Step{op: opPrepare, stmt: "a", text: "CALL $1.two_results(?)"}, exec("a").bound(num(10)))},
	{"COM_FIELD_LIST on a connection whose alignment warns",
		turns(by(0, q("SET sql_mode = 'ERROR_FOR_DIVISION_BY_ZERO,STRICT_ALL_TABLES'")), by(1, q("USE $2"), write), by(0, Step{op: opFieldList, text: "t"}, warnings))},
	{"OUT parameters of a CALL in a READ ONLY transaction on a replica",
		by(0, readOnly, aRead, q("CALL $1.out_values(@n, @w)"), q("SELECT @n, @w, @n + 1"), t("SELECT @w, id FROM $1.words ORDER BY id"), commit, q("SELECT @n, @w"))},
	{"a HANDLER that another statement has closed",
		turns(by(0, q("HANDLER $1.words OPEN AS hand"), q("CREATE TEMPORARY TABLE $0.temp1 AS SELECT id FROM $1.words").pin(PinTemp), q("HANDLER hand CLOSE"), q("DROP TEMPORARY TABLE $0.temp1")), by(1, write))},
	{"autocommit off, once more, in a READ ONLY transaction",
		by(0, q("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY").pin(PinTrx), q("SET autocommit = 0"), q("SET autocommit = 0"), aRead, q("SET autocommit = 1"), aRead)},
	{"SHOW does not use up the one transaction that is to be READ ONLY",
		by(0, q("SET @@transaction_read_only = 1").pin(PinNext), t("SHOW CREATE TABLE $1.words"), t("CALL $1.signals()"), commit)},
	{"PREPARE of a text with a mistake in a READ ONLY transaction",
		by(0, q("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY").pin(PinTrx), Step{op: opPrepare, stmt: "a", text: "INSERT INTO $1.t (id) VALUES (?", table: true}, warnings, commit)},
	{"READ ONLY goes on after a transaction that autocommit ends",
		turns(by(0, readOnly, q("SAVEPOINT a"), q("SET autocommit = 0"), q("SET autocommit = 1"), t("BEGIN; INSERT INTO $1.t (v) VALUES (5)"), back), by(1, t("BEGIN; INSERT INTO $1.t (v) VALUES (5)"), commit))},
	{"READ ONLY goes on after a transaction on a replica that autocommit ends",
		by(0, readOnly, aRead, q("SET autocommit = 0"), q("SET autocommit = 1"), t("INSERT INTO $1.t (v) VALUES (5)"), back, write)},
	{"READ ONLY ends with the session whose transaction autocommit ended",
		turns(by(0, readOnly, q("SAVEPOINT a"), q("SET autocommit = 0"), q("SET autocommit = 1"), resetStep), by(1, t("BEGIN; INSERT INTO $1.t (v) VALUES (5)"), commit))},
	{"ROW_COUNT() of a join beside an insert id",
		turns(by(0, write, q("SET lc_time_names = 'de_DE'")), by(1, write), by(0, t("UPDATE $1.t JOIN $1.words w USING (id) SET $1.t.s = w.l"), q("SELECT ROW_COUNT(), LAST_INSERT_ID()")))},
	{"variables that no transaction may set, in a READ ONLY transaction on a replica",
		by(0, readOnly, aRead, q("SET session_track_gtids = OFF"), q("SET sql_log_bin = 0"), q("SET time_zone = '+01:30', sql_log_bin = 0"), aRead, commit, write)},
	{"a new default of the session takes the place of SET TRANSACTION",
		by(0, q("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY").pin(PinNext), q("SET SESSION transaction_read_only = 0"), t("BEGIN; INSERT INTO $1.t (v) VALUES (5)"), back,
			q("SET TRANSACTION READ ONLY").pin(PinNext), q("SET SESSION transaction_isolation = 'READ-COMMITTED'"), t("INSERT INTO $1.t (v) VALUES (5)"), commit)},
	{"completion_type and the end of a READ ONLY transaction on a replica",
		turns(by(0, q("SET completion_type = 1").pin(PinChain), readOnly, aRead, q("SET completion_type = 0").free(PinChain), t("CREATE TABLE $1.t (id INT)").free(PinTrx), write), by(1, write, t("SELECT COUNT(*) FROM $1.t")), by(0, t("SELECT COUNT(*) FROM $1.t")))},
	{"FOUND_ROWS() after an EXECUTE of nothing", turns(by(1, aRead), by(0, q("EXECUTE nosuch"), q("SELECT FOUND_ROWS()")))},
	{"FOUND_ROWS() after a CALL of no procedure", turns(by(1, aRead), by(0, q("CALL $1.nosuch()"), q("SELECT FOUND_ROWS()")))},
	{"a tracker's value that another session's turn comes after",
		turns(by(0, q("SET session_track_system_variables = ''")), by(1, write), by(0, q("SET time_zone = '+01:30'")))},
	{"a timestamp from an expression, in a READ ONLY transaction on a replica and on another session's connection",
		turns(by(0, readOnly, aRead, q("SET timestamp = UNIX_TIMESTAMP('2010-03-04 05:06:07')"), q("SELECT IF(UNIX_TIMESTAMP() < 1400000000, UNIX_TIMESTAMP(), 0)"), commit),
			by(1, t("SELECT IF(NOW() < '2015-01-01', NOW(), 'now')")), by(0, t("SELECT IF(NOW() < '2015-01-01', NOW(), 'now')"), q("SET timestamp = 0 + 0"), t("SELECT IF(NOW() < '2015-01-01', NOW(), 'now')")))},
	{"FOUND_ROWS() beside a text in a charset of several bytes",
		turns(by(1, aRead), by(0, q("SET NAMES gbk"), t("INSERT INTO $1.t (s) VALUES ('\u00e9')"), q("SELECT FOUND_ROWS()")))},
	{"max_join_size moves sql_big_selects, unreported",
		turns(by(0, q("SET SQL_BIG_SELECTS = 0"), q("SET max_join_size = DEFAULT")), by(1, write), by(0, q("SELECT @@sql_big_selects, @@max_join_size"), q("SET max_join_size = 3, sql_big_selects = 1")),
			by(1, q("SET max_join_size = 4"), q("SELECT @@sql_big_selects, @@max_join_size")), by(0, q("SELECT @@sql_big_selects, @@max_join_size")), by(1, q("SELECT @@sql_big_selects, @@max_join_size")))},
	{"an insert id, after an INSERT that a READ ONLY transaction on a replica refused",
		turns(by(0, write), by(1, write), by(0, readOnly, aRead, t("INSERT INTO $1.t (v) VALUES (11)"), q("SELECT LAST_INSERT_ID()"), commit, q("SELECT LAST_INSERT_ID()")))},
	{"a text that ends a READ ONLY transaction on a replica and, autocommit being off, begins another one",
		by(0, q("SET autocommit = 0"), readOnly, aRead, t("ROLLBACK; SELECT COUNT(*) FROM $1.t"), write, back, q("SET autocommit = 1"))},
	{"COM_INIT_DB after COM_FIELD_LIST after a warning", by(0, t("SELECT CAST('abc' AS SIGNED), id FROM $1.words WHERE id = 1"), Step{op: opFieldList, text: "words"}, initDB("$1"))},
	{"a SET that fails, autocommit being off", turns(by(0, q("SET autocommit = 0"), q("SET time_zone = '+03:00', nosuch = 1")), by(1, write), by(0, q("SET autocommit = 1")))},
	{"an insert id that was read of a connection, which is the session's again after another's INSERT",
		turns(by(0, write), by(1, write, write), by(0, q("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY").pin(PinTrx), q("SET NAMES sjis"), t("BEGIN; INSERT INTO $1.t (v) VALUES (5); SELECT COUNT(*) FROM $1.t"), t("ROLLBACK; SELECT COUNT(*) FROM $1.t").free(PinTrx)),
			by(1, write), by(0, t("SELECT v FROM $1.t WHERE id = LAST_INSERT_ID()"), q("SELECT LAST_INSERT_ID()")))},
	{"PREPARE of a text with a mistake in a READ ONLY transaction that has not begun on a server",
		by(0, q("SET transaction_read_only = 1"), begin, Step{op: opPrepare, stmt: "a", text: "INSERT INTO $1.t (id) VALUES (?", table: true}, Step{op: opPrepare, stmt: "b", text: "INSERT INTO $1.t (id) VALUES (?)", table: true}, warnings, commit)},
	{"a READ ONLY snapshot after a READ WRITE transaction that has done nothing",
		turns(by(0, q("START TRANSACTION READ WRITE").pin(PinTrx), q("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"), aRead, commit))},
	{"a snapshot in a READ WRITE transaction of a READ ONLY session is READ WRITE, too",
		turns(by(0, q("SET transaction_read_only = 1"), q("START TRANSACTION READ WRITE").pin(PinTrx), q("START TRANSACTION WITH CONSISTENT SNAPSHOT"), t("INSERT INTO $1.t (v) VALUES (5)"), back))},
	{"warnings before the error, told again by COM_PING and COM_INIT_DB",
		turns(by(0, q("SET sql_mode = 'NO_ZERO_DATE'"), t("INSERT INTO $1.times (id, dt) VALUES (20, '0000-00-00')"), t("INSERT INTO $1.times (id, dt) VALUES (20, '0000-00-00')"), Step{op: opPing}, initDB("$1"), warnings))},
	{"PREPARE that fails where no condition is kept",
		turns(by(0, q("SET max_error_count = 0"), Step{op: opPrepare, stmt: "a", text: "SELECT 1; SELECT 2"}), by(1, write), by(0, q("SELECT @@error_count"), Step{op: opPing}))},
}
