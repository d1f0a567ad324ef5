package backend

import (
	"crypto/sha256"
	"encoding/hex"
	"sync/atomic"
	"time"

	"causeway/gtid"
)

// Role says what a node is in the replication topology right now, as found
// out by the monitor; it is never configured.
type Role uint8

// The roles. An Unknown node is used for nothing.
const (
	RoleUnknown Role = iota
	RoleSource
	RoleReplica
)

// String returns the role in the field's own words.
func (r Role) String() string {
	switch r {
	case RoleSource:
		return "source"
	case RoleReplica:
		return "replica"
	default:
		return "unknown"
	}
}

// Incarnation identifies one life of one server behind an address. A position
// belongs to an incarnation: when it changes, everything learned before is void.
type Incarnation struct {
	ServerUUID string
	StartTime  time.Time // estimated from Uptime, whole seconds
	Generation uint64    // grows with every change seen at this address
}

// Node is one server as seen at one moment. It is immutable but for Live,
// which all snapshots of the same address share.
type Node struct {
	Addr        string
	Role        Role
	Weight      int
	Incarnation Incarnation

	// Up is true while the node answers probes. Exclude is empty if the node
	// may serve, else the reason in an operator's words ("joining: waits for
	// the source's position", "replication filters", "down: ..."). An excluded
	// node serves nothing; a lagging one is not excluded, its position tells.
	Up      bool
	Exclude string
	// Joining: what excludes it ends by itself as soon as enough is known of the
	// node, and it has executed enough.
	Joining bool

	// Missed says why the newest probe got no answer, while the node is Up still:
	// one silence does not make it down. Empty if it got one.
	Missed string

	// LastAnswer is when a probe was last answered; zero: never.
	LastAnswer time.Time

	// Limits tells for each lag limit of the monitor's, in their order, whether
	// the replica is within it; nil: there are none.
	Limits []Limit

	Zone   string // where it stands, "" if not said
	Far    bool   // it stands in another zone than Causeway does
	Origin Origin

	Version string // as the server reports it
	Charset uint16 // default collation id for new connections

	// Position is the node's gtid_executed, a lower bound for the present one;
	// PositionAt is when it was asked for (this process's monotonic clock).
	Position   gtid.Set
	PositionAt time.Time

	// FreshAsOf is when the newest sample of the source's position that this
	// node covers was asked for: the node is at most now - FreshAsOf stale.
	// Zero: unproved.
	FreshAsOf time.Time

	// Errant holds transactions that only this replica has executed. They
	// prove nothing about a token and are shown for people.
	Errant gtid.Set

	// Defaults holds the node's global values of the tracked session
	// variables, in lower case names: what a new connection starts with.
	Defaults map[string]string
	// DefaultsSeq grows with every change of Defaults.
	DefaultsSeq uint64

	// QueryP95 is what 95 % of the answers took as Causeway saw it; 0: too few.
	QueryP95 time.Duration
	// Slow tells that it is above 1.5 times the source's.
	Slow bool

	Clock Clock
	Lag   Lag
	Live  *Live
}

// Origin says why a node is one of the cluster's.
type Origin uint8

// The origins.
const (
	FromConfig    Origin = iota // [cluster] servers names it
	FromStatement               // CAUSEWAY ADD SERVER did
	FromDiscovery               // the source said that it replicates from it
)

// String returns the origin as SHOW CAUSEWAY SERVERS tells it.
func (o Origin) String() string {
	switch o {
	case FromStatement:
		return "statement"
	case FromDiscovery:
		return "discovery"
	default:
		return "configuration"
	}
}

// Limit is how a replica stands to one lag limit, of one class or several.
type Limit struct {
	Name string // of the class that sets it
	// Excluded is empty while the replica may serve under this limit, else why
	// not, in an operator's words. A read with a token that the replica covers
	// may go there all the same: that is a proof.
	Excluded string
	// Unjudged: it is excluded only because nothing is known of its lag now. It
	// need not recover from that, so that the next probe may end it.
	Unjudged bool
	// Held: there is no source, so nothing is judged, and what was judged last stands.
	Held bool
	// Returns is when it serves again if every sample until then is within the
	// limit; zero while the newest is not.
	Returns time.Time
	// Share is the part of its weight that it may carry, in percent: 100, or
	// less while it comes back slowly after an exclusion.
	Share uint8
}

// Text tells why a replica is excluded, and for how long still if it recovers.
func (l *Limit) Text(now time.Time) string {
	if l.Returns.IsZero() {
		return l.Excluded
	}
	left, unit := max(l.Returns.Sub(now), 0), time.Second
	if left < 10*time.Second {
		unit = 100 * time.Millisecond
	}
	return "recovering, " + left.Round(unit).String() + " left (" + l.Excluded + ")"
}

// Clock is a node's clock as Causeway saw it. It explains, and proves nothing.
type Clock struct {
	Known  bool
	Offset time.Duration // ahead of Causeway's clock; negative: behind it
	Error  time.Duration // half the round trip: the true offset is that near
}

// Blocker is the worker that has held its transaction for longest and does not
// itself wait for another's commit.
type Blocker struct {
	Worker int
	GTID   string // "": no worker holds anything
	For    time.Duration
	Doing  string // in the server's own words
	// Waiting is how many workers wait to commit behind it, and Stalled tells
	// that the applier hands out nothing more before it has committed.
	Waiting int
	Stalled bool
}

