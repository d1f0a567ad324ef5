package replicamon

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestTwoWritable: which of two writable nodes leads that were never seen
// before. c is a replica of the node that is named, 0: down.
func TestTwoWritable(t *testing.T) {
	for _, tt := range []struct {
		name    string
		a, b    string
		follows int
		source  string
	}{
		{"b has all of a and more", "1:1-10", "1:1-10 2:1-3", 0, "b"},
		{"b has all of a and more, though c follows a", "1:1-10", "1:1-10 2:1-3", 1, "b"},
		{"a has all of b and more", "1:1-11", "1:1-10", 0, "a"},
		{"the same, c follows a", "1:1-10", "1:1-10", 1, "a"},
		{"the same, c follows b", "1:1-10", "1:1-10", 2, "b"},
		{"the same, nobody follows", "1:1-10", "1:1-10", 0, ""},
		{"each has its own, c follows b", "1:1-11", "1:1-10 2:1", 2, "b"},
		{"each has its own, nobody follows", "1:1-11", "1:1-10 2:1", 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newSim(t)
			m.connect(0, 1, tt.a, false)
			m.connect(1, 2, tt.b, false)
			if tt.follows == 0 {
				m.next(failed{i: 2, kind: errGone, text: "connection refused"})
			} else {
				m.connect(2, 3, "1:1-10", true)
				m.status(2, replicaOf(tt.follows))
			}
			m.status(0, writable)
			m.status(1, writable)
			m.answer(0, 1, tt.a)
			m.answer(1, 2, tt.b)
			m.status(0, writable)
			m.wantSource(tt.source)
			if tt.source == "" && m.s.unclear != "more than one server is writable: a, b" {
				t.Errorf("unclear: %q", m.s.unclear)
			}
		})
	}
}

// TestPromotedBesideBusySource: what the old source has taken since the promotion, as
// it is sent writes, does not keep it in office, but what people did decides.
func TestPromotedBesideBusySource(t *testing.T) {
	const stays = "b unknown: promoted? it is writable, and no longer replicates from a, which is writable too and stays the source"
	for _, tt := range []struct {
		name   string
		moves  func(m *sim)
		source string
		want   []string
	}{
		{"b is promoted, c follows it", func(m *sim) { m.status(1, writable); m.status(2, replicaOf(2)) }, "b", []string{"a unknown: fenced", "b source"}},
		{"c follows b first", func(m *sim) { m.status(2, replicaOf(2)); m.status(1, writable) }, "b", []string{"a unknown: fenced", "b source"}},
		{"c is lost", func(m *sim) {
			m.next(failed{i: 2, kind: errGone, text: "connection refused"})
			m.status(1, writable)
		}, "a", []string{"a source", stays}},
		{"b is on its own", func(m *sim) { m.status(1, writable) }, "a", []string{"a source", stays}},
		{"b is writable by mistake, c follows it", func(m *sim) { m.status(2, replicaOf(2)); m.status(1, both(replicaOf(1), writable)) }, "a", []string{"a source", "b replica"}},
		{"b and c leave", func(m *sim) {
			m.answer(0, 1, "1:1-20")
			m.status(1, writable)
			m.status(2, writable)
		}, "a", []string{"a source", stays}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := cluster(t)
			tt.moves(m)
			m.answer(0, 1, "1:1-30")
			m.status(0, writable)
			m.answer(0, 1, "1:1-40")
			m.status(0, writable)
			m.wantSource(tt.source)
			m.want(tt.want...)
			if tt.source == "b" && (m.s.promotion.seq != 1 || m.s.promotion.from != "a") {
				t.Errorf("promotion %+v", m.s.promotion)
			}
		})
	}
}

// failedOver is a cluster in which b took a's place at 1:1-10.
func failedOver(t *testing.T) *sim {
	m := cluster(t)
	m.next(failed{i: 0, kind: errGone, text: "connection refused"})
	m.status(1, writable)
	m.status(2, replicaOf(2))
	m.answer(1, 2, "1:1-10 2:1")
	m.answer(2, 3, "1:1-10 2:1")
	m.want("a unknown: down", "b source", "c replica")
	return m
}

