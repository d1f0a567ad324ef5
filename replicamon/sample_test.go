package replicamon

import (
	"strings"
	"testing"
	"time"

	"causeway/backend"
)

// judged starts a cluster whose replicas are judged by two limits, both within.
func judged(t *testing.T) *sim {
	t.Helper()
	m := newSim(t)
	m.s = newState(Options{Servers: []string{"a", "b", "c"}, LagLimits: []LagLimit{{Name: "F1", P95: 2 * time.Second}, {Name: "F2", P95: 10 * time.Second}},
		RecoveryWindow: 5 * time.Second, SlowStart: 10 * time.Second}.withDefaults())
	m.connect(0, 1, "1:1-10", false)
	m.connect(1, 2, "1:1-10", true)
	m.connect(2, 3, "1:1-10", true)
	m.status(0, writable)
	m.status(1, replicaOf(1))
	m.wantLimits(1, "not known", "not known") // it is joining
	m.status(2, replicaOf(1))
	m.tick(100 * time.Millisecond)
	m.answer(0, 1, "1:1-10")
	m.status(1, having("1:1-10"))
	m.status(2, having("1:1-10"))
	m.wantLimits(1, "", "")
	return m
}

// having is a healthy replica of 1 that received a set.
func having(set string) func(*status) {
	return both(replicaOf(1), func(st *status) { st.channels[0].received = gs(set) })
}

// wantLimits checks what the view tells of node i's limits.
func (m *sim) wantLimits(i int, want ...string) {
	m.t.Helper()
	v := buildView(&m.s, &m.s, nil, lives(len(m.s.nodes)))
	got := v.Nodes[i].Limits
	if len(got) != len(want) {
		m.t.Fatalf("%d limits, want %d", len(got), len(want))
	}
	for k, l := range got {
		if (l.Excluded == "") != (want[k] == "") || !strings.Contains(l.Excluded, want[k]) {
			m.t.Errorf("%s: %q, want %q", l.Name, l.Excluded, want[k])
		}
	}
}

// second is one second of a source that goes on and a replica that has executed
// and received what it has.
func (m *sim) second(source, executed, received string) {
	for range 2 {
		m.tick(500 * time.Millisecond)
		m.answer(0, 1, source)
		m.answer(1, 2, executed)
		m.status(1, having(received))
	}
}

func TestLimitsOfLag(t *testing.T) {
	m := judged(t)
	m.second("1:1-11", "1:1-10", "1:1-11")
	for range 5 {
		m.second("1:1-11", "1:1-10", "1:1-11")
	}
	m.wantLimits(1, "the limit is 2s", "") // 5.5 s are over one limit and within the other
	m.wantLimits(2, "", "")
	for range 6 {
		m.second("1:1-11", "1:1-11", "1:1-11")
	}
	m.wantLimits(1, "", "")
	v := buildView(&m.s, &m.s, nil, lives(3))
	if share := v.Nodes[1].Limits[0].Share; share < 10 || share > 30 {
		t.Errorf("it comes back with %d %%", share)
	}
	if v.Nodes[1].Limits[1].Share != 100 {
		t.Error("a slow start under a limit that it was always within")
	}
}

func TestDeadLinkIsOverTheLimit(t *testing.T) {
	m := judged(t)
	for range 30 {
		m.second("1:1-11", "1:1-10", "1:1-10")
	}
	m.wantLimits(1, "the limit is 2s", "the limit is 10s")
	if l := m.s.nodes[1].lag(); l.Apply != 0 || l.Transport < 20*time.Second {
		t.Errorf("apply lag %v, transport lag %v: it is the link", l.Apply, l.Transport)
	}
}

// promoteC loses the source of judged, and promotes c.
func promoteC(m *sim) {
	m.next(failed{i: 0, kind: errGone, text: "connection refused"})
	m.answer(2, 3, "1:1-10")
	m.status(2, writable)
	m.answer(2, 3, "1:1-10 3:1")
	m.wantSource("c")
}

// connects has replica b connect, as is seen before and after the source answers.
func connects(m *sim, change func(*status)) {
	m.status(1, change)
	m.tick(500 * time.Millisecond)
	m.answer(0, 1, "1:1-10")
	m.status(1, change)
}

// sourceRestarts loses the source of judged, and has it back in another life.
func sourceRestarts(m *sim) {
	m.next(failed{i: 0, kind: errGone, text: "connection refused"})
	m.tick(500 * time.Millisecond)
	connecting := both(having("1:1-10"), func(st *status) { st.channels[0].io = "Connecting" })
	m.status(1, connecting)
	m.tick(500 * time.Millisecond)
	m.connectUp(0, 1, "1:1-10", false, time.Millisecond)
	m.status(1, connecting) // before what the source is was asked again
	m.status(0, writable)
	m.tick(100 * time.Millisecond)
	m.answer(0, 1, "1:1-10")
	m.wantSource("a")
}

