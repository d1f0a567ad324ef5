package backend

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"causeway/wire"
)

// poolOf makes pools in which connections to node can be adopted.
func poolOf(o PoolOptions) (*Pools, *Node) {
	if o.Wait == 0 {
		o.Wait = 5 * time.Second
	}
	if o.Queue == 0 {
		o.Queue = 10
	}
	return NewPools(&Config{ConnectTimeout: time.Second}, o), &Node{Addr: "db:3306", Role: RoleSource, Up: true}
}

func wantOf(n *Node, state *State, owner *Owner) *Want {
	return &Want{Node: n, Account: Account{User: "app"}, State: state, Owner: owner}
}

// adopt adds an idle connection in a state, whose server answers with in.
func adopt(p *Pools, n *Node, state *State, in ...[]byte) (*Conn, *memory) {
	c, m := connTo(in...)
	c.Node, c.LastUsed = n, time.Now()
	c.charset = [4]string{"utf8mb4", "utf8mb4", "utf8mb4", "utf8mb4_0900_ai_ci"}
	c.state = state
	p.Adopt(c, wantOf(n, state, nil))
	return c, m
}

func charsetState(s *State) *State {
	return s.WithCharset([4]string{"utf8mb4", "utf8mb4", "utf8mb4", "utf8mb4_0900_ai_ci"})
}

func TestPoolPrefersAnEqualState(t *testing.T) {
	p, n := poolOf(PoolOptions{Max: 3})
	a := charsetState(vars("time_zone", "UTC").WithSchema("a"))
	b := charsetState(vars().WithSchema("b"))
	first, _ := adopt(p, n, a)
	second, _ := adopt(p, n, b)
	third, _ := adopt(p, n, charsetState(vars("sql_mode", "ANSI").WithSchema("a")))
	var me Owner
	for _, c := range []struct {
		state *State
		want  *Conn
		why   string
	}{{a, first, "the same state"}, {charsetState(vars("max_execution_time", "5").WithSchema("a")), third, "the same schema"}, {a, second, "any"}} {
		got, err := p.Get(t.Context(), wantOf(n, c.state, &me), true)
		if err != nil || got != c.want {
			t.Errorf("%s: got %p, %v, want %p", c.why, got, err, c.want)
		}
	}
}

// A schema cannot be left: who has none needs a connection that has none.
func TestPoolLeavesSchemasAlone(t *testing.T) {
	p, n := poolOf(PoolOptions{Max: 1, Wait: 10 * time.Millisecond})
	c, _ := adopt(p, n, charsetState(vars().WithSchema("a")))
	w := wantOf(n, charsetState(vars()), &Owner{})
	if c.Fits(w) {
		t.Error("a connection in a schema is used for a session without one")
	}
	w.SchemaFree = true
	if !c.Fits(w) {
		t.Error("USE needs no particular schema")
	}
	other := *w
	other.Account.Caps = wire.CapFoundRows
	if c.Fits(&other) {
		t.Error("FOUND_ROWS changes what UPDATE answers")
	}
	other = *w
	other.Node = &Node{Addr: n.Addr, Role: RoleSource, Incarnation: Incarnation{Generation: 2}}
	if c.Fits(&other) {
		t.Error("the server is another one by now")
	}
}

func TestPoolQueueIsFair(t *testing.T) {
	p, n := poolOf(PoolOptions{Max: 1})
	state := charsetState(vars())
	adopt(p, n, state)
	c, err := p.Get(t.Context(), wantOf(n, state, &Owner{}), true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Get(t.Context(), wantOf(n, state, &Owner{}), false); !errors.As(err, new(*PoolFull)) {
		t.Errorf("without waiting: %v", err)
	}
	order := make(chan int, 3)
	for i := range 3 {
		go func() {
			got, err := p.Get(context.Background(), wantOf(n, state, &Owner{}), true)
			if err != nil {
				t.Error(err)
				return
			}
			order <- i
			p.Put(got, nil)
		}()
		waitFor(t, func() bool { return p.Stats()[0].Waiting == i+1 })
	}
	p.Put(c, nil)
	for want := range 3 {
		if got := <-order; got != want {
			t.Errorf("number %d came as number %d", got, want)
		}
	}
	waitFor(t, func() bool { return p.Stats()[0].Idle == 1 })
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not happen")
		}
	}
}

