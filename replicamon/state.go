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

// downPrefix begins what excludes a node that is down.
const downPrefix = "down: "

// rules are the options that the state machine looks at.
type rules struct {
	allowFiltered bool
	withoutGTIDs  bool
	lag           *lagRules
	warmup        time.Duration
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
	blurred    bool     // two writable nodes were not asked in an order that tells them apart; see contend

	record    *record // what outlives a restart; see fence.go
	chosen    string  // server_uuid of the source that an operator named, "" if none
	promotion promotion

	history history
	gtids   gtidMode
	epoch   uint64
	// epochSince is when its beginning was noticed; zero: it is the first.
	epochSince time.Time

	mine []bool // which nodes next has copied already
}

// node is what is known of one address.
type node struct {
	site

	heard   bool // any probe has ended, well or not
	up      bool
	fails   int
	down    string // why the newest probe got no answer; it may be up still
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
	posNew   time.Time // when the answer arrived that brought the last of pos
	older    gtid.Set  // pos before that
	olderNew time.Time // and its posNew
	readOnly bool
	roAsked  time.Time // when the answer was asked for that readOnly is from

	// Joining: since when, and what must be covered to be done with it.
	joining   bool
	since     time.Time
	target    gtid.Set
	hasTarget bool

	freshAsOf time.Time
	posLag    time.Duration
	transport time.Duration

	window window // of the apply lag
	apply  quantiles
	limits []limitState    // in the order of the rules; see limits.go
	shown  []backend.Limit // the same as the View tells it; nobody changes it

	clock      clock
	shift      time.Duration // how far its clock is ahead of the source's, at the newest status
	shiftKnown bool
	sourceAt   time.Time // when the sample that posLag compares with was asked for
	rules      *lagRules

	received   gtid.Set  // as of the newest status
	receivedAt time.Time // when received was first seen to hold what it holds
	link       link

	status      *status // of this incarnation, nil if none came yet
	statusTried bool    // a status probe of this incarnation ended, well or not
	statusError string
	defaults    map[string]string
	defaultsSeq uint64 // grows with every change of defaults

	errant  gtid.Set // seen twice; see errant.go
	suspect gtid.Set
	ahead   time.Time
	void    gtid.Set // numbers of the source's earlier life that it still holds

	known string // the server_uuid that was seen to be of this cluster; see known.go
	led   string // the server_uuid of the last source that it was seen to replicate from

	role    backend.Role
	exclude string
}

// event is something a probe learned about node i. numbered gives it the number that
// the node has by now: nodes come and go.
type event interface{ numbered(i int) event }

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
		at   time.Time
	}
	defaultsAnswered struct {
		i    int
		gen  uint64
		vars map[string]string
	}
	// named is an operator's word that node i is the source.
	named struct{ i int }
	// changed asks for a new judgement: a node came, went, or came to be known.
	changed struct{}
)

func (e answered) numbered(i int) event         { e.i = i; return e }
func (e failed) numbered(i int) event           { e.i = i; return e }
func (e refusal) numbered(i int) event          { e.i = i; return e }
func (e statusAnswered) numbered(i int) event   { e.i = i; return e }
func (e statusFailed) numbered(i int) event     { e.i = i; return e }
func (e defaultsAnswered) numbered(i int) event { e.i = i; return e }
func (e named) numbered(i int) event            { e.i = i; return e }
func (e changed) numbered(int) event            { return e }

func newState(o Options) state {
	s := state{source: -1, rules: rules{allowFiltered: o.AllowFiltered, withoutGTIDs: o.WithoutGTIDs, lag: o.lagRules(), warmup: o.Warmup}, unclear: "not all servers were asked yet", record: &record{}}
	for _, addr := range o.Servers {
		s.nodes = append(s.nodes, newNode(o.siteOf(addr), s.rules.lag))
	}
	return s
}

// newNode is a node of which nothing is known yet.
func newNode(at site, rules *lagRules) *node {
	n := &node{site: at, posLag: -1, transport: -1, rules: rules,
		down: "down: not asked yet", exclude: "down: not asked yet", limits: make([]limitState, len(rules.limits))}
	for k := range n.limits {
		n.limits[k].cold = !at.added.IsZero() // so are its caches
	}
	n.showLag(time.Time{}, n.rules)
	return n
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
			s.silent(e.i, e.at)
		}
	case defaultsAnswered:
		if old := s.nodes[e.i]; old.gen == e.gen && !maps.Equal(old.defaults, e.vars) {
			n := s.edit(e.i)
			n.defaults = e.vars
			n.defaultsSeq++
		}
		return s
	case named:
		s.name(e.i)
	case changed:
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
	e.pos = s.rules.seen(e.pos)
	old := s.nodes[e.i]
	if e.gen != 0 && (e.gen != old.gen || e.pos.uuid != old.uuid) {
		return s // of another life: its own position probe will tell
	}
	n, backlogged := s.edit(e.i), s.backlogged(e.i)
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
	flipped := n.setReadOnly(e.pos)
	joined := false
	if e.i == s.source {
		joined = s.sampleSource(sample{e.pos.asked, e.pos.executed})
	} else {
		joined = s.measure(e.i)
	}
	if reborn || flipped || joined || s.blurred || backlogged && !s.backlogged(e.i) || !old.up && n.up {
		return s.judge()
	}
	return s
}

func (s *state) failed(e failed) {
	n := s.edit(e.i)
	n.heard = true
	n.fails++
	n.down = downPrefix + e.text
	if n.up && e.kind != errGone && n.fails < failuresUntilDown {
		return
	}
	n.up = false
}

func (s *state) statusAnswered(e statusAnswered) {
	if n := s.nodes[e.i]; n.gen != e.gen || n.uuid != e.st.uuid {
		return
	}
	n := s.edit(e.i)
	if e.st.asked.Before(n.roAsked) { // a position overtook it: what that saw holds
		e.st.readOnly = n.readOnly
	} else {
		n.roAsked = e.st.asked
	}
	n.status, n.statusTried, n.statusError = &e.st, true, ""
	n.readOnly = e.st.readOnly
	received := e.st.received()
	if n.receivedAt.IsZero() || !received.Equal(n.received) {
		n.received, n.receivedAt = received, e.st.asked
	}
	if s.history.known {
		n.transport = s.history.behind(s.history.freshAsOf(n.pos.Union(received)))
	}
	n.shift, n.shiftKnown = s.shiftOf(n)
	s.takeLag(e.i)
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
	if s.gtids == gtidsOff {
		return s.measureBlind(i)
	}
	n := s.edit(i)
	n.sourceAt = s.history.latest.asked
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
