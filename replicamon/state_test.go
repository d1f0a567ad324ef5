package replicamon

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"causeway/backend"
	"causeway/gtid"
)

// Server uuids of the tests: u(1) is 11111111-..., and so on.
func u(n int) string {
	d := fmt.Sprint(n)
	return strings.Repeat(d, 8) + "-" + strings.Repeat(d, 4) + "-" + strings.Repeat(d, 4) + "-" + strings.Repeat(d, 4) + "-" + strings.Repeat(d, 12)
}

// gs writes a set as "1:1-5 2:7", short for u(1):1-5,u(2):7.
func gs(short string) gtid.Set {
	var parts []string
	for _, f := range strings.Fields(short) {
		var n int
		rest := ""
		if _, err := fmt.Sscanf(f, "%d:%s", &n, &rest); err != nil {
			panic(err)
		}
		parts = append(parts, u(n)+":"+rest)
	}
	return gtid.MustParse(strings.Join(parts, ","))
}

// sim drives the state machine with a clock of its own: every event takes a
// millisecond.
type sim struct {
	t     *testing.T
	s     state
	now   time.Time
	conns uint32
}

func newSim(t *testing.T, addrs ...string) *sim {
	t.Helper()
	if len(addrs) == 0 {
		addrs = []string{"a", "b", "c"}
	}
	return &sim{t: t, s: newState(Options{Servers: addrs}), now: time.Now()}
}

func (m *sim) tick(d time.Duration) { m.now = m.now.Add(d) }

func (m *sim) next(e event) { m.s = m.s.next(e) }

func (m *sim) pos(uuid int, set string, ro bool) position {
	p := position{asked: m.now, uuid: u(uuid), executed: gs(set), readOnly: ro}
	m.tick(time.Millisecond)
	p.answered = m.now
	return p
}

// connect answers the first position over a new connection to a server that
// has been up for an hour.
func (m *sim) connect(i, uuid int, set string, ro bool) { m.connectUp(i, uuid, set, ro, time.Hour) }

func (m *sim) connectUp(i, uuid int, set string, ro bool, up time.Duration) {
	m.conns++
	m.next(answered{i: i, life: &life{version: "8.0.36", connID: m.conns, uptime: up}, pos: m.pos(uuid, set, ro)})
}

// answer is a position over the connection there is.
func (m *sim) answer(i, uuid int, set string) {
	m.next(answered{i: i, pos: m.pos(uuid, set, m.s.nodes[i].readOnly)})
}

func (m *sim) status(i int, change func(*status)) {
	n := m.s.nodes[i]
	st := status{asked: m.now, uuid: n.uuid, version: "8.0.36", gtidMode: "ON", enforceGTID: "ON"}
	if change != nil {
		change(&st)
	}
	m.tick(time.Millisecond)
	st.answered = m.now
	m.next(statusAnswered{i: i, gen: n.gen, st: st})
}

func writable(st *status) { st.readOnly = false }
func readOnly(st *status) { st.readOnly = true }

// replicaOf is a healthy read-only replica.
func replicaOf(uuid int) func(*status) {
	return func(st *status) {
		st.readOnly = true
		st.channels = append(st.channels, channel{sourceUUID: u(uuid), source: "host:3306", io: "Yes", sql: "Yes", queuedAge: -1})
	}
}

func both(list ...func(*status)) func(*status) {
	return func(st *status) {
		for _, f := range list {
			f(st)
		}
	}
}

// cluster starts a source a and two replicas b and c, all joined, at 1:1-10.
func cluster(t *testing.T) *sim {
	m := newSim(t)
	m.connect(0, 1, "1:1-10", false)
	m.connect(1, 2, "1:1-10", true)
	m.connect(2, 3, "1:1-10", true)
	m.status(0, writable)
	m.status(1, replicaOf(1))
	m.status(2, replicaOf(1))
	m.tick(100 * time.Millisecond)
	m.answer(0, 1, "1:1-10")
	m.want("a source", "b replica", "c replica")
	return m
}

// want checks "name role" of usable nodes and "name role: start of the reason"
// of others.
func (m *sim) want(lines ...string) {
	m.t.Helper()
	for i, line := range lines {
		n := m.s.nodes[i]
		head, why, excluded := strings.Cut(line, ": ")
		if got := n.addr + " " + n.role.String(); got != head {
			m.t.Errorf("node is %q, want %q (%s)", got, head, n.exclude)
		}
		if excluded && !strings.HasPrefix(n.exclude, why) || !excluded && n.exclude != "" {
			m.t.Errorf("%s: excluded by %q, want %q", n.addr, n.exclude, why)
		}
	}
}

