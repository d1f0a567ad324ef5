package balance

import (
	"testing"
	"time"

	"causeway/backend"
)

func TestWaitHelps(t *testing.T) {
	unjudged := backend.Limit{Excluded: "its lag is not known yet", Unjudged: true}
	token, bound := Need{Token: upTo(11)}, Need{MaxStaleness: time.Millisecond}
	tune := func(f func(*backend.Node)) *backend.Node {
		n := limited(replica("r", 1, 10), isFine)
		f(n)
		return n
	}
	for _, tc := range []struct {
		name         string
		node         *backend.Node
		bound, token bool
	}{
		{"none", nil, false, false},
		{"behind", tune(func(*backend.Node) {}), true, true},
		{"without limits", replica("r", 1, 10), true, true},
		{"its applier stopped: known too late", tune(func(n *backend.Node) { n.Lag.SQLThread = "No" }), true, true},
		{"over its limit", limited(replica("r", 1, 10), isOver), false, true},
		{"lag not known yet", limited(replica("r", 1, 10), unjudged), true, true},
		{"down", tune(func(n *backend.Node) { n.Up = false }), false, false},
		{"excluded", tune(func(n *backend.Node) { n.Exclude = "replication filters" }), false, false},
		{"joining", tune(func(n *backend.Node) { n.Exclude, n.Joining = "joining: waits", true }), true, true},
		{"no replica", tune(func(n *backend.Node) { n.Role = backend.RoleUnknown }), false, false},
	} {
		bound.Now, token.Now = now, now
		if got := WaitHelps([]*backend.Node{tc.node}, bound); got != tc.bound {
			t.Errorf("%s, bounded: %v", tc.name, got)
		}
		if got := WaitHelps([]*backend.Node{tc.node}, token); got != tc.token {
			t.Errorf("%s, with a token: %v", tc.name, got)
		}
		promoted := Need{Token: upTo(11), MaxStaleness: time.Millisecond, Promoted: true, Now: now}
		if got := WaitHelps([]*backend.Node{tc.node}, promoted); got != tc.token {
			t.Errorf("%s, promoted: %v", tc.name, got)
		}
		both := Need{Token: upTo(11), MaxStaleness: time.Millisecond, Now: now}
		if got := WaitHelps([]*backend.Node{tc.node, limited(replica("over", 1, 10), isOver)}, both); got != tc.bound {
			t.Errorf("%s, bounded above a token, beside one over its limit: %v", tc.name, got)
		}
	}
}
