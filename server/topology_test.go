package server

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

func TestParseTopology(t *testing.T) {
	c := classifier.New(classifier.Options{CacheEntries: 16})
	for _, x := range []struct {
		sql  string
		want topologyChange
		ok   bool
	}{
		{"CAUSEWAY ADD SERVER 'db3:3306'", topologyChange{"add", "db3:3306", -1, ""}, true},
		{"causeway add server 'db3:3306' weight 0", topologyChange{"add", "db3:3306", 0, ""}, true},
		{"CAUSEWAY ADD SERVER \"db3:3306\" WEIGHT 5 ZONE 'Eu-West-1a'", topologyChange{"add", "db3:3306", 5, "Eu-West-1a"}, true},
		{"CAUSEWAY ADD SERVER 'db3:3306' ZONE 'a' WEIGHT 1000;", topologyChange{"add", "db3:3306", 1000, "a"}, true},
		{"CAUSEWAY REMOVE SERVER '[::1]:3306'", topologyChange{"remove", "[::1]:3306", -1, ""}, true},
		{"CAUSEWAY SET WEIGHT 'db3:3306' = 4", topologyChange{"weight", "db3:3306", 4, ""}, true},
		{"CAUSEWAY SET WEIGHT 'db3:3306'=0", topologyChange{"weight", "db3:3306", 0, ""}, true},
		{sql: "CAUSEWAY ADD SERVER"},
		{sql: "CAUSEWAY ADD 'db3:3306'"},
		{sql: "CAUSEWAY ADD SERVER 'db3:3306' WEIGHT"},
		{sql: "CAUSEWAY ADD SERVER 'db3:3306' WEIGHT -1"},
		{sql: "CAUSEWAY ADD SERVER 'db3:3306' WEIGHT 1001"},
		{sql: "CAUSEWAY ADD SERVER 'db3:3306' WEIGHT 1 WEIGHT 2"},
		{sql: "CAUSEWAY ADD SERVER 'db3:3306' ZONE ''"},
		{sql: "CAUSEWAY ADD SERVER 'db3:3306' NOW 1"},
		{sql: "CAUSEWAY REMOVE SERVER 'db3:3306' NOW"},
		{sql: "CAUSEWAY SET WEIGHT 'db3:3306' 4"},
		{sql: "CAUSEWAY SET WEIGHT 'db3:3306' = x"},
		{sql: "CAUSEWAY SET WEIGHT 'db3:3306' = -1"},
	} {
		names := c.Classify([]byte(x.sql), classifier.Mode{}).Names
		got, ok := parseTopology(names[1:])
		if ok != x.ok || ok && got != x.want {
			t.Errorf("%s (%q): %+v, %v", x.sql, names, got, ok)
		}
	}
}

// What is kept by the address of a node goes with it.
func TestForgetNodes(t *testing.T) {
	l := startLab(t, 1)
	s, here := l.srv, l.source.addr()
	for _, addr := range []string{"gone:1", here} {
		s.dialFailed(addr)
		s.warnRefused(addr, "app", wire.NewError(wire.ErrAccessDenied, "no"))
	}
	s.refusals.Store(errNoProxyHeader, time.Now()) // of a client, see warnProxyHeader
	s.forgetNodes(l.mon.View())
	var kept []string
	s.refusals.Range(func(key, _ any) bool {
		if r, ok := key.(refusal); ok {
			kept = append(kept, r.addr)
		}
		return true
	})
	if _, ok := s.refusals.Load(errNoProxyHeader); !ok {
		t.Error("what was told of a client is forgotten")
	}
	if len(kept) != 1 || kept[0] != here {
		t.Errorf("refusals kept: %v", kept)
	}
	if s.metrics.dialErrors.DeleteLabelValues("gone:1") || !s.metrics.dialErrors.DeleteLabelValues(here) {
		t.Error("the wrong labels are kept")
	}
}

