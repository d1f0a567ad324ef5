package cases

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"causeway/tests/cluster"
	"causeway/tests/session/raw"
	"causeway/wire"
)

// killCases: KILL, clients that go away, and drivers that cancel.
var killCases = []theCase{
	{row: "R3", name: "KILL in every spelling", steps: steps(
		"a: SELECT v FROM t WHERE id = 1 => 10", "b: KILL QUERY ${id of a} => OK", "a: SELECT v FROM t WHERE id = 2 FOR UPDATE", "b: kill /* c */ query /* d */ ${id of a} -- e => OK", "a: SELECT v FROM t WHERE id = 3", "b: KILL 999999999 => ERR 1094", "b: KILL QUERY 0 => ERR 1094", "b: KILL nosuch", "b: KILL /* c */ ${id of a} => OK", "a: SELECT 1 => CLOSED", "b: INSERT INTO t (v) VALUES (1) => OK", "c: SELECT COUNT(*) FROM t => 6", quiet("b", "KILL CONNECTION ${id of a}").is("ERR 1094"), "b: KILL QUERY ${id of b} => ERR 1317", "b: SELECT 1 => 1",
	)},
	{row: "R3", name: "KILL of others", options: map[string]func(*raw.Options){"b": func(o *raw.Options) { o.User, o.Password = "other", "other_pw" }}, steps: steps(
		"a: SELECT v FROM t WHERE id = 1 => 10", quiet("b", "KILL ${id of a}").is("ERR 1095"), quiet("b", "KILL QUERY ${id of a}").is("ERR 1095"), "a: SELECT v FROM t WHERE id = 2 => 20", "c: SELECT 1 => 1", "c: KILL ${id of a} => OK", "a: SELECT 1 => CLOSED", "c: INSERT INTO t (v) VALUES (1) => OK",
	)},
	{row: "R3", name: "KILL QUERY hits what runs", run: func(e *env) string { return killRunning(e, "KILL /*c*/ QUERY %d") }},
	{row: "R3", name: "KILL hits what runs", run: func(e *env) string { return killRunning(e, "KILL CONNECTION %d") }},
	{row: "R3", name: "KILL of oneself", steps: steps(
		"a: SELECT v FROM t WHERE id = 1 => 10", "a: KILL QUERY CONNECTION_ID() => ERR 1317", "a: SHOW WARNINGS", "a: KILL QUERY connection_id( ) -- c", "a: SELECT ROW_COUNT()", "a: BEGIN", "a: UPDATE t SET v = 99 WHERE id = 1", "a: KILL QUERY (CONNECTION_ID()) => ERR 1317", "a: SELECT v FROM t WHERE id = 1 => 99",
		"a: KILL CONNECTION_ID() => ERR 1317", "a: SELECT 1 => CLOSED", "b: SELECT v FROM t WHERE id = 1 FOR UPDATE => 10", "b: SET @me = CONNECTION_ID()", "b: KILL @me => ERR 1317", "b: SELECT 1 => CLOSED", "c: KILL CONNECTION CONNECTION_ID() + 0 => ERR 1317", "c: SELECT 1 => CLOSED", "d: SELECT v FROM t WHERE id = 1 => 10",
	)},
	{row: "R3", name: "KILL by an expression", steps: steps(
		"a: SELECT v FROM t WHERE id = 1 => 10", "b: SET @id = ${id of a}", "b: KILL QUERY @id => OK", "b: SELECT ROW_COUNT()", "b: KILL QUERY @id + 0; => OK", "b: KILL QUERY '${id of a}' => OK", "a: SELECT v FROM t WHERE id = 2 => 20",
		"b: KILL NULL => ERR 1094", "b: SHOW WARNINGS", "b: KILL @nosuch => ERR 1094", "b: KILL (SELECT 1)", "b: KILL nosuch", "b: SHOW WARNINGS", "b: KILL QUERY", "b: KILL 999999999 => ERR 1094", "b: SHOW WARNINGS", "b: SELECT @@error_count => 1", "b: SELECT ROW_COUNT()", "b: KILL 999999999 => ERR 1094", "b: SELECT ROW_COUNT()",
		"b: SET @n = 1", "b: BEGIN", "b: INSERT INTO t (v) VALUES (1)", "b: KILL @id * @n => OK", "b: COMMIT", "a: SELECT 1 => CLOSED", "b: SELECT COUNT(*) FROM t => 6",
	)},
	{row: "R3", name: "KILL cannot be prepared", steps: steps(
		"a: SELECT v FROM t WHERE id = 1 => 10", prep("b", "p", "KILL QUERY ?"), prep("b", "me", "KILL CONNECTION_ID()"), "b: PREPARE k FROM 'KILL ?'", "b: SELECT 1 => 1",
	)},
	{row: "R3", name: "KILL gives no rows of what it ends", run: killSleeping},
	{row: "R3", name: "COM_PROCESS_KILL", steps: steps(
		"a: SELECT 1 => 1", killCommand("b", "a"), "b: SELECT 1",
	)},
	{row: "X36", name: "COM_DEBUG", options: map[string]func(*raw.Options){"b": func(o *raw.Options) { o.User, o.Password = "other", "other_pw" }}, steps: steps(
		`a: \debug => OK`, "a: SHOW WARNINGS", "a: SELECT v FROM t WHERE id = 1 => 10", `b: \debug => ERR 1227`, "b: SHOW WARNINGS", "b: SELECT v FROM t WHERE id = 1 => 10", "a: BEGIN", "a: UPDATE t SET v = 11 WHERE id = 1", `a: \debug => OK`, "a: ROLLBACK", "a: START TRANSACTION READ ONLY", "a: SELECT v FROM t WHERE id = 1 => 10", `a: \debug => OK`, "a: SELECT v FROM t WHERE id = 2 => 20", "a: COMMIT",
	)},
	{row: "R4", name: "a client that goes away", run: clientLeaves},
	{row: "R5", name: "a killed query is not sent again", run: killedOnNode},
	{row: "R6", name: "a context that ends", run: contextEnds},
	{row: "R6", name: "cancelling what uses up the pools", run: cancelAtFullPools},
	{row: "R6", name: "time limit of a statement", steps: steps(
		"a: SET max_execution_time = 100", "a: "+marked("max_execution_time")+" => ERR 3024", "b: "+strings.Replace(marked("hint"), "SELECT", "SELECT /*+ MAX_EXECUTION_TIME(100) */", 1)+" => ERR 3024", "a: SELECT v FROM t WHERE id = 1 => 10", "b: SELECT @@max_execution_time => 0", "a: SET max_execution_time = 0", "a: INSERT INTO t (v) VALUES (1) => OK",
	)},
}