func (m *sim) wantSource(addr string) {
	m.t.Helper()
	got := ""
	if m.s.source >= 0 {
		got = m.s.nodes[m.s.source].addr
	}
	if got != addr {
		m.t.Fatalf("source is %q, want %q (%s)", got, addr, m.s.unclear)
	}
}

func TestStart(t *testing.T) {
	m := newSim(t)
	m.want("a unknown: down", "b unknown: down", "c unknown: down")
	m.connect(1, 2, "1:1-9", true)
	m.status(1, replicaOf(1))
	m.want("a unknown: down", "b replica: joining", "c unknown: down")
	m.connect(0, 1, "1:1-10", false)
	m.status(0, writable)
	m.wantSource("") // c may be another writable node
	m.next(failed{i: 2, kind: errGone, text: "connection refused"})
	m.want("a source", "b replica: joining: waits until", "c unknown: down: connection refused")
	m.answer(0, 1, "1:1-11")
	m.want("a source", "b replica: joining: waits until it covers", "c unknown: down")
	m.answer(1, 2, "1:1-10") // what the source had when b was first seen
	m.want("a source", "b replica", "c unknown: down")
}

func TestRoles(t *testing.T) {
	stopped := func(st *status) {
		for i := range st.channels {
			st.channels[i].io, st.channels[i].sql = "No", "No"
		}
	}
	connecting := func(st *status) { st.channels[0].io = "Connecting" }
	for _, tt := range []struct {
		name    string
		st      [3]func(*status) // nil: down
		source  string
		unclear string
		want    []string
	}{
		{"plain", [3]func(*status){writable, replicaOf(1), replicaOf(1)}, "a", "", []string{"a source", "b replica", "c replica"}},
		{"the source is not the first", [3]func(*status){replicaOf(3), replicaOf(3), writable}, "c", "", []string{"a replica", "b replica", "c source"}},
		{"chain", [3]func(*status){writable, replicaOf(1), replicaOf(2)}, "a", "", []string{"a source", "b replica", "c replica"}},
		{"writable replicas", [3]func(*status){writable, both(replicaOf(1), writable), both(replicaOf(1), writable)}, "a", "", []string{"a source", "b replica", "c replica"}},
		{"writable in the middle of a chain", [3]func(*status){writable, both(replicaOf(1), writable), replicaOf(2)}, "a", "", []string{"a source", "b replica", "c replica"}},
		{"all read only", [3]func(*status){readOnly, replicaOf(1), replicaOf(1)}, "", "no server is writable", []string{"a unknown: no role"}},
		{"source down", [3]func(*status){nil, replicaOf(1), replicaOf(1)}, "", "no server is writable", []string{"a unknown: down", "b replica: joining: replicates from", "c replica: joining"}},
		{"alone", [3]func(*status){writable, nil, nil}, "a", "", []string{"a source"}},
		{"two writable, one followed", [3]func(*status){writable, writable, replicaOf(1)}, "a", "", []string{"a source", "b unknown: writable, but not the source", "c replica"}},
		{"two writable, the other followed", [3]func(*status){writable, writable, replicaOf(2)}, "b", "", []string{"a unknown: writable, but not the source", "b source", "c replica"}},
		{"two writable, none followed", [3]func(*status){writable, writable, nil}, "", "more than one server is writable: a, b", []string{"a unknown: writable, but not clearly", "b unknown: writable, but not clearly"}},
		{"three writable", [3]func(*status){writable, writable, writable}, "", "more than one server is writable: a, b, c", nil},
		{"promoted, channel stopped but kept", [3]func(*status){nil, both(replicaOf(1), writable, stopped), replicaOf(2)}, "b", "", []string{"a unknown: down", "b source", "c replica"}},
		{"writable replica of a dead source", [3]func(*status){nil, both(replicaOf(1), writable, connecting), replicaOf(1)}, "", "no server is writable", nil},
		{"writable, stopped, nobody follows", [3]func(*status){nil, both(replicaOf(1), writable, stopped), replicaOf(1)}, "", "no server is writable", nil},
		{"writable intermediate of a dead source", [3]func(*status){nil, both(replicaOf(1), writable, connecting), replicaOf(2)}, "", "no server is writable", nil},
		{"ring with one writable", [3]func(*status){both(replicaOf(2), writable), replicaOf(1), replicaOf(1)}, "a", "", []string{"a source", "b replica", "c replica"}},
		{"ring with two writable", [3]func(*status){both(replicaOf(2), writable), both(replicaOf(1), writable), replicaOf(1)}, "", "no server is writable", nil},
		{"replica of a stranger", [3]func(*status){writable, replicaOf(9), replicaOf(1)}, "a", "", []string{"a source", "b replica: foreign", "c replica"}},
		{"replica of both", [3]func(*status){writable, both(replicaOf(9), replicaOf(1)), replicaOf(1)}, "a", "", []string{"a source", "b replica", "c replica"}},
		{"never connected", [3]func(*status){writable, func(st *status) { replicaOf(1)(st); st.channels[0].sourceUUID = "" }, replicaOf(1)}, "a", "", []string{"a source", "b replica: joining: it has not yet connected", "c replica"}},
		{"replicates from the wrong node", [3]func(*status){writable, writable, both(replicaOf(2))}, "b", "", []string{"a unknown: writable", "b source", "c replica"}},
		{"replica without channels", [3]func(*status){writable, readOnly, replicaOf(1)}, "a", "", []string{"a source", "b unknown: no role", "c replica"}},
		{"gtid_mode off at the source", [3]func(*status){both(writable, func(st *status) { st.gtidMode = "OFF" }), replicaOf(1), replicaOf(1)}, "", "no server is writable", []string{"a unknown: refused: gtid_mode is OFF; set gtid_mode=ON"}},
		{"gtid_mode permissive at a replica", [3]func(*status){writable, both(replicaOf(1), func(st *status) { st.gtidMode = "ON_PERMISSIVE" }), replicaOf(1)}, "a", "", []string{"a source", "b replica: refused: gtid_mode is ON_PERMISSIVE", "c replica"}},
		{"consistency not enforced", [3]func(*status){both(writable, func(st *status) { st.enforceGTID = "WARN" }), replicaOf(1), replicaOf(1)}, "", "no server is writable", []string{"a unknown: refused: enforce_gtid_consistency is WARN; set enforce_gtid_consistency=ON"}},
		{"filter at a replica", [3]func(*status){writable, both(replicaOf(1), func(st *status) { st.channels[0].filter = "Replicate_Do_DB=x" }), replicaOf(1)}, "a", "", []string{"a source", "b replica: replication filters: Replicate_Do_DB=x", "c replica"}},
		{"filter above a replica", [3]func(*status){writable, both(replicaOf(1), func(st *status) { st.channels[0].filter = "Replicate_Do_DB=x" }), replicaOf(2)}, "a", "", []string{"a source", "b replica: replication filters", "c replica: replication filters: at b"}},
		{"filter at the source", [3]func(*status){both(writable, func(st *status) { st.binlogFilter = "Binlog_Ignore_DB=x" }), replicaOf(1), replicaOf(1)}, "a", "", []string{"a source", "b replica: replication filters: a does not log everything", "c replica: replication filters"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newSim(t)
			for i, st := range tt.st {
				if st == nil {
					m.next(failed{i: i, kind: errGone, text: "connection refused"})
					continue
				}
				m.connect(i, i+1, "1:1-10", true)
			}
			for i, st := range tt.st {
				if st != nil {
					m.status(i, st)
				}
			}
			m.wantSource(tt.source)
			if m.s.unclear != tt.unclear {
				t.Errorf("unclear: %q, want %q", m.s.unclear, tt.unclear)
			}
			if m.s.source >= 0 {
				m.answer(m.s.source, m.s.source+1, "1:1-10")
			}
			m.want(tt.want...)
		})
	}
}