func TestUnknownLag(t *testing.T) {
	stop := func(io, sql string) func(*status) {
		return both(having("1:1-10"), func(st *status) { st.channels[0].io, st.channels[0].sql = io, sql })
	}
	for _, tt := range []struct {
		name string
		run  func(m *sim)
		want string
	}{
		{"stopped applier", func(m *sim) { m.status(1, stop("Yes", "No")) }, "unknown: the applier is stopped"},
		{"stopped receiver", func(m *sim) { m.status(1, stop("No", "Yes")) }, "unknown: the receiver is stopped"},
		{"connecting", func(m *sim) { connects(m, stop("Connecting", "Yes")) }, "unknown: the receiver is connecting"},
		{"connecting, as is noticed before that the source is lost", func(m *sim) {
			m.status(1, stop("Connecting", "Yes"))
			m.next(failed{i: 0, kind: errGone, text: "connection refused"})
			m.tick(500 * time.Millisecond)
			m.status(1, stop("Connecting", "Yes"))
			m.tick(500 * time.Millisecond)
			m.connectUp(0, 1, "1:1-10", false, time.Millisecond)
			m.status(0, writable)
			m.second("1:1-10", "1:1-10", "1:1-10")
		}, ""},
		{"one failed probe", func(m *sim) {
			m.tick(time.Second)
			m.next(statusFailed{i: 1, gen: 1, text: "no answer in time", at: m.now})
		}, ""},
		{"several", func(m *sim) {
			m.tick(3 * time.Second)
			m.next(statusFailed{i: 1, gen: 1, text: "no answer in time", at: m.now})
		}, "unknown: its newest sample was too old"},
		{"none for long", func(m *sim) {
			m.tick(3 * time.Second)
			m.second("1:1-10", "1:1-10", "1:1-10")
		}, "unknown: its newest sample was too old"},
		{"no news of the source", func(m *sim) {
			for range 6 {
				m.tick(500 * time.Millisecond)
				m.answer(1, 2, "1:1-10")
				m.status(1, having("1:1-10"))
			}
		}, "the source's position is not known"},
		{"which is over when there are", func(m *sim) {
			for range 6 {
				m.tick(500 * time.Millisecond)
				m.status(1, having("1:1-10"))
			}
			m.second("1:1-10", "1:1-10", "1:1-10")
		}, ""},
		{"connecting to a source that is lost: what was judged before stands", func(m *sim) {
			m.next(failed{i: 0, kind: errGone, text: "connection refused"})
			m.status(1, stop("Connecting", "Yes"))
		}, ""},
		{"for long", func(m *sim) {
			m.next(failed{i: 0, kind: errGone, text: "connection refused"})
			for range 200 {
				m.tick(500 * time.Millisecond)
				m.answer(1, 2, "1:1-10")
				m.status(1, stop("Connecting", "Yes"))
			}
		}, ""},
		{"it has not noticed that its source is lost", func(m *sim) {
			m.next(failed{i: 0, kind: errGone, text: "connection refused"})
			for range 20 {
				m.tick(500 * time.Millisecond)
				m.status(1, having("1:1-10"))
			}
		}, ""},
		{"it notices first", func(m *sim) { m.status(1, stop("Connecting", "Yes")) }, ""},
		{"it joins while its source is lost", func(m *sim) {
			m.next(failed{i: 0, kind: errGone, text: "connection refused"})
			m.connectUp(1, 2, "1:1-10", true, time.Millisecond)
			m.status(1, stop("Connecting", "Yes"))
		}, "its lag is unknown"},
		{"an exclusion that stood before stays", func(m *sim) {
			m.status(1, stop("Yes", "No"))
			m.next(failed{i: 0, kind: errGone, text: "connection refused"})
			for range 200 {
				m.tick(500 * time.Millisecond)
				m.answer(1, 2, "1:1-10")
				m.status(1, stop("Connecting", "Yes"))
			}
		}, "unknown: the applier is stopped"},
		{"which is over when the source is back", func(m *sim) {
			m.next(failed{i: 0, kind: errGone, text: "connection refused"})
			m.status(1, stop("Connecting", "Yes"))
			m.second("1:1-10", "1:1-10", "1:1-10")
		}, ""},
		{"the source is back, and the receiver tries again", func(m *sim) {
			sourceRestarts(m)
			m.status(1, stop("Connecting", "Yes"))
		}, "the source's position is not known"},
		{"until it runs", func(m *sim) {
			sourceRestarts(m)
			m.status(1, stop("Connecting", "Yes"))
			m.second("1:1-10", "1:1-10", "1:1-10")
		}, ""},
		{"once it has run, what it cannot receive is a fault of the link", func(m *sim) {
			sourceRestarts(m)
			m.second("1:1-10", "1:1-10", "1:1-10")
			m.tick(500 * time.Millisecond)
			connects(m, stop("Connecting", "Yes"))
		}, "unknown: the receiver is connecting"},
		{"somebody stopped it meanwhile", func(m *sim) {
			sourceRestarts(m)
			m.status(1, stop("No", "Yes"))
		}, "unknown: the receiver is stopped"},
		{"it has not come back for long", func(m *sim) {
			sourceRestarts(m)
			for range 200 {
				m.tick(500 * time.Millisecond)
				m.answer(0, 1, "1:1-10")
				m.status(1, stop("Connecting", "Yes"))
			}
		}, "unknown: the receiver is connecting"},
		{"both threads stop while the source is lost: it is led to another", func(m *sim) {
			m.next(failed{i: 0, kind: errGone, text: "connection refused"})
			m.status(1, stop("No", "No"))
			m.second("1:1-10", "1:1-10", "1:1-10")
		}, ""},
		{"a stopped applier is its own fault", func(m *sim) {
			m.next(failed{i: 0, kind: errGone, text: "connection refused"})
			m.status(1, stop("Connecting", "No"))
		}, "unknown: the applier is stopped"},
		{"connecting to one that was the source", func(m *sim) {
			promoteC(m)
			m.status(1, stop("Connecting", "Yes"))
		}, "the source's position is not known"},
		{"led to the new source", func(m *sim) {
			promoteC(m)
			m.status(1, stop("Connecting", "Yes"))
			m.tick(500 * time.Millisecond)
			m.status(1, stop("No", "No"))
			m.tick(500 * time.Millisecond)
			m.answer(2, 3, "1:1-10 3:1")
			m.status(1, func(st *status) { replicaOf(3)(st); st.channels[0].sourceUUID, st.channels[0].io = "", "Connecting" })
			m.tick(500 * time.Millisecond)
			m.answer(2, 3, "1:1-10 3:1")
			m.answer(1, 2, "1:1-10 3:1")
			m.status(1, func(st *status) { replicaOf(3)(st); st.channels[0].received = gs("1:1-10 3:1") })
		}, ""},
		{"led there, it cannot receive", func(m *sim) {
			promoteC(m)
			connecting := func(st *status) { replicaOf(3)(st); st.channels[0].io = "Connecting" }
			m.status(1, connecting)
			m.tick(500 * time.Millisecond)
			m.answer(2, 3, "1:1-10 3:1")
			m.status(1, connecting)
		}, "unknown: the receiver is connecting"},
		{"restarted: it has shown again that it keeps up", func(m *sim) {
			m.connectUp(1, 2, "1:1-10", true, time.Millisecond)
			m.answer(0, 1, "1:1-10")
			m.second("1:1-10", "1:1-10", "1:1-10")
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := judged(t)
			m.tick(500 * time.Millisecond)
			tt.run(m)
			m.wantLimits(1, tt.want, tt.want)
		})
	}
}