func TestTopologyStatements(t *testing.T) {
	l := startLab(t, 1, admins)
	replica := l.r().addr()
	for _, sql := range []string{"CAUSEWAY ADD SERVER 'x:1'", "CAUSEWAY REMOVE SERVER 'x:1'", "CAUSEWAY SET WEIGHT '" + replica + "' = 0"} {
		l.client().wantError(wire.ErrSpecificAccessDenied, "admin = true", sql)
	}
	root := l.clientAs("root", "root_pw")
	root.run("CAUSEWAY ADD SERVER 'x:1' WEIGHT 2 ZONE 'B'", "CAUSEWAY REMOVE SERVER 'x:1'", "CAUSEWAY SET WEIGHT '"+replica+"' = 7")
	if got := l.mon.names(); !slices.Equal(got, []string{`add x:1 2 "B"`, "remove x:1"}) {
		t.Errorf("the monitor was told %q", got)
	}
	if got := l.mon.View().Node(replica).CurrentWeight(); got != 7 {
		t.Errorf("weight %d", got)
	}
	root.wantError(wire.ErrServerIsntAvailable, "no server of this cluster", "CAUSEWAY SET WEIGHT 'x:1' = 7")
	root.wantError(wire.ErrParse, "CAUSEWAY ADD SERVER 'host:port' [WEIGHT n] [ZONE 'z']", "CAUSEWAY ADD SERVER")
	l.mon.refuse(errors.New("x:1 is the source: promote another server first"))
	root.wantError(wire.ErrServerIsntAvailable, "is the source", "CAUSEWAY REMOVE SERVER 'x:1'")
}

// A node that is taken out of the cluster lets what runs there finish: a
// transaction goes on to its end, and then its connection is closed.
func TestRemovedNodeDrains(t *testing.T) {
	l := startLab(t, 2)
	k, other := l.client(), l.client()
	k.run("START TRANSACTION READ ONLY", "SELECT 1 FROM t")
	on, rest := l.replicas[0], l.replicas[1]
	if ran(on, "SELECT 1 FROM t") == 0 {
		on, rest = rest, on
	}
	v := *l.mon.View()
	v.Nodes, v.Replicas = nil, nil
	for _, n := range l.mon.View().Nodes {
		if n.Addr == on.addr() {
			continue
		}
		v.Nodes = append(v.Nodes, n)
		if n.Role == backend.RoleReplica {
			v.Replicas = append(v.Replicas, n)
		}
	}
	l.mon.publish(&v)
	k.run("SELECT 2 FROM t")
	if ran(on, "SELECT 2 FROM t") != 1 {
		t.Error("the transaction's next read was not on its replica")
	}
	other.run("SELECT 3 FROM t", "SELECT 3 FROM t")
	if ran(on, "SELECT 3 FROM t") != 0 {
		t.Error("a new read went to the removed replica")
	}
	k.run("COMMIT", "SELECT 4 FROM t")
	if ran(rest, "SELECT 4 FROM t") != 1 {
		t.Error("after its transaction the session reads elsewhere than on the replica that is left")
	}
	awaitPool(t, l.srv, on.addr())
}

// awaitPool waits until the pool of a node is gone.
func awaitPool(t *testing.T, s *Server, addr string) {
	t.Helper()
	for end := time.Now().Add(loginTimeout); ; time.Sleep(5 * time.Millisecond) {
		stats := s.pools.Stats()
		if !slices.ContainsFunc(stats, func(p backend.PoolStats) bool { return p.Addr == addr }) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("kept: %+v", stats)
		}
	}
}

// ran counts how often a node was sent a text.
func ran(n *fakeNode, text string) (count int) {
	for _, t := range n.texts() {
		if t == text {
			count++
		}
	}
	return count
}

// A fault in what the server needs costs one turn of it.
func TestAlways(t *testing.T) {
	l := startLab(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	runs := 0
	l.srv.always(ctx, func(context.Context) {
		if runs++; runs < 3 {
			panic("a fault")
		}
		cancel()
	})
	if n := valueOf(l.srv.metrics.panics); runs != 3 || n != 2 {
		t.Errorf("%d runs, %v faults counted", runs, n)
	}
}
