package seq

import "strings"

// commandKinds are commands other than a single text.
var commandKinds = []Kind{
	one("COM_PING", 4, Step{op: opPing}),
	{"COM_RESET_CONNECTION", 6, func(g *Gen) []Step { return []Step{resetStep, g.after()} }},
	{"COM_CHANGE_USER", 4, func(g *Gen) []Step {
		return []Step{{op: opChangeUser, text: pick(g, "$1", "$2", ""), resets: true}, g.after()}
	}},
	one("COM_FIELD_LIST", 3, Step{op: opFieldList, text: "t"}, Step{op: opFieldList, text: "words"}, Step{op: opFieldList, text: "nosuch"}),
	{"COM_SET_OPTION", 3, func(g *Gen) []Step {
		return []Step{q("DO 1"), {op: opSetOption, num: g.rnd.IntN(2)}, t("SELECT 1; SELECT id FROM $1.words ORDER BY id"), q("DO 1"), {op: opSetOption, num: 0}}
	}},
	one("several statements", 10, tables("SELECT 1; SELECT id FROM $1.words ORDER BY id", "INSERT INTO $1.t (v) VALUES (41); SELECT LAST_INSERT_ID(); SELECT ROW_COUNT()", "SELECT 1; SELECT * FROM $1.nosuch; SELECT 3", "UPDATE $1.t SET v = 1 WHERE id = 1; SELECT ROW_COUNT()", "SELECT 1;", ";", "SELECT CAST('x' AS SIGNED); SHOW WARNINGS")...),
	{"several statements that change the session", 6, func(g *Gen) []Step {
		return []Step{g.several(pick(g, "USE $2; SELECT v FROM t ORDER BY id", "SET time_zone = '+07:00'; SELECT ts FROM $1.times WHERE id = 1", "SET @a = 3; SELECT @a", "SET sql_mode = 'ANSI_QUOTES'; SELECT 1", "SET NAMES latin1; SET div_precision_increment = 6")),
			t(pick(g, "SELECT v FROM t ORDER BY id", "SELECT ts FROM $1.times WHERE id = 1", "SELECT @a", `SELECT "s" FROM $1.words WHERE id = 1`, "SELECT 1 / 3"))}
	}},
	{"several statements, and one fails after another has changed the session", 5, func(g *Gen) []Step {
		return []Step{g.several(pick(g, "SET @a = 3; ", "SET @a = 'x', @n = 1 + 1; ", "SET @a = 2.5; SELECT 1; ", "SET time_zone = '+07:00'; ", "SET sql_mode = 'ANSI_QUOTES'; ") + pick(g, "INSERT INTO $1.t (id) VALUES (1)", "SELECT * FROM $1.nosuch", "SET time_zone = 'bogus'", "SELEC")),
			t(pick(g, "SELECT ts FROM $1.times WHERE id = 1", "SELECT @a, @n", `SELECT "s" FROM $1.words WHERE id = 1`))}
	}},
	all("several statements with a transaction", 4, t("BEGIN; INSERT INTO $1.t (v) VALUES (5); SELECT COUNT(*) FROM $1.t").pin(PinTrx), t("INSERT INTO $1.t (v) VALUES (8)"), t("ROLLBACK; SELECT COUNT(*) FROM $1.t").free(PinTrx)),
	{"trackers off", 3, func(g *Gen) []Step {
		return []Step{q(pick(g, "SET session_track_gtids = OFF", "SET session_track_schema = OFF", "SET session_track_system_variables = ''", "SET session_track_state_change = OFF", "SET session_track_transaction_info = 'OFF'")), pick(g, write, q("USE $2"), q("SET time_zone = '+01:30'")), pick(g, read, t("SELECT v, COUNT(*) OVER () FROM t ORDER BY id"), t("SELECT ts FROM $1.times WHERE id = 1"))}
	}},
	one("comments and hints", 4, tables("/* c */ SELECT id /* d */ FROM $1.words ORDER BY id -- e", "SELECT /*+ MAX_EXECUTION_TIME(9000) */ id FROM $1.words ORDER BY id", "SELECT /*!50000 id, */ l FROM $1.words ORDER BY id", "/*!99999 nonsense */ SELECT 1", "SELECT /*+ SET_VAR(sql_mode = '') */ 1", "SELECT /*+ SET_VAR(div_precision_increment = 8) */ 1 / 3")...),
}

