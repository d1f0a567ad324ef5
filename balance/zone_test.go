package balance

import (
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/backend"
)

// far puts a replica into another zone than Causeway's.
func far(n *backend.Node) *backend.Node {
	n.Zone, n.Far = "b", true
	return n
}

// overLimit makes a replica be over its lag limit.
func overLimit(n *backend.Node) *backend.Node {
	n.Limits = []backend.Limit{{Name: "F1", Excluded: "lag p95 was 9s"}}
	return n
}

// Replicas of other zones serve only what none of the own zone can.
func TestPickZones(t *testing.T) {
	token := Need{Token: upTo(10)}
	for _, c := range []struct {
		name  string
		nodes []*backend.Node
		need  Need
		want  []string // that are picked from
	}{
		{"own zone first", []*backend.Node{replica("near", 1, 10), far(replica("far", 100, 10))}, token, []string{"near"}},
		{"all of the own zone", []*backend.Node{replica("near1", 1, 10), far(replica("far", 1, 10)), replica("near2", 1, 10)}, token, []string{"near1", "near2"}},
		{"own zone behind", []*backend.Node{replica("near", 1, 9), far(replica("far", 1, 10))}, token, []string{"far"}},
		{"all of the other zones", []*backend.Node{replica("near", 1, 9), far(replica("far1", 1, 10)), far(replica("far2", 1, 10))}, token, []string{"far1", "far2"}},
		{"own zone has weight 0", []*backend.Node{replica("near", 0, 10), far(replica("far", 1, 10))}, token, []string{"far"}},
		{"all have weight 0", []*backend.Node{far(replica("far", 0, 10)), replica("near", 0, 10)}, token, []string{"near"}},
		{"own zone over its limit", []*backend.Node{overLimit(replica("near", 1, 10)), far(replica("far", 1, 10))}, token, []string{"far"}},
		{"the other zone over its limit", []*backend.Node{replica("near", 1, 9), overLimit(far(replica("far", 1, 10)))}, Need{MaxStaleness: time.Second}, []string{"near"}},
		{"both over their limits, proved by a token", []*backend.Node{overLimit(far(replica("far", 1, 10))), overLimit(replica("near", 1, 10))}, token, []string{"near"}},
		{"only the other zone, over its limit, without a token", []*backend.Node{overLimit(far(replica("far", 1, 10)))}, Need{}, nil},
		{"no zones", []*backend.Node{replica("x", 1, 10), replica("y", 1, 10)}, token, []string{"x", "y"}},
	} {
		c.need.Now = now
		for _, p := range policies {
			got := shares(p, c.nodes, c.need, 0, 1, 200)
			var names []string
			for name := range got {
				if name != "-" {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			if !slices.Equal(names, c.want) {
				t.Errorf("%s, %s: %v, want %v", c.name, p, got, c.want)
			}
		}
		for _, v := range Explain(c.nodes, c.need, "the token") {
			if v.Eligible != slices.Contains(c.want, v.Node.Addr) {
				t.Errorf("%s: %s is explained as %v: %s", c.name, v.Node.Addr, v.Eligible, v.Text)
			}
		}
	}
}

func TestExplainZones(t *testing.T) {
	near, other, nowhere := replica("near", 1, 10), far(replica("far", 1, 10)), far(replica("nowhere", 1, 10))
	near.Zone, nowhere.Zone = "a", ""
	want := map[string]string{
		"near":    "weight 1, zone a",
		"far":     "in zone b: serves only if no replica of Causeway's own zone can",
		"nowhere": "in no zone: serves only if no replica of Causeway's own zone can",
		"lagging": "over the lag limit of other zones: lag p95 was 9s",
	}
	for _, v := range Explain([]*backend.Node{near, other, nowhere, overLimit(far(replica("lagging", 1, 10)))}, Need{Now: now}, "the token") {
		if !strings.Contains(v.Text, want[v.Node.Addr]) {
			t.Errorf("%s: %q, want %q", v.Node.Addr, v.Text, want[v.Node.Addr])
		}
	}
}

// A stale read goes to the freshest one wherever it stands; among equals to the
// own zone.
func TestFreshestZones(t *testing.T) {
	near, other, fresher := replica("near", 1, 10), far(replica("far", 1, 11)), far(replica("fresher", 1, 10))
	fresher.FreshAsOf = now.Add(-time.Millisecond)
	if n, _ := Freshest([]*backend.Node{other, near}, now); n != near {
		t.Errorf("%s among equals", n.Addr)
	}
	if n, _ := Freshest([]*backend.Node{near, fresher, other}, now); n != fresher {
		t.Errorf("%s, though another is fresher", n.Addr)
	}
}