// marked is a plain read that takes minutes and can be found by its mark.
func marked(mark string) string {
	return "SELECT /* cases " + mark + " */ COUNT(*) FROM t a, t b, t c, t d, t e, t f, t g, t h, t i, t j, t k, t l, t m, t n WHERE a.v + b.v + c.v + d.v + e.v + f.v + g.v + h.v + i.v + j.v + k.v + l.v + m.v + n.v = 7"
}

// running lists where statements with a mark run, as node and thread.
func (e *env) running(mark string) (nodes []*cluster.Node, threads []string) {
	for _, n := range lab.cluster.Nodes() {
		v, err := n.Value(e.t.Context(), "SELECT GROUP_CONCAT(PROCESSLIST_ID) FROM performance_schema.threads WHERE PROCESSLIST_INFO LIKE '%cases "+mark+" %' AND PROCESSLIST_ID <> CONNECTION_ID()")
		if err != nil {
			e.errorf("%v", err)
		}
		if v != "" {
			nodes, threads = append(nodes, n), append(threads, v)
		}
	}
	return nodes, threads
}

func (e *env) starts(mark string) {
	e.eventually("the query runs", func() bool { n, _ := e.running(mark); return len(n) == 1 })
}

func (e *env) ends(mark string) {
	e.eventually("the query ends", func() bool { n, _ := e.running(mark); return len(n) == 0 })
}