// several makes a step of a text of several statements. User variables that one of
// them sets are not replayed.
func (g *Gen) several(text string) Step {
	if strings.HasPrefix(text, "SET @") {
		return q(text).pin(PinUser)
	}
	return q(text)
}

// after looks at what must be gone.
func (g *Gen) after() Step {
	return t(pick(g, "SELECT DATABASE()", "SELECT @a, @b, @c", "SELECT LAST_INSERT_ID()", "SELECT ts FROM $1.times WHERE id = 1", `SELECT "s" FROM $1.words WHERE id = 1`, "SELECT COUNT(*) FROM $0.temp1", "SELECT @@autocommit, @@transaction_isolation, @@transaction_read_only", "SELECT s FROM $1.words ORDER BY id", "SHOW WARNINGS"))
}

var readKinds = []Kind{
	one("read of a table", 20, tables("SELECT * FROM $1.t ORDER BY id", "SELECT COUNT(*), SUM(v) FROM $1.t", "SELECT * FROM $1.kinds ORDER BY id", "SELECT * FROM $1.times ORDER BY id", "TABLE $1.words ORDER BY id LIMIT 2", "SELECT * FROM $1.tv ORDER BY id", "SELECT * FROM $1.child ORDER BY id")...),
	one("read without a table", 6, texts("SELECT 1", "SELECT NULL, 'x', 1.50, 2e0", "VALUES ROW(1, 'a'), ROW(2, 'b')", "SELECT USER(), CURRENT_USER()", "DO 1", "SELECT UUID() = UUID()", "SELECT SLEEP(0)")...),
	one("read of any form", 8, tables("(SELECT id FROM $1.words WHERE id = 1) UNION ALL (SELECT id FROM $1.words WHERE id = 2) ORDER BY 1", "WITH c AS (SELECT id FROM $1.words) SELECT COUNT(*) FROM c", "SELECT id, ROW_NUMBER() OVER (ORDER BY id DESC) FROM $1.words ORDER BY id", "SELECT * FROM JSON_TABLE('[1,2]', '$[*]' COLUMNS (x INT PATH '$')) j", "SELECT s, COUNT(*) FROM $1.words GROUP BY s WITH ROLLUP", "SELECT $1.plus_one(id) FROM $1.words ORDER BY id", "CHECKSUM TABLE $1.words")...),
	one("SHOW", 5, tables("SHOW TABLES FROM $2", "SHOW CREATE TABLE $1.words", "SHOW COLUMNS FROM $1.kinds", "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '$1'", "SHOW VARIABLES LIKE 'sql_mode'", "SHOW SESSION VARIABLES LIKE 'time_zone'")...),
}

// failureKinds: children are updated, not inserted or replaced. MySQL 9.7 checks
// foreign keys in another way on a connection that had COM_RESET_CONNECTION: an
// INSERT that is refused uses an id up or does not, and a REPLACE by the same row is
// refused or is not.
var failureKinds = []Kind{
	one("syntax error", 4, texts("SELEC 1", "SELECT", "SELECT 'open", "", "/* open", "SELECT * FROM", "-- nothing")...),
	one("unknown name", 6, texts("SELECT * FROM $1.nosuch", "SELECT * FROM nosuch.t", "SELECT nosuch FROM $1.t", "SELECT nosuch(1)", "CALL $1.nosuch()", "SELECT @@nosuch", "SET GLOBAL nosuch = 1", "SET SESSION port = 1")...),
	one("refused write", 4, tables("INSERT INTO $1.t VALUES (1, 2)", "INSERT INTO $1.t (nosuch) VALUES (1)", "UPDATE $1.nosuch SET v = 1", "DELETE FROM $1.parent WHERE id = 1", "UPDATE $1.child SET parent = 77 WHERE parent < 10", "UPDATE $1.tv SET v = 'x'")...),
}
