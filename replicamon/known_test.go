package replicamon

import (
	"testing"
	"time"

	"causeway/backend"
)

// joins adds a node to the simulation as a statement or discovery does.
func (m *sim) joins(addr string, by backend.Origin) int {
	m.s.nodes = append(m.s.nodes, newNode(site{addr: addr, weight: 1, origin: by, added: m.now}, m.s.rules.lag))
	m.next(changed{})
	return len(m.s.nodes) - 1
}

const stray = "; it serves nothing until it replicates from the source of this cluster"

// A node that came later counts for nothing before its server is seen to be of
// this cluster.
func TestAddedNodes(t *testing.T) {
	for _, by := range []backend.Origin{backend.FromStatement, backend.FromDiscovery} {
		word := map[backend.Origin]string{backend.FromStatement: "added", backend.FromDiscovery: "discovered"}[by]
		t.Run(word, func(t *testing.T) {
			m := cluster(t)
			d := m.joins("d", by)
			m.want("a source", "b replica", "c replica", "d unknown: down: not asked yet")
			m.connect(d, 4, "9:1-5", true)
			m.status(d, func(st *status) { st.channels = []channel{{source: "host:3306", io: "Connecting", sql: "Yes"}} })
			m.want("a source", "b replica", "c replica", "d unknown: "+word+", but it has not yet connected to host:3306"+stray)
			m.status(d, replicaOf(9))
			m.want("a source", "b replica", "c replica", "d unknown: "+word+", but it replicates from host:3306 ("+u(9)+")"+stray)
			if !m.s.nodes[d].errant.IsEmpty() || m.s.followers(d) != 0 {
				t.Error("a stray is looked at like a node of this cluster")
			}
			m.connect(d, 5, "1:1-10", true) // another server at the address, of this cluster
			m.status(d, replicaOf(1))
			m.want("a source", "b replica", "c replica", "d replica: joining")
			m.tick(time.Second)
			m.answer(0, 1, "1:1-11")
			m.answer(d, 5, "1:1-11")
			m.want("a source", "b replica", "c replica", "d replica")
			if len(m.s.nodes[d].window) != 0 {
				t.Error("its lag was judged before it was a replica of ours")
			}
			m.status(d, readOnly) // of this cluster it stays, though it replicates no more
			m.want("a source", "b replica", "c replica", "d unknown: no role")
			m.connect(d, 6, "1:1-11", true) // but not what takes its place
			m.status(d, readOnly)
			m.want("a source", "b replica", "c replica", "d unknown: "+word+", but it replicates from nowhere"+stray)
		})
	}
}

// A writable server that was added takes the writes from nobody, not even where
// it has no less than the source and that has no replicas.
func TestAddedWritableServer(t *testing.T) {
	m := newSim(t, "a")
	m.connect(0, 1, "1:1-10", false)
	m.status(0, writable)
	d := m.joins("d", backend.FromStatement)
	m.connect(d, 4, "1:1-10 9:1-99", false)
	m.status(d, writable)
	m.want("a source", "d unknown: added, but it replicates from nowhere"+stray)
	m.next(failed{i: 0, kind: errGone, text: "connection refused"})
	m.want("a source: down", "d unknown: added, but it replicates from nowhere"+stray)
	m.next(named{d}) // but by an operator's word
	m.wantSource("d")
}

// While an added node has not been asked yet, a promotion need not wait for it.
func TestAddedNodeHoldsUpNoPromotion(t *testing.T) {
	m := cluster(t)
	m.joins("d", backend.FromDiscovery)
	m.next(failed{i: 0, kind: errGone, text: "connection refused"})
	m.status(1, writable)
	m.wantSource("b")
}

// The new source of a cluster whose old one is lost may have been in no list.
func TestAddedSource(t *testing.T) {
	m := cluster(t)
	m.next(failed{i: 0, kind: errGone, text: "connection refused"})
	d := m.joins("d", backend.FromStatement)
	m.connect(d, 4, "1:1-10 4:1", false)
	m.status(d, writable)
	m.wantSource("a")
	m.status(1, replicaOf(4))
	m.wantSource("d")
}

// The same server by another name is a duplicate, whatever it looks like.
func TestAddedTwin(t *testing.T) {
	m := cluster(t)
	d := m.joins("d", backend.FromDiscovery)
	m.connect(d, 1, "1:1-10", false)
	m.status(d, writable)
	m.want("a source", "b replica", "c replica", "d unknown: duplicate: the same server_uuid as a")
}
