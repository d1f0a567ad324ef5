package replicamon

import (
	"causeway/backend"
)

// buildView pictures s. Nodes that did not change since prev, the picture of
// old, are shared with it.
func buildView(s, old *state, prev *backend.View, live []*backend.Live) *backend.View {
	v := &backend.View{Nodes: make([]*backend.Node, len(s.nodes)), Seq: 1, Epoch: s.epoch}
	if prev != nil {
		v.Seq = prev.Seq + 1
	}
	if s.history.known {
		v.SourcePosition, v.SourceAsked = s.history.latest.set, s.history.latest.asked
	}
	for i, n := range s.nodes {
		if prev != nil && old.nodes[i] == n {
			v.Nodes[i] = prev.Nodes[i]
		} else {
			v.Nodes[i] = n.picture(live[i])
		}
		if n.role == backend.RoleReplica {
			v.Replicas = append(v.Replicas, v.Nodes[i])
		}
	}
	if s.source >= 0 {
		v.Source = v.Nodes[s.source]
	}
	return v
}

func (n *node) picture(live *backend.Live) *backend.Node {
	p := &backend.Node{
		Addr: n.addr, Role: n.role, Weight: n.weight,
		Incarnation: backend.Incarnation{ServerUUID: n.uuid, StartTime: n.start, Generation: n.gen},
		Up:          n.up, Exclude: n.exclude, LastAnswer: n.contact, Version: n.version,
		Position: n.pos, PositionAt: n.posAsked, FreshAsOf: n.freshAsOf,
		Errant: n.errant, Defaults: n.defaults, DefaultsSeq: n.defaultsSeq, Live: live,
	}
	if n.status != nil {
		p.Charset = n.status.collation
	}
	p.Lag = n.lag()
	return p
}