func TestIdleSourceIsNoLag(t *testing.T) {
	m := judged(t)
	for range 100 {
		m.second("1:1-10", "1:1-10", "1:1-10")
	}
	if l := m.s.nodes[1].lag(); l.ApplyP50 != 0 || l.ApplyP99 != 0 || l.Apply != 0 || l.Position != 0 {
		t.Errorf("%+v", l)
	}
	if n := len(m.s.nodes[1].window); n > 62 {
		t.Errorf("%d samples in 30 s", n)
	}
}

func TestClock(t *testing.T) {
	look := func(at, trip, offset time.Duration) position {
		asked := t0.Add(at)
		return position{asked: asked, answered: asked.Add(trip), clock: asked.Add(trip/2 + offset)}
	}
	second := time.Second
	for _, tt := range []struct {
		name  string
		looks []position
		want  time.Duration
		known bool
	}{
		{"none", []position{{asked: t0, answered: t0}}, 0, false},
		{"one", []position{look(0, 20*time.Millisecond, 5*second)}, 5 * second, true},
		{"the quicker one is kept", []position{look(0, time.Millisecond, second), look(second, 90*time.Millisecond, second+30*time.Millisecond)}, second, true},
		{"and replaces a slower one", []position{look(0, 90*time.Millisecond, second+30*time.Millisecond), look(second, time.Millisecond, second)}, second, true},
		{"but not for ever", []position{look(0, time.Millisecond, second), look(6*second, 90*time.Millisecond, second+30*time.Millisecond)}, second + 30*time.Millisecond, true},
		{"a clock that was set is news", []position{look(0, time.Millisecond, second), look(second, 90*time.Millisecond, -second)}, -second, true},
	} {
		var c clock
		for _, p := range tt.looks {
			c = c.seen(p)
		}
		if got := c.picture(); got.Known != tt.known || (got.Offset-tt.want).Abs() > time.Microsecond {
			t.Errorf("%s: %+v, want %v", tt.name, got, tt.want)
		}
	}
}

