package balance

import (
	"math/rand/v2"
	"testing"
	"time"

	"causeway/backend"
	"causeway/gtid"
)

func TestPickEligibility(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(n *backend.Node)
		need   Need
		want   Reason
	}{
		{"needs nothing", nil, Need{}, Eligible},
		{"token covered", nil, Need{Token: upTo(10)}, Eligible},
		{"token not covered", nil, Need{Token: upTo(11)}, NotCovered},
		{"empty position covers nothing", func(n *backend.Node) { n.Position = gtid.Set{} }, Need{Token: upTo(1)}, NotCovered},
		{"empty position, empty token", func(n *backend.Node) { n.Position = gtid.Set{} }, Need{}, Eligible},
		{"fresh enough", nil, Need{MaxStaleness: time.Second}, Eligible},
		{"exactly at the bound", nil, Need{MaxStaleness: 100 * time.Millisecond}, Eligible},
		{"just over the bound", nil, Need{MaxStaleness: 100*time.Millisecond - 1}, NotFresh},
		{"unproved, no bound", func(n *backend.Node) { n.FreshAsOf = time.Time{} }, Need{}, Eligible},
		{"unproved, any bound", func(n *backend.Node) { n.FreshAsOf = time.Time{} }, Need{MaxStaleness: 1 << 62}, NotFresh},
		{"covered but not fresh", nil, Need{Token: upTo(1), MaxStaleness: time.Millisecond}, NotFresh},
		{"source", func(n *backend.Node) { n.Role = backend.RoleSource }, Need{}, NoReplica},
		{"unknown role", func(n *backend.Node) { n.Role = backend.RoleUnknown }, Need{}, NoReplica},
		{"down", func(n *backend.Node) { n.Up = false }, Need{}, Down},
		{"excluded", func(n *backend.Node) { n.Exclude = "replication filters" }, Need{}, Excluded},
		{"any live: token and bound waived", nil, Need{AnyLive: true, Token: upTo(99), MaxStaleness: 1}, Eligible},
		{"any live: still not a down one", func(n *backend.Node) { n.Up = false }, Need{AnyLive: true}, Down},
		{"any live: still not an excluded one", func(n *backend.Node) { n.Exclude = "joining" }, Need{AnyLive: true}, Excluded},
		{"any live: still not the source", func(n *backend.Node) { n.Role = backend.RoleSource }, Need{AnyLive: true}, NoReplica},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := replica("a", 1, 10)
			if tc.change != nil {
				tc.change(n)
			}
			tc.need.Now = now
			for _, p := range policies {
				got, reason := Pick(p, []*backend.Node{n, nil}, tc.need, 3)
				if reason != tc.want || (got == n) != (tc.want == Eligible) {
					t.Errorf("%s: got %v, %s, want %s", p, got, reason, tc.want)
				}
			}
		})
	}
}

func TestNearestReason(t *testing.T) {
	down, lagging := replica("a", 1, 10), replica("b", 1, 5)
	down.Up = false
	_, got := Pick(RoundRobin, []*backend.Node{lagging, down}, Need{Token: upTo(9), Now: now}, 0)
	if got != NotCovered {
		t.Errorf("got %s: one that only lags is the nearest", got)
	}
	if _, got = Pick(RoundRobin, nil, Need{Now: now}, 0); got != NoReplica {
		t.Errorf("got %s for no nodes", got)
	}
}

func TestReasonsHaveLabels(t *testing.T) {
	seen := map[string]bool{}
	for r := range Reason(reasonCount) {
		if s := r.String(); s == "" || s == "unknown" || seen[s] {
			t.Errorf("reason %d has label %q", r, s)
		}
		seen[r.String()] = true
	}
	if Reason(99).String() != "unknown" {
		t.Error("a reason out of range")
	}
}

func TestPolicyNames(t *testing.T) {
	for _, p := range policies {
		if got, err := ParsePolicy(p.String()); err != nil || got != p {
			t.Errorf("%s came back as %s, %v", p, got, err)
		}
	}
	if _, err := ParsePolicy("random"); err == nil {
		t.Error("an unknown policy was accepted")
	}
	if Policy(9).String() != "Policy(9)" {
		t.Error("a policy out of range")
	}
}

