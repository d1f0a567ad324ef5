package share

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"causeway/gtid"
)

// Options are what a Member is made of.
type Options struct {
	Store   Store
	Name    string   // of this process among the members
	Members []string // all that share the store, this one included
	// Lease is how long a lease lasts: the longest that a reader trusts a member
	// that is cut off, and about as long as that one's writes wait then.
	Lease time.Duration
	TTL   time.Duration // of a name after it was last published
	// Timeout is how long the store may take for one answer.
	Timeout time.Duration
	// Source asks the source for what it has executed, after the call.
	Source func(context.Context) (gtid.Set, error)
	// Changed is told of each change of the state, for the log; nil: nobody is.
	Changed func(State)

	fault fault // of tests
}

// Phase is where a member stands.
type Phase string

// The phases. A member acknowledges a keyed write once it is published in Joined, or
// unpublished in Out; in the others it waits for one of those.
const (
	Out     Phase = "out"     // no server of the store has a lease of this process, nor will one get it
	Joining Phase = "joining" // a lease has been asked for
	Joined  Phase = "joined"
	Leaving Phase = "leaving" // the lease is not renewed, and may still run
)

// State is a Member's for people.
type State struct {
	Phase    Phase
	Distrust Distrust // of the last answer, see Member.Read
	About    string   // the member that it is about
	Error    string   // of the last attempt
	Leases   map[string]bool
}

// Member is one Causeway's part in the protocol. Run keeps its lease.
type Member struct {
	o    Options
	proc string
	list string
	seq  atomic.Uint64

	reads  together[[]string, seen]
	writes together[[]Item, uint64]

	mu       sync.Mutex
	phase    Phase
	turn     uint64 // counts the joins: what was asked in another turn proves nothing
	life     string
	outAt    time.Time // by then no lease of this turn can hold any more
	doubled  bool      // another process has a lease of this one's name: nobody misses this one's
	changed  chan struct{}
	state    State
	floorDue time.Time

	// Of Run alone: the store's clock in its last answer.
	base Millis
}

// New makes a Member. A process of its name that ended just before this one began may
// have left a lease, which must run out before anything is acknowledged without
// the store.
func New(o Options) *Member {
	m := &Member{o: o, proc: rand.Text(), list: digestOf(o.Members), phase: Leaving, changed: make(chan struct{})}
	m.outAt = time.Now().Add(m.runsOut())
	m.state.Phase = Leaving
	m.reads.do, m.writes.do = m.lookUnder, m.publish
	return m
}

// runsOut is how long after an answer of the store all leases that build on it have
// run out, whatever became of the orders; the margin is for clocks of unlike rates.
func (m *Member) runsOut() time.Duration { return m.o.Lease + m.o.Lease/20 + 5*time.Millisecond }

// State tells where the member stands.
func (m *Member) State() State {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}

// Joined tells whether the member holds a lease, as far as it knows.
func (m *Member) Joined() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.phase == Joined
}

// Doubled tells whether another process has a lease of this one's name: until that
// has ended nothing is acknowledged here.
func (m *Member) Doubled() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.doubled
}

// AwaitName waits until this process is the one of its name. The error says that it
// was not until ctx ended.
func (m *Member) AwaitName(ctx context.Context) error {
	for {
		m.mu.Lock()
		doubled, changed := m.doubled, m.changed
		m.mu.Unlock()
		if !doubled {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return refusal(Taken)
		}
	}
}

// enter changes the phase and wakes those who wait for that. Called with mu held.
func (m *Member) enter(p Phase) {
	if m.phase == p {
		return
	}
	m.phase, m.state.Phase = p, p
	close(m.changed)
	m.changed = make(chan struct{})
	m.tell()
}

func (m *Member) tell() {
	if m.o.Changed != nil {
		m.o.Changed(m.state)
	}
}

// leave stops the renewals of a turn.
func (m *Member) leave(turn uint64, why error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.turn != turn || m.phase != Joined && m.phase != Joining {
		return
	}
	m.state.Error = why.Error()
	m.enter(Leaving)
}

// note keeps what an answer of the store showed.
func (m *Member) note(s *Sight) (Distrust, string) {
	why, about := judge(s, m.o.Members, m.list)
	m.mu.Lock()
	defer m.mu.Unlock()
	if why == NoFloor {
		m.floorDue = time.Time{}
	}
	news := m.state.Distrust != why || m.state.About != about
	m.state.Distrust, m.state.About, m.state.Leases = why, about, map[string]bool{}
	for _, name := range m.o.Members {
		m.state.Leases[name] = false
	}
	for name, l := range s.Leases {
		if l.holds(s) {
			m.state.Leases[name] = true
		}
	}
	if news {
		m.tell()
	}
	return why, about
}

// Item is a name, and all that this process knows to be needed under it.
type Item struct {
	Name string
	Set  func() gtid.Set
}

