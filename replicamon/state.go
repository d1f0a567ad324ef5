package replicamon

import (
	"maps"
	"slices"
	"time"

	"causeway/backend"
	"causeway/gtid"
)

// failuresUntilDown is how many silent probes in a row make a node down. One
// can be a long garbage collection, ours or theirs.
const failuresUntilDown = 2

// rules are the options that the state machine looks at.
type rules struct {
	allowFiltered bool
}

// state is all that is known of the cluster. It is a value: next returns
// another one and shares what did not change.
type state struct {
	rules  rules
	nodes  []*node // in the configured order; a *node is never changed once published
	source int     // index into nodes, -1: none

	sourceUUID string   // of the source, or of the last one
	sourceAddr string   // likewise
	sources    []string // server_uuids of all sources seen, newest last
	unclear    string   // why there is no source, in words

	history history
	epoch   uint64

	mine []bool // which nodes next has copied already
}

// node is what is known of one address.
type node struct {
	addr   string
	weight int

	heard   bool // any probe has ended, well or not
	up      bool
	fails   int
	down    string // why it is not up
	refused string // why its kind of server cannot be used at all

	// The incarnation. contact is the last answer of this life.
	uuid    string
	start   time.Time
	gen     uint64
	connID  uint32
	version string
	contact time.Time

	pos      gtid.Set
	posAsked time.Time
	posSeen  time.Time // when the answer that brought pos arrived
	readOnly bool

	// Joining: since when, and what must be covered to be done with it.
	joining   bool
	since     time.Time
	target    gtid.Set
	hasTarget bool

	freshAsOf time.Time
	posLag    time.Duration
	transport time.Duration

	status      *status // of this incarnation, nil if none came yet
	statusTried bool    // a status probe of this incarnation ended, well or not
	statusError string
	defaults    map[string]string
	defaultsSeq uint64 // grows with every change of defaults

	errant  gtid.Set // seen twice; see errant.go
	suspect gtid.Set
	ahead   time.Time
	void    gtid.Set // numbers of the source's earlier life that it still holds

	role    backend.Role
	exclude string
}

// event is something a probe learned about node i.
type event interface{ node() int }

type (
	// answered is a position, over a connection whose life was asked for if it
	// is new. gen, if not 0, says to which life the asker thinks it talks.
	answered struct {
		i    int
		gen  uint64
		life *life
		pos  position
	}
	// failed is a position probe without an answer.
	failed struct {
		i    int
		kind errorKind
		text string
	}
	// refusal is a server that answers but is of no use.
	refusal struct {
		i    int
		text string
	}
	statusAnswered struct {
		i   int
		gen uint64
		st  status
	}
	statusFailed struct {
		i    int
		gen  uint64
		text string
	}
	defaultsAnswered struct {
		i    int
		gen  uint64
		vars map[string]string
	}
)

func (e answered) node() int         { return e.i }
func (e failed) node() int           { return e.i }
func (e refusal) node() int          { return e.i }
func (e statusAnswered) node() int   { return e.i }
func (e statusFailed) node() int     { return e.i }
func (e defaultsAnswered) node() int { return e.i }

func newState(o Options) state {
	s := state{source: -1, rules: rules{allowFiltered: o.AllowFiltered}, unclear: "not all servers were asked yet"}
	for _, addr := range o.Servers {
		weight := 1
		if w, ok := o.Weights[addr]; ok {
			weight = w
		}
		s.nodes = append(s.nodes, &node{addr: addr, weight: weight, posLag: -1, transport: -1,
			down: "down: not asked yet", exclude: "down: not asked yet"})
	}
	return s
}

