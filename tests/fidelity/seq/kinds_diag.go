package seq

// diagKinds are about what a statement leaves for the next one. GET DIAGNOSTICS
// needs the connection of the statement before, as the README's limits say.
var diagKinds = []Kind{
	one("ROW_COUNT()", 8, texts("SELECT ROW_COUNT()", "SELECT ROW_COUNT(), LAST_INSERT_ID()", "SELECT ROW_COUNT() AS n")...),
	{"SQL_CALC_FOUND_ROWS", 8, func(g *Gen) []Step {
		return []Step{t(pick(g, "SELECT SQL_CALC_FOUND_ROWS id FROM $1.words ORDER BY id LIMIT 2", "SELECT SQL_CALC_FOUND_ROWS id FROM $1.t ORDER BY id LIMIT 1")), q("SELECT FOUND_ROWS()")}
	}},
	{"FOUND_ROWS()", 8, func(g *Gen) []Step {
		return []Step{t(pick(g, "SELECT id FROM $1.words ORDER BY id LIMIT 2", "SELECT id FROM $1.words ORDER BY id", "SELECT 1 UNION SELECT 2", "SELECT id FROM $1.words WHERE FALSE")), q(pick(g, "SELECT FOUND_ROWS()", "select found_rows() as n"))}
	}},
	{"warnings of a read", 12, func(g *Gen) []Step {
		return []Step{t(pick(g, "SELECT CAST('abc' AS SIGNED)", "SELECT CAST(s AS SIGNED) FROM $1.words ORDER BY id", "SELECT '1x' + 1, '2y' + 1", "SELECT 1 / 0")), g.diag(), g.diag()}
	}},
	{"warnings of a failure", 10, func(g *Gen) []Step {
		return []Step{t(pick(g, "SELECT * FROM $1.nosuch", "SELECT nosuch FROM $1.t", "SELEC 1", "INSERT INTO $1.t (id) VALUES (1)", "DROP TABLE $1.nosuch", "SET nosuch = 1", "USE nosuch")), g.diag(), g.diag()}
	}},
	{"SHOW WARNINGS", 6, func(g *Gen) []Step { return []Step{g.diag()} }},
	{"GET DIAGNOSTICS", 4, func(g *Gen) []Step {
		return []Step{t(pick(g, "INSERT INTO $1.t (id) VALUES (1)", "SELECT CAST('q' AS SIGNED)", "UPDATE $1.t SET v = v + 1 WHERE id = 1")).pin(PinUser), q(pick(g, "GET DIAGNOSTICS @c = NUMBER, @d = ROW_COUNT", "GET DIAGNOSTICS CONDITION 1 @c = MYSQL_ERRNO, @d = MESSAGE_TEXT")).pin(PinUser), q("SELECT @c, @d")}
	}},
	{"commands that leave warnings", 5, func(g *Gen) []Step {
		return []Step{q("SELECT CAST('abc' AS SIGNED)"), pick(g, Step{op: opPing}, initDB("$1"), q("SET @a = 1")), g.diag()}
	}},
}

func (g *Gen) diag() Step {
	return q(pick(g, "SHOW WARNINGS", "SHOW ERRORS", "SHOW COUNT(*) WARNINGS", "SHOW COUNT(*) ERRORS", "SELECT @@warning_count", "SELECT @@error_count", "SHOW WARNINGS LIMIT 1", "SELECT @@warning_count, @@error_count"))
}

// temporaryKinds: a temporary table has the same name in all sessions.
var temporaryKinds = []Kind{
	{"temporary table", 10, func(g *Gen) []Step {
		create := q(pick(g, "CREATE TEMPORARY TABLE $0.temp1 (id INT PRIMARY KEY, v INT)", "CREATE TEMPORARY TABLE IF NOT EXISTS $0.temp1 (id INT PRIMARY KEY, v INT)", "/* c */ create /*x*/ temporary table $0.temp1 as select id, 5 as v from $1.words")).pin(PinTemp)
		return []Step{create, t("INSERT INTO $0.temp1 VALUES (11, 100), (12, 200)"), t("SELECT * FROM $0.temp1 ORDER BY id"), pick(g, write, read, begin, t("SELECT COUNT(*) FROM $0.temp1, $1.words")), t("SELECT COUNT(*) FROM $0.temp1"), q("DROP TEMPORARY TABLE $0.temp1").free(PinTemp)}
	}},
	one("somebody's temporary table", 5, tables("SELECT COUNT(*) FROM $0.temp1", "INSERT INTO $0.temp1 VALUES (1, 2)", "DROP TEMPORARY TABLE $0.temp1")...),
	{"a temporary table hides a table", 4, func(g *Gen) []Step {
		return []Step{q("CREATE TEMPORARY TABLE $1.t (id INT, v INT, s INT)").pin(PinShadow), read, t("INSERT INTO $1.t VALUES (1, 2, 3)"), read, q("DROP TEMPORARY TABLE $1.t").free(PinShadow), read}
	}},
}

var lockKinds = []Kind{
	{"GET_LOCK", 8, func(g *Gen) []Step {
		return []Step{q(pick(g, "SELECT GET_LOCK('$x', 0)", "DO GET_LOCK('$x', 0), GET_LOCK('$x_b', 0)", "SELECT GET_LOCK('$x', 0) AS g, id FROM $1.words ORDER BY id LIMIT 1")).pin(PinLock), g.lockShow(), g.lockShow(), q(pick(g, "SELECT RELEASE_LOCK('$x')", "SELECT RELEASE_ALL_LOCKS()")), q("SELECT RELEASE_ALL_LOCKS()").free(PinLock)}
	}},
	{"locks", 3, func(g *Gen) []Step { return []Step{g.lockShow()} }},
	{"LOCK TABLES", 5, func(g *Gen) []Step {
		lock := q(pick(g, "LOCK TABLES $1.t WRITE, $1.words READ", "LOCK TABLES $1.t READ", "LOCK TABLE $1.t READ LOCAL, $1.words AS w READ", "LOCK TABLES $1.nosuch READ")).pin(PinTables).free(PinTrx)
		return []Step{lock, pick(g, write, read), pick(g, t("SELECT COUNT(*) FROM $2.t"), t("SELECT COUNT(*) FROM $1.words"), begin), q("UNLOCK TABLES").free(PinTables), write}
	}},
	one("UNLOCK TABLES", 2, q("UNLOCK TABLES").free(PinTables)),
	{"HANDLER", 4, func(g *Gen) []Step {
		return []Step{q("HANDLER $1.words OPEN AS hand").pin(PinHandler), q("HANDLER hand READ FIRST"), q(pick(g, "HANDLER hand READ NEXT LIMIT 2", "HANDLER hand READ `PRIMARY` = (2)", "HANDLER hand READ `PRIMARY` LAST")), pick(g, read, write), q("HANDLER hand READ NEXT"), q("HANDLER hand CLOSE").free(PinHandler), q("HANDLER hand READ FIRST")}
	}},
}

func (g *Gen) lockShow() Step {
	return q(pick(g, "SELECT IS_USED_LOCK('$x') = CONNECTION_ID()", "SELECT IS_FREE_LOCK('$x'), IS_FREE_LOCK('$x_b')", "SELECT RELEASE_LOCK('nosuch')", "SELECT IS_USED_LOCK('$x_b') IS NULL", "SELECT RELEASE_LOCK('$x_b')"))
}
