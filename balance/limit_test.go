package balance

import (
	"strings"
	"testing"
	"time"

	"causeway/backend"
)

// limited gives a replica a standing for each of several limits.
func limited(n *backend.Node, limits ...backend.Limit) *backend.Node {
	n.Limits = limits
	return n
}

var (
	isOver = backend.Limit{Excluded: "lag p95 was 3s, the limit is 2s"}
	isFine = backend.Limit{Share: 100}
)

func TestLimit(t *testing.T) {
	behind := func() *backend.Node { return limited(replica("behind", 1, 10), isOver, isFine) }
	for _, tc := range []struct {
		name  string
		nodes []*backend.Node
		need  Need
		want  string
		why   Reason
	}{
		{"nothing to prove: never over the limit", []*backend.Node{behind()}, Need{}, "", OverLimit},
		{"bounded, fresh enough: never either", []*backend.Node{behind()}, Need{MaxStaleness: time.Second}, "", OverLimit},
		{"bounded above a floor: the floor is no token", []*backend.Node{behind()}, Need{Token: upTo(5), MaxStaleness: time.Second}, "", OverLimit},
		{"bounded, but promoted: the token is a proof, and the bound is kept", []*backend.Node{behind()}, Need{Token: upTo(5), MaxStaleness: time.Second, Promoted: true}, "behind", Eligible},
		{"promoted, but too stale", []*backend.Node{behind()}, Need{Token: upTo(5), MaxStaleness: 1, Promoted: true}, "", NotFresh},
		{"too stale comes first", []*backend.Node{behind()}, Need{MaxStaleness: 1}, "", NotFresh},
		{"under another limit it serves", []*backend.Node{behind()}, Need{Limit: 1}, "behind", Eligible},
		{"no such limit", []*backend.Node{behind()}, Need{Limit: 2}, "behind", Eligible},
		{"no limit", []*backend.Node{behind()}, Need{Limit: -1}, "behind", Eligible},
		{"any live one", []*backend.Node{behind()}, Need{AnyLive: true}, "behind", Eligible},
		{"a token that it covers is a proof", []*backend.Node{behind()}, Need{Token: upTo(10)}, "behind", Eligible},
		{"one that it does not cover is none", []*backend.Node{behind()}, Need{Token: upTo(11)}, "", NotCovered},
		{"but one within the limit comes first", []*backend.Node{behind(), limited(replica("fine", 1, 10), isFine)}, Need{Token: upTo(10)}, "fine", Eligible},
		{"also with weight 0", []*backend.Node{behind(), limited(replica("fine", 0, 10), isFine)}, Need{Token: upTo(10)}, "fine", Eligible},
		{"also after it in the list", []*backend.Node{limited(replica("fine", 1, 10), isFine), behind()}, Need{Token: upTo(10)}, "fine", Eligible},
		{"one within the limit that does not cover is no help", []*backend.Node{behind(), limited(replica("fine", 1, 9), isFine)}, Need{Token: upTo(10)}, "behind", Eligible},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.need.Now = now
			for _, p := range policies {
				for seq := range uint64(4) {
					n, why := Pick(p, tc.nodes, tc.need, seq)
					got := ""
					if n != nil {
						got = n.Addr
					}
					if got != tc.want || why != tc.why {
						t.Fatalf("%s: %q, %s; want %q, %s", p, got, why, tc.want, tc.why)
					}
				}
			}
			for _, v := range Explain(tc.nodes, tc.need, "the token") {
				if v.Eligible != (v.Node.Addr == tc.want) {
					t.Errorf("Explain says %v of %s: %s", v.Eligible, v.Node.Addr, v.Text)
				}
			}
		})
	}
}

func TestExplainLimit(t *testing.T) {
	behind, fine := limited(replica("behind", 1, 10), isOver), limited(replica("fine", 1, 10), isFine)
	slow := limited(replica("slow", 4, 10), backend.Limit{Share: 40})
	slow.Slow, slow.QueryP95 = true, 3*time.Millisecond
	recovers := limited(replica("recovers", 1, 10), backend.Limit{Excluded: "lag p95 was 3s, the limit is 2s", Returns: now.Add(42 * time.Second)})
	for _, tc := range []struct {
		nodes []*backend.Node
		need  Need
		want  string // of the first
	}{
		{[]*backend.Node{behind}, Need{}, "over the lag limit: lag p95 was 3s, the limit is 2s"},
		{[]*backend.Node{recovers}, Need{}, "over the lag limit: recovering, 42s left (lag p95 was 3s, the limit is 2s)"},
		{[]*backend.Node{behind}, Need{Token: upTo(1)}, "; covers all, and no replica within the limit does"},
		{[]*backend.Node{behind, fine}, Need{Token: upTo(1)}, "; covers all, but so does a better one"},
		{[]*backend.Node{slow, fine}, Need{}, "; weight 4, of which it carries 40 % in its slow start, halved: its answers' p95 of 3ms is above 1.5 times the source's"},
	} {
		tc.need.Now = now
		if got := Explain(tc.nodes, tc.need, "all")[0].Text; !strings.Contains(got, tc.want) {
			t.Errorf("%q has no %q", got, tc.want)
		}
	}
}

// A share is what it says under the policies that deal out turns.
func TestShares(t *testing.T) {
	for _, tc := range []struct {
		name  string
		share uint8
		slow  bool
		part  float64
	}{
		{"slow start begins", 10, false, 0.1}, {"half way", 50, false, 0.5}, {"done", 100, false, 1},
		{"slow answers", 100, true, 0.5}, {"both", 10, true, 0.05},
	} {
		for _, weight := range []int{1, 3, 1000} {
			a := limited(replica("a", weight, 10), backend.Limit{Share: tc.share})
			a.Slow = tc.slow
			nodes := []*backend.Node{a, limited(replica("b", weight, 10), isFine)}
			for _, p := range []Policy{RoundRobin, Weighted} {
				const picks = 42000
				got := shares(p, nodes, Need{Now: now}, 0, 1, picks)
				want := picks * tc.part / (1 + tc.part)
				if float64(got["a"]) < 0.9*want || float64(got["a"]) > 1.1*want {
					t.Errorf("%s, weight %d, %s: %d picks, want %.0f", tc.name, weight, p, got["a"], want)
				}
			}
		}
	}
}

// A replica that comes back is not rushed to because it has little to do.
func TestLatencyHonoursShares(t *testing.T) {
	back := limited(replica("back", 1, 10), backend.Limit{Share: 10})
	busy := limited(replica("busy", 1, 10), isFine)
	Observe(busy.Live, 50*time.Millisecond, false, now)
	Observe(back.Live, time.Millisecond, false, now)
	got := shares(Latency, []*backend.Node{back, busy}, Need{Now: now}, 0, 1, 2200)
	if got["back"] > 300 || got["back"] == 0 {
		t.Errorf("%d of 2200 picks, its share is 200", got["back"])
	}
}