// The examples in Pick's comment.
func TestPickExamples(t *testing.T) {
	for _, tc := range []struct {
		name     string
		weights  []int
		down     string
		policies []Policy
		want     map[string]int // of 60 picks
	}{
		{"a b in turns", []int{1, 1}, "", []Policy{RoundRobin, LeastInFlight, Latency}, map[string]int{"a": 30, "b": 30}},
		{"b out", []int{1, 1, 1}, "b", []Policy{RoundRobin, LeastInFlight, Latency}, map[string]int{"a": 30, "c": 30}},
		{"two to one", []int{2, 1}, "", []Policy{RoundRobin, LeastInFlight, Latency}, map[string]int{"a": 40, "b": 20}},
		{"weight 0 waits", []int{1, 0}, "", policies, map[string]int{"a": 60}},
		{"weight 0 first in the list", []int{0, 1}, "", policies, map[string]int{"b": 60}},
		{"weight 0 steps in", []int{1, 0}, "a", policies, map[string]int{"b": 60}},
		{"all weights 0", []int{0, 0}, "", []Policy{RoundRobin}, map[string]int{"a": 30, "b": 30}},
		{"none", []int{1}, "a", policies, map[string]int{"-": 60}},
	} {
		for _, p := range tc.policies {
			nodes := replicas(tc.weights...)
			for _, n := range nodes {
				n.Up = n.Addr != tc.down
			}
			got := shares(p, nodes, Need{Now: now}, 0, 1, 60)
			for name, want := range tc.want {
				if got[name] != want || len(got) != len(tc.want) {
					t.Errorf("%s, %s: got %v, want %v", tc.name, p, got, tc.want)
				}
			}
		}
	}
}

// Whatever the state of the cluster, a replica that does not cover the token,
// is too stale, or is not usable, is never picked; and one that fits is found.
func TestPickNeverBreaksTheNeed(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		nodes := randomNodes(r)
		need := Need{Now: now, Token: upTo(r.IntN(12))}
		if r.IntN(2) == 0 {
			need.MaxStaleness = time.Duration(r.IntN(400)) * time.Millisecond
		}
		fits := 0
		for _, n := range nodes {
			if holds(n, need) {
				fits++
			}
		}
		p := policies[r.IntN(len(policies))]
		got, reason := Pick(p, nodes, need, r.Uint64())
		if got != nil && (!holds(got, need) || reason != Eligible) {
			t.Fatalf("%s picked %+v (%s) for %+v", p, got, reason, need)
		}
		if (got == nil) != (fits == 0) || (got == nil) == (reason == Eligible) {
			t.Fatalf("%s picked %v (%s) where %d fit", p, got, reason, fits)
		}
	}
}

// holds is the need spelled out once more, apart from the code under test.
func holds(n *backend.Node, need Need) bool {
	usable := n.Up && n.Exclude == "" && n.Role == backend.RoleReplica
	covers := need.Token.Subtract(n.Position).IsEmpty()
	fresh := need.MaxStaleness == 0 ||
		!n.FreshAsOf.IsZero() && !n.FreshAsOf.Add(need.MaxStaleness).Before(need.Now)
	return usable && covers && fresh
}

func randomNodes(r *rand.Rand) []*backend.Node {
	var nodes []*backend.Node
	for range r.IntN(40) {
		n := replica("x", r.IntN(4), r.IntN(12))
		n.Up = r.IntN(6) > 0
		n.Role = backend.Role(r.IntN(4) % 3)
		if r.IntN(6) == 0 {
			n.Exclude = "joining"
		}
		n.FreshAsOf = now.Add(-time.Duration(r.IntN(400)) * time.Millisecond)
		if r.IntN(6) == 0 {
			n.FreshAsOf = time.Time{}
		}
		n.Live.InFlight.Store(int64(r.IntN(5)) - 1)
		n.Live.EWMA.Store(uint64(r.IntN(3)) * 1e6)
		n.Live.Weight.Store(int64(r.IntN(5)) - 1)
		nodes = append(nodes, n)
	}
	return nodes
}

func TestPickAllocatesNothing(t *testing.T) {
	nodes := replicas(1, 2, 3, 1)
	need := Need{Token: upTo(7), MaxStaleness: time.Second, Now: now}
	for _, p := range policies {
		var seq uint64
		if got := testing.AllocsPerRun(200, func() { Pick(p, nodes, need, seq); seq++ }); got != 0 {
			t.Errorf("%s: %v allocations", p, got)
		}
	}
	live := nodes[0].Live
	if got := testing.AllocsPerRun(200, func() { Observe(live, time.Millisecond, false, now) }); got != 0 {
		t.Errorf("Observe: %v allocations", got)
	}
}

func BenchmarkPick(b *testing.B) {
	for _, weights := range [][]int{{1, 1}, {3, 2, 1, 7}} {
		nodes := replicas(weights...)
		need := Need{Token: upTo(7), MaxStaleness: time.Second, Now: now}
		for _, p := range policies {
			b.Run(p.String()+"/"+string(rune('0'+len(nodes))), func(b *testing.B) {
				b.ReportAllocs()
				for i := range b.N {
					Pick(p, nodes, need, uint64(i))
				}
			})
		}
	}
}