// Outcome is how a write was made safe to acknowledge.
type Outcome string

// The outcomes.
const (
	InStore Outcome = "published" // every member reads it in the store
	Without Outcome = "without"   // every member sees that this one has no lease, and reads as global
	Neither Outcome = "neither"   // it must not be acknowledged
)

// Publish comes before a write is acknowledged. Neither comes with the reason, when
// ctx has ended.
func (m *Member) Publish(ctx context.Context, items []Item) (Outcome, error) {
	for {
		m.mu.Lock()
		phase, doubled, changed := m.phase, m.doubled, m.changed
		m.mu.Unlock()
		switch {
		case phase == Out && !doubled: // a join that begins now asks the source after this, and finds the write there
			return Without, nil
		case phase == Joined:
			turn, err := m.writes.ask(ctx, func(all *[]Item) { *all = append(*all, items...) })
			if err == nil && m.still(turn) {
				return InStore, nil
			}
			if ctx.Err() == nil {
				continue
			}
		case m.o.fault == ackAtOnce:
			return Without, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			if doubled {
				return Neither, refusal(Taken)
			}
			return Neither, fmt.Errorf("the store is %s: %w", phase, ctx.Err())
		}
	}
}

// still tells whether the turn goes on in which something was published: a later
// one's floor has what was committed before it began.
func (m *Member) still(turn uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.turn == turn && m.phase == Joined
}

// publish makes items known, and tells in which turn. If it cannot be done the turn ends.
func (m *Member) publish(items []Item) (turn uint64, err error) {
	m.mu.Lock()
	o := PublishOrder{Name: m.o.Name, Life: m.life, Proc: m.proc, TTL: m.o.TTL}
	turn, phase := m.turn, m.phase
	m.mu.Unlock()
	if phase != Joined {
		return turn, refusal(NoLease)
	}
	o.Seq = m.seq.Add(1) // before the sets are looked at: who has a greater one has what I have
	named := map[string]bool{}
	for _, it := range items {
		if !named[it.Name] {
			named[it.Name] = true
			o.Items = append(o.Items, Published{it.Name, it.Set().Line()})
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), m.o.Timeout)
	defer cancel()
	verdict, err := m.o.Store.Publish(ctx, o)
	if err == nil && verdict != Done {
		err = refusal(verdict)
	}
	if err != nil {
		m.leave(turn, fmt.Errorf("publishing: %w", err))
	}
	return turn, err
}

// refusal is a verdict but Done as an error.
type refusal Verdict

func (r refusal) Error() string {
	switch Verdict(r) {
	case OtherLife:
		return "the store was restarted, emptied, failed over or has evicted something"
	case Late:
		return "the store took too long"
	case Taken:
		return "another process holds the lease of this one's name"
	case NoLease:
		return "the lease has run out"
	}
	return "the store says " + string(r)
}

// Need is what a read must see.
type Need struct {
	Set     gtid.Set
	Written bool // something was published under the names, and is among it
}

// Read returns what a read under names must see, as of after the call. If the answer
// does not tell all that, the reason comes instead.
func (m *Member) Read(ctx context.Context, names []string) (Need, Distrust) {
	if !m.Joined() {
		return Need{}, NotJoined
	}
	s, err := m.reads.ask(ctx, func(all *[]string) { *all = append(*all, names...) })
	if err != nil {
		return Need{}, NoAnswer
	}
	if s.why != Trusted {
		return Need{}, s.why
	}
	need := Need{Set: s.floor}
	for _, name := range names {
		for _, text := range s.entries[name] {
			set, err := gtid.Parse(text)
			if err != nil {
				return Need{}, NoAnswer
			}
			need.Set, need.Written = need.Set.Union(set), true
		}
	}
	return need, Trusted
}

// seen is what a look at the store came to.
type seen struct {
	why     Distrust
	floor   gtid.Set
	entries map[string][]string
}

func (m *Member) lookUnder(names []string) (seen, error) {
	ctx, cancel := context.WithTimeout(context.Background(), m.o.Timeout)
	defer cancel()
	slices.Sort(names)
	s, err := m.o.Store.Look(ctx, slices.Compact(names))
	if err != nil {
		return seen{}, err
	}
	if why, _ := m.note(&s); why != Trusted && (m.o.fault != trustLeaseless || why != Leaseless) {
		return seen{why: why}, nil
	}
	floor, err := gtid.Parse(s.Floor.Set)
	return seen{floor: floor, entries: s.Entries}, err
}

// fault breaks a rule, for tests that show that the rule is needed.
type fault uint8

const (
	noFault        fault = iota
	ackAtOnce            // acknowledge before the lease has run out
	joinNoFloor          // join without a floor of one's own
	trustLeaseless       // trust an answer though a member has no lease
	moveAtOnce           // join another life while a lease in the last one may run
	longLease            // ask for leases that last longer than is waited for
)
