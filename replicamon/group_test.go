package replicamon

import (
	"strings"
	"testing"
	"time"

	"causeway/backend"
	"causeway/gtid"
)

// inView is a member's status whose view of the group is written as
// "1P 2S 3S:UNREACHABLE": server, role and, unless ONLINE, state. The group's
// transactions are numbered under u(9).
func inView(view string, change ...func(*group)) func(*status) {
	return func(st *status) {
		g := &group{name: u(9), viewID: view, applier: "ON"}
		var rows []row
		for _, f := range strings.Fields(view) {
			who, state, ok := strings.Cut(f, ":")
			if !ok {
				state = "ONLINE"
			}
			role := map[byte]string{'P': "PRIMARY", 'S': "SECONDARY", '-': ""}[who[1]]
			rows = append(rows, row{"id": u(int(who[0] - '0')), "host": "host" + who[:1], "port": "3306", "state": state, "role": role, "view_id": view})
		}
		g.readMembers(rows, st.uuid)
		for _, f := range change {
			f(g)
		}
		st.readOnly = !g.leads()
		st.group = g
		if c, ok := g.channel(); ok {
			st.channels = append(st.channels, c)
		}
	}
}

func received(set string) func(*group)   { return func(g *group) { g.received = gs(set) } }
func certifying(n uint64) func(*group)   { return func(g *group) { g.queued = n } }
func closed(st *status)                  { st.readOnly = true }
func (m *sim) member(i int, view string) { m.status(i, inView(view)) }

// groupCluster is a group of a, the primary, b and c, all at 9:1-10.
func groupCluster(t *testing.T) *sim {
	m := newSim(t)
	for i := range 3 {
		m.connect(i, i+1, "9:1-10", i > 0)
	}
	for i := range 3 {
		m.member(i, "1P 2S 3S")
	}
	m.tick(100 * time.Millisecond)
	m.answer(0, 1, "9:1-10")
	m.want("a source", "b replica", "c replica")
	return m
}

