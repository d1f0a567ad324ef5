package balance

import (
	"fmt"
	"time"

	"causeway/backend"
	"causeway/gtid"
)

// Verdict says whether one node could serve a read, and why or why not.
type Verdict struct {
	Node     *backend.Node
	Reason   Reason
	Eligible bool   // Reason is Eligible and no weight keeps it back
	Text     string // in an operator's words
}

// Explain judges every node with the same checks as Pick, for people: it
// allocates and is not for the way of a query.
func Explain(nodes []*backend.Node, need Need) []Verdict {
	out := make([]Verdict, 0, len(nodes))
	weighted := false
	for _, n := range nodes {
		if n == nil {
			continue
		}
		r := check(n, &need)
		weighted = weighted || r == Eligible && weight(n) > 0
		out = append(out, Verdict{Node: n, Reason: r, Eligible: r == Eligible})
	}
	for i := range out {
		v := &out[i]
		if v.Eligible && weighted && weight(v.Node) == 0 {
			v.Eligible = false
			v.Text = "weight 0: serves only if no other replica can"
			continue
		}
		v.Text = explain(v.Node, v.Reason, &need)
	}
	return out
}

func explain(n *backend.Node, r Reason, need *Need) string {
	switch r {
	case NoReplica:
		return "not a replica: its role is " + n.Role.String()
	case Down:
		return "down: does not answer probes"
	case Excluded:
		return "excluded: " + n.Exclude
	case NotCovered:
		return explainMissing(n.Position, need.Token)
	case NotFresh:
		if n.FreshAsOf.IsZero() {
			return fmt.Sprintf("freshness unproved: covers no sample of the source's position yet, the bound is %s", need.MaxStaleness)
		}
		return fmt.Sprintf("may be %s stale, the bound is %s", staleness(n, need), need.MaxStaleness)
	}
	return explainEligible(n, need)
}

// explainMissing names the missing GTIDs, as far as they fit in a line.
func explainMissing(position, token gtid.Set) string {
	if position.IsEmpty() {
		return "its position is empty or unknown, it covers no token"
	}
	missing := token.Subtract(position)
	const most = 120
	text := missing.Line()
	if len(text) > most {
		text = text[:most] + "..."
	}
	return fmt.Sprintf("has not executed %d GTIDs of the token: %s", missing.Count(), text)
}

func explainEligible(n *backend.Node, need *Need) string {
	text := "eligible: "
	switch {
	case need.AnyLive:
		text += "any live replica will do"
	case need.Token.IsEmpty():
		text += "no token to cover"
	default:
		text += "covers the token"
	}
	if !n.FreshAsOf.IsZero() {
		text += fmt.Sprintf(", at most %s stale", staleness(n, need))
	}
	text += fmt.Sprintf("; weight %d", weight(n))
	if n.Live != nil {
		text += fmt.Sprintf(", %d in flight", n.Live.InFlight.Load())
		if l := ExpectedLatency(n.Live, need.Now); l > 0 {
			text += fmt.Sprintf(", answers in about %s", l.Round(10*time.Microsecond))
		}
	}
	return text
}

func staleness(n *backend.Node, need *Need) time.Duration {
	return max(0, need.Now.Sub(n.FreshAsOf)).Round(time.Millisecond)
}
