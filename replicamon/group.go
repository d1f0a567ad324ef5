package replicamon

import (
	"slices"

	"causeway/gtid"
)

// The channels of Group Replication. They stand beside those that an operator
// made, and SHOW REPLICA STATUS tells nothing of use about them.
const (
	groupApplier  = "group_replication_applier"
	groupRecovery = "group_replication_recovery"
)

// States and roles of a member, as performance_schema spells them.
const (
	memberOnline     = "ONLINE"
	memberRecovering = "RECOVERING"
	memberPrimary    = "PRIMARY"
)

// group is what a node knows of the group that it belongs to (Group
// Replication, InnoDB Cluster), in its own view, which may be wrong: a member
// that is cut off needs some seconds to notice.
type group struct {
	name       string // the UUID that numbers the group's transactions
	viewChange string // the UUID that numbers changes of its view (before 8.3), "" if the group's
	viewID     string
	multi      bool // multi-primary mode
	denied     bool // nothing but the name could be read

	self    member // as it sees itself
	members []member

	received  gtid.Set // certified here, whoever wrote it, executed or not
	applier   string   // state of the applier: ON, OFF
	queued    uint64   // wait for certification here
	unapplied uint64   // certified, not applied
}

// member is one row of a node's view of its group.
type member struct {
	uuid, addr  string
	state, role string
}

func (g *group) member(uuid string) (member, bool) {
	i := slices.IndexFunc(g.members, func(m member) bool { return sameUUID(m.uuid, uuid) })
	if i < 0 {
		return member{}, false
	}
	return g.members[i], true
}

// primary returns the member that takes the group's writes.
func (g *group) primary() (member, bool) {
	i := slices.IndexFunc(g.members, func(m member) bool { return m.role == memberPrimary })
	if i < 0 {
		return member{}, false
	}
	return g.members[i], true
}

// leads tells whether the node takes itself for the primary.
func (g *group) leads() bool { return g.self.role == memberPrimary }

// mayLead tells whether the group, if there is one, lets the node take writes.
func (g *group) mayLead() bool { return g == nil || g.leads() }

// majority tells whether the node sees most members ONLINE. One that recovers
// counts on neither side: it votes, but a second member that joins a single one
// must not end the service. So this is never weaker than the group's own quorum.
func (g *group) majority() bool {
	online, others := 0, 0
	for _, m := range g.members {
		switch m.state {
		case memberOnline:
			online++
		case memberRecovering:
		default:
			others++
		}
	}
	return online > others
}

// refuse tells why the node can be neither source nor replica, "" if it can.
func (g *group) refuse() string {
	switch {
	case g == nil:
		return ""
	case g.denied:
		return "member of a group, of which the monitor's account may see nothing: GRANT SELECT ON performance_schema.* to it"
	case g.self.state == memberRecovering:
		return "group member RECOVERING: it fetches what it missed, and serves when it is ONLINE"
	case g.self.state == "OFFLINE":
		return "group member OFFLINE: Group Replication does not run on it; START GROUP_REPLICATION there"
	case g.self.state == "ERROR":
		return "group member in ERROR: it has left its group; see its error log, then START GROUP_REPLICATION there"
	case g.self.state != memberOnline:
		return "group member " + g.self.state + ", not ONLINE"
	case g.multi:
		return "its group is in multi-primary mode, which Causeway cannot route: SELECT group_replication_switch_to_single_primary_mode()"
	case !g.majority():
		return "group member without a majority: it does not see most members of its group ONLINE"
	}
	return ""
}

// channel pictures a secondary's link to its group as a replication channel
// from the primary: all that holds for replicas then holds for it. The primary
// has none.
func (g *group) channel() (channel, bool) {
	if g.denied || g.leads() || g.multi {
		return channel{}, false
	}
	c := channel{name: groupApplier, source: "its group", io: "No", sql: "No", received: g.received, queuedAge: -1}
	if p, ok := g.primary(); ok {
		c.sourceUUID, c.source = p.uuid, p.addr
	}
	if g.refuse() == "" {
		c.io = "Yes"
	}
	if g.applier == "ON" {
		c.sql = "Yes"
	}
	return c, true
}

