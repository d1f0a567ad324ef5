package replicamon

import (
	"strings"
	"testing"
	"time"
)

func withoutGTIDs(st *status) { st.gtidMode = modeOff }

// behind gives each channel a lag by its own word; -1: NULL.
func behind(d time.Duration) func(*status) {
	return func(st *status) {
		for i := range st.channels {
			st.channels[i].behind = d
		}
	}
}

// off is a position of a server without GTIDs, which has executed some before.
func (m *sim) off(i, uuid int, set string, ro bool) {
	p := m.pos(uuid, set, ro)
	p.gtidMode = modeOff
	n := m.s.nodes[i]
	e := answered{i: i, pos: p}
	if n.gen == 0 {
		m.conns++
		e.life = &life{version: "8.0.36", connID: m.conns, uptime: time.Hour}
	}
	m.next(e)
}

// offCluster is cluster without GTIDs.
func offCluster(t *testing.T) *sim {
	m := newSim(t)
	m.s = newState(Options{Servers: []string{"a", "b", "c"}, WithoutGTIDs: true, LagLimits: []LagLimit{{Name: "F0", P95: 2 * time.Second}}}.withDefaults())
	for i, set := range []string{"1:1-10", "1:1-7", ""} {
		m.off(i, i+1, set, i > 0)
	}
	m.status(0, both(writable, withoutGTIDs))
	m.healthy(1, 1)
	m.healthy(2, 1)
	m.tick(100 * time.Millisecond)
	m.off(0, 1, "1:1-10", false)
	m.healthy(1, 1)
	m.healthy(2, 1)
	m.want("a source", "b replica", "c replica")
	return m
}

func (m *sim) healthy(i, source int) { m.status(i, both(replicaOf(source), withoutGTIDs, behind(0))) }

func TestWithoutGTIDs(t *testing.T) {
	m := offCluster(t)
	v := buildView(&m.s, &m.s, nil, lives(3))
	if !v.WithoutGTIDs || !v.SourcePosition.IsEmpty() {
		t.Errorf("without GTIDs: %v, source's position %s", v.WithoutGTIDs, v.SourcePosition.Line())
	}
	for _, n := range v.Replicas {
		if !n.FreshAsOf.IsZero() || !n.Position.IsEmpty() || n.Lag.Apply != 0 || n.Limits[0].Excluded != "" {
			t.Errorf("%s: fresh as of %v, position %s, apply lag %v, limit %q", n.Addr, n.FreshAsOf, n.Position.Line(), n.Lag.Apply, n.Limits[0].Excluded)
		}
	}
	m.status(1, both(replicaOf(1), withoutGTIDs, behind(9*time.Second)))
	m.status(2, both(replicaOf(1), withoutGTIDs, behind(0), func(st *status) {
		st.workers = []worker{{applying: "ANONYMOUS", applyingAge: 7 * time.Second}}
	}))
	for i, want := range []time.Duration{0, 9 * time.Second, 7 * time.Second} {
		if n := buildView(&m.s, &m.s, nil, lives(3)).Nodes[i]; i > 0 && (n.Lag.Apply != want || !strings.Contains(n.Limits[0].Excluded, "limit of 2s")) {
			t.Errorf("%s: apply lag %v, limit %q", n.Addr, n.Lag.Apply, n.Limits[0].Excluded)
		}
	}
}

