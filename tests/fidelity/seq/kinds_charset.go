package seq

// modes are values of sql_mode, each with texts that mean something else or are
// refused under it.
var modes = []variable{
	{"ANSI_QUOTES", []string{"SET sql_mode = 'ANSI_QUOTES'", "SET sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES')"},
		[]string{`SELECT "s" FROM $1.words ORDER BY id`, `SELECT "x"`, `INSERT INTO $1.t (s) VALUES ("id")`}},
	{"PIPES_AS_CONCAT", []string{"SET sql_mode = 'PIPES_AS_CONCAT'", "SET SESSION sql_mode = 'PIPES_AS_CONCAT,STRICT_ALL_TABLES'"},
		[]string{"SELECT '' || ''", "SELECT 1 || s FROM $1.words ORDER BY id"}},
	{"NO_BACKSLASH_ESCAPES", []string{"SET sql_mode = 'NO_BACKSLASH_ESCAPES'"},
		[]string{`SELECT 'a\', 'b', s FROM $1.words WHERE id = 1 -- '`, `SELECT LENGTH('\n')`, `INSERT INTO $1.t (s) VALUES ('c:\\d')`}},
	{"NO_ZERO_DATE", []string{"SET sql_mode = 'NO_ZERO_DATE,STRICT_TRANS_TABLES'", "SET sql_mode = 'NO_ZERO_DATE'", "SET sql_mode = 'NO_ZERO_IN_DATE,STRICT_ALL_TABLES'"},
		[]string{"INSERT INTO $1.times (id, dt) VALUES (20, '0000-00-00')", "INSERT IGNORE INTO $1.times (id, d) VALUES (21, '2024-00-05')", "SELECT DATE('0000-00-00')", "REPLACE INTO $1.times (id, dt) VALUES (22, '0000-00-00')"}},
	{"STRICT", []string{"SET sql_mode = 'STRICT_ALL_TABLES'", "SET sql_mode = 'STRICT_TRANS_TABLES'"},
		[]string{"INSERT INTO $1.t (v) VALUES ('abc')", "UPDATE $1.t SET v = 99999999999 WHERE id = 2", "INSERT INTO $1.t (s) VALUES (REPEAT('long', 20))"}},
	{"ERROR_FOR_DIVISION_BY_ZERO", []string{"SET sql_mode = 'ERROR_FOR_DIVISION_BY_ZERO'", "SET sql_mode = 'ERROR_FOR_DIVISION_BY_ZERO,STRICT_ALL_TABLES'"},
		[]string{"SELECT 1 / 0", "INSERT INTO $1.t (v) VALUES (1 / 0)"}},
	{"HIGH_NOT_PRECEDENCE", []string{"SET sql_mode = 'HIGH_NOT_PRECEDENCE'"}, []string{"SELECT NOT 1 BETWEEN -5 AND 5"}},
	{"NO_UNSIGNED_SUBTRACTION", []string{"SET sql_mode = 'NO_UNSIGNED_SUBTRACTION'"}, []string{"SELECT CAST(0 AS UNSIGNED) - 1", "SELECT CAST(id AS UNSIGNED) - 10 FROM $1.words WHERE id = 1"}},
	{"IGNORE_SPACE", []string{"SET sql_mode = 'IGNORE_SPACE'"}, []string{"SELECT COUNT (*) FROM $1.words"}},
	{"PAD_CHAR_TO_FULL_LENGTH", []string{"SET sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'"}, []string{"SELECT LENGTH(c), c FROM $1.kinds WHERE id = 1"}},
	{"ONLY_FULL_GROUP_BY", []string{"SET sql_mode = 'ONLY_FULL_GROUP_BY'"}, []string{"SELECT n, COUNT(*) FROM $1.kinds"}},
	{"NO_AUTO_VALUE_ON_ZERO", []string{"SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'"}, []string{"INSERT INTO $1.t (id, v) VALUES (0, 6)", "SELECT id FROM $1.t WHERE id < 2 ORDER BY id"}},
	{"REAL_AS_FLOAT", []string{"SET sql_mode = 'REAL_AS_FLOAT'"}, []string{"SELECT CAST(1.123456789 AS REAL)"}},
	{"TIME_TRUNCATE_FRACTIONAL", []string{"SET sql_mode = 'TIME_TRUNCATE_FRACTIONAL'"}, []string{"SELECT CAST('2024-01-01 00:00:00.9' AS DATETIME)"}},
	{"ANSI", []string{"SET @@SESSION.sql_mode = 'ANSI'", "SET sql_mode = 'TRADITIONAL'"}, []string{`SELECT "s" || 'x' FROM $1.words ORDER BY id`, "SELECT @@sql_mode"}},
	{"none", []string{"SET sql_mode = ''", "SET sql_mode = DEFAULT", "SET sql_mode = 'NOSUCH'", "SET sql_mode = @@GLOBAL.sql_mode"}, []string{"SELECT @@sql_mode", "SELECT 'a' || 'b'", "INSERT INTO $1.t (v) VALUES ('5x')"}},
}

// modeKinds are the kinds that the table of modes gives.
func modeKinds() []Kind {
	var kinds []Kind
	for _, m := range modes {
		kinds = append(kinds, Kind{"sql_mode " + m.name, 5, func(g *Gen) []Step {
			steps := g.setAndShow(m)
			steps[0].forget = []string{"sql_mode"}
			return steps
		}}, Kind{"under " + m.name, 1, func(g *Gen) []Step { return []Step{t(pick(g, m.shows...))} }})
	}
	return kinds
}

