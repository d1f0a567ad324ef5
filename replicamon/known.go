package replicamon

import (
	"slices"

	"causeway/backend"
)

// A node that the configuration names is of this cluster because it says so. One
// that came later, by a statement or by discovery, may be anything that answers
// at an address: it counts for nothing, neither as a replica nor in the choice of
// the source, until its server was seen to be of this cluster. That is so when it
// replicates from the source, or from a server that was it, or when a server that
// counts replicates from it. It holds for that server_uuid from then on.

// counts tells whether node i is of this cluster.
func (s *state) counts(i int) bool {
	n := s.nodes[i]
	return n.origin == backend.FromConfig && n.added.IsZero() || n.known != "" && sameUUID(n.known, n.uuid)
}

// meet looks at the nodes that do not count yet.
func (s *state) meet() {
	for i, n := range s.nodes {
		if !s.counts(i) && n.up && n.refused == "" && n.uuid != "" && n.status != nil && (s.replicatesFromUs(n) || s.leadsUs(n.uuid)) {
			s.edit(i).known = n.uuid
		}
	}
}

func (s *state) replicatesFromUs(n *node) bool {
	return slices.ContainsFunc(n.status.channels, func(c channel) bool {
		return c.sourceUUID != "" && c.replicates() && (sameUUID(c.sourceUUID, s.sourceUUID) || slices.ContainsFunc(s.sources, func(uuid string) bool { return sameUUID(uuid, c.sourceUUID) }))
	})
}

func (s *state) leadsUs(uuid string) bool {
	for i, n := range s.nodes {
		if s.counts(i) && n.follows(uuid) {
			return true
		}
	}
	return false
}

// stray tells why node i does not count, "" if it does.
func (s *state) stray(i int) string {
	if s.counts(i) {
		return ""
	}
	n := s.nodes[i]
	word := "added"
	if n.origin == backend.FromDiscovery {
		word = "discovered"
	}
	const then = "; it serves nothing until it replicates from the source of this cluster"
	if len(n.status.channels) == 0 {
		return word + ", but it replicates from nowhere" + then
	}
	c := n.status.channels[0]
	if c.sourceUUID == "" {
		return word + ", but it has not yet connected to " + c.source + then
	}
	return word + ", but it replicates from " + c.source + " (" + c.sourceUUID + ")" + then
}