func TestAllowFiltered(t *testing.T) {
	m := newSim(t)
	m.s.rules.allowFiltered = true
	for i := range 3 {
		m.connect(i, i+1, "1:1-10", i > 0)
	}
	m.status(0, both(writable, func(st *status) { st.binlogFilter = "Binlog_Ignore_DB=x" }))
	m.status(1, both(replicaOf(1), func(st *status) { st.channels[0].filter = "Replicate_Do_DB=x" }))
	m.status(2, replicaOf(1))
	m.answer(0, 1, "1:1-10")
	m.want("a source", "b replica", "c replica")
}

// What happens to a cluster that ran well. Each step is a change and what is
// true after it.
func TestLives(t *testing.T) {
	t.Run("replica restarts with all it had", func(t *testing.T) {
		m := cluster(t)
		gen := m.s.nodes[1].gen
		m.next(failed{i: 1, kind: errGone, text: "connection refused"})
		m.want("a source", "b replica: down: connection refused", "c replica")
		m.tick(5 * time.Second)
		m.answer(0, 1, "1:1-12")
		m.connectUp(1, 2, "1:1-12", true, time.Second)
		if m.s.nodes[1].gen != gen+1 {
			t.Errorf("generation %d, want %d", m.s.nodes[1].gen, gen+1)
		}
		m.want("a source", "b unknown: joining: its role", "c replica")
		m.status(1, replicaOf(1))
		m.want("a source", "b replica: joining: waits until", "c replica")
		m.answer(0, 1, "1:1-13") // asked for after it came back
		m.answer(1, 2, "1:1-12")
		m.want("a source", "b replica: joining: waits until", "c replica")
		m.answer(1, 2, "1:1-13")
		m.want("a source", "b replica", "c replica")
	})
	t.Run("connection lost, server not", func(t *testing.T) {
		m := cluster(t)
		gen := m.s.nodes[1].gen
		m.next(failed{i: 1, kind: errGone, text: "connection broken"})
		m.tick(time.Minute)
		m.connect(1, 2, "1:1-10", true)
		if m.s.nodes[1].gen != gen {
			t.Error("a new generation without a restart")
		}
		m.want("a source", "b replica", "c replica")
	})
	t.Run("restart shown by the connection number alone", func(t *testing.T) {
		m := cluster(t)
		gen := m.s.nodes[1].gen
		m.conns = 0
		m.connect(1, 2, "1:1-10", true) // a clock that jumped hides the start
		if m.s.nodes[1].gen != gen+1 {
			t.Error("no new generation")
		}
	})
	t.Run("replica regresses on a live connection", func(t *testing.T) {
		m := cluster(t)
		gen := m.s.nodes[1].gen
		m.answer(1, 2, "1:1-7")
		if n := m.s.nodes[1]; n.gen != gen+1 || !n.pos.Equal(gs("1:1-7")) || !n.freshAsOf.IsZero() {
			t.Errorf("generation %d position %v fresh %v", n.gen, n.pos, n.freshAsOf)
		}
		m.status(1, replicaOf(1))
		m.answer(0, 1, "1:1-10")
		m.want("a source", "b replica: joining", "c replica")
		m.answer(1, 2, "1:1-9")
		m.want("a source", "b replica: joining", "c replica")
		m.answer(1, 2, "1:1-10")
		m.want("a source", "b replica", "c replica")
	})
	t.Run("an overtaken answer is no regress", func(t *testing.T) {
		m := cluster(t)
		gen := m.s.nodes[1].gen
		slow := m.pos(2, "1:1-10", true) // asked first
		m.next(answered{i: 1, gen: gen, pos: m.pos(2, "1:1-12", true)})
		slow.answered = m.now
		m.next(answered{i: 1, pos: slow})
		if n := m.s.nodes[1]; n.gen != gen || !n.pos.Equal(gs("1:1-12")) {
			t.Errorf("generation %d position %v", n.gen, n.pos)
		}
	})
	t.Run("answers of two connections unite", func(t *testing.T) {
		m := cluster(t)
		one := m.pos(2, "1:1-10:12", true)
		two := m.pos(2, "1:1-11", true)
		two.asked = one.asked // both under way at once
		m.next(answered{i: 1, pos: one})
		m.next(answered{i: 1, pos: two})
		if n := m.s.nodes[1]; !n.pos.Equal(gs("1:1-12")) || n.gen != 1 {
			t.Errorf("generation %d position %v", n.gen, n.pos)
		}
	})
	t.Run("an answer of an earlier life is ignored", func(t *testing.T) {
		m := cluster(t)
		gen := m.s.nodes[1].gen
		m.answer(1, 2, "1:1-7")
		m.next(answered{i: 1, gen: gen, pos: m.pos(2, "1:1-99", true)})
		m.next(answered{i: 1, gen: gen + 1, pos: m.pos(7, "1:1-99", true)})
		if n := m.s.nodes[1]; !n.pos.Equal(gs("1:1-7")) {
			t.Errorf("position %v", n.pos)
		}
		m.next(statusAnswered{i: 1, gen: gen, st: status{uuid: u(2)}})
		if m.s.nodes[1].status != nil {
			t.Error("an old status was taken in")
		}
	})
	t.Run("another cluster's replica behind the address", func(t *testing.T) {
		m := cluster(t)
		m.connect(1, 8, "9:1-500", true)
		m.status(1, replicaOf(9))
		m.answer(0, 1, "1:1-11")
		m.want("a source", "b replica: foreign: replicates from host:3306", "c replica")
		// And it comes back.
		m.connect(1, 2, "1:1-10", true)
		m.status(1, replicaOf(1))
		m.answer(1, 2, "1:1-10")
		m.answer(0, 1, "1:1-11")
		m.want("a source", "b replica: joining", "c replica")
		m.answer(1, 2, "1:1-11")
		m.want("a source", "b replica", "c replica")
	})
	t.Run("another cluster's source behind the address", func(t *testing.T) {
		m := cluster(t)
		m.connect(1, 9, "9:1-500", false)
		m.status(1, writable)
		m.answer(0, 1, "1:1-11")
		m.want("a source", "b unknown: writable, but not the source", "c replica")
	})
	t.Run("a stranger is the only writable node", func(t *testing.T) {
		m := cluster(t)
		m.next(failed{i: 0, kind: errGone, text: "connection refused"})
		m.connect(1, 9, "9:1-500", false)
		m.status(1, writable)
		m.wantSource("")
		if !strings.Contains(m.s.unclear, "none of this cluster's transactions") {
			t.Error(m.s.unclear)
		}
	})
	t.Run("another cluster's source behind the source's address", func(t *testing.T) {
		m := cluster(t)
		m.connect(0, 9, "9:1-500", false)
		m.wantSource("")
		m.status(0, writable)
		m.wantSource("")
		if m.s.epoch != 0 {
			t.Error("a stranger began an epoch")
		}
	})
	t.Run("duplicate server_uuid", func(t *testing.T) {
		m := cluster(t)
		m.connect(2, 2, "1:1-10", true)
		m.status(2, replicaOf(1))
		m.answer(0, 1, "1:1-10")
		m.want("a source", "b replica", "c unknown: duplicate: the same server_uuid as b")
	})
	t.Run("the source's auto.cnf was copied", func(t *testing.T) {
		m := newSim(t)
		m.connect(0, 1, "1:1-10", true)
		m.connect(1, 1, "1:1-10", false)
		m.status(0, replicaOf(9))
		m.status(1, writable)
		m.next(failed{i: 2, kind: errGone})
		m.want("a unknown: duplicate: the same server_uuid as b", "b source")
	})
}