// Blocks is how long the transaction has held up others; 0: it does not.
func (b Blocker) Blocks() time.Duration {
	if b.GTID == "" || b.Waiting == 0 && !b.Stalled {
		return 0
	}
	return b.For
}

// Held is what a server says that one of its connections holds for itself.
type Held struct {
	UserLocks    bool // by GET_LOCK
	TableLocks   bool // by LOCK TABLES, or FLUSH TABLES of some tables
	GlobalLock   bool // by FLUSH TABLES WITH READ LOCK
	InstanceLock bool // by LOCK INSTANCE
	// UserVars has the sums, VarSum, of the user variables that are not NULL, by
	// their names in lower case.
	UserVars map[string]string
}

// VarSum stands for the value of a user variable, which can be long.
func VarSum(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:])
}

// Lag explains how far a replica is behind; only Position and FreshAsOf prove.
type Lag struct {
	SampledAt time.Time
	IOThread  string        // Replica_IO_Running: Yes, No, Connecting, ""
	SQLThread string        // Replica_SQL_Running
	LastError string        // last IO or SQL error, "" if none
	Delay     time.Duration // configured SOURCE_DELAY
	Position  time.Duration // lag by position: 0 when it covers the last sample; -1 unknown
	Transport time.Duration // not yet received, by position at SampledAt; -1 unknown
	Apply     time.Duration // by commit timestamps, by position where they do not tell; -1 unknown
	// The apply lag that half, 95 and 99 % of the window's samples are within; -1 unknown.
	ApplyP50, ApplyP95, ApplyP99 time.Duration
	OldestTrx                    time.Duration // age of the oldest transaction being applied, 0 none
	ReceivedUnapp                uint64        // transactions received but not applied
	WorkersBusy                  int
	Workers                      int
	WorkerDetail                 string // which worker holds what since when, for people
	Blocker                      Blocker
	Channels                     int

	IOError    string        // of the receiver, "" if none
	SQLError   string        // of the applier or of the worker that stopped it, "" if none
	ReceivedAt time.Time     // when what was received was first seen to be what it is
	Receiving  string        // the transaction that the receiver is in the middle of
	SourceAt   time.Time     // when the source's position that Position compares with was asked for
	OldAfter   time.Duration // a sample of that age tells nothing of the present
	Failed     string        // why the newest look got no answer, "" if it did
	Denied     string        // what the monitor's account may not look at, "" if nothing
	// ClockShift is how far the node's clock is ahead of the source's, where
	// ShiftKnown; Apply has it taken off.
	ClockShift time.Duration
	ShiftKnown bool
}

// Live is the part of a node that changes with every query. All fields are atomic.
type Live struct {
	InFlight atomic.Int64  // commands sent and not yet answered
	Picks    atomic.Uint64 // reads sent here
	Errors   atomic.Uint64
	EWMA     atomic.Uint64 // peak EWMA of answer time, nanoseconds
	EWMAAt   atomic.Int64  // nanoseconds since process start of the last update
	Times    AnswerTimes   // for the p95
	Weight   atomic.Int64  // changed weight, 0: as configured, negative: 0; see SetWeight
}

// SetWeight changes the weight while running; 0: only if no other can serve.
func (l *Live) SetWeight(w int) {
	if w == 0 {
		w = -1
	}
	l.Weight.Store(int64(w))
}

// CurrentWeight is the node's weight now: as changed while running, else as
// configured.
func (n *Node) CurrentWeight() int {
	if n.Live != nil {
		if changed := n.Live.Weight.Load(); changed != 0 {
			return max(int(changed), 0)
		}
	}
	return n.Weight
}

// Usable tells whether the node may serve at all.
func (n *Node) Usable() bool { return n != nil && n.Up && n.Exclude == "" }

// View is an immutable picture of the cluster. One is current at a time,
// behind an atomic pointer held by the monitor; nobody mutates it.
type View struct {
	Nodes    []*Node // in the configured order
	Source   *Node   // nil: no source known; not Up: it is lost and nobody took its place
	Replicas []*Node // nodes with RoleReplica, usable or not

	SourcePosition gtid.Set  // last sampled gtid_executed of the source
	SourceAsked    time.Time // when that sample was asked for
	Epoch          uint64    // grows when the source's set shrank: held tokens are void
	EpochSince     time.Time // when the last growth was noticed; zero: there was none
	Seq            uint64    // grows with each published view

	// WithoutGTIDs: the source has gtid_mode = OFF. Positions are empty and prove
	// nothing then; that they cover a token does not mean anything.
	WithoutGTIDs bool

	// NoSource says in words why there is no source, "" while there is one.
	NoSource string

	// Discovery says how the discovery of replicas goes, "" if it is off.
	Discovery string

	// Promotion is the last one that was observed.
	Promotion Promotion

	// WarmupUntil: up to then, after a promotion, no replica serves reads that
	// no GTID proves, but for the classes that may.
	WarmupUntil time.Time
}

// Promotion is a change of the source that the monitor has seen.
type Promotion struct {
	Seq      uint64 // how many there were; 0: none, and the rest is empty
	From, To string // addresses of the old source and the new one
	At       time.Time
	// Settled: the new source has applied all that it had received, or applies
	// nothing any more. What it does not have then is lost.
	Settled bool
}

// Node returns the node at addr, nil if there is none.
func (v *View) Node(addr string) *Node {
	for _, n := range v.Nodes {
		if n.Addr == addr {
			return n
		}
	}
	return nil
}
