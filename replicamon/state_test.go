package replicamon

import (
	"fmt"
	"testing"
	"time"
)

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
			missed := func() string { return buildView(&m.s, &m.s, nil, lives(3)).Nodes[1].Missed }
			for _, k := range tt.errs {
				m.next(failed{i: 1, kind: k, text: "no answer in time"})
			}
			if m.s.nodes[1].up != tt.up {
				t.Errorf("up %v, want %v", m.s.nodes[1].up, tt.up)
			}
			if got := missed(); (got == "no answer in time") != tt.up { // once it is down, that says it
				t.Errorf("missed %q", got)
			}
			m.answer(1, 2, "1:1-10") // comes back by itself, and still knows its place
			m.want("a source", "b replica", "c replica")
			if got := missed(); got != "" {
				t.Errorf("after an answer: missed %q", got)
			}
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
	// The old source returns writable with a transaction of its own, and c follows it still.
	m.connectUp(0, 1, "1:1-11", false, time.Second)
	m.status(0, writable)
	m.wantSource("b")
	m.want("a unknown: fenced: it was the source until b took its place", "b source")
	m.status(2, replicaOf(2))
	m.wantSource("b")
	m.want("a unknown: fenced", "b source", "c replica")
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