func TestGroupRoles(t *testing.T) {
	m1, all := "1P", "1P 2S 3S"
	for _, tt := range []struct {
		name    string
		st      [3]func(*status) // nil: down
		unclear string
		want    []string
	}{
		{"whole", [3]func(*status){inView(all), inView(all), inView(all)}, "", []string{"a source", "b replica", "c replica"}},
		{"alone", [3]func(*status){inView(m1), nil, nil}, "", []string{"a source"}},
		{"one recovers", [3]func(*status){inView("1P 2S 3S:RECOVERING"), inView("1P 2S 3S:RECOVERING"), inView("1P 2S 3S:RECOVERING")}, "",
			[]string{"a source", "b replica", "c unknown: group member RECOVERING"}},
		{"a second one joins", [3]func(*status){inView("1P 2S:RECOVERING"), inView("1P 2S:RECOVERING"), nil}, "", []string{"a source", "b unknown: group member RECOVERING"}},
		{"one unreachable", [3]func(*status){inView("1P 2S 3S:UNREACHABLE"), inView("1P 2S 3S:UNREACHABLE"), inView("1P:UNREACHABLE 2S:UNREACHABLE 3S")}, "",
			[]string{"a source", "b replica", "c unknown: group member without a majority"}},
		{"one unreachable, not knowing it", [3]func(*status){inView("1P 2S 3S:UNREACHABLE"), inView("1P 2S 3S:UNREACHABLE"), inView(all)}, "",
			[]string{"a source", "b replica", "c replica: group member that is UNREACHABLE, says the group's primary a"}},
		{"expelled, not knowing it", [3]func(*status){inView("1P 2S"), inView("1P 2S"), inView(all)}, "",
			[]string{"a source", "b replica", "c replica: group member that the group's primary a does not know"}},
		{"primary cut off", [3]func(*status){inView("1P 2S:UNREACHABLE 3S:UNREACHABLE"), inView("2P 3S"), inView("2P 3S")}, "",
			[]string{"a unknown: group member without a majority", "b source", "c replica"}},
		{"primary cut off, nobody elected yet", [3]func(*status){inView("1P 2S:UNREACHABLE 3S:UNREACHABLE"), inView("1P:UNREACHABLE 2S 3S"), inView("1P:UNREACHABLE 2S 3S")},
			"no server is writable: a: group member without a majority: it does not see most members of its group ONLINE",
			[]string{"a unknown: group member without a majority", "b replica: joining", "c replica: joining"}},
		{"half is no majority", [3]func(*status){inView("1P 2S:UNREACHABLE"), nil, nil}, "no server is writable: a: group member without a majority: it does not see most members of its group ONLINE", []string{"a unknown: group member without"}},
		{"stopped", [3]func(*status){inView("1P 2S"), inView("1P 2S"), inView("3-:OFFLINE")}, "", []string{"a source", "b replica", "c unknown: group member OFFLINE"}},
		{"stopped and writable", [3]func(*status){inView("1P 2S"), inView("1P 2S"), both(inView("3-:OFFLINE"), writable)}, "", []string{"a source", "b replica", "c unknown: group member OFFLINE"}},
		{"never started", [3]func(*status){inView("1P 2S"), inView("1P 2S"), both(inView(""), writable)}, "", []string{"a source", "b replica", "c unknown: group member OFFLINE"}},
		{"error", [3]func(*status){inView("1P 2S"), inView("1P 2S"), inView("3-:ERROR")}, "", []string{"a source", "b replica", "c unknown: group member in ERROR"}},
		{"not open yet", [3]func(*status){nil, both(inView("2P 3S"), closed), inView("2P 3S")}, "no server is writable: b: primary of its group, not yet open for writes",
			[]string{"a unknown: down", "b unknown: primary of its group, not yet open", "c replica: joining"}},
		{"multi-primary", [3]func(*status){inView("1P 2P 3P", func(g *group) { g.multi = true }), inView("1P 2P 3P", func(g *group) { g.multi = true }), inView("1P 2P 3P", func(g *group) { g.multi = true })},
			"a: its group is in multi-primary mode, which Causeway cannot route: SELECT group_replication_switch_to_single_primary_mode()",
			[]string{"a unknown: its group is in multi-primary mode", "b unknown: its group is in", "c unknown: its group is in"}},
		{"nothing may be seen", [3]func(*status){both(writable, func(st *status) { st.group = &group{name: u(9), denied: true} }), nil, nil}, "no server is writable", []string{"a unknown: member of a group, of which"}},
		{"a replica of the group", [3]func(*status){inView("1P 2S"), inView("1P 2S"), replicaOf(1)}, "", []string{"a source", "b replica", "c replica"}},
		{"a replica of a secondary", [3]func(*status){inView("1P 2S"), inView("1P 2S"), replicaOf(2)}, "", []string{"a source", "b replica", "c replica"}},
		{"a primary that is not ours", [3]func(*status){writable, inView("2S 4P"), replicaOf(1)}, "", []string{"a source", "b replica: foreign: replicates from host4:3306", "c replica"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newSim(t)
			for i, st := range tt.st {
				if st == nil {
					m.next(failed{i: i, kind: errGone, text: "connection refused"})
					continue
				}
				m.connect(i, i+1, "9:1-10", true)
			}
			for i, st := range tt.st {
				if st != nil {
					m.status(i, st)
				}
			}
			if m.s.unclear != tt.unclear {
				t.Errorf("unclear: %q, want %q", m.s.unclear, tt.unclear)
			}
			if m.s.source >= 0 {
				m.answer(m.s.source, m.s.source+1, "9:1-10")
			}
			m.want(tt.want...)
		})
	}
}

