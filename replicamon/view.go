package replicamon

import (
	"strings"

	"causeway/backend"
)

// buildView pictures s. Nodes that did not change since prev, the picture of
// old, are shared with it.
func buildView(s, old *state, prev *backend.View, live []*backend.Live) *backend.View {
	v := &backend.View{Nodes: make([]*backend.Node, len(s.nodes)), Seq: 1, Epoch: s.epoch, EpochSince: s.epochSince, WithoutGTIDs: s.gtids == gtidsOff}
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
			v.Nodes[i].Slow = s.slow(i, live)
		}
		if n.role == backend.RoleReplica {
			v.Replicas = append(v.Replicas, v.Nodes[i])
		}
	}
	if s.source >= 0 {
		v.Source = v.Nodes[s.source]
	} else {
		v.NoSource = s.unclear
	}
	v.Promotion = s.promotion.picture(s)
	if s.promotion.seq > 0 {
		v.WarmupUntil = s.promotion.at.Add(s.rules.warmup)
	}
	return v
}

// slowAbove is how much longer than the source's a replica's p95 may be before
// it carries less.
const slowAbove = 1.5

// slow tells whether replica i answers slowly against the source. The source's
// own p95 is of reads as well, so it is known only while it serves some.
func (s *state) slow(i int, live []*backend.Live) bool {
	if s.source < 0 || i == s.source {
		return false
	}
	own, source := live[i].Times.P95(), live[s.source].Times.P95()
	return own > 0 && source > 0 && float64(own) > slowAbove*float64(source)
}

func (n *node) picture(live *backend.Live) *backend.Node {
	p := &backend.Node{
		Addr: n.addr, Role: n.role, Weight: n.weight, Zone: n.zone, Far: n.far, Origin: n.origin,
		Incarnation: backend.Incarnation{ServerUUID: n.uuid, StartTime: n.start, Generation: n.gen},
		Up:          n.up, Exclude: n.exclude, Joining: strings.HasPrefix(n.exclude, joiningPrefix), LastAnswer: n.contact, Version: n.version,
		Position: n.pos, PositionAt: n.posAsked, FreshAsOf: n.freshAsOf,
		Limits: n.shown, QueryP95: live.Times.P95(), Clock: n.clock.picture(), Errant: n.errant, Defaults: n.defaults, DefaultsSeq: n.defaultsSeq, Live: live,
	}
	if n.status != nil {
		p.Charset = n.status.collation
	}
	p.Lag = n.lag()
	if n.up && n.fails > 0 {
		p.Missed = strings.TrimPrefix(n.down, downPrefix)
	}
	return p
}
