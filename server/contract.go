package server

import (
	"slices"
	"strings"
	"time"

	"causeway/backend"
	"causeway/gtid"
)

// contract is what holds for one read: what a replica must show, and what is
// done if none can.
type contract struct {
	class     *Class // F0 for a promoted read
	steps     []Step
	share     float64       // of the fallback budget
	token     bool          // the session's token is part of the need
	global    bool          // so is what the source has executed when the read arrives
	floor     bool          // the source's position at Causeway's start is
	bound     time.Duration // on staleness; 0: none
	promoted  bool
	monotonic bool // never older than what was seen before
}

// promotedSteps is the on_lag of a class's reads that are promoted: F0's, and
// where that ends in an error, what the class itself would have served, which
// then covers the token all the same and is only older than the class's bound.
func promotedSteps(f0, class *Class) []Step {
	steps := slices.DeleteFunc(slices.Clone(f0.OnLag), func(s Step) bool { return s.Kind == StepError })
	if slices.Contains(class.OnLag, Step{Kind: StepStale}) {
		steps = append(steps, Step{Kind: StepStale})
	}
	return append(steps, Step{Kind: StepError})
}

// mayPromote tells whether reads of a class are F0 until a token is everywhere.
func (c *Class) mayPromote() bool { return c.PromoteOnToken && c.Consistency < OwnWrites }

// agree makes the contract of a read. It is pure. hasToken: the session holds a
// token; everywhere: each usable replica covers it.
//
//	class      token          served as   must show
//	session    none           itself      the floor, max_staleness; on_lag_empty
//	session    held           itself      the token
//	global     whatever       itself      the token and all that the source had when the read arrived
//	bounded    none           itself      max_staleness
//	bounded    not everywhere F0          max_staleness and the token
//	bounded    everywhere     itself      max_staleness and the token
//	bounded, promote_on_token = false     max_staleness, whatever the token
func agree(ch choice, f0 *Class, hasToken, everywhere bool) contract {
	class := ch.class
	c := contract{class: class, steps: class.OnLag, share: class.BudgetShare, token: hasToken, monotonic: class.Monotonic}
	switch {
	case hasToken && !everywhere && class.mayPromote():
		c = contract{class: f0, steps: class.promoted, share: f0.BudgetShare, token: true, promoted: true, monotonic: class.Monotonic}
	case class.Consistency == Global:
		c.token, c.global = true, true
		return c
	case class.Consistency >= OwnWrites && hasToken:
		return c
	case class.Consistency >= OwnWrites:
		c.steps, c.share, c.floor = class.OnLagEmpty, min(class.BudgetShare, class.EmptyShare), true
	default:
		c.token = hasToken && class.PromoteOnToken
	}
	if class.Consistency != Eventual {
		c.bound = class.MaxStaleness
	}
	if ch.staleness > 0 {
		c.bound = ch.staleness
	}
	return c
}

// patient is the contract of a read that must see the floor of a key or scope of
// which nothing is remembered, while no replica has that: it waits for it as a read
// with a token waits for that. What the class does where nothing is held comes last.
func (c contract) patient(class, f0 *Class) contract {
	steps := class.OnLag
	if class.mayPromote() {
		steps = class.promoted
		c.class, c.promoted, c.share = f0, true, min(f0.BudgetShare, f0.EmptyShare)
	}
	steps = slices.DeleteFunc(slices.Clone(steps), func(s Step) bool { return s.Kind == StepError })
	for _, step := range c.steps {
		if step.Kind != StepError && !slices.ContainsFunc(steps, func(s Step) bool { return s.Kind == step.Kind }) {
			steps = append(steps, step)
		}
	}
	c.steps = append(steps, Step{Kind: StepError})
	return c
}

// neededText names what a replica must have.
func (c *contract) neededText(d *demand) string {
	var what []string
	switch {
	case c.global:
		what = append(what, "what the source had executed")
	case c.token && d.stands:
		what = append(what, "what may have been written in this scope")
	case c.token:
		what = append(what, "the token")
	case c.floor:
		what = append(what, "the source's position when Causeway began")
	}
	if !d.seen.IsEmpty() {
		what = append(what, "what was seen before")
	}
	return strings.Join(what, " and ")
}

// has tells whether a step is among what is tried.
func (c *contract) has(kind StepKind) bool {
	return slices.ContainsFunc(c.steps, func(s Step) bool { return s.Kind == kind })
}

// lastShare is the share of the budget for reads that have none in a cluster
// whose replicas are all lost: they are served, but never before others.
const lastShare = 0.5

// withoutReplicas is the share with which a read may ask for the source when no
// replica is usable; 0: its contract ends in an error and never names the source.
func (c *contract) withoutReplicas() float64 {
	if c.has(StepError) && !c.has(StepSource) {
		return 0
	}
	return max(c.share, lastShare)
}

// coveredSomewhere tells whether a usable replica covers the token.
func coveredSomewhere(v *backend.View, token gtid.Set) bool {
	return slices.ContainsFunc(v.Replicas, func(n *backend.Node) bool { return n.Usable() && n.Position.Contains(token) })
}

// coveredEverywhere tells whether each usable replica covers the token.
func coveredEverywhere(v *backend.View, token gtid.Set) bool {
	for _, n := range v.Replicas {
		if n.Usable() && !n.Position.Contains(token) {
			return false
		}
	}
	return true
}