func TestFence(t *testing.T) {
	t.Run("a thawed source takes nothing, whatever it holds", func(t *testing.T) {
		m := failedOver(t)
		m.answer(0, 1, "1:1-30") // no restart: its connection lives
		m.wantSource("b")
		m.want("a unknown: fenced: it was the source", "b source", "c replica")
		m.status(2, replicaOf(1)) // even if the others turn to it
		m.wantSource("b")
		m.next(failed{i: 1, kind: errGone, text: "connection refused"})
		m.wantSource("b") // lost; the fenced one does not take its place
		m.want("a unknown: fenced", "b source: down")
	})
	t.Run("it replicates again", func(t *testing.T) {
		m := failedOver(t)
		m.connectUp(0, 1, "1:1-10", true, time.Second)
		m.status(0, readOnly)
		m.want("a unknown: fenced", "b source", "c replica")
		m.status(0, func(st *status) { replicaOf(2)(st); st.channels[0].io = "Connecting" })
		m.want("a replica: fenced", "b source", "c replica")
		m.status(0, replicaOf(2))
		m.want("a replica: joining: waits until it covers", "b source", "c replica")
		m.answer(1, 2, "1:1-10 2:1-5")
		m.answer(0, 1, "1:1-10 2:1-4")
		m.want("a replica: joining", "b source", "c replica")
		m.answer(0, 1, "1:1-10 2:1-5")
		m.want("a replica", "b source", "c replica")
		// It may be promoted again.
		m.next(failed{i: 1, kind: errGone, text: "connection refused"})
		m.status(0, writable)
		m.wantSource("a")
		if m.s.promotion.seq != 2 || m.s.promotion.from != "b" || m.s.promotion.to != "a" {
			t.Errorf("promotion %+v", m.s.promotion)
		}
	})
	t.Run("it replicates again, but has transactions of its own", func(t *testing.T) {
		m := failedOver(t)
		m.connectUp(0, 1, "1:1-12", true, time.Second)
		m.status(0, replicaOf(2))
		m.answer(0, 1, "1:1-12 2:1")
		m.answer(1, 2, "1:1-10 2:1")
		m.status(0, replicaOf(2))
		m.want("a replica: fenced: it replicates from the source, but holds transactions of its own", "b source", "c replica")
		m.answer(1, 2, "1:1-12 2:1") // empty transactions were injected
		m.status(0, replicaOf(2))
		m.answer(1, 2, "1:1-12 2:1")
		m.want("a replica", "b source", "c replica")
	})
	t.Run("the fence survives a restart of Causeway", func(t *testing.T) {
		old := failedOver(t)
		m := newSim(t)
		m.s.recall(old.s.record)
		m.connect(0, 1, "1:1-30", false)
		m.connect(1, 2, "1:1-10 2:1", false)
		m.next(failed{i: 2, kind: errGone, text: "connection refused"})
		m.status(0, writable)
		m.status(1, writable)
		m.wantSource("b")
		m.want("a unknown: fenced", "b source")
		if m.s.promotion.seq != 0 {
			t.Error("the source of before is no promotion")
		}
	})
	t.Run("a promotion while Causeway was down", func(t *testing.T) {
		old := cluster(t)
		m := newSim(t)
		m.s.recall(old.s.record)
		m.next(failed{i: 0, kind: errGone, text: "connection refused"})
		m.connect(1, 2, "1:1-10", false)
		m.connect(2, 3, "1:1-10", true)
		m.status(1, writable)
		m.status(2, replicaOf(2))
		m.wantSource("b")
		if m.s.promotion.seq != 1 {
			t.Error("not noticed")
		}
		m.connectUp(0, 1, "1:1-30", false, time.Second)
		m.status(0, writable)
		m.wantSource("b")
		m.want("a unknown: fenced", "b source")
	})
}

func TestNamed(t *testing.T) {
	diverged := func(t *testing.T) *sim {
		m := cluster(t)
		m.status(2, both(readOnly))
		m.answer(1, 2, "1:1-10 2:1")
		m.answer(0, 1, "1:1-11")
		m.next(answered{i: 1, pos: m.pos(2, "1:1-10 2:1", false)})
		m.status(1, writable)
		m.wantSource("")
		if v := buildView(&m.s, &m.s, nil, lives(3)); v.NoSource == "" || v.Source != nil {
			t.Error("the view does not tell")
		}
		return m
	}
	t.Run("it is that one", func(t *testing.T) {
		m := diverged(t)
		m.next(named{1})
		m.wantSource("b")
		m.want("a unknown: fenced", "b source")
		m.answer(0, 1, "1:1-99")
		m.status(0, writable)
		m.status(2, replicaOf(1))
		m.wantSource("b")
		m.next(named{0}) // and back
		m.wantSource("a")
		m.want("a source", "b unknown: fenced")
	})
	t.Run("only what can lead", func(t *testing.T) {
		m := diverged(t)
		for i, want := range map[int]string{1: "", 2: "read only"} {
			if why := m.s.refuseName(i); (why == "") != (want == "") || !strings.Contains(why, want) {
				t.Errorf("node %d: %q", i, why)
			}
		}
		m.status(2, both(replicaOf(1), writable))
		if why := m.s.refuseName(2); !strings.Contains(why, "STOP REPLICA") {
			t.Error(why)
		}
		m.next(failed{i: 0, kind: errGone, text: "connection refused"})
		if why := m.s.refuseName(0); !strings.Contains(why, "down") {
			t.Error(why)
		}
	})
}