func TestFailures(t *testing.T) {
	for _, tt := range []struct {
		name string
		errs []errorKind
		up   bool
	}{
		{"one silent probe", []errorKind{errSilent}, true},
		{"two silent probes", []errorKind{errSilent, errSilent}, false},
		{"one error answer", []errorKind{errRefused}, true},
		{"two error answers", []errorKind{errRefused, errDenied}, false},
		{"gone at once", []errorKind{errGone}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := cluster(t)
			for _, k := range tt.errs {
				m.next(failed{i: 1, kind: k, text: "no answer in time"})
			}
			if m.s.nodes[1].up != tt.up {
				t.Errorf("up %v, want %v", m.s.nodes[1].up, tt.up)
			}
			m.answer(1, 2, "1:1-10") // comes back by itself, and still knows its place
			m.want("a source", "b replica", "c replica")
			m.next(failed{i: 1, kind: errSilent})
			m.want("a source", "b replica", "c replica")
		})
	}
}

func TestRefusal(t *testing.T) {
	m := cluster(t)
	m.next(refusal{i: 1, text: "refused: this is MariaDB"})
	m.want("a source", "b unknown: refused: this is MariaDB", "c replica")
	if n := m.s.nodes[1]; !n.pos.IsEmpty() || n.status != nil {
		t.Error("a refused server keeps a position or a status")
	}
	m.connect(1, 2, "1:1-10", true)
	m.status(1, replicaOf(1))
	m.answer(0, 1, "1:1-10")
	m.want("a source", "b replica", "c replica")
}

