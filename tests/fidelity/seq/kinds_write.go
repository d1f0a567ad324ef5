package seq

var writeKinds = []Kind{
	one("INSERT, generated id", 20, tables("INSERT INTO $1.t (v) VALUES (21)", "INSERT INTO $1.t SET v = 22, s = 'set'", "INSERT INTO $1.t VALUES ()", "INSERT INTO $2.t (v, s) VALUES (NULL, 'null')")...),
	one("INSERT, explicit id", 8, tables("INSERT INTO $1.t (id, v) VALUES (60001, 4)", "INSERT INTO $1.t (id, v) VALUES (NULL, 8)", "INSERT INTO $2.t (id, v) VALUES (60002, 4), (60003, 5)")...),
	one("INSERT, several rows", 8, tables("INSERT INTO $1.t (v) VALUES (31), (32), (33)", "INSERT INTO $1.t (v, s) SELECT id, s FROM $1.words", "INSERT INTO $1.t (v) SELECT v FROM $2.t WHERE id < 3 ORDER BY id")...),
	{"INSERT IGNORE", 8, func(g *Gen) []Step {
		return []Step{t(pick(g, "INSERT IGNORE INTO $1.t (id, v) VALUES (1, 5), (2, 6)", "INSERT IGNORE INTO $1.t (id, v) VALUES (1, 'abc'), (NULL, 5)", "INSERT IGNORE INTO $1.t (v, s) VALUES (99999999999, REPEAT('x', 60))")), q(pick(g, "SHOW WARNINGS", "SELECT @@warning_count", "SELECT ROW_COUNT()", "SELECT LAST_INSERT_ID()"))}
	}},
	{"INSERT, duplicate", 8, func(g *Gen) []Step {
		return []Step{t(pick(g, "INSERT INTO $1.t (id, v) VALUES (1, 5)", "INSERT INTO $1.t (id, v) VALUES (NULL, 5), (2, 6)")), q(pick(g, "SHOW ERRORS", "SHOW WARNINGS", "SELECT ROW_COUNT()", "SELECT LAST_INSERT_ID()", "SHOW COUNT(*) ERRORS"))}
	}},
	one("ON DUPLICATE KEY", 8, tables("INSERT INTO $1.t (id, v) VALUES (1, 5) AS new ON DUPLICATE KEY UPDATE v = new.v", "INSERT INTO $1.t (id, v) VALUES (2, 2) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), v = v + 3", "INSERT INTO $1.t (id, v) VALUES (1, 1), (60009, 2) ON DUPLICATE KEY UPDATE v = 1")...),
	{"UPDATE", 15, func(g *Gen) []Step {
		return []Step{t(pick(g, "UPDATE $1.t SET v = v + 1 WHERE id < 4", "UPDATE $1.t SET v = v", "UPDATE $2.t SET s = CONCAT(s, 'x') WHERE id = 2", "UPDATE $1.t SET v = 7 WHERE id = 999", "UPDATE $1.t JOIN $1.words w USING (id) SET $1.t.s = w.l")), pick(g, q("SELECT ROW_COUNT()"), read)}
	}},
	{"DELETE", 8, func(g *Gen) []Step {
		return []Step{t(pick(g, "DELETE FROM $1.t WHERE id = 4", "DELETE FROM $1.t WHERE id > 5 ORDER BY id LIMIT 2", "DELETE FROM $2.t WHERE id = 999", "WITH c AS (SELECT 3 AS n) DELETE $1.t FROM $1.t, c WHERE $1.t.id = c.n")), q("SELECT ROW_COUNT()")}
	}},
	one("REPLACE", 6, tables("REPLACE INTO $1.t (id, v) VALUES (2, 7)", "REPLACE INTO $1.t (v) VALUES (8)", "REPLACE INTO $2.t (id, v, s) VALUES (1, 1, 'r'), (60005, 2, 'r')")...),
	one("TRUNCATE", 1, t("TRUNCATE TABLE $2.t").free(PinTrx)),
	{"DDL", 2, func(g *Gen) []Step {
		return []Step{q(pick(g, "CREATE TABLE $1.extra (id INT PRIMARY KEY, s VARCHAR(10))", "CREATE TABLE IF NOT EXISTS $1.extra (id INT)", "CREATE TABLE $1.extra AS SELECT id, v FROM $1.t")).isDDL(),
			t("SELECT * FROM $1.extra ORDER BY id"), q(pick(g, "ALTER TABLE $1.extra ADD COLUMN n INT DEFAULT 3", "CREATE VIEW $1.extra_view AS SELECT id FROM $1.words", "DROP TABLE $1.extra", "RENAME TABLE $1.extra TO $1.extra2", "DROP TABLE IF EXISTS $1.nosuch")).isDDL(), t("SELECT * FROM $1.extra ORDER BY id"), t("SELECT * FROM $1.extra_view ORDER BY id")}
	}},
	{"LOAD DATA LOCAL", 3, func(g *Gen) []Step {
		return []Step{Step{op: opLoad, text: "LOAD DATA LOCAL INFILE 'x' INTO TABLE $1.t (v)", table: true}.bound(str(pick(g, "1\n2\n", "abc\n5\n", ""))), q("SHOW WARNINGS")}
	}},
	one("CALL that writes", 5, tables("CALL $1.put(5)", "CALL $1.signals()", "CALL $2.put(6)", "CALL $1.put()")...),
	{"CALL with results", 5, func(g *Gen) []Step {
		return []Step{q("SET @n = 4"), t("CALL $1.two_results(@n)").pin(PinUser), t("SELECT @n").pin(PinUser)}
	}},
	one("a function that writes", 5, tables("SELECT $1.writes(9)", "DO $1.writes(3)", "SELECT $1.writes(id) FROM $1.words ORDER BY id")...),
	one("a user variable from a function", 2, t("SET @w = $1.writes(1)").pin(PinUser)),
}

// idKinds are about LAST_INSERT_ID.
var idKinds = []Kind{
	one("LAST_INSERT_ID()", 15, tables("SELECT LAST_INSERT_ID()", "select /* x */ last_insert_id ( );", "SELECT LAST_INSERT_ID() AS ID FROM DUAL", "SELECT v FROM $1.t WHERE id = LAST_INSERT_ID()", "SELECT @@last_insert_id, @@identity", "INSERT INTO $2.t (v) SELECT v FROM $1.t WHERE id = LAST_INSERT_ID()", "UPDATE $1.t SET v = 5 WHERE id = LAST_INSERT_ID()")...),
	{"LAST_INSERT_ID(expression)", 8, func(g *Gen) []Step {
		return []Step{t(pick(g, "UPDATE $1.t SET v = LAST_INSERT_ID(v + 1) WHERE id = 1", "SELECT LAST_INSERT_ID(66)", "SELECT LAST_INSERT_ID(id) FROM $1.words WHERE id = 2", "SELECT LAST_INSERT_ID(-1)")), q("SELECT LAST_INSERT_ID()")}
	}},
	{"INSERT and its id", 12, func(g *Gen) []Step {
		return []Step{write, t("SELECT LAST_INSERT_ID()"), t("SELECT v FROM $1.t WHERE id = LAST_INSERT_ID()")}
	}},
}
