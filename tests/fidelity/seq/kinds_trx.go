package seq

var (
	begin  = q("BEGIN").pin(PinTrx).free(PinNext)
	commit = q("COMMIT").free(PinTrx | PinNext)
	back   = q("ROLLBACK").free(PinTrx | PinNext)
	write  = t("INSERT INTO $1.t (v) VALUES (11)")
	read   = t("SELECT id, v, s FROM $1.t ORDER BY id")
)

// schemaKinds: what unqualified names mean.
var schemaKinds = []Kind{
	{"USE", 20, func(g *Gen) []Step {
		return []Step{q(pick(g, "USE $1", "USE $2", "use `$2`", "USE nosuch", "USE $1 -- x")), t(pick(g, "SELECT v, s FROM t ORDER BY id", "SELECT DATABASE()", "SELECT SCHEMA(), COUNT(*) FROM words"))}
	}},
	{"COM_INIT_DB", 15, func(g *Gen) []Step {
		return []Step{initDB(pick(g, "$1", "$2", "nosuch", "")), t(pick(g, "SELECT v, s FROM t ORDER BY id", "SELECT DATABASE()", "SHOW TABLES"))}
	}},
	one("unqualified names", 25, tables("SELECT v FROM t ORDER BY id", "INSERT INTO t (v) VALUES (12)", "UPDATE t SET v = v + 1 WHERE id < 3", "SELECT COUNT(*) FROM t", "SELECT * FROM words WHERE id = 2", "DELETE FROM t WHERE id = 3", "SELECT plus_one(4)", "DESC words", "SHOW COLUMNS FROM t")...),
}

var trxKinds = []Kind{
	{"BEGIN", 20, func(g *Gen) []Step {
		b := begin
		b.text = pick(g, "BEGIN", "START TRANSACTION", "begin work", "START TRANSACTION READ WRITE", "START TRANSACTION WITH CONSISTENT SNAPSHOT")
		return []Step{b, pick(g, write, read), pick(g, read, t("UPDATE $1.t SET v = v * 2 WHERE id = 1")), pick(g, commit, back)}
	}},
	{"START TRANSACTION READ ONLY", 12, func(g *Gen) []Step {
		b := begin
		b.text = pick(g, "START TRANSACTION READ ONLY", "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
		return []Step{b, read, pick(g, write, read, q("SELECT @@transaction_read_only")), pick(g, commit, back)}
	}},
	all("an empty transaction", 5, begin, commit),
	one("COMMIT or ROLLBACK", 8, commit, back, q("COMMIT WORK AND NO CHAIN NO RELEASE").free(PinTrx|PinNext), q("ROLLBACK WORK").free(PinTrx|PinNext)),
	{"AND CHAIN", 6, func(g *Gen) []Step {
		return []Step{begin, pick(g, write, read), q(pick(g, "COMMIT AND CHAIN", "ROLLBACK AND CHAIN")).pin(PinTrx), read, pick(g, commit, back)}
	}},
	{"SAVEPOINT", 10, func(g *Gen) []Step {
		return []Step{begin, q("SAVEPOINT a"), write, q(pick(g, "ROLLBACK TO a", "ROLLBACK TO SAVEPOINT nosuch", "RELEASE SAVEPOINT a", "SAVEPOINT b")), read, q("ROLLBACK TO a"), pick(g, commit, back)}
	}},
	all("SAVEPOINT outside of a transaction", 3, q("SAVEPOINT a"), q("ROLLBACK TO a")),
	{"autocommit", 15, func(g *Gen) []Step {
		off, on := q(pick(g, "SET autocommit = 0", "SET @@SESSION.autocommit = OFF")), q(pick(g, "SET autocommit = 1", "SET autocommit = ON", "SET autocommit = DEFAULT"))
		off.auto, on.auto = -1, 1
		off.forget = []string{"autocommit"}
		return []Step{off, pick(g, read, write), pick(g, write, q("SELECT @@autocommit")), pick(g, commit, back), pick(g, q("SELECT @@autocommit"), read, on), on}
	}},
	all("autocommit on", 4, Step{op: opQuery, text: "SET autocommit = 1", auto: 1}),
	{"SET TRANSACTION", 8, func(g *Gen) []Step {
		set := q(pick(g, "SET TRANSACTION READ ONLY", "SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET @@transaction_read_only = 1", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY", "SET @@transaction_isolation = 'READ-COMMITTED'")).pin(PinNext)
		return []Step{set, pick(g, q("SELECT @@transaction_isolation, @@transaction_read_only"), begin, write, read), write, pick(g, commit, write)}
	}},
	{"completion_type", 3, func(*Gen) []Step {
		return []Step{q("SET completion_type = 1").pin(PinChain), begin, write, commit, read, q("SET completion_type = 0").free(PinChain), back}
	}},
	{"a transaction with DDL in it", 2, func(g *Gen) []Step {
		return []Step{begin, write, q(pick(g, "CREATE TABLE $1.t (id INT)", "CREATE TABLE IF NOT EXISTS $1.extra (id INT)")).isDDL(), back, read}
	}},
	{"XA", 5, xa},
	one("locking reads", 6, tables("SELECT v FROM $1.t WHERE id = 1 FOR UPDATE", "SELECT id FROM $1.t WHERE id < 3 ORDER BY id FOR SHARE SKIP LOCKED", "SELECT v FROM $1.t WHERE id = 2 LOCK IN SHARE MODE", "(SELECT v FROM $1.t WHERE id = 1 FOR UPDATE) UNION (SELECT 1)")...),
}

var (
	xaEnd      = Step{op: opQuery, text: "XA END '$x'", frees: PinXAActive, xa: true}
	xaRollback = Step{op: opQuery, text: "XA ROLLBACK '$x'", frees: PinXA, unless: PinXAActive, xa: true}
)

func xa(g *Gen) []Step {
	steps := []Step{{op: opQuery, text: "XA START '$x'", pins: PinXA | PinXAActive, xa: true}, write}
	steps = append(steps, pick(g, read, q("COMMIT"), begin, write), xaEnd)
	done := Step{op: opQuery, frees: PinXA, unless: PinXAActive, xa: true}
	if done.text = "XA COMMIT '$x' ONE PHASE"; g.chance(50) {
		prepare := q("XA PREPARE '$x'")
		prepare.xa = true
		steps = append(steps, prepare)
		done.text = pick(g, "XA COMMIT '$x'", "XA ROLLBACK '$x'")
	}
	return append(steps, done, xaRollback, read)
}