// killRunning kills another session's running query by the id of its login.
func killRunning(e *env, kill string) string {
	a, b := e.dial(), e.dial()
	if a == nil || b == nil {
		return ""
	}
	defer a.Close()
	defer b.Quit()
	if err := a.SendQuery(marked("kill")); err != nil {
		e.errorf("%v", err)
	}
	e.starts("kill")
	e.query(b, fmt.Sprintf(kill, a.Greeting.ConnectionID))
	answer, err := a.ReadAnswer()
	seen := "connection ended"
	if strings.Contains(kill, "QUERY") {
		seen = fmt.Sprint(answer, err)
		e.want(a, "SELECT v FROM t WHERE id = 1", "10")
	} else if answer, err = a.Query("SELECT 1"); err == nil {
		e.errorf("the killed connection goes on: %v", answer)
	}
	e.ends("kill")
	e.want(b, "INSERT INTO t (v) VALUES (1); SELECT COUNT(*) FROM t", "6")
	return seen
}

// killSleeping kills statements that have a row ready, or return one when they
// are interrupted: the client must see none of it.
func killSleeping(e *env) string {
	for _, text := range []string{"SELECT SLEEP(20)", "SELECT v, SLEEP(IF(id = 2, 20, 0)) /* cases sleeping */ FROM t", "DO SLEEP(20)", "UPDATE t SET v = v + SLEEP(20) WHERE id = 1"} {
		a, b := e.dial(), e.dial()
		if a == nil || b == nil {
			return ""
		}
		if err := a.SendQuery(strings.Replace(text, "SLEEP(", "/* cases sleeping */ SLEEP(", 1)); err != nil {
			e.errorf("%v", err)
		}
		e.starts("sleeping")
		e.query(b, fmt.Sprintf("KILL %d", a.Greeting.ConnectionID))
		if answer, err := a.ReadAnswer(); err == nil {
			e.errorf("%s: the killed connection still got: %v", text, answer)
		}
		e.ends("sleeping")
		e.want(b, "SELECT v FROM t WHERE id = 1 FOR UPDATE", "10")
		a.Close()
		b.Quit()
	}
	return ""
}

// killCommand sends COM_PROCESS_KILL.
func killCommand(session, victim string) step {
	return step{session: session, name: "COM_PROCESS_KILL for " + victim, do: func(p *player, c *raw.Client) (outcome, error) {
		return answered(c.Command(wire.ComProcessKill, binary.LittleEndian.AppendUint32(nil, p.clients[victim].Greeting.ConnectionID)))
	}}
}

func clientLeaves(e *env) string {
	for _, begin := range []string{"SELECT 1", "START TRANSACTION READ ONLY"} {
		c := e.dial()
		if c == nil {
			return ""
		}
		e.query(c, begin)
		if err := c.SendQuery(marked("leaves")); err != nil {
			e.errorf("%v", err)
		}
		e.starts("leaves")
		if e.direct { // MySQL itself lets it run on
			e.query(c2(e), fmt.Sprintf("KILL %d", c.Greeting.ConnectionID))
		}
		c.Close()
		e.ends("leaves")
	}
	if c := e.dial(); c != nil {
		e.want(c, "INSERT INTO t (v) VALUES (1); SELECT COUNT(*) FROM t", "6")
		e.want(c, "SELECT v FROM t WHERE id = 1", "10")
		c.Quit()
	}
	return ""
}

// c2 is a second connection that ends with the test.
func c2(e *env) *raw.Client {
	c := e.dial()
	if c != nil {
		e.t.Cleanup(func() { c.Close() })
	}
	return c
}