// numbers lists the UUIDs under which the source's transactions are numbered:
// its own, and its group's.
func (st *status) numbers() []string {
	list := []string{st.uuid}
	if g := st.group; g != nil {
		list = append(list, g.name, g.viewChange)
	}
	return list
}

// backlogged tells whether node i is a group's new primary that has yet to apply
// what it received as a secondary. MySQL 9.7 keeps it read only until it has
// (measured); by the manual of 8.0 one with group_replication_consistency =
// EVENTUAL takes writes before: a read there would miss acknowledged ones.
// Whoever is the source already stays it: what it receives is its own.
func (s *state) backlogged(i int) bool {
	n := s.nodes[i]
	if n.status == nil || n.status.group == nil || !n.status.group.leads() || i == s.source && sameUUID(n.uuid, s.sourceUUID) {
		return false
	}
	g := n.status.group
	takesOver := s.sourceUUID != "" && !sameUUID(n.uuid, s.sourceUUID)
	return !n.pos.Contains(g.received) || takesOver && g.queued > 0
}

// inGroup tells why the source does not count node i among the members that it
// replicates to, "" if it does or has nothing to say.
func (s *state) inGroup(i int) string {
	n := s.nodes[i]
	if s.source < 0 || n.status.group == nil {
		return ""
	}
	src := s.nodes[s.source]
	if !src.up || src.status == nil || src.status.group == nil || !sameUUID(src.status.group.name, n.status.group.name) {
		return ""
	}
	switch m, ok := src.status.group.member(n.uuid); {
	case !ok:
		return "group member that the group's primary " + src.addr + " does not know"
	case m.state != memberOnline:
		return "group member that is " + m.state + ", says the group's primary " + src.addr
	}
	return ""
}

// multiPrimary tells that a group has several primaries, "" if none has.
func (s *state) multiPrimary() string {
	for _, n := range s.nodes {
		if n.up && n.status != nil && n.status.group != nil && n.status.group.multi {
			return n.addr + ": " + n.status.group.refuse()
		}
	}
	return ""
}

// noWritable says in words that there is no source, and what a group's primary, a
// fence or missing GTIDs have to do with it.
func (s *state) noWritable() string {
	for i, n := range s.nodes {
		if !n.up || n.status == nil || n.status.group == nil || !n.status.group.leads() {
			continue
		}
		if why := s.waitsToLead(i); why != "" {
			return "no server is writable: " + n.addr + ": " + why
		}
	}
	for i, n := range s.nodes {
		if !n.up || n.status == nil || n.status.readOnly {
			continue
		}
		if s.fenced(i) {
			return "the only writable server " + n.addr + " is fenced, as another took its place; CAUSEWAY SET SOURCE '" + n.addr + "' makes it the source for this Causeway"
		}
		if why := s.refuseGTID(i); why != "" {
			return "the writable server " + n.addr + " is " + why
		}
	}
	return "no server is writable"
}

// waitsToLead tells why a group's primary is not the source.
func (s *state) waitsToLead(i int) string {
	st := s.nodes[i].status
	if st.group == nil || !st.group.leads() {
		return ""
	}
	switch why := st.group.refuse(); {
	case why != "":
		return why
	case st.readOnly:
		return "primary of its group, not yet open for writes"
	case s.backlogged(i):
		return "primary of its group, still applies what it had received before"
	}
	return ""
}

// aboutToLead tells whether node i is the elected heir of a lost source: its
// group's secondaries then serve as they do under any lost source.
func (s *state) aboutToLead(i int) bool {
	st := s.nodes[i].status
	return !s.sourceUp() && st.group != nil && st.group.leads() && st.group.refuse() == ""
}

// viewID names the node's view of its group, "" if it is in none.
func (n *node) viewID() string {
	if n.status == nil || n.status.group == nil {
		return ""
	}
	return n.status.group.viewID
}

// betweenPrimaries judges a secondary whose group elects: as of any lost source,
// what it has executed stays true.
func (s *state) betweenPrimaries() string {
	if s.sourceUp() {
		return "joining: its group has no primary"
	}
	return ""
}
