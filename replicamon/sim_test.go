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
		st.channels = append(st.channels, channel{sourceUUID: u(uuid), source: "host:3306", io: "Yes", sql: "Yes", queuedAge: noAge})
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

func lives(n int) []*backend.Live {
	var out []*backend.Live
	for range n {
		out = append(out, &backend.Live{})
	}
	return out
}
