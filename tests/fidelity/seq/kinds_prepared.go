package seq

import "fmt"

// preparedKinds are about statements in binary protocol and PREPARE in text.
//
// Not here, as the README's limits name it: comparing a parameter that is bound
// to a number and later to a string. Such parameters are stored or computed with
// here, not compared. Not here either: a statement executed with a cursor and
// then without one, which MySQL 9.7 answers as no client can read.
var preparedKinds = []Kind{
	{"prepare a read", 12, func(g *Gen) []Step {
		return g.prepare(pick(g, "SELECT id, v, s FROM $1.t WHERE id >= ? ORDER BY id", "SELECT * FROM words WHERE id = ?", "SELECT COUNT(*) FROM $2.t WHERE id < ?", "SELECT v FROM t WHERE id = ?"),
			func(g *Gen, name string) Step { return exec(name).bound(pick(g, num(1), num(3), num(-2), null())) })
	}},
	{"prepare a read without parameters", 6, func(g *Gen) []Step {
		return g.prepare(pick(g, "SELECT * FROM $1.kinds ORDER BY id", "SELECT * FROM $1.times ORDER BY id", `SELECT "s" FROM $1.words ORDER BY id`, "SELECT 'a' || 'b', @@sql_mode, DATABASE()", "SELECT GROUP_CONCAT(s ORDER BY id) FROM $1.words", "SELECT HEX('é'), 1 / 3", "SELECT LAST_INSERT_ID()", "SHOW WARNINGS"),
			func(_ *Gen, name string) Step { return exec(name) })
	}},
	{"prepare a write", 12, func(g *Gen) []Step {
		return g.prepare(pick(g, "INSERT INTO $1.t (v, s) VALUES (?, ?)", "INSERT INTO t (v, s) VALUES (?, ?)", "REPLACE INTO $2.t (v, s) VALUES (?, ?)"), rebound)
	}},
	{"prepare an UPDATE", 5, func(g *Gen) []Step {
		return g.prepare("UPDATE $1.t SET v = v + ? WHERE id = ?", func(g *Gen, name string) Step {
			return exec(name).bound(pick(g, num(1), num(5)), pick(g, num(1), num(2), num(99)))
		})
	}},
	{"prepare with strings", 5, func(g *Gen) []Step {
		return g.prepare(pick(g, "SELECT id, ? FROM $1.words WHERE s = ?", "SELECT CONCAT(?, '-', ?), @@character_set_client"), func(g *Gen, name string) Step {
			return exec(name).bound(pick(g, str("é"), str("x"), null()), pick(g, str("é"), str("\xe9"), str("")))
		})
	}},
	{"execute again", 20, func(g *Gen) []Step {
		if len(g.session.prepared) == 0 {
			return []Step{read}
		}
		p := pick(g, g.session.prepared...)
		return []Step{p.make(g, p.name)}
	}},
	{"prepare a statement of transactions", 4, func(g *Gen) []Step {
		name := g.name()
		return []Step{{op: opPrepare, stmt: name, text: pick(g, "COMMIT", "ROLLBACK")}, begin, write, exec(name).free(PinTrx | PinNext), read}
	}},
	{"prepare a SET", 4, func(g *Gen) []Step {
		name := g.name()
		return []Step{{op: opPrepare, stmt: name, text: "SET sql_mode = ?"}, exec(name).bound(pick(g, str("ANSI_QUOTES"), str(""), str("nosuch"))), t(`SELECT "s" FROM $1.words WHERE id = 1`)}
	}},
	{"prepare a CALL", 4, func(g *Gen) []Step {
		return g.prepare("CALL $1.two_results(?)", func(_ *Gen, name string) Step { return exec(name).bound(num(10)) })
	}},
	{"prepare a failure", 5, func(g *Gen) []Step {
		return []Step{{op: opPrepare, stmt: g.name(), text: pick(g, "SELEC 1", "SELECT * FROM $1.nosuch", "SELECT nosuch FROM $1.t", "SELECT 1; SELECT 2", "", "USE $2", "INSERT INTO $1.t (id) VALUES (?")}, g.diag()}
	}},
	{"long data", 3, func(g *Gen) []Step {
		name := g.name()
		return []Step{{op: opPrepare, stmt: name, text: "INSERT INTO $1.t (v, s) VALUES (?, ?)"}, Step{op: opLongData, stmt: name, num: 1, text: "abc"}.pin(PinUser), {op: opLongData, stmt: name, num: 1, text: "def"},
			pick(g, exec(name).bound(num(5), long()), Step{op: opStmtReset, stmt: name}), exec(name).bound(num(6), str("plain")), read}
	}},
	{"cursor", 5, func(g *Gen) []Step {
		name := g.name()
		open := Step{op: opCursor, stmt: name}.bound(num(0)).pin(PinCursor).onTable()
		fetch := Step{op: opFetch, stmt: name, num: 1 + g.rnd.IntN(3)}
		end := Step{op: pick(g, opStmtClose, opStmtReset), stmt: name}.free(PinCursor)
		return []Step{{op: opPrepare, stmt: name, text: "SELECT id, s FROM $1.words WHERE id > ? ORDER BY id"}, open, fetch, pick(g, read, write, fetch), fetch, end, fetch}
	}},
	{"close a statement", 4, func(g *Gen) []Step {
		name := g.name()
		return []Step{{op: opPrepare, stmt: name, text: "SELECT 1"}, exec(name), {op: opStmtClose, stmt: name}, exec(name)}
	}},
	{"text PREPARE", 6, func(g *Gen) []Step {
		prepare := q(pick(g, "PREPARE txt FROM 'SELECT id, s FROM $1.words WHERE id = ?'", "PREPARE txt FROM 'INSERT INTO t (v) VALUES (?)'", "PREPARE txt FROM 'SELEC'")).pin(PinText)
		return []Step{prepare, q("SET @i = 2"), t("EXECUTE txt USING @i"), pick(g, read, q("USE $2"), t("EXECUTE txt")), t("EXECUTE txt USING @i"), q("DEALLOCATE PREPARE txt").free(PinText), t("EXECUTE txt USING @i")}
	}},
	one("somebody's text PREPARE", 2, texts("EXECUTE txt", "DEALLOCATE PREPARE txt", "EXECUTE IMMEDIATE 'SELECT 1'")...),
}

// rebound binds other types each time; all of them are stored in columns.
func rebound(g *Gen, name string) Step {
	return exec(name).bound(pick(g, num(60), str("61"), double(2.5), null()), pick(g, str("six"), num(6), null(), double(0.5)))
}

func exec(name string) Step { return Step{op: opExecute, stmt: name, table: true} }

func (g *Gen) name() string {
	g.session.count++
	return fmt.Sprintf("s%d", g.session.count)
}

// prepare makes a statement that the session may execute again later.
func (g *Gen) prepare(text string, execute func(*Gen, string) Step) []Step {
	name := g.name()
	g.session.prepared = append(g.session.prepared, prepared{name, execute})
	steps := []Step{{op: opPrepare, stmt: name, text: text}, execute(g, name), execute(g, name)}
	if g.chance(20) {
		// With the types of the time before, whatever they were then.
		again := steps[2]
		again.op = opExecuteSame
		steps = append(steps, again)
	}
	return steps
}
