package cases

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"causeway/tests/session/raw"
	"causeway/wire"
)

// autocommitCases: with autocommit=0 the first statement that reads a table
// opens a transaction, and all of it runs on the source.
var autocommitCases = []theCase{
	{row: "A1", name: "autocommit off then update", steps: steps(
		"a: SET autocommit = 0 => OK",
		"a: SELECT v FROM t WHERE id = 1 => 10 @source",
		"a: UPDATE t SET v = 11 WHERE id = 1 => OK @source",
		"x: SELECT v FROM t WHERE id = 1 => 10",
		"a: SELECT v FROM t WHERE id = 1 => 11 @source",
		"a: COMMIT => OK",
		"x: SELECT v FROM t WHERE id = 1 => 11",
		"b: SELECT v FROM t WHERE id = 1 => 11 @replica",
		"a: UPDATE t SET v = 12 WHERE id = 1 => OK @source",
		"a: ROLLBACK => OK",
		"a: SELECT v FROM t WHERE id = 1 => 11 @source",
		"a: SET autocommit = 1 => OK",
		"a: SELECT v FROM t WHERE id = 1 => 11 @replica",
		"b: UPDATE t SET v = 13 WHERE id = 1 => OK @source",
		"x: SELECT v FROM t WHERE id = 1 => 13",
	)},
	{row: "A1", name: "the same prepared", classic: true, steps: steps(
		"a: SET autocommit = 0",
		prep("a", "r", "SELECT v FROM t WHERE id = ?"), prep("a", "w", "UPDATE t SET v = ? WHERE id = ?"), prep("a", "c", "COMMIT"),
		exe("a", "r", num(1)).at("source"), exe("a", "w", num(11), num(1)).is("OK").at("source"),
		"x: SELECT v FROM t WHERE id = 1 => 10",
		exe("a", "c").is("OK"),
		"x: SELECT v FROM t WHERE id = 1 => 11",
		"a: SET autocommit = 1", exe("a", "r", num(1)), // where: see X28
	)},
	{row: "A3", name: "each session has its own", steps: steps(
		"a: SET autocommit = 0 => OK",
		"b: SELECT @@autocommit => 1",
		"b: INSERT INTO t (v) VALUES (1) => OK",
		"x: SELECT COUNT(*) FROM t => 6",
		"a: SELECT @@autocommit => 0",
		"a: INSERT INTO t (v) VALUES (2) => OK",
		"x: SELECT COUNT(*) FROM t => 6",
		"a: ROLLBACK => OK",
		"b: INSERT INTO t (v) VALUES (3) => OK",
		"x: SELECT COUNT(*) FROM t => 7",
		`a: \ping`, `b: \ping`,
		"a: INSERT INTO t (v) VALUES (4) => OK", `a: \quit`,
		"c: SELECT @@autocommit => 1",
		"c: INSERT INTO t (v) VALUES (5) => OK",
		"x: SELECT v FROM t WHERE id > 5 ORDER BY id => 1 | 3 | 5",
	)},
	{row: "A3", name: "every way to say it", steps: autocommitSpellings()},
	{row: "A4", name: "reads of every form stay in the transaction", steps: steps(
		"a: SET autocommit = 0",
		"a: /* a comment */ SELECT v FROM t WHERE id = 1 => 10 @source",
		"x: UPDATE t SET v = 11 WHERE id = 1",
		"a: (SELECT v FROM t WHERE id = 1) UNION ALL (SELECT 2) => 10 | 2 @source",
		"a: WITH c AS (SELECT v FROM t WHERE id = 1) SELECT * FROM c => 10 @source",
		"a: TABLE t ORDER BY id LIMIT 1 => 1,10,one @source",
		"a: SELECT /*+ MAX_EXECUTION_TIME(9000) */ v FROM t WHERE id = 1 => 10 @source",
		"a: SELECT COUNT(*) FROM (SELECT * FROM t) d => 5 @source",
		"a: select v from t where id = 1; => 10 @source",
		"a: COMMIT",
		"a: SELECT v FROM t WHERE id = 1 => 11 @source",
		"a: ROLLBACK", "a: SET autocommit = 1",
		"a: SELECT v FROM t WHERE id = 1 => 11 @replica",
	)},
	{row: "A5", name: "status flag over many statements", run: autocommitFlags},
	{row: "A6", name: "read only and autocommit off", steps: steps(
		"a: SET SESSION TRANSACTION READ ONLY", "a: SET autocommit = 0",
		"a: SELECT v FROM t WHERE id = 1 => 10 @replica",
		"x: UPDATE t SET v = 11 WHERE id = 1",
		"a: SELECT v FROM t WHERE id = 1 => 10 @replica",
		"a: UPDATE t SET v = 12 => ERR 1792",
		"a: COMMIT", "a: SET autocommit = 1", "a: SET SESSION TRANSACTION READ WRITE",
		"a: UPDATE t SET v = 12 WHERE id = 1 => OK @source",
		"a: SELECT v FROM t WHERE id = 1 => 12 @replica",
	)},
	{row: "A6", name: "a framework that sends nothing but autocommit", classic: true, steps: steps(
		"a: SET autocommit=0", "a: SELECT v FROM t WHERE id = 1 => 10 @source", "a: COMMIT", "a: SET autocommit=1",
		"b: SET autocommit=0", "b: INSERT INTO t (v) VALUES (6) => OK", "b: SELECT COUNT(*) FROM t => 6 @source", "b: COMMIT", "b: SET autocommit=1",
		"a: SET autocommit=0", "a: SELECT COUNT(*) FROM t => 6 @source", "a: ROLLBACK", "a: SET autocommit=1",
	)},
	{row: "A7", name: "implicit commits", steps: steps(
		"a: SET autocommit = 0", "a: INSERT INTO t (v) VALUES (1) => OK",
		"a: CREATE TABLE made (id INT) => OK",
		"x: SELECT COUNT(*) FROM t => 6",
		"a: ROLLBACK", "a: SELECT COUNT(*) FROM t => 6",
		"a: INSERT INTO t (v) VALUES (2)", "a: SET autocommit = 1",
		"x: SELECT COUNT(*) FROM t => 7",
		"a: BEGIN", "a: INSERT INTO t (v) VALUES (3)", "a: SET autocommit = 1",
		"x: SELECT COUNT(*) FROM t => 7",
		"a: ROLLBACK", "a: SELECT COUNT(*) FROM t => 7 @replica",
		"a: SET autocommit = 0", "a: INSERT INTO t (v) VALUES (4)", "a: BEGIN",
		"x: SELECT COUNT(*) FROM t => 8",
		"a: INSERT INTO t (v) VALUES (5)", "a: ANALYZE TABLE words",
		"x: SELECT COUNT(*) FROM t => 9",
		"a: INSERT INTO t (v) VALUES (6)", "a: LOCK TABLES words READ",
		"x: SELECT COUNT(*) FROM t => 10",
		"a: UNLOCK TABLES", "a: SET autocommit = 1",
	)},
}

