package server

import (
	"strings"
	"testing"
	"time"

	"causeway/backend"
	"causeway/balance"
	"causeway/wire"
)

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it did not happen: %s", what)
		}
	}
}

const f2 = " /*causeway_class='F2'*/"

// One report has the replica's only connection and the next one waits for it:
// then reports are refused, those that wait included, others are not, and it ends
// by itself.
func TestBrownout(t *testing.T) {
	l := startLab(t, 1, func(o *Options) {
		o.Pool.Max, o.Pool.Wait = 1, time.Minute
		o.Brownout = balance.BrownoutLimits{Wait: 50 * time.Millisecond, Step: time.Hour, Recover: 300 * time.Millisecond}
	})
	gate := make(chan struct{})
	l.r().on("SELECT slow", func(c *fakeConn, _ string) { <-gate; c.rows(1, []string{"done"}) })
	running, waiting, k := l.client(), l.client(), l.client()
	done, refused := make(chan reply, 1), make(chan reply, 1)
	go func() { done <- running.query("SELECT slow FROM t" + f2) }()
	until(t, "the report runs", func() bool { return l.lives["replica1"].InFlight.Load() == 1 })
	go func() { refused <- waiting.query("SELECT slow FROM t" + f2) }()
	until(t, "F2 is refused", func() bool { return l.srv.brown.refuses(2) })

	k.wantError(wire.ErrServerIsntAvailable, "brownout: reads of class F2", "SELECT a FROM t"+f2)
	if got := k.route("Reason"); got != "brownout" {
		t.Errorf("reason %q", got)
	}
	if got := k.explain("Choice", "SELECT a FROM t"+f2); !strings.HasPrefix(got, "error 3168, by brownout: level 1 of 2: refuses F2") {
		t.Errorf("choice %q", got)
	}
	if got := k.explain("Choice", "SELECT a FROM t /*causeway_class='F1'*/"); strings.Contains(got, "brownout") {
		t.Errorf("F1: %q", got)
	}
	if got := k.status("Brownout"); !strings.HasPrefix(got, "level 1 of 2: refuses F2") {
		t.Errorf("status %q", got)
	}
	// A session that has written is never refused: its reads are F0's.
	writer := l.client()
	writer.run("SET @causeway_class = 'F2'", "INSERT INTO t VALUES (1)")
	writer.wantFrom("source", "SELECT a FROM t")

	close(gate)
	if r := <-done; r.first() != "done" {
		t.Errorf("the report that ran: %v %v", r.err, r.lost)
	}
	if r := <-refused; r.err == nil || r.err.Code != wire.ErrServerIsntAvailable {
		t.Errorf("the report that waited: %q, %v, %v", r.first(), r.err, r.lost)
	}
	until(t, "F2 is admitted again", func() bool { return !l.srv.brown.refuses(2) })
	k.wantFrom("replica1", "SELECT a FROM t"+f2)
	rows := k.query("SHOW CAUSEWAY CLASSES").rows
	if f2 := rows[2]; f2[15] != "2" || f2[16] != "admitted" || rows[0][15] != "0" {
		t.Errorf("SHOW CAUSEWAY CLASSES: %q", rows)
	}
	if n := l.counted(localTarget, reasonBrownout); n != 2 {
		t.Errorf("%d refusals counted", n)
	}
}

// Which reads a level refuses: never those of the highest priority, of classes
// that name the source, or that must see their session's writes.
func TestBrownoutLevels(t *testing.T) {
	c, err := newClasses([]Class{
		{Name: "F0", Consistency: OwnWrites}, {Name: "F1", Consistency: Bounded, Priority: 1}, {Name: "also", Consistency: Eventual, Priority: 1},
		{Name: "own", Consistency: OwnWrites, Priority: 5}, {Name: "src", Consistency: OnSource, Priority: 9},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{classes: c, brown: newBrownout(&c)}
	if s.brown.most() != 2 {
		t.Errorf("%d levels", s.brown.most())
	}
	for level, want := range []string{"", "own", "F1 also own"} {
		if level > 0 {
			s.brown.from.Store(int64(s.brown.priorities[level-1]))
		}
		if got := strings.Join(s.refusedClasses(), " "); got != want {
			t.Errorf("level %d refuses %q, want %q", level, got, want)
		}
	}
	x := &session{srv: s}
	own := choice{class: c.all[3]}
	if !x.brownedOut(&own, &contract{class: c.all[3]}) || x.brownedOut(&own, &contract{class: c.all[3], token: true}) {
		t.Error("own writes: refused only without a token")
	}
	if f1 := (choice{class: c.all[1]}); !x.brownedOut(&f1, &contract{class: c.all[1], token: true}) || x.brownedOut(&f1, &contract{class: c.all[0], token: true}) {
		t.Error("F1: refused, unless promoted")
	}
}

func TestPressure(t *testing.T) {
	node := func(addr string, role backend.Role, exclude string) *backend.Node {
		return &backend.Node{Addr: addr, Role: role, Up: true, Exclude: exclude}
	}
	v := &backend.View{Nodes: []*backend.Node{
		node("s", backend.RoleSource, ""), node("a", backend.RoleReplica, ""), node("b", backend.RoleReplica, ""), node("out", backend.RoleReplica, "filters"),
	}}
	turned := map[string]uint64{}
	look := func(pools ...backend.PoolStats) balance.Pressure { return pressureOf(pools, v, turned) }
	if p := look(backend.PoolStats{Addr: "s", Oldest: 9}, backend.PoolStats{Addr: "out", Oldest: 8}, backend.PoolStats{Addr: "gone", Oldest: 7},
		backend.PoolStats{Addr: "a", Oldest: 1, Turned: 5}, backend.PoolStats{Addr: "b", Oldest: 2}); p != (balance.Pressure{Wait: 2}) {
		t.Errorf("only usable replicas count, and not what was before the first look: %+v", p)
	}
	if p := look(backend.PoolStats{Addr: "a", Turned: 6}); p != (balance.Pressure{Turned: true}) {
		t.Errorf("one was turned away: %+v", p)
	}
	if p := look(backend.PoolStats{Addr: "a", Turned: 6}); p != (balance.Pressure{}) {
		t.Errorf("none since: %+v", p)
	}
}