// The apply lag is the same whatever the replica's clock says.
func TestLagWithWrongClock(t *testing.T) {
	for _, off := range []time.Duration{-5 * time.Second, 0, 5 * time.Second} {
		m := judged(t)
		m.tick(time.Second)
		for i, o := range []time.Duration{0, off} {
			p := m.pos(i+1, "1:1-10", i > 0)
			p.clock = p.asked.Add(o)
			m.next(answered{i: i, pos: p})
		}
		m.tick(time.Second)
		m.answer(0, 1, "1:1-11")
		m.status(1, both(having("1:1-11"), func(st *status) {
			st.workers = []worker{{id: 1, running: true, applying: u(1) + ":11", applyingAge: 700*time.Millisecond + off, appliedAge: noAge}}
		}))
		l := m.s.nodes[1].lag()
		if (l.Apply - 700*time.Millisecond).Abs() > 2*time.Millisecond {
			t.Errorf("clock off by %v: apply lag %v", off, l.Apply)
		}
		if !l.ShiftKnown || (l.ClockShift-off).Abs() > 2*time.Millisecond {
			t.Errorf("clock off by %v: it is said to be %v", off, l.ClockShift)
		}
	}
}

func TestBlocker(t *testing.T) {
	busy := func(id int, gtid, doing string, since time.Duration) worker {
		return worker{id: id, applying: gtid, doing: doing, applyingFor: since}
	}
	for _, tt := range []struct {
		name    string
		workers []worker
		sql     string
		want    backend.Blocker
		blocks  time.Duration
	}{
		{"idle", []worker{{id: 1, doing: "Waiting for an event from Coordinator"}}, "", backend.Blocker{}, 0},
		{"two that work", []worker{busy(1, "g:1", "", time.Second), busy(2, "g:2", "", 2*time.Second)}, "",
			backend.Blocker{Worker: 2, GTID: "g:2", For: 2 * time.Second}, 0},
		{"one that others wait for", []worker{busy(1, "g:3", waitsToCommit, 9*time.Second), busy(2, "g:2", "Executing event", 2*time.Second), busy(3, "g:4", waitsToCommit, time.Second)}, "",
			backend.Blocker{Worker: 2, GTID: "g:2", For: 2 * time.Second, Doing: "Executing event", Waiting: 2}, 2 * time.Second},
		{"one that the coordinator waits for", []worker{busy(1, "g:3", "", time.Second)}, waitsToGoOn,
			backend.Blocker{Worker: 1, GTID: "g:3", For: time.Second, Stalled: true}, time.Second},
	} {
		st := status{workers: tt.workers, channels: []channel{{sqlState: tt.sql}}}
		var l backend.Lag
		st.tellWorkers(&l)
		if l.Blocker != tt.want || l.Blocker.Blocks() != tt.blocks {
			t.Errorf("%s: %+v blocks %v, want %+v, %v", tt.name, l.Blocker, l.Blocker.Blocks(), tt.want, tt.blocks)
		}
	}
}

func TestSlow(t *testing.T) {
	m := judged(t)
	live := lives(3)
	answers := func(i int, took time.Duration) {
		for range 100 {
			live[i].Times.Add(took)
		}
		live[i].Times.Refresh(t0)
	}
	slow := func() bool { return buildView(&m.s, &m.s, nil, live).Nodes[1].Slow }
	answers(1, 20*time.Millisecond)
	if slow() {
		t.Error("slow against a source that nobody read from")
	}
	answers(0, 15*time.Millisecond)
	if slow() {
		t.Error("slow at less than 1.5 times the source's")
	}
	answers(1, 40*time.Millisecond)
	if !slow() {
		t.Error("not slow at more than twice the source's")
	}
}

// TestColdReplica: one that begins another life comes back slowly, but without
// the recovery window.
func TestColdReplica(t *testing.T) {
	m := judged(t)
	m.tick(500 * time.Millisecond)
	m.connectUp(1, 2, "1:1-10", true, time.Millisecond)
	m.answer(0, 1, "1:1-10")
	m.second("1:1-10", "1:1-10", "1:1-10")
	if l := m.s.nodes[1].shown[0]; l.Excluded != "" || l.Share > 50 {
		t.Errorf("%+v", l)
	}
}