func autocommitSpellings() []step {
	var list []step
	for _, off := range []string{
		"SET autocommit = OFF", "SET @@session.autocommit = 0", "SET SESSION autocommit = FALSE", "SET LOCAL autocommit := 0", "SET @@autocommit = 0", "set AutoCommit=0", "SET @v = 1, autocommit = 0",
		"SET /* it */ autocommit /* goes */ = 0 -- off", "SET autocommit = 1 - 1", "SET sql_mode = DEFAULT, autocommit = 'off'", "/*!40000 SET autocommit = 0 */", "SET @n = 0; SET @@local.autocommit = @n", "CALL off()",
	} {
		list = append(list, each("a", off, "SELECT @@autocommit => 0", "INSERT INTO t (v) VALUES (1) => OK", "SELECT COUNT(*) FROM t", "ROLLBACK", "SELECT COUNT(*) FROM t => 5", "ROLLBACK", "SET autocommit = DEFAULT", "SELECT @@autocommit => 1")...)
	}
	return list
}

// autocommitFlags runs statements at random and wants the status flags of each
// OK to say what the session's own variable says.
func autocommitFlags(e *env) string {
	// START TRANSACTION READ ONLY is not here because of X26.
	kinds := []string{"SET autocommit = 0", "SET autocommit = 1", "SET autocommit = DEFAULT", "SELECT v FROM t WHERE id = 1", "SELECT 1", "INSERT INTO t (v) VALUES (1)", "UPDATE t SET v = v + 1 WHERE id = 2",
		"BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT s", "ROLLBACK TO s", "SELECT * FROM nosuch", "SET time_zone = '+01:00'", "SELECT v FROM t WHERE id = 1 FOR UPDATE", "SHOW TABLES", "USE cases"}
	var seen strings.Builder
	for seed := range uint64(3) {
		c, err := raw.Dial(options(e.addr, e.caps))
		if err != nil {
			e.errorf("%v", err)
			return ""
		}
		random := rand.New(rand.NewPCG(seed, 5))
		for i := range 60 {
			sql := kinds[random.IntN(len(kinds))]
			a, err := c.Query(sql)
			v, err2 := c.Query("SELECT @@autocommit")
			if err != nil || err2 != nil || len(v) != 1 {
				e.errorf("seed %d, statement %d, %s: %v %v", seed, i, sql, err, err2)
				return seen.String()
			}
			if on := v[0].Status.Has(wire.StatusAutocommit); on != (v.Value() == "1") {
				e.errorf("seed %d, statement %d, %s: the flag is %v, the variable %s", seed, i, sql, on, v.Value())
			}
			fmt.Fprintf(&seen, "%d %d %s\n%s%s", seed, i, sql, a, v)
		}
		c.Quit()
	}
	return seen.String()
}
