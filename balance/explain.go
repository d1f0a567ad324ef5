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
	Eligible bool   // Pick takes one of these
	Text     string // in an operator's words
}

// Explain judges every node with the same checks as Pick, for people: it
// allocates and is not for the way of a query. what names need.Token: "the token",
// unless it is something else that the read must see.
func Explain(nodes []*backend.Node, need Need, what string) []Verdict {
	out := make([]Verdict, 0, len(nodes))
	best := unranked
	for _, n := range nodes {
		if n == nil {
			continue
		}
		r := check(n, &need)
		best = max(best, rankOf(n, r, &need))
		out = append(out, Verdict{Node: n, Reason: r})
	}
	for i := range out {
		v := &out[i]
		k := rankOf(v.Node, v.Reason, &need)
		v.Eligible = k != unranked && k == best
		switch {
		case v.Reason == OverLimit:
			v.Text = explainOver(v.Node, &need, what, v.Eligible)
		case v.Reason == Eligible && !v.Eligible:
			v.Text = outranked(v.Node)
		default:
			v.Text = explain(v.Node, v.Reason, &need, what)
		}
	}
	return out
}

// outranked tells why an eligible replica is not picked from.
func outranked(n *backend.Node) string {
	switch {
	case weight(n) == 0:
		return "weight 0: serves only if no other replica can"
	case n.Zone == "":
		return "in no zone: serves only if no replica of Causeway's own zone can"
	}
	return "in zone " + n.Zone + ": serves only if no replica of Causeway's own zone can"
}

// explainOver tells of a replica that is excluded for its lag; taken: it serves
// all the same.
func explainOver(n *backend.Node, need *Need, what string, taken bool) string {
	text := "over the lag limit: "
	if n.Far {
		text = "over the lag limit of other zones: "
	}
	text += limit(n, need).Text(need.Now)
	switch {
	case taken:
		text += "; covers " + what + ", and no replica within the limit does"
	case need.proved():
		text += "; covers " + what + ", but so does a better one"
	}
	return text
}

func explain(n *backend.Node, r Reason, need *Need, what string) string {
	switch r {
	case NoReplica:
		return "not a replica: its role is " + n.Role.String()
	case Down:
		return "down: does not answer probes"
	case Excluded:
		return "excluded: " + n.Exclude
	case NotCovered:
		return explainMissing(n.Position, need.Token, what)
	case NotFresh:
		if n.FreshAsOf.IsZero() {
			return fmt.Sprintf("freshness unproved: covers no sample of the source's position yet, the bound is %s", need.MaxStaleness)
		}
		return fmt.Sprintf("may be %s stale, the bound is %s", staleness(n, need), need.MaxStaleness)
	}
	return explainEligible(n, need, what)
}

// explainMissing names the missing GTIDs, as far as they fit in a line.
func explainMissing(position, token gtid.Set, what string) string {
	if position.IsEmpty() {
		return "its position is empty or unknown, it does not cover " + what
	}
	missing := token.Subtract(position)
	const most = 120
	text := missing.Line()
	if len(text) > most {
		text = text[:most] + "..."
	}
	return fmt.Sprintf("has not executed %d GTIDs of %s: %s", missing.Count(), what, text)
}

func explainEligible(n *backend.Node, need *Need, what string) string {
	text := "eligible: "
	switch {
	case need.AnyLive:
		text += "any live replica will do"
	case need.Token.IsEmpty():
		text += "no token to cover"
	default:
		text += "covers " + what
	}
	if !n.FreshAsOf.IsZero() {
		text += fmt.Sprintf(", at most %s stale", staleness(n, need))
	}
	text += fmt.Sprintf("; weight %d", weight(n))
	if n.Zone != "" {
		text += ", zone " + n.Zone
	}
	if l := limit(n, need); l.Excluded == "" && l.Share < 100 {
		text += fmt.Sprintf(", of which it carries %d %% in its slow start", l.Share)
	}
	if n.Slow {
		text += fmt.Sprintf(", halved: its answers' p95 of %s is above 1.5 times the source's", n.QueryP95.Round(10*time.Microsecond))
	}
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