func TestStatusFailed(t *testing.T) {
	m := newSim(t)
	m.connect(0, 1, "1:1-10", false)
	m.connect(1, 2, "1:1-10", true)
	m.connect(2, 3, "1:1-10", true)
	m.status(0, writable)
	m.status(1, replicaOf(1))
	m.wantSource("")
	m.next(statusFailed{i: 2, gen: 1, text: "SHOW REPLICA STATUS: the monitor's account is refused"})
	m.answer(0, 1, "1:1-10")
	m.want("a source", "b replica", "c unknown: unknown role: SHOW REPLICA STATUS")
	// A replica whose status hangs later is still known by its position.
	m.next(statusFailed{i: 1, gen: 1, text: "no answer in time"})
	m.want("a source", "b replica")
}

func TestPromotion(t *testing.T) {
	m := cluster(t)
	m.next(failed{i: 0, kind: errGone, text: "connection refused"})
	m.wantSource("a") // lost, but nobody took its place
	m.want("a source: down", "b replica", "c replica")
	if v := buildView(&m.s, &m.s, nil, lives(3)); v.Source == nil || v.Source.Usable() {
		t.Error("a lost source must stay in the view, unusable")
	}
	m.status(1, readOnly) // RESET REPLICA ALL
	m.wantSource("a")
	m.next(answered{i: 1, pos: m.pos(2, "1:1-10", false)}) // the position probe sees it first
	m.wantSource("b")
	m.want("a unknown: down", "b source", "c replica")
	m.answer(1, 2, "1:1-10 2:1")
	if got := m.s.nodes[2].posLag; got <= 0 {
		t.Errorf("c lags by %v", got)
	}
	// The old source returns writable, and nobody follows it... but c still does.
	m.connectUp(0, 1, "1:1-11", false, time.Second)
	m.status(0, writable)
	m.wantSource("a") // by topology; the rules of fencing come with failover
	m.status(2, replicaOf(2))
	m.wantSource("b")
	m.want("a unknown: writable, but not the source", "b source", "c replica")
	if m.s.epoch != 0 {
		t.Error("a promotion is no new epoch")
	}
}

