package replicamon

import (
	"strings"
	"testing"
	"time"
)

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
