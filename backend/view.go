package backend

import (
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

	// LastAnswer is when a probe was last answered; zero: never.
	LastAnswer time.Time

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

	Lag  Lag
	Live *Live
}

// Held is what a server says that one of its connections holds for itself.
type Held struct {
	UserLocks bool // by GET_LOCK
	UserVars  int  // user variables that are not NULL
}

// Lag explains how far a replica is behind; only Position and FreshAsOf prove.
type Lag struct {
	SampledAt     time.Time
	IOThread      string        // Replica_IO_Running: Yes, No, Connecting, ""
	SQLThread     string        // Replica_SQL_Running
	LastError     string        // last IO or SQL error, "" if none
	Delay         time.Duration // configured SOURCE_DELAY
	Position      time.Duration // lag by position: 0 when it covers the last sample; -1 unknown
	Transport     time.Duration // not yet received, by position at SampledAt; -1 unknown
	Apply         time.Duration // by commit timestamps, -1 unknown
	OldestTrx     time.Duration // age of the oldest transaction being applied, 0 none
	ReceivedUnapp uint64        // transactions received but not applied
	WorkersBusy   int
	Workers       int
	WorkerDetail  string // which worker holds what since when, for people
	Channels      int
}

// Live is the part of a node that changes with every query. All fields are atomic.
type Live struct {
	InFlight atomic.Int64  // commands sent and not yet answered
	Picks    atomic.Uint64 // reads sent here
	Errors   atomic.Uint64
	EWMA     atomic.Uint64 // peak EWMA of answer time, nanoseconds
	EWMAAt   atomic.Int64  // nanoseconds since process start of the last update
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
	Seq            uint64    // grows with each published view
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