func TestDemotion(t *testing.T) {
	m := cluster(t)
	m.next(answered{i: 0, pos: m.pos(1, "1:1-10", true)})
	m.wantSource("")
	m.want("a unknown: no role", "b replica", "c replica")
	m.next(answered{i: 0, pos: m.pos(1, "1:1-10", false)})
	m.wantSource("a")
	m.want("a source", "b replica", "c replica")
}

func TestEpoch(t *testing.T) {
	t.Run("reset on the live source", func(t *testing.T) {
		m := cluster(t)
		m.answer(0, 1, "")
		if m.s.epoch != 1 {
			t.Fatalf("epoch %d", m.s.epoch)
		}
		m.status(0, writable)
		m.want("a source", "b replica: holds transactions that the source lost", "c replica: holds")
		m.answer(0, 1, "1:1-12") // numbers given again: not the old transactions
		m.answer(1, 2, "1:1-10")
		m.want("a source", "b replica: holds", "c replica: holds")
		m.answer(1, 2, "") // rebuilt
		m.status(1, replicaOf(1))
		m.answer(0, 1, "1:1-12")
		m.answer(1, 2, "1:1-12")
		m.want("a source", "b replica", "c replica: holds")
		m.connect(2, 7, "1:1-12", true) // replaced
		m.status(2, replicaOf(1))
		m.answer(0, 1, "1:1-12")
		m.want("a source", "b replica", "c replica")
		if m.s.epoch != 1 {
			t.Errorf("epoch %d", m.s.epoch)
		}
	})
	t.Run("crash that lost the last transactions", func(t *testing.T) {
		m := cluster(t)
		m.answer(0, 1, "1:1-20")
		m.answer(1, 2, "1:1-20")
		m.status(2, func(st *status) { replicaOf(1)(st); st.channels[0].received = gs("1:11-15") })
		m.next(failed{i: 0, kind: errGone})
		m.connectUp(0, 1, "1:1-14", false, time.Second)
		m.status(0, writable)
		m.wantSource("a")
		if m.s.epoch != 1 {
			t.Fatalf("epoch %d", m.s.epoch)
		}
		// c has received one of the lost ones and will apply it.
		m.want("a source", "b replica: holds", "c replica: holds")
	})
	t.Run("restored at the same address", func(t *testing.T) {
		m := cluster(t)
		m.connectUp(0, 4, "1:1-8", false, time.Second)
		m.status(0, writable)
		m.wantSource("a")
		if m.s.epoch != 1 {
			t.Errorf("epoch %d", m.s.epoch)
		}
		m.want("a source", "b replica: holds")
	})
	t.Run("restart without loss", func(t *testing.T) {
		m := cluster(t)
		m.connectUp(0, 1, "1:1-11", false, time.Second)
		m.wantSource("")
		m.status(0, writable)
		m.wantSource("a")
		if m.s.epoch != 0 {
			t.Errorf("epoch %d", m.s.epoch)
		}
	})
	t.Run("loss while it was not the source", func(t *testing.T) {
		m := cluster(t)
		m.next(answered{i: 0, pos: m.pos(1, "1:1-10", true)})
		m.answer(0, 1, "1:1-3")
		m.status(0, writable)
		m.wantSource("a")
		if m.s.epoch != 1 {
			t.Errorf("epoch %d", m.s.epoch)
		}
	})
}