// TestGroupFailover: the primary dies, the group elects another one, the old
// one comes back as a secondary.
func TestGroupFailover(t *testing.T) {
	m := groupCluster(t)
	m.next(failed{i: 0, kind: errGone, text: "connection refused"})
	m.member(1, "1P:UNREACHABLE 2S 3S")
	m.want("a source: down", "b replica", "c replica") // reads go on
	m.status(1, both(inView("2P 3S", received("9:1-12")), closed))
	m.member(2, "2P 3S")
	m.want("a source: down", "b unknown: primary of its group, not yet open", "c replica")
	m.status(1, inView("2P 3S", received("9:1-12")))
	m.want("a source: down", "b unknown: primary of its group, still applies", "c replica")
	m.next(answered{i: 1, pos: m.pos(2, "9:1-11", false)})
	m.want("a source: down", "b unknown: primary of its group, still applies", "c replica")
	m.next(answered{i: 1, pos: m.pos(2, "9:1-12", false)}) // no status is needed to see it done
	m.wantSource("b")
	if p := buildView(&m.s, &m.s, nil, lives(3)).Promotion; p.Seq != 1 || p.From != "a" || p.To != "b" || !p.Settled {
		t.Errorf("promotion %+v", p)
	}
	m.member(2, "2P 3S")
	m.answer(1, 2, "9:1-12:1000012") // numbers from another block
	m.answer(2, 3, "9:1-12:1000012")
	m.want("a unknown: down", "b source", "c replica")
	m.status(1, inView("2P 3S", received("9:1-12:1000012-1000020"))) // what it wrote itself
	m.wantSource("b")

	m.connectUp(0, 1, "9:1-12", true, time.Second)
	m.status(0, inView("1-:OFFLINE"))
	m.want("a unknown: fenced", "b source", "c replica")
	m.member(1, "1S:RECOVERING 2P 3S")
	m.member(0, "1S:RECOVERING 2P 3S")
	m.want("a unknown: fenced", "b source", "c replica")
	m.member(1, "1S 2P 3S")
	m.member(0, "1S 2P 3S")
	m.want("a replica: joining", "b source", "c replica")
	m.answer(1, 2, "9:1-12:1000012")
	m.answer(0, 1, "9:1-12:1000012")
	m.want("a replica", "b source", "c replica")
}

// TestGroupThawed: a primary that was cut off and takes itself for the primary
// still serves nothing.
func TestGroupThawed(t *testing.T) {
	m := groupCluster(t)
	m.next(failed{i: 0, kind: errSilent, text: "no answer in time"})
	m.next(failed{i: 0, kind: errSilent, text: "no answer in time"})
	m.member(1, "2P 3S")
	m.member(2, "2P 3S")
	m.wantSource("b")
	m.answer(0, 1, "9:1-10")
	m.member(0, "1P 2S 3S")
	m.answer(1, 2, "9:1-10")
	m.want("a unknown: fenced", "b source", "c replica")
}

// TestGroupSwitch: the operator hands the primary over.
func TestGroupSwitch(t *testing.T) {
	m := groupCluster(t)
	m.status(0, both(inView("1P 2S 3S"), closed))
	m.wantSource("")
	if m.s.unclear != "no server is writable: a: primary of its group, not yet open for writes" {
		t.Error(m.s.unclear)
	}
	m.want("a unknown: primary of its group", "b replica", "c replica") // reads go on
	m.status(1, inView("1S 2P 3S", received("9:1-10"), certifying(1)))
	m.wantSource("")
	m.status(1, inView("1S 2P 3S", received("9:1-10")))
	m.wantSource("b")
	m.member(0, "1S 2P 3S")
	m.answer(1, 2, "9:1-11")
	m.answer(0, 1, "9:1-11")
	m.want("a replica", "b source", "c replica")
}

// TestGroupBusyAtStart: the primary's own writes are received transactions too;
// at a start under load its position is behind them until the next probe.
func TestGroupBusyAtStart(t *testing.T) {
	m := newSim(t, "a", "b")
	m.connect(0, 1, "9:1-10", false)
	m.connect(1, 2, "9:1-10", true)
	m.member(1, "1P 2S")
	m.status(0, inView("1P 2S", received("9:1-20"), certifying(3)))
	m.wantSource("")
	m.answer(0, 1, "9:1-25")
	m.wantSource("a")
	m.status(0, inView("1P 2S", received("9:1-40"), certifying(3)))
	m.wantSource("a")
}

// TestGroupErrant: transactions of the group that a secondary applied before
// the primary are none of its own; one under its own number is.
func TestGroupErrant(t *testing.T) {
	m := groupCluster(t)
	m.answer(1, 2, "9:1-12 2:1")
	for range 3 {
		m.answer(0, 1, "9:1-10")
		m.member(1, "1P 2S 3S")
	}
	if got := m.s.nodes[1].errant; !got.Equal(gs("2:1")) {
		t.Errorf("errant %v", got)
	}
	m.want("a source", "b replica", "c replica") // it covers no token by that
}

