package balance

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"causeway/backend"
	"causeway/gtid"
)

func TestFreshest(t *testing.T) {
	old, mid, unproved := replica("old", 1, 10), replica("mid", 1, 10), replica("unproved", 1, 99)
	old.FreshAsOf, mid.FreshAsOf, unproved.FreshAsOf = now.Add(-9*time.Second), now.Add(-3*time.Second), time.Time{}
	further := replica("further", 1, 100)
	further.FreshAsOf = time.Time{}
	down, excluded, drained, source := replica("down", 1, 10), replica("excluded", 1, 10), replica("drained", 0, 10), replica("source", 1, 10)
	down.Up, excluded.Exclude, source.Role = false, "joining", backend.RoleSource
	for _, tc := range []struct {
		name  string
		nodes []*backend.Node
		want  string
		stale time.Duration
	}{
		{"nothing", nil, "", -1},
		{"none usable", []*backend.Node{nil, down, excluded, source}, "", -1},
		{"the newest proof", []*backend.Node{old, mid, unproved}, "mid", 3 * time.Second},
		{"without proof the one further on", []*backend.Node{unproved, further}, "further", -1},
		{"weight 0 only alone", []*backend.Node{drained, old}, "old", 9 * time.Second},
		{"weight 0 alone", []*backend.Node{drained, down}, "drained", 100 * time.Millisecond},
	} {
		got, stale := Freshest(tc.nodes, now)
		name := ""
		if got != nil {
			name = got.Addr
		}
		if name != tc.want || stale != tc.stale {
			t.Errorf("%s: got %q, %s, want %q, %s", tc.name, name, stale, tc.want, tc.stale)
		}
	}
}

func TestExplain(t *testing.T) {
	ok, missing, empty, stale, unproved := replica("ok", 1, 10), replica("missing", 1, 7), replica("empty", 1, 0), replica("stale", 1, 10), replica("unproved", 1, 10)
	down, excluded, source, drained := replica("down", 1, 10), replica("excluded", 1, 10), replica("source", 1, 10), replica("drained", 0, 10)
	stale.FreshAsOf, unproved.FreshAsOf = now.Add(-3*time.Second), time.Time{}
	down.Up, excluded.Exclude, source.Role = false, "replication filters", backend.RoleSource
	ok.Live.InFlight.Store(3)
	Observe(ok.Live, 2*time.Millisecond, false, now)
	want := map[string]string{
		"ok":       "eligible: covers the token, at most 100ms stale; weight 1, 3 in flight, answers in about 2ms",
		"missing":  "has not executed 3 GTIDs of the token: " + uuid + ":8-10",
		"empty":    "its position is empty or unknown, it does not cover the token",
		"stale":    "may be 3s stale, the bound is 2s",
		"unproved": "freshness unproved: covers no sample of the source's position yet, the bound is 2s",
		"down":     "down: does not answer probes",
		"excluded": "excluded: replication filters",
		"source":   "not a replica: its role is source",
		"drained":  "weight 0: serves only if no other replica can",
	}
	nodes := []*backend.Node{ok, nil, missing, empty, stale, unproved, down, excluded, source, drained}
	got := Explain(nodes, Need{Token: upTo(10), MaxStaleness: 2 * time.Second, Now: now}, "the token")
	if len(got) != len(want) {
		t.Fatalf("%d verdicts", len(got))
	}
	for _, v := range got {
		if v.Text != want[v.Node.Addr] || v.Eligible != (v.Node == ok) {
			t.Errorf("%s: %v %q, want %q", v.Node.Addr, v.Eligible, v.Text, want[v.Node.Addr])
		}
	}
}

func TestExplainOtherNeeds(t *testing.T) {
	n := replica("a", 0, 10)
	n.Live, n.FreshAsOf = nil, time.Time{}
	for _, tc := range []struct {
		need Need
		want string
	}{
		{Need{}, "eligible: no token to cover; weight 0"},
		{Need{AnyLive: true, Token: upTo(99)}, "eligible: any live replica will do; weight 0"},
	} {
		if got := Explain([]*backend.Node{n}, tc.need, "the token"); got[0].Text != tc.want || !got[0].Eligible {
			t.Errorf("got %q, want %q", got[0].Text, tc.want)
		}
	}
}

// A token of many pieces does not flood the operator's line.
func TestExplainIsShort(t *testing.T) {
	var text strings.Builder
	text.WriteString(uuid)
	for i := range 5000 {
		fmt.Fprintf(&text, ":%d", 2*i+100)
	}
	got := Explain(replicas(1), Need{Token: gtid.MustParse(text.String())}, "the token")
	if len(got[0].Text) > 200 || !strings.Contains(got[0].Text, "5000 GTIDs") {
		t.Errorf("got %q", got[0].Text)
	}
}

// Explain and Pick agree: what is picked was called eligible, and if nothing
// is picked nothing was.
func TestExplainAgreesWithPick(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		nodes := randomNodes(r)
		need := Need{Now: now, Token: upTo(r.IntN(12)), MaxStaleness: time.Duration(r.IntN(3)) * 150 * time.Millisecond, AnyLive: r.IntN(5) == 0}
		picked, _ := Pick(policies[r.IntN(len(policies))], nodes, need, r.Uint64())
		found := picked == nil
		for _, v := range Explain(nodes, need, "the token") {
			if v.Eligible && picked == nil {
				t.Fatalf("%s is called eligible but nothing was picked", v.Text)
			}
			found = found || v.Eligible && v.Node == picked
			if v.Text == "" {
				t.Fatal("a verdict without words")
			}
		}
		if !found {
			t.Fatalf("%+v was picked but not called eligible", picked)
		}
	}
}