var charsetShows = []string{
	"SELECT s, l FROM $1.words ORDER BY id", "SELECT LENGTH('é'), HEX('é'), CHARSET('é'), COLLATION('a')", "SELECT 'a' = 'A', id FROM $1.words WHERE id = 1", "SELECT id FROM $1.words WHERE s = '\xe9'",
	"SELECT @@character_set_client, @@character_set_connection, @@character_set_results, @@collation_connection", "INSERT INTO $1.t (s) VALUES ('é')", "SELECT HEX(s), s FROM $1.t ORDER BY id",
	"SELECT '\xbf\\', id FROM $1.words WHERE id = 1 -- '",
}

// charsets is a kind that changes charsets and shows what came of it.
func charsets(name string, sets ...string) Kind {
	return Kind{name, 8, func(g *Gen) []Step {
		set := q(pick(g, sets...))
		set.forget = []string{name}
		return []Step{set, t(pick(g, charsetShows...)), t(pick(g, charsetShows...))}
	}}
}

var charsetKinds = []Kind{
	charsets("NAMES", "SET NAMES latin1", "SET NAMES utf8mb4", "SET NAMES binary", "SET NAMES utf8mb4 COLLATE utf8mb4_bin", "SET NAMES 'utf8mb3'", "SET NAMES nosuch", "SET NAMES DEFAULT"),
	charsets("NAMES of several bytes", "SET NAMES gbk", "SET NAMES sjis"),
	charsets("CHARACTER SET", "SET CHARACTER SET latin1", "SET charset utf8mb4", "SET CHARACTER SET DEFAULT"),
	charsets("character_set_results", "SET character_set_results = NULL", "SET character_set_results = latin1", "SET character_set_results = utf8mb4"),
	charsets("character_set_client", "SET character_set_client = latin1", "SET character_set_client = utf8mb4", "SET character_set_client = utf16"),
	charsets("character_set_connection", "SET character_set_connection = latin1", "SET character_set_connection = utf8mb4"),
	charsets("collation_connection", "SET collation_connection = utf8mb4_bin", "SET collation_connection = latin1_general_cs", "SET collation_connection = utf8mb4_0900_ai_ci"),
	one("charsets", 5, tables(charsetShows...)...),
}

// userVariableKinds, without NULL, which keeps the type of the value before it on
// the connection where that was set (a limit): a value that is a literal, or a system variable's, can be
// replayed; for any other value only the server knows it.
var userVariableKinds = []Kind{
	{"user variable, a literal", 10, func(g *Gen) []Step {
		return []Step{q(pick(g, "SET @a = 5", "SET @a = 'text', @b := 2.50", "SET @a = -7", "SET @b = 0x4142", "SET @a = TRUE", "SET @b = 1e3", `SET @a = 'it''s a\n"new" \%\\'`,
			"SET @b = +5, @a = ''", "SET @a = .5, @b = 5.", "SET @b = 18446744073709551615")), g.userShow()}
	}},
	{"user variable of another character set", 5, func(g *Gen) []Step {
		return []Step{q(pick(g, "SET @a = _latin1'x'", "SET @b = N'x'", "SET @a = x'ff41'", "SET @b = 'x' COLLATE utf8mb4_bin", "SET @a = _utf16'ab'", "SET @b = b'01000001'", "SET @a = 'é'", "SET @a = 'a' 'b'")), g.userShow()}
	}},
	{"user variable, a system variable", 5, func(g *Gen) []Step {
		return []Step{q(pick(g, "SET @b = @@sql_mode", "SET @a = @@session.long_query_time, @b = @@unique_checks", "SET @b = @@max_join_size",
			"/*!40101 SET @a=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */", "SET @a = @@collation_connection, @b = 'x', NAMES latin1")), g.userShow()}
	}},
	{"user variable, an expression", 8, func(g *Gen) []Step {
		return []Step{t(pick(g, "SET @c = @a + 1", "SET @c = (SELECT MAX(id) FROM $1.words)", "SET @a = CONCAT(@a, 'x')", "SET @c := @b := 4")).pin(PinUser), g.userShow()}
	}},
	{"user variable by a SELECT", 6, func(g *Gen) []Step {
		return []Step{t(pick(g, "SELECT @d := 5", "SELECT id INTO @d FROM $1.words WHERE id = 2", "SELECT id, @d := id + 1 FROM $1.words ORDER BY id", "SELECT s FROM $1.words WHERE id = 3 INTO @d", "UPDATE $1.t SET v = (@d := 77) WHERE id = 1")).pin(PinUser), g.userShow()}
	}},
	{"user variables", 4, func(g *Gen) []Step { return []Step{g.userShow()} }},
}

// userShow reads user variables. PinUser: MySQL makes a variable's first
// reading the moment from which it has a type.
func (g *Gen) userShow() Step {
	return t(pick(g, "SELECT @a, @b", "SELECT @c, @d", "SELECT id FROM $1.words WHERE id = @a", "SELECT @nosuch", "SELECT COLLATION(@a), COERCIBILITY(@a), HEX(@a), HEX(@b), COLLATION(@b)", "SELECT CONCAT(l, @a), @b FROM $1.words ORDER BY id", "SELECT CONCAT(@a, '-', @b), '@a'", "INSERT INTO $1.t (v) VALUES (@d)"))
}
