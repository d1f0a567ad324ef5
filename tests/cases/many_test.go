package cases

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"causeway/tests/session/raw"
)

// manyCases: more sessions than connections, one after the other and at once.
var manyCases = []theCase{
	{row: "X33", name: "twenty sessions, each with its own state", steps: twenty()},
	{row: "X34", name: "transactions at the same time", run: atOnce},
	{row: "X35", name: "KILL of an idle session spares the others", run: func(e *env) string {
		return spares(e, func(idle, c *raw.Client) { e.query(c, fmt.Sprintf("KILL QUERY %d", idle.Greeting.ConnectionID)) })
	}},
	{row: "X35", name: "KILL of an idle connection spares the others", run: func(e *env) string {
		return spares(e, func(idle, c *raw.Client) { e.query(c, fmt.Sprintf("KILL %d", idle.Greeting.ConnectionID)) })
	}},
	{row: "X35", name: "a client that leaves spares the others", run: func(e *env) string {
		return spares(e, func(idle, _ *raw.Client) { idle.Close() })
	}},
}

// twenty sessions set what they have, and find it again in another order.
func twenty() []step {
	const n = 20
	var list []step
	for i := range n {
		list = append(list, each(fmt.Sprint("s", i),
			fmt.Sprintf("SET @v = %d, time_zone = '+%02d:00', group_concat_max_len = %d", i, i%12, 100+i), "USE cases"+[]string{"", "2"}[i%2],
			fmt.Sprintf("INSERT INTO cases.t (v) VALUES (%d)", i), "SELECT * FROM nosuch => ERR 1146", "DO 1")...)
	}
	random := rand.New(rand.NewPCG(1, 33))
	for range 2 {
		for _, i := range random.Perm(n) {
			list = append(list, each(fmt.Sprint("s", i),
				fmt.Sprintf("SELECT @v, @@group_concat_max_len, DATABASE(), LAST_INSERT_ID() => %d,%d,cases%s,%d", i, 100+i, []string{"", "2"}[i%2], i+6),
				fmt.Sprintf("SELECT ts FROM cases.times => 2024-05-06 %02d:08:09", 7+i%12), fmt.Sprintf("UPDATE cases.t SET s = 's%d' WHERE v = @v AND id > 5 => OK", i))...)
		}
	}
	return append(list, steps("x: SELECT COUNT(*) FROM t WHERE s = CONCAT('s', v) => 20")...)
}

// atOnce has eight clients run transactions on rows of their own. One
// connection to the source serves them one by one; none may fail or see
// another's rows.
func atOnce(e *env) string {
	const clients, rounds = 8, 10
	var wg sync.WaitGroup
	var mu sync.Mutex
	fail := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		e.errorf(format, args...)
	}
	for i := range clients {
		wg.Go(func() {
			c, err := raw.Dial(options(e.addr, e.caps))
			if err != nil {
				fail("no connection: %v", err)
				return
			}
			defer c.Quit()
			if a, err := c.Query(fmt.Sprintf("SET @me = %d; INSERT INTO t (id, v) VALUES (100 + %d, 0)", i, i)); err != nil || a.Err() != nil {
				fail("client %d: %v %v", i, err, a.Err())
			}
			for round := range rounds {
				a, err := c.Query(fmt.Sprintf("BEGIN; UPDATE t SET v = v + 1 WHERE id = 100 + %d; SELECT v FROM t WHERE id = 100 + %d; COMMIT", i, i))
				if err != nil || a.Value() != fmt.Sprint(round+1) {
					fail("client %d, round %d: %v %v", i, round, a, err)
					return
				}
				for _, sql := range []string{"BEGIN", "SELECT v FROM t WHERE id = 1 FOR UPDATE", "COMMIT", fmt.Sprintf("SELECT v FROM t WHERE id = 100 + %d", i)} {
					if a, err = c.Query(sql); err != nil || a.Err() != nil {
						fail("client %d, round %d, %s: %v %v", i, round, sql, a.Err(), err)
						return
					}
				}
				if a.Value() != fmt.Sprint(round+1) {
					fail("client %d read %s after it wrote %d", i, a.Value(), round+1)
				}
			}
		})
	}
	wg.Wait()
	if got := e.onSource("SELECT SUM(v) FROM cases.t WHERE id >= 100"); got != fmt.Sprint(clients*rounds) {
		e.errorf("the sum is %s, wanted %d", got, clients*rounds)
	}
	return ""
}

// spares does something to an idle session while another one runs a statement
// on the connection that may have been the idle one's before.
func spares(e *env, do func(idle, c *raw.Client)) string {
	idle, busy, c := e.dial(), e.dial(), e.dial()
	if idle == nil || busy == nil || c == nil {
		return ""
	}
	defer idle.Close()
	defer busy.Quit()
	defer c.Quit()
	e.query(c, "SELECT 1")
	e.query(idle, "UPDATE t SET v = 11 WHERE id = 1")
	if err := busy.SendQuery("UPDATE /* cases spared */ t SET v = 100 + SLEEP(0.6) WHERE id = 2"); err != nil {
		e.errorf("%v", err)
	}
	e.starts("spared")
	do(idle, c)
	a, err := busy.ReadAnswer()
	if err != nil || a.Err() != nil {
		e.errorf("the other session's statement: %v %v", a.Err(), err)
	}
	e.want(busy, "SELECT v FROM t WHERE id = 2", "100")
	return ""
}