// killedOnNode has an administrator kill a query where it runs.
func killedOnNode(e *env) string {
	c := e.dial()
	if c == nil {
		return ""
	}
	defer c.Quit()
	if err := c.SendQuery(marked("on its node")); err != nil {
		e.errorf("%v", err)
	}
	e.starts("on its node")
	nodes, threads := e.running("on its node")
	if len(nodes) == 1 {
		if err := nodes[0].Exec(e.t.Context(), "KILL QUERY "+threads[0]); err != nil {
			e.errorf("%v", err)
		}
	}
	a, err := c.ReadAnswer()
	if n, _ := e.running("on its node"); len(n) != 0 {
		e.errorf("the killed query runs again")
	}
	e.want(c, "SELECT v FROM t WHERE id = 1", "10")
	return fmt.Sprint(a, err)
}

// cancelAtFullPools cancels from new connections, as drivers do: first while one
// statement uses up the source's pool, then while each node's is used up. What the
// new connections have set is theirs afterwards.
func cancelAtFullPools(e *env) string {
	var seen []string
	locking, read := "SELECT /* cases full */ SLEEP(20) FROM t FOR UPDATE", marked("full")
	for _, texts := range [][]string{{locking}, {locking, read, read}} {
		var victims []*raw.Client
		for _, text := range texts {
			v := c2(e)
			if v == nil {
				return ""
			}
			e.query(v, "SET NAMES latin1")
			victims = append(victims, v)
			if err := v.SendQuery(text); err != nil {
				e.errorf("%v", err)
			}
			e.eventually("it runs", func() bool {
				_, threads := e.running("full")
				return strings.Count(strings.Join(threads, ","), ",")+1 == len(victims) && len(threads) > 0
			})
		}
		killer := c2(e)
		if killer == nil {
			return ""
		}
		for _, text := range []string{"SET NAMES latin1", "SET AUTOCOMMIT = 0"} {
			seen = append(seen, fmt.Sprint(e.query(killer, text)))
		}
		for _, v := range victims {
			e.query(killer, fmt.Sprintf("KILL QUERY %d", v.Greeting.ConnectionID))
			a, err := v.ReadAnswer()
			seen = append(seen, fmt.Sprint(a, err))
		}
		e.ends("full")
		seen = append(seen, fmt.Sprint(e.query(killer, "SELECT v, @@autocommit, @@character_set_client, @@character_set_results, @@collation_connection FROM t WHERE id = 1 FOR UPDATE")))
		e.query(killer, "ROLLBACK")
	}
	return strings.Join(seen, "\n")
}

// contextEnds cancels as go-sql-driver does, by closing its connection, and as
// Connector/J does, by KILL QUERY from another one.
func contextEnds(e *env) string {
	cfg := cluster.AppConfig(e.addr, "cases")
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		e.errorf("%v", err)
		return ""
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	ctx, cancel := context.WithTimeout(e.t.Context(), 300*time.Millisecond)
	defer cancel()
	var n int
	if err := db.QueryRowContext(ctx, marked("context")).Scan(&n); !errors.Is(err, context.DeadlineExceeded) {
		e.errorf("a query whose context ends: %v", err)
	}
	if !e.direct {
		e.ends("context")
	} else if nodes, threads := e.running("context"); len(nodes) == 1 { // MySQL itself lets it run on
		_ = nodes[0].Exec(e.t.Context(), "KILL "+threads[0])
	}
	tx, err := db.BeginTx(e.t.Context(), nil)
	if err != nil {
		e.errorf("%v", err)
		return ""
	}
	defer tx.Rollback()
	if _, err := tx.Exec("UPDATE t SET v = v + ? WHERE id = 1", 1); err != nil {
		e.errorf("%v", err)
	}
	if err := tx.Commit(); err != nil {
		e.errorf("%v", err)
	}
	if got := e.onSource("SELECT v FROM cases.t WHERE id = 1"); got != "11" {
		e.errorf("v is %s, wanted 11", got)
	}
	return ""
}