func TestPoolFull(t *testing.T) {
	p, n := poolOf(PoolOptions{Max: 1, Wait: time.Second, Queue: 1})
	state := charsetState(vars())
	adopt(p, n, state)
	if _, err := p.Get(t.Context(), wantOf(n, state, &Owner{}), true); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := p.Get(context.Background(), wantOf(n, state, &Owner{}), true)
		done <- err
	}()
	waitFor(t, func() bool { st := p.Stats()[0]; return st.Waiting == 1 && st.Oldest > 0 })
	if _, err := p.Get(t.Context(), wantOf(n, state, &Owner{}), true); err == nil || !strings.Contains(err.Error(), "[pool] queue=1") {
		t.Errorf("one too many in the queue: %v", err)
	}
	if err := <-done; err == nil || !strings.Contains(err.Error(), "[pool] max_connections=1") {
		t.Errorf("waited in vain: %v", err)
	}
	if st := p.Stats()[0]; st.Waiting != 0 || st.Open != 1 || st.Oldest != 0 || st.Turned != 2 {
		t.Errorf("%+v", st)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Get(ctx, wantOf(n, state, &Owner{}), true); !errors.Is(err, context.Canceled) {
		t.Errorf("a session that ends: %v", err)
	}
}

func TestPoolRetake(t *testing.T) {
	p, n := poolOf(PoolOptions{Max: 1})
	state := charsetState(vars())
	var me, other Owner
	adopt(p, n, state)
	c, _ := p.Get(t.Context(), wantOf(n, state, &me), true)
	turn := c.Turn
	p.Put(c, nil)
	if !p.Retake(c, &me, nil) || c.Turn != turn {
		t.Fatal("nobody had it, but it is not given back")
	}
	if p.Retake(c, &me, nil) {
		t.Error("taken twice")
	}
	p.Put(c, nil)
	if got, _ := p.Get(t.Context(), wantOf(n, state, &other), true); got != c || c.Turn == turn {
		t.Fatal("the other one did not get it")
	}
	p.Put(c, nil)
	if p.Retake(c, &me, nil) {
		t.Error("another session has used it since")
	}
}

// What a session may still ask for is read before another one has its connection.
func TestPoolCapture(t *testing.T) {
	p, n := poolOf(PoolOptions{Max: 1})
	state := charsetState(vars())
	var me, other Owner
	values := make([]string, 1+len(ConditionItems))
	values[0], values[3] = "7", "3031303030" // FOUND_ROWS(), 01000
	_, m := adopt(p, n, state, textRowsOf(3, row("Warning", "1265", "text")), answers(okay(0)), textRowsOf(len(values), row(values...)), answers(okay(0)), textRows(row("42", "")))
	c, _ := p.Get(t.Context(), wantOf(n, state, &me), true)
	left := NewLeftover(LeftInsertID|LeftWarnings|LeftFoundRows, &me, 1)
	p.Put(c, left)
	if left.Done() {
		t.Fatal("read too early")
	}
	if _, err := p.Get(t.Context(), wantOf(n, state, &other), true); err != nil {
		t.Fatal(err)
	}
	if err := left.Await(t.Context()); err != nil || left.InsertID != "42" || c.InsertID != "42" || len(left.Conditions) != 1 || left.Conditions[0].Code != "1265" || left.Conditions[0].Items[2] != "01000" || left.FoundRows != "7" {
		t.Errorf("%v: %+v", err, left)
	}
	all := sent(t, m)
	if len(all) != 5 || all[0] != "\x03SHOW WARNINGS" || !strings.HasPrefix(all[1], "\x03GET DIAGNOSTICS CONDITION 1 @") || all[4] != "\x03SELECT LAST_INSERT_ID()" {
		t.Errorf("sent %q", all)
	}
}

func TestPoolCaptureNotWanted(t *testing.T) {
	p, n := poolOf(PoolOptions{Max: 1})
	state := charsetState(vars())
	var me, other Owner
	_, m := adopt(p, n, state)
	c, _ := p.Get(t.Context(), wantOf(n, state, &me), true)
	left := NewLeftover(LeftInsertID, &me, 0)
	p.Put(c, left)
	left.Drop(LeftInsertID)
	if _, err := p.Get(t.Context(), wantOf(n, state, &other), true); err != nil {
		t.Fatal(err)
	}
	wantSent(t, m)
}

// That nobody will ask for the warnings any more says nothing of LAST_INSERT_ID().
func TestPoolCaptureOneOfTwo(t *testing.T) {
	p, n := poolOf(PoolOptions{Max: 1})
	state := charsetState(vars())
	var me, other Owner
	_, m := adopt(p, n, state, textRows(row("42", "")))
	c, _ := p.Get(t.Context(), wantOf(n, state, &me), true)
	left := NewLeftover(LeftInsertID|LeftWarnings, &me, 1)
	p.Put(c, left)
	left.Drop(LeftWarnings)
	if _, err := p.Get(t.Context(), wantOf(n, state, &other), true); err != nil {
		t.Fatal(err)
	}
	if err := left.Await(t.Context()); err != nil || left.InsertID != "42" {
		t.Errorf("%v: LAST_INSERT_ID() %q", err, left.InsertID)
	}
	wantSent(t, m, "\x03SELECT LAST_INSERT_ID()")
}

func row(values ...string) []byte { return wire.AppendTextRowStrings(nil, values...) }