// TestUnsure: what its own words do not vouch for serves nothing.
func TestUnsure(t *testing.T) {
	for want, change := range map[string]func(*status){
		"the applier is stopped":     func(st *status) { st.channels[0].sql = "No" },
		"the receiver is stopped":    func(st *status) { st.channels[0].io = "No" },
		"the receiver is connecting": func(st *status) { st.channels[0].io = "Connecting" },
		"its lag is unknown":         behind(-1),
		"refused: gtid_mode is ON, ": func(st *status) { st.gtidMode = "ON" },
		"refused: gtid_mode is OFF_": func(st *status) { st.gtidMode = "OFF_PERMISSIVE" },
	} {
		m := offCluster(t)
		m.status(1, both(replicaOf(1), withoutGTIDs, behind(0), change))
		role := "replica: "
		m.want("a source", "b "+role+want, "c replica")
		m.healthy(1, 1)
		m.want("a source", "b replica", "c replica")
	}
	m := offCluster(t)
	m.next(failed{i: 0, kind: errGone, text: "connection refused"})
	m.status(1, both(replicaOf(1), withoutGTIDs, behind(-1), func(st *status) { st.channels[0].io = "Connecting" }))
	m.want("a source: down", "b replica", "c replica") // what it cannot receive from a lost source is not its fault
}

// TestWithoutGTIDsIsAChoice: no cluster is taken so by itself, and one that has
// GTIDs takes no server without.
func TestWithoutGTIDsIsAChoice(t *testing.T) {
	m := newSim(t)
	m.off(0, 1, "", false)
	m.status(0, both(writable, withoutGTIDs))
	if why := m.s.nodes[0].exclude; !strings.HasPrefix(why, "refused: gtid_mode is OFF; set gtid_mode=ON") {
		t.Errorf("excluded by %q", why)
	}
	m = cluster(t)
	m.s.rules.withoutGTIDs = true
	m.status(1, both(replicaOf(1), withoutGTIDs))
	m.want("a source", "b replica: refused: gtid_mode is OFF", "c replica")
}

// TestPromotionWithoutGTIDs is followed only where nothing is in doubt.
func TestPromotionWithoutGTIDs(t *testing.T) {
	gone := func(m *sim) { m.next(failed{i: 0, kind: errGone, text: "connection refused"}) }
	deposed := func(m *sim) { m.status(0, both(readOnly, withoutGTIDs)) }
	leads := func(m *sim) { m.status(1, both(writable, withoutGTIDs)) }
	follows := func(m *sim) { m.healthy(2, 2) }
	for _, c := range []struct {
		name   string
		events []func(*sim)
		source string
	}{
		{"the old one is gone, all follow", []func(*sim){gone, leads, follows}, "b"},
		{"the old one is read only, all follow", []func(*sim){deposed, leads, follows}, "b"},
		{"the old one follows as well", []func(*sim){func(m *sim) { m.healthy(0, 2) }, leads, follows}, "b"},
		{"the old one is gone, the other does not follow", []func(*sim){gone, leads}, ""},
		{"the old one is writable, all follow", []func(*sim){leads, follows}, ""},
		{"named", []func(*sim){gone, leads, func(m *sim) { m.next(named{1}) }}, "b"},
	} {
		m := offCluster(t)
		for _, e := range c.events {
			e(m)
		}
		m.wantSource(c.source)
		if c.source == "" && !strings.Contains(m.s.unclear, "c does not") && !strings.Contains(m.s.unclear, "a does not") {
			t.Errorf("%s: unclear: %q", c.name, m.s.unclear)
		}
	}
}

// TestGTIDsComeBack: a source that has some from now on is one like any other.
func TestGTIDsComeBack(t *testing.T) {
	m := offCluster(t)
	m.answer(0, 1, "1:1-10")
	m.status(0, writable)
	if buildView(&m.s, &m.s, nil, lives(3)).WithoutGTIDs {
		t.Error("still without GTIDs")
	}
	m.want("a source", "b replica: refused: gtid_mode is OFF", "c replica: refused")
	m.answer(1, 2, "1:1-10")
	m.status(1, replicaOf(1))
	m.tick(100 * time.Millisecond)
	m.answer(0, 1, "1:1-11")
	m.answer(1, 2, "1:1-11")
	if n := buildView(&m.s, &m.s, nil, lives(3)).Nodes[1]; n.Exclude != "" || n.FreshAsOf.IsZero() {
		t.Errorf("excluded by %q, fresh as of %v", n.Exclude, n.FreshAsOf)
	}
}