// next returns what is known after e.
func (s state) next(e event) state {
	s.nodes, s.mine = slices.Clone(s.nodes), make([]bool, len(s.nodes))
	switch e := e.(type) {
	case answered:
		return s.answered(e)
	case failed:
		s.failed(e)
	case refusal:
		n := s.edit(e.i)
		n.forget()
		n.heard, n.up, n.fails, n.refused = true, true, 0, e.text
	case statusAnswered:
		s.statusAnswered(e)
	case statusFailed:
		if n := s.nodes[e.i]; n.gen == e.gen {
			n = s.edit(e.i)
			n.statusTried, n.statusError = true, e.text
		}
	case defaultsAnswered:
		if old := s.nodes[e.i]; old.gen == e.gen && !maps.Equal(old.defaults, e.vars) {
			n := s.edit(e.i)
			n.defaults = e.vars
			n.defaultsSeq++
		}
		return s
	}
	return s.judge()
}

// edit returns node i to be changed: a copy of the one that others may hold.
func (s *state) edit(i int) *node {
	if s.mine[i] {
		return s.nodes[i]
	}
	s.mine[i] = true
	n := *s.nodes[i]
	s.nodes[i] = &n
	return &n
}

// answered takes a position in. Only what can change a role asks for a new
// judgement: positions come a thousand times a second.
func (s state) answered(e answered) state {
	old := s.nodes[e.i]
	if e.gen != 0 && (e.gen != old.gen || e.pos.uuid != old.uuid) {
		return s // of another life: its own position probe will tell
	}
	n := s.edit(e.i)
	reborn := n.reborn(e)
	if reborn {
		if e.i == s.source {
			s.sourceReborn(e)
		}
		n.beginLife(e)
	}
	n.grow(e.pos)
	if e.gen == 0 {
		n.heard, n.up, n.fails, n.down, n.refused = true, true, 0, "", ""
		n.contact = e.pos.answered
	}
	flipped := n.setReadOnly(e.pos.readOnly)
	joined := false
	if e.i == s.source {
		joined = s.sampleSource(sample{e.pos.asked, e.pos.executed})
	} else {
		joined = s.measure(e.i)
	}
	if reborn || flipped || joined || !old.up && n.up {
		return s.judge()
	}
	return s
}

func (s *state) failed(e failed) {
	n := s.edit(e.i)
	n.heard = true
	n.fails++
	if n.up && e.kind != errGone && n.fails < failuresUntilDown {
		return
	}
	n.up, n.down = false, "down: "+e.text
}

func (s *state) statusAnswered(e statusAnswered) {
	if n := s.nodes[e.i]; n.gen != e.gen || n.uuid != e.st.uuid {
		return
	}
	n := s.edit(e.i)
	n.status, n.statusTried, n.statusError = &e.st, true, ""
	n.readOnly = e.st.readOnly
	if s.history.known {
		n.transport = s.history.behind(s.history.freshAsOf(n.pos.Union(e.st.received())))
	}
	s.checkErrant(e.i)
}

// sampleSource takes in the source's position and measures all others by it.
// It tells whether a node is done with joining.
func (s *state) sampleSource(p sample) (joined bool) {
	if s.history.known && !p.asked.After(s.history.latest.asked) {
		return false
	}
	s.history = s.history.add(p)
	for i := range s.nodes {
		joined = s.measure(i) || joined
	}
	return joined
}

// measure brings node i's freshness up to date. What it was once fresh as of
// it stays, within its life: positions only grow. It tells whether the node is
// done with joining.
func (s *state) measure(i int) (joined bool) {
	if !s.history.known || s.nodes[i].gen == 0 {
		return false
	}
	n := s.edit(i)
	if i == s.source {
		n.freshAsOf, n.posLag = s.history.latest.asked, 0
	} else {
		if at := s.history.freshAsOf(n.pos); at.After(n.freshAsOf) {
			n.freshAsOf = at
		}
		n.posLag = s.history.behind(n.freshAsOf)
	}
	if !n.joining {
		return false
	}
	if !n.hasTarget && !s.history.latest.asked.Before(n.since) {
		n.target, n.hasTarget = s.history.latest.set, true
	}
	if n.hasTarget && n.pos.Contains(n.target) {
		n.joining, joined = false, true
	}
	return joined
}
