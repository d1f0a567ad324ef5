package replicamon

import (
	"slices"

	"causeway/backend"
)

// joiningPrefix begins the reasons that end by themselves.
const joiningPrefix = "joining"

// verdict gives node i's role, and why it serves nothing; "" if it may serve.
// The first reason that holds is told. Texts hold no changing numbers: a text
// that changes is logged as news.
func (s *state) verdict(i int) (backend.Role, string) {
	n, role := s.nodes[i], s.role(i)
	if why := s.unfit(i); why != "" {
		return role, why
	}
	if why := s.stray(i); why != "" {
		return role, why
	}
	if role == backend.RoleSource {
		return role, ""
	}
	if !n.status.isReplica() {
		return role, s.rootless(i)
	}
	if why := s.inGroup(i); why != "" {
		return role, why
	}
	if why := s.upstream(i, len(s.nodes)); why != "" {
		return role, why
	}
	if why := s.filtered(i); why != "" {
		return role, why
	}
	if why := s.unproved(i); why != "" {
		return role, why
	}
	return role, s.unsure(i)
}

// unfit holds the reasons that concern any node, whatever its role.
func (s *state) unfit(i int) string {
	n := s.nodes[i]
	switch {
	case !n.up:
		return n.down
	case n.refused != "":
		return n.refused
	case n.gen == 0:
		return "joining: its position is not known yet"
	}
	if j := s.twin(i); j >= 0 {
		return "duplicate: the same server_uuid as " + s.nodes[j].addr + "; the same server listed twice, or auto.cnf was copied"
	}
	if why := s.whyFenced(i); why != "" {
		return why
	}
	if n.status == nil {
		if n.statusError != "" {
			return "unknown role: " + n.statusError
		}
		return "joining: its role is not known yet"
	}
	if why := s.refuseGTID(i); why != "" {
		return why
	}
	return n.status.group.refuse()
}

// rootless explains a node that is neither source nor replica.
func (s *state) rootless(i int) string {
	n := s.nodes[i]
	if why := s.waitsToLead(i); why != "" {
		return why
	}
	switch {
	case n.status.readOnly:
		return "no role: read only, and replicates from nowhere"
	case s.source >= 0 && s.hasLeft(i):
		return rivalPrefix + s.nodes[s.source].addr + ", which is writable too and stays the source, as it lacks nothing that this one has: make one of them read only, or say CAUSEWAY SET SOURCE '" + n.addr + "' if this one was promoted"
	case s.source >= 0:
		return "writable, but not the source: replicates from nowhere, and the source is " + s.nodes[s.source].addr
	case s.pending():
		return "joining: not all servers were asked yet"
	default:
		return "writable, but not clearly the source: " + s.unclear
	}
}

// rivalPrefix begins the exclusion of a node that may have been promoted beside a source
// that lives.
const rivalPrefix = "promoted? it is writable, and no longer replicates from "

// upstream follows node i's channels up. It is one of the cluster's replicas if
// a channel ends at the source, or at a server of this cluster that is lost:
// what it has executed stays true then. depth bounds the walk through a ring.
func (s *state) upstream(i, depth int) string {
	why := ""
	for _, c := range s.nodes[i].status.channels {
		w := s.upstreamOf(c, depth)
		if w == "" {
			return ""
		}
		if why == "" {
			why = w
		}
	}
	return why
}

func (s *state) upstreamOf(c channel, depth int) string {
	if c.sourceUUID == "" && c.name == groupApplier {
		return s.betweenPrimaries()
	}
	if c.sourceUUID == "" {
		return "joining: it has not yet connected to " + c.source
	}
	if s.source >= 0 && sameUUID(c.sourceUUID, s.nodes[s.source].uuid) {
		return ""
	}
	j := s.byUUID(c.sourceUUID)
	if j < 0 {
		for _, uuid := range s.sources {
			if sameUUID(uuid, c.sourceUUID) {
				return ""
			}
		}
		if slices.ContainsFunc(s.nodes, func(n *node) bool { return n.gen == 0 }) {
			return "joining: replicates from " + c.source + " (" + c.sourceUUID + "), which is not known yet"
		}
		return "foreign: replicates from " + c.source + " (" + c.sourceUUID + "), which is no server of this cluster"
	}
	up := s.nodes[j]
	switch {
	case !up.up || up.status == nil, s.source < 0, s.aboutToLead(j):
		return ""
	case up.status.isReplica() && depth > 0:
		return s.upstream(j, depth-1)
	default:
		return "replicates from " + up.addr + ", which is not the source"
	}
}

// filtered tells of filters at the node or anywhere above it: with them
// gtid_executed says more than the data has.
func (s *state) filtered(i int) string {
	if s.rules.allowFiltered {
		return ""
	}
	if f := s.nodes[i].status.filters(); f != "" {
		return "replication filters: " + f
	}
	for step, j := 0, i; step <= len(s.nodes); step++ {
		next := -1
		for _, c := range s.nodes[j].status.channels {
			if k := s.byUUID(c.sourceUUID); k >= 0 && s.nodes[k].status != nil {
				next = k
			}
		}
		if next < 0 {
			break
		}
		up := s.nodes[next]
		if up.status.binlogFilter != "" {
			return "replication filters: " + up.addr + " does not log everything (" + up.status.binlogFilter + ")"
		}
		if next != s.source && up.status.filters() != "" {
			return "replication filters: at " + up.addr + ", above it: " + up.status.filters()
		}
		if j = next; j == s.source {
			break
		}
	}
	return ""
}

// unproved holds the reasons why a replica's position proves nothing yet.
func (s *state) unproved(i int) string {
	n := s.nodes[i]
	switch {
	case !n.void.IsEmpty():
		return "holds transactions that the source lost: their numbers may be given again; rebuild this replica"
	case n.isAhead():
		return "holds transactions of the source that the source does not have: was the source reset or restored? rebuild this replica"
	case n.joining && !n.hasTarget && s.source < 0:
		return "joining: waits for a source to be known"
	case n.joining:
		return "joining: waits until it covers the source's position"
	default:
		return ""
	}
}
