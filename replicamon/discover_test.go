package replicamon

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"causeway/backend"
)

func TestDiscover(t *testing.T) {
	now := time.Now()
	long := now.Add(-2 * time.Minute)
	old := func(s *state, i int) *node { // a discovered replica of ours, silent for long
		n := *s.nodes[i]
		n.origin, n.added, n.contact, n.known, n.up = backend.FromDiscovery, long, long, n.uuid, false
		s.nodes[i] = &n
		return &n
	}
	group := func(s *state) {
		n := *s.nodes[0]
		st := *n.status
		st.group = &group{members: []member{{u(1), "a:1", memberOnline, memberPrimary}, {u(7), "m:7", memberOnline, ""},
			{u(8), "m:8", "UNREACHABLE", ""}}}
		n.status = &st
		s.nodes[0] = &n
	}
	many := make([]hint, 100)
	for i := range many {
		many[i] = hint{fmt.Sprintf("%08d", i), fmt.Sprintf("h:%d", i+1)}
	}
	for _, c := range []struct {
		name    string
		change  func(*state)
		hints   []hint
		removed map[string]string
		add     []string
		drop    []int
	}{
		{"nobody", nil, nil, nil, nil, nil},
		{"a new one, said twice", nil, []hint{{u(9), "n:1"}, {u(9), "n:1"}}, nil, []string{"n:1"}, nil},
		{"all known by their addresses", nil, []hint{{u(8), "B:2"}, {u(9), "c:3"}}, nil, nil, nil},
		{"known by another name", nil, []hint{{u(2), "host-b:1"}}, nil, nil, nil},
		{"reports no host", nil, []hint{{u(9), ""}}, nil, nil, nil},
		{"reports nonsense", nil, []hint{{u(9), "n"}, {u(8), ":1"}, {u(7), "a b:1"}, {u(6), "n:0"}}, nil, nil, nil},
		{"taken out by the operator", nil, []hint{{u(9), "N:1"}}, map[string]string{"n:1": ""}, nil, nil},
		{"taken out by another name", nil, []hint{{u(9), "n:1"}}, map[string]string{"ip:1": u(9)}, nil, nil},
		{"members of the source's group", group, nil, nil, []string{"m:7"}, nil},
		{"no more than so many", nil, many, nil, nil, nil},
		{"a configured one is never dropped", func(s *state) { old(s, 1).origin = backend.FromConfig }, nil, nil, nil, nil},
		{"nor one that an operator added", func(s *state) { old(s, 1).origin = backend.FromStatement }, nil, nil, nil, nil},
		{"a discovered one that is gone", func(s *state) { old(s, 1) }, nil, nil, nil, []int{1}},
		{"two of them", func(s *state) { old(s, 1); old(s, 2) }, nil, nil, nil, []int{2, 1}},
		{"down, but the source knows it", func(s *state) { old(s, 1) }, []hint{{u(2), "b:2"}}, nil, nil, nil},
		{"not known any more, but it answers", func(s *state) { old(s, 1).contact = now }, nil, nil, nil, nil},
		{"gone, not for long", func(s *state) { old(s, 1).contact = now.Add(-59 * time.Second) }, nil, nil, nil, nil},
		{"it answers, but never was ours", func(s *state) { n := old(s, 1); n.contact, n.known = now, "" }, nil, nil, nil, []int{1}},
		{"just found, and not asked yet", func(s *state) { n := old(s, 1); n.added, n.known = now, "" }, nil, nil, nil, nil},
		{"the source itself", func(s *state) { old(s, 0) }, nil, nil, nil, nil},
	} {
		m := cluster(t)
		m.s.nodes = slices.Clone(m.s.nodes)
		for i, addr := range []string{"a:1", "b:2", "c:3"} {
			n := *m.s.nodes[i]
			n.addr = addr
			m.s.nodes[i] = &n
		}
		if c.change != nil {
			c.change(&m.s)
		}
		add, drop := m.s.discover(c.hints, c.removed, now, time.Minute)
		if len(c.hints) == len(many) {
			if len(add) != maxDiscovered {
				t.Errorf("%s: %d added", c.name, len(add))
			}
			continue
		}
		if !slices.Equal(add, c.add) || !slices.Equal(drop, c.drop) {
			t.Errorf("%s: add %v, drop %v, want %v and %v", c.name, add, drop, c.add, c.drop)
		}
	}
}

func TestReadHints(t *testing.T) {
	got := readHints([]row{
		{"Server_Id": "2", "Host": "db2", "Port": "3306", "Source_Id": "1", "Replica_UUID": u(2)},
		{"Host": "::1", "Port": "3307", "Replica_UUID": u(3)},
		{"Host": "", "Port": "3306", "Replica_UUID": u(4)},
	})
	want := []hint{{u(2), "db2:3306"}, {u(3), "[::1]:3307"}, {u(4), ""}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
