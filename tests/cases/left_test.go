package cases

// leftCases: what a statement leaves behind for the next one belongs to the
// session, whoever uses the connection in between.
var leftCases = []theCase{
	{row: "L1", name: "LAST_INSERT_ID after INSERT", steps: steps(
		"a: INSERT INTO t (v) VALUES (1) => OK", "b: INSERT INTO t (v) VALUES (2) => OK",
		"a: SELECT LAST_INSERT_ID() => 6", "b: SELECT LAST_INSERT_ID() => 7", "c: SELECT LAST_INSERT_ID() => 0",
		"b: INSERT INTO t (v) VALUES (3)", "a: SELECT v FROM t WHERE id = LAST_INSERT_ID() => 1", "b: SELECT LAST_INSERT_ID() => 8",
		"a: SELECT v FROM t WHERE id = 8 => 3", "a: SELECT LAST_INSERT_ID() => 6",
		"a: INSERT INTO words (id, s) VALUES (LAST_INSERT_ID(), 'mine') => OK", "x: SELECT id FROM words WHERE s = 'mine' => 6",
		"b: UPDATE t SET s = 'last' WHERE id = LAST_INSERT_ID() => OK", "x: SELECT id FROM t WHERE s = 'last' => 8",
		`a: \quit`, "c: SELECT LAST_INSERT_ID() => 0", "c: INSERT INTO t (id, v) VALUES (100, 1)", "c: SELECT LAST_INSERT_ID() => 0",
	)},
	{row: "L1", name: "LAST_INSERT_ID prepared", classic: true, steps: steps(
		prep("a", "w", "INSERT INTO t (v) VALUES (?)"), prep("b", "w", "INSERT INTO t (v) VALUES (?)"), prep("a", "l", "SELECT LAST_INSERT_ID()"), prep("b", "l", "SELECT LAST_INSERT_ID()"),
		exe("a", "w", num(1)), exe("b", "w", num(2)), exe("a", "l"), exe("b", "l"), "a: SELECT LAST_INSERT_ID() => 6", "b: SELECT LAST_INSERT_ID() => 7", exe("a", "l"),
		"a: BEGIN", exe("a", "w", num(3)), "a: ROLLBACK", exe("a", "l"), exe("b", "l"),
	)},
	{row: "L1", name: "LAST_INSERT_ID in triggers", steps: steps(
		"x: CREATE TRIGGER changed BEFORE UPDATE ON t FOR EACH ROW SET NEW.s = LAST_INSERT_ID()", "x: CREATE TRIGGER gone BEFORE DELETE ON t FOR EACH ROW INSERT INTO words (id, s) VALUES (OLD.id, LAST_INSERT_ID())",
		"b: INSERT INTO t (v) VALUES (1)", "b: SELECT LAST_INSERT_ID() => 6", "a: UPDATE t SET v = 11 WHERE id = 1 => OK", "x: SELECT s FROM t WHERE id = 1 => 0",
		"b: INSERT INTO t (v) VALUES (1)", "b: SELECT LAST_INSERT_ID() => 7", prep("a", "u", "UPDATE t SET v = ? WHERE id = 2"), exe("a", "u", num(21)), "x: SELECT s FROM t WHERE id = 2 => 0",
		"b: UPDATE t SET v = 31 WHERE id = 3 => OK", "x: SELECT s FROM t WHERE id = 3 => 7", "a: DELETE FROM t WHERE id = 4 => OK", "x: SELECT s FROM words WHERE id = 4 => 0", "a: SELECT LAST_INSERT_ID() => 0", "b: SELECT LAST_INSERT_ID() => 7",
	)},
	{row: "L2", name: "semicolons and comments", steps: steps(
		"a: INSERT INTO t (v) VALUES (1)", "a: SELECT LAST_INSERT_ID(); => 6", "a: select /* x */ last_insert_id ( ) ; => 6", "a: SELECT LAST_INSERT_ID() -- that => 6", "a: SELECT\n\tLAST_INSERT_ID()\n; => 6", "a: SELECT @@last_insert_id => 6", "a: SELECT @@identity; => 6", "a: (SELECT LAST_INSERT_ID()) => 6", "a: SELECT /*!50000 LAST_INSERT_ID() */ => 6",
	)},
	{row: "L3", name: "names of the column", steps: steps(
		"a: INSERT INTO t (v) VALUES (1)", "a: SELECT LAST_INSERT_ID() AS ID => 6", "a: SELECT LAST_INSERT_ID() `odd name` => 6", "a: select last_insert_id() => 6", "a: SELECT LAST_INSERT_ID( ) => 6", "a: SELECT LAST_INSERT_ID() + 0, 1 AS one => 6,1", "a: SELECT @@IDENTITY => 6",
	)},
	{row: "L4", name: "FROM DUAL", steps: steps(
		"a: INSERT INTO t (v) VALUES (1)", "a: SELECT LAST_INSERT_ID() FROM DUAL => 6", "a: SELECT LAST_INSERT_ID() FROM DUAL LIMIT 1 => 6", "a: SELECT LAST_INSERT_ID() FROM t LIMIT 1 => 6", "a: SELECT * FROM (SELECT LAST_INSERT_ID() AS i) d => 6", "a: SELECT (SELECT LAST_INSERT_ID()) => 6", "a: SELECT LAST_INSERT_ID() WHERE 1 = 1 => 6",
	)},
	{row: "L6", name: "several rows and tables", steps: steps(
		"a: INSERT INTO t (v) VALUES (1), (2), (3)", "a: SELECT LAST_INSERT_ID() => 6", "a: INSERT INTO cases2.t (v) SELECT v FROM t WHERE id > 5", "a: SELECT LAST_INSERT_ID() => 2",
		"a: INSERT INTO t (id, v) VALUES (50, 1), (NULL, 2)", "a: SELECT LAST_INSERT_ID() => 51", "a: INSERT INTO t (id, v) VALUES (60, 1)", "a: SELECT LAST_INSERT_ID() => 51", "a: INSERT IGNORE INTO t (id, v) VALUES (60, 1)", "a: SELECT LAST_INSERT_ID() => 51",
		"a: INSERT INTO t (id) VALUES (60) => ERR 1062", "a: SELECT LAST_INSERT_ID()", "a: REPLACE INTO t (id, v) VALUES (60, 2)", "a: SELECT LAST_INSERT_ID()", "a: CALL put(1)", "a: SELECT LAST_INSERT_ID()", "a: SELECT writes(4)", "a: SELECT LAST_INSERT_ID()",
		"a: INSERT INTO t (v) VALUES (9) ON DUPLICATE KEY UPDATE v = 1", "b: INSERT INTO t (v) VALUES (10)", "a: SELECT LAST_INSERT_ID()",
	)},
	{row: "L7", name: "LAST_INSERT_ID of an expression", steps: steps(
		"a: UPDATE t SET v = LAST_INSERT_ID(v + 1) WHERE id = 1", "b: SELECT LAST_INSERT_ID() => 0", "b: INSERT INTO t (v) VALUES (1)", "a: SELECT LAST_INSERT_ID() => 11", "b: SELECT LAST_INSERT_ID() => 6",
		"a: SELECT LAST_INSERT_ID(55) => 55", "b: SELECT v FROM t WHERE id = 2 => 20", "a: SELECT LAST_INSERT_ID() => 55", "a: SELECT LAST_INSERT_ID(v) FROM t WHERE id = 2 => 20", "a: SELECT v FROM t WHERE id = 3 => 30", "a: SELECT LAST_INSERT_ID() => 20",
		"a: INSERT INTO t (id, v) VALUES (1, 2) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), v = 3", "a: SELECT LAST_INSERT_ID() => 1", "b: SELECT LAST_INSERT_ID() => 6",
		prep("a", "s", "SELECT LAST_INSERT_ID(?)"), exe("a", "s", num(77)), "a: SELECT LAST_INSERT_ID() => 77", prep("a", "u", "UPDATE t SET v = LAST_INSERT_ID(?) WHERE id = 1"), exe("a", "u", num(88)), "a: SELECT LAST_INSERT_ID() => 88",
		"a: DO LAST_INSERT_ID(99)", "a: SELECT LAST_INSERT_ID() => 99", "a: SET last_insert_id = 5", "a: SELECT LAST_INSERT_ID() => 5", "a: SET @x = LAST_INSERT_ID(44)", "a: SELECT LAST_INSERT_ID() => 44", "a: SELECT v FROM t WHERE id = LAST_INSERT_ID(2) => 20", "a: SELECT LAST_INSERT_ID() => 2",
		`a: \reset`, "a: SELECT LAST_INSERT_ID() => 0",
	)},
	{row: "L9", name: "ROW_COUNT", steps: steps(
		"a: UPDATE t SET v = 1 => OK", "b: DELETE FROM t WHERE id = 5 => OK", "a: SELECT ROW_COUNT() => 5", "b: SELECT ROW_COUNT() => 1", "a: SELECT ROW_COUNT() => -1",
		"a: UPDATE t SET v = 1", "b: SELECT id FROM t => 1 | 2 | 3 | 4", "a: SELECT ROW_COUNT() AS n => 0", "b: SELECT ROW_COUNT() => -1",
		"a: INSERT INTO t (id) VALUES (1) => ERR 1062", "a: SELECT ROW_COUNT() => -1", "a: REPLACE INTO t (id, v) VALUES (1, 9)", "a: SELECT ROW_COUNT(); => 2", prep("a", "d", "DELETE FROM t WHERE id > ?"), exe("a", "d", num(2)), "a: SELECT ROW_COUNT(), LAST_INSERT_ID()",
		"a: CREATE TABLE made (id INT)", "a: SELECT ROW_COUNT() => 0", "a: SET @x = 1", "a: SELECT ROW_COUNT() => 0", "a: BEGIN", "a: INSERT INTO t (v) VALUES (1), (2)", "a: SELECT ROW_COUNT() => 2", "a: COMMIT", "a: SELECT ROW_COUNT() => 0",
	)},
	{row: "L10", name: "FOUND_ROWS", steps: steps(
		prep("a", "f", "SELECT SQL_CALC_FOUND_ROWS id FROM t ORDER BY id LIMIT 1"), exe("a", "f"), "a: SELECT FOUND_ROWS() => 5", "a: SELECT FOUND_ROWS() => 1",
		"a: SELECT SQL_CALC_FOUND_ROWS id FROM t ORDER BY id LIMIT 2 => 1 | 2", "a: select found_rows() as n; => 5", "b: SELECT v FROM t WHERE id = 1 => 10", "b: SELECT FOUND_ROWS() => 1",
		"a: SELECT id FROM t ORDER BY id LIMIT 3", "b: SELECT id FROM t ORDER BY id LIMIT 2", "a: SELECT FOUND_ROWS() => 3", "b: SELECT FOUND_ROWS() => 2",
		"a: BEGIN", "a: SELECT SQL_CALC_FOUND_ROWS id FROM t LIMIT 1", "a: SELECT FOUND_ROWS() => 5", "a: COMMIT", "b: INSERT INTO t (v) VALUES (1) => OK", "b: SELECT id FROM t WHERE id = 6 FOR UPDATE", "a: SELECT 1 UNION SELECT 2", "a: SELECT FOUND_ROWS() => 2",
	)},
	{row: "L11", name: "SHOW WARNINGS", steps: steps(
		"a: SELECT CAST('abc' AS SIGNED) FROM t WHERE id = 1 => 0", "a: SHOW WARNINGS", "a: SHOW COUNT(*) WARNINGS => 1", "a: SELECT @@warning_count => 1", "a: SELECT @@warning_count => 0",
		"a: INSERT IGNORE INTO t (id, v) VALUES (1, 1) => OK", "a: SHOW WARNINGS", "a: GET DIAGNOSTICS @n = NUMBER", "a: SELECT @n => 1", "a: SHOW WARNINGS => none", `a: \reset`,
		"b: DROP TABLE IF EXISTS nosuch => OK", "b: SHOW WARNINGS", "b: SELECT v FROM t WHERE id = 1 => 10", "b: SHOW WARNINGS => none",
		prep("a", "w", "SELECT CAST(? AS SIGNED)"), exe("a", "w", str("abc")), "a: SHOW WARNINGS", "a: SELECT * FROM nosuch => ERR 1146", "a: SHOW ERRORS", "a: SHOW WARNINGS", "a: SELECT 1 => 1", "a: SHOW WARNINGS => none",
	)},
	{row: "L11", name: "warnings of others", classic: true, steps: steps(
		"a: SELECT v FROM t WHERE id = 1 => 10", "b: DROP TABLE IF EXISTS nosuch", "b: SELECT v FROM t WHERE id = 2 => 20", "a: SHOW WARNINGS => none", "a: SELECT @@warning_count => 0",
		"a: INSERT INTO t (v) VALUES (1)", "b: INSERT IGNORE INTO t (id) VALUES (1)", `b: \quit`, "a: SHOW WARNINGS => none", "a: SHOW COUNT(*) ERRORS => 0",
		"c: SELECT CAST('abc' AS SIGNED) FROM t WHERE id = 1 FOR UPDATE => 0", `c: \drop`, "a: INSERT INTO t (v) VALUES (1)", "a: SHOW WARNINGS => none", "d: SHOW WARNINGS => none", "d: SELECT @@error_count => 0",
	)},
	{row: "L12", name: "the next result is the next statement's", steps: steps(
		"a: SELECT CAST('abc' AS SIGNED) FROM t WHERE id = 1 => 0", "a: SELECT v FROM t WHERE id = 1 => 10", "a: INSERT IGNORE INTO t (id) VALUES (1) => OK", "a: INSERT INTO t (v) VALUES (1) => OK", "a: SELECT LAST_INSERT_ID() => 6",
		"a: DROP TABLE IF EXISTS nosuch => OK", "b: SELECT v FROM t WHERE id = 2 => 20", "a: BEGIN => OK", "a: SELECT CAST('abc' AS SIGNED) => 0", "a: COMMIT => OK", "a: SELECT CAST('x' AS SIGNED); SELECT 2; => 0 | 2", "a: SELECT 3 => 3", "b: SELECT 4 => 4",
		"a: SELECT * FROM nosuch => ERR 1146", "b: INSERT INTO t (v) VALUES (2) => OK", "a: SELECT v FROM t WHERE id = 1 => 10", "a: CALL two_results(1) => ERR 1414", "a: SELECT 5 => 5",
	)},
}