func TestWarmupAndSettled(t *testing.T) {
	m := cluster(t)
	m.s.rules.warmup = time.Minute
	if v := buildView(&m.s, &m.s, nil, lives(3)); !v.WarmupUntil.IsZero() || v.Promotion.Seq != 0 {
		t.Errorf("the first source is no promotion: %+v", v)
	}
	m.next(failed{i: 0, kind: errGone, text: "connection refused"})
	applying := func(st *status) {
		both(replicaOf(1), writable)(st)
		st.channels[0].io, st.channels[0].received = "No", gs("1:11-12")
	}
	m.status(2, replicaOf(2))
	m.status(1, applying)
	m.wantSource("a") // its applier still runs
	m.status(1, func(st *status) { applying(st); st.channels[0].sql = "No" })
	m.wantSource("b")
	v := buildView(&m.s, &m.s, nil, lives(3))
	if v.Promotion.Seq != 1 || v.Promotion.From != "a" || v.Promotion.To != "b" || !v.Promotion.Settled {
		t.Errorf("promotion %+v", v.Promotion)
	}
	if d := v.WarmupUntil.Sub(v.Promotion.At); d != time.Minute {
		t.Errorf("warm-up of %v", d)
	}
	m.s.source = 1
	m.s.nodes[1].status.channels[0].sql = "Yes"
	if m.s.settled() {
		t.Error("settled though it applies what it had received")
	}
}

// TestOvertakenStatus: a status that was asked for before a node became writable
// and comes after the position that saw it does not take that back.
func TestOvertakenStatus(t *testing.T) {
	m := cluster(t)
	m.next(failed{i: 0, kind: errGone, text: "connection refused"})
	m.status(1, readOnly)
	n := m.s.nodes[1]
	late := status{asked: m.now, uuid: n.uuid, version: "8.0.36", gtidMode: "ON", enforceGTID: "ON", readOnly: true}
	m.tick(time.Millisecond)
	older := m.pos(2, "1:1-10", true)
	m.next(answered{i: 1, pos: m.pos(2, "1:1-10", false)})
	m.wantSource("b")
	m.next(statusAnswered{i: 1, gen: n.gen, st: late})
	m.wantSource("b")
	m.next(answered{i: 1, pos: older})
	m.wantSource("b")
	m.next(answered{i: 1, pos: m.pos(2, "1:1-10", true)})
	m.wantSource("")
}

// TestSkewedPositions: b became writable with all that a had, but a was last
// asked before it had that. b only seems to be ahead.
func TestSkewedPositions(t *testing.T) {
	m := cluster(t)
	m.status(2, replicaOf(1))
	m.answer(1, 2, "1:1-12")
	m.next(answered{i: 1, pos: m.pos(2, "1:1-12", false)})
	m.status(1, writable)
	m.wantSource("") // b seems to be ahead: nothing is written until it is known
	m.answer(0, 1, "1:1-12")
	m.wantSource("a") // the same, and c follows it
	m.answer(0, 1, "1:1-15")
	m.status(1, writable)
	m.wantSource("a") // b seems to be behind
	m.answer(1, 2, "1:1-12 2:1")
	m.status(1, writable)
	m.answer(0, 1, "1:1-16")
	m.answer(1, 2, "1:1-12 2:1")
	m.status(1, writable)
	m.wantSource("a")   // each has its own, and c follows a
	for i := range 20 { // whatever was asked last, though a has news with every answer
		m.answer(0, 1, fmt.Sprintf("1:1-%d", 20+i))
		m.status(1, writable)
		m.wantSource("a")
		m.answer(1, 2, "1:1-12 2:1")
		m.status(1, writable)
		m.wantSource("a")
	}
	if m.s.promotion.seq != 0 {
		t.Error("a promotion was seen")
	}
}
