package balance

import (
	"fmt"
	"time"

	"causeway/backend"
	"causeway/gtid"
)

const uuid = "11111111-1111-1111-1111-111111111111"

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// prefixes holds 1-n of the one source of these tests at n.
var prefixes = func() (out [128]gtid.Set) {
	for n := 1; n < len(out); n++ {
		out[n] = gtid.MustParse(fmt.Sprintf("%s:1-%d", uuid, n))
	}
	return out
}()

func upTo(n int) gtid.Set { return prefixes[n] }

// replica is a usable replica that executed 1-executed and is 100 ms stale.
func replica(name string, weight, executed int) *backend.Node {
	return &backend.Node{
		Addr: name, Role: backend.RoleReplica, Weight: weight, Up: true,
		Position: upTo(executed), FreshAsOf: now.Add(-100 * time.Millisecond),
		Live: &backend.Live{},
	}
}

// replicas makes one for each weight, named a, b, c, ...
func replicas(weights ...int) []*backend.Node {
	var out []*backend.Node
	for i, w := range weights {
		out = append(out, replica(string(rune('a'+i)), w, 10))
	}
	return out
}

var policies = []Policy{RoundRobin, Weighted, LeastInFlight, Latency}

// shares counts the picks of seq from, from+step, ... by name.
func shares(p Policy, nodes []*backend.Node, need Need, from, step uint64, picks int) map[string]int {
	got := map[string]int{}
	for i := range picks {
		n, _ := Pick(p, nodes, need, from+uint64(i)*step)
		if n == nil {
			got["-"]++
			continue
		}
		got[n.Addr]++
	}
	return got
}

// even tells whether got is within 3 % of want.
func even(got int, want float64) bool {
	return float64(got) >= 0.97*want && float64(got) <= 1.03*want
}
