package share

import (
	"context"
	"time"
)

// Store is a place that all members reach, whose operations are atomic each.
type Store interface {
	// Look tells what the store knows, with what is published under names.
	Look(ctx context.Context, names []string) (Sight, error)
	// Lease takes or renews a lease, and tells what the store knows then.
	Lease(ctx context.Context, o LeaseOrder) (Sight, Verdict, error)
	// Publish makes entries known to all, if the publisher's lease holds.
	Publish(ctx context.Context, o PublishOrder) (Verdict, error)
}

// Millis is a time by the store's own clock, in milliseconds.
type Millis int64

// Sight is what the store knew at one moment.
type Sight struct {
	// Life names what cannot have lost anything in silence: one run of one server as the
	// one that takes writes, neither emptied nor with an eviction. "": it takes no writes.
	Life    string
	Now     Millis
	Leases  map[string]Lease // by the member's name
	Floor   Floor
	Entries map[string][]string // GTID sets by the names that were asked for, where any were published
}

// Lease says that a member publishes what it acknowledges, until its end.
type Lease struct {
	Life string // in which it was taken
	Proc string // the process that holds it
	List string // digest of the list of members that it goes by
	End  Millis
}

// Floor is what a name needs besides what is published under it: all that was
// committed before Begun.
type Floor struct {
	Life  string
	Begun Millis
	Until Millis // from then on names may have expired that it does not cover
	Set   string
}

// Verdict is what the store says to an order.
type Verdict string

// The verdicts.
const (
	Done      Verdict = "done"
	OtherLife Verdict = "life"  // the store is not the one that the order is for
	Late      Verdict = "late"  // the order came after the end that it asks for
	Taken     Verdict = "taken" // another process holds the lease of that name
	NoLease   Verdict = "lease" // the publisher holds none
)

// LeaseOrder asks for a lease up to an end that lies at a fixed distance from an
// earlier answer of the store: however late the order arrives, it can prolong
// nothing beyond that.
type LeaseOrder struct {
	Name  string
	Lease Lease
	Floor Floor // a newer one; Set == "": none
}

// PublishOrder makes what a process knows of some names known.
type PublishOrder struct {
	Name, Life, Proc string
	// Seq orders the orders of a process: an older one undoes nothing of a newer.
	Seq   uint64
	Items []Published
	TTL   time.Duration
}

// Published is all that a process knows to be needed under a name.
type Published struct{ Name, Set string }