func TestSetSourceOfGroup(t *testing.T) {
	m := groupCluster(t)
	if why := m.s.refuseName(1); !strings.Contains(why, "SELECT group_replication_set_as_primary('"+u(2)+"')") {
		t.Error(why)
	}
	m.member(2, "1P:UNREACHABLE 2S:UNREACHABLE 3S")
	if why := m.s.refuseName(2); !strings.HasPrefix(why, "group member without a majority") {
		t.Error(why)
	}
}

func TestReadGroup(t *testing.T) {
	members := []row{
		{"id": u(1), "host": "h1", "port": "3306", "state": "ONLINE", "role": "PRIMARY", "view_id": "17:3", "queued": "0", "unapplied": "0"},
		{"id": u(2), "host": "h2", "port": "3307", "state": "ONLINE", "role": "SECONDARY", "view_id": "17:3", "queued": "2", "unapplied": "5"},
	}
	detail := row{"received": u(9) + ":1-7:1000001", "applier": "ON", "name": u(9), "view_change": "AUTOMATIC", "single": "ON"}
	st := status{uuid: u(2)}
	if err := st.readGroup(members, []row{detail}); err != nil {
		t.Fatal(err)
	}
	g := st.group
	if g.self.addr != "h2:3307" || g.viewID != "17:3" || g.queued != 2 || g.unapplied != 5 || g.multi || g.refuse() != "" || g.viewChange != "" {
		t.Errorf("%+v", g)
	}
	if len(st.channels) != 1 || st.channels[0].sourceUUID != u(1) || st.channels[0].source != "h1:3306" || st.channels[0].io != "Yes" || st.channels[0].sql != "Yes" ||
		!st.received().Equal(gtid.MustParse(detail["received"])) {
		t.Errorf("%+v", st.channels)
	}
	n := node{pos: gs("9:1-7"), posLag: -1, transport: -1, status: &st, rules: &lagRules{}}
	if l := n.lag(); l.ReceivedUnapp != 7 || l.IOThread != "Yes" || l.Channels != 1 {
		t.Errorf("%+v", l)
	}

	primary := status{uuid: u(1)}
	if err := primary.readGroup(members, []row{detail}); err != nil || len(primary.channels) != 0 || !primary.group.leads() {
		t.Errorf("%+v %v", primary.group, err)
	}
	detail["single"] = "OFF"
	if err := primary.readGroup(members, []row{detail}); err != nil || !primary.group.multi {
		t.Errorf("%+v %v", primary.group, err)
	}
	detail["view_change"] = u(8)
	if err := primary.readGroup(members, []row{detail}); err != nil || strings.Join(primary.numbers(), " ") != u(1)+" "+u(9)+" "+u(8) {
		t.Errorf("%v %v", primary.numbers(), err)
	}
	detail["name"] = "" // a plugin that nobody uses
	plain := status{uuid: u(1)}
	if err := plain.readGroup([]row{{"id": "", "state": "OFFLINE"}}, []row{detail}); err != nil || plain.group != nil {
		t.Errorf("%+v %v", plain.group, err)
	}
	if err := plain.readGroup(members, []row{{"name": u(9), "received": "garbage"}}); err == nil {
		t.Error("garbage taken as a set")
	}
	if err := plain.readReplica([]row{{"Channel_Name": groupRecovery}, {"Channel_Name": groupApplier}}); err != nil || plain.isReplica() {
		t.Errorf("%+v %v", plain.channels, err)
	}
}

// TestGroupViewChange: what one member notices makes the others be asked at once.
func TestGroupViewChange(t *testing.T) {
	bubble(t, Options{Interval: time.Hour, PositionInterval: time.Hour}, func(t *testing.T, c *fakeCluster) {
		time.Sleep(time.Minute) // in the bubble: all earlier reasons for a probe are used up
		was := c.server("c").count("status")
		c.server("b").set(func(f *fakeServer) { inView("1P 2S 3S")(&f.st) })
		kick((*c.probes.Load())[1].status)
		c.until(t, func(*backend.View) bool { return c.server("c").count("status") > was })
	})
}