func TestFreshness(t *testing.T) {
	m := cluster(t)
	asked := func() time.Time { return m.s.history.latest.asked }
	t0 := asked()
	m.tick(100 * time.Millisecond)
	m.answer(0, 1, "1:1-11")
	m.tick(100 * time.Millisecond)
	m.answer(0, 1, "1:1-12")
	b := func() *node { return m.s.nodes[1] }
	if !b().freshAsOf.Equal(t0) || b().posLag != asked().Sub(t0) {
		t.Errorf("fresh as of %v, lag %v", b().freshAsOf.Sub(t0), b().posLag)
	}
	m.answer(1, 2, "1:1-11")
	if at := b().freshAsOf; !at.After(t0) || !at.Before(asked()) {
		t.Errorf("fresh as of %v", at.Sub(t0))
	}
	m.answer(1, 2, "1:1-12")
	if !b().freshAsOf.Equal(asked()) || b().posLag != 0 {
		t.Errorf("lag %v", b().posLag)
	}
	for range 50 { // an idle source is not lag
		m.tick(100 * time.Millisecond)
		m.answer(0, 1, "1:1-12")
	}
	if !b().freshAsOf.Equal(asked()) || b().posLag != 0 {
		t.Errorf("lag %v", b().posLag)
	}
	if a := m.s.nodes[0]; !a.freshAsOf.Equal(asked()) {
		t.Error("the source is not as fresh as itself")
	}
}

func TestErrant(t *testing.T) {
	m := cluster(t)
	m.answer(1, 2, "1:1-12 2:1-3")
	m.status(1, replicaOf(1))
	if !m.s.nodes[1].errant.IsEmpty() {
		t.Error("one look proves nothing")
	}
	m.answer(0, 1, "1:1-11")
	m.status(1, replicaOf(1))
	if got := m.s.nodes[1].errant; !got.Equal(gs("2:1-3")) {
		t.Errorf("errant %v", got)
	}
	m.want("a source", "b replica", "c replica")
	m.tick(aheadFor + time.Second)
	m.answer(0, 1, "1:1-11")
	m.status(1, replicaOf(1))
	m.want("a source", "b replica: holds transactions of the source that the source does not have", "c replica")
	m.answer(0, 1, "1:1-12")
	m.status(1, replicaOf(1))
	m.want("a source", "b replica", "c replica")
}

func TestNextChangesNothingOld(t *testing.T) {
	m := cluster(t)
	old := m.s
	before := fmt.Sprintf("%+v %+v %+v %v", *old.nodes[0], *old.nodes[1], *old.nodes[2], old.history)
	m.answer(0, 1, "1:1-12")
	m.answer(1, 2, "1:1-5")
	m.status(2, replicaOf(9))
	m.answer(0, 1, "1:1-3")
	if after := fmt.Sprintf("%+v %+v %+v %v", *old.nodes[0], *old.nodes[1], *old.nodes[2], old.history); after != before {
		t.Errorf("an old state changed:\n%s\n%s", before, after)
	}
}

func lives(n int) []*backend.Live {
	var out []*backend.Live
	for range n {
		out = append(out, &backend.Live{})
	}
	return out
}
