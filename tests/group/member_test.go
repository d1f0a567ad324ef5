package group

import (
	"strings"
	"testing"

	"causeway/tests/check"
	"causeway/tests/cluster"
)

// TestSecondaryKilled: reads go on, nobody notices, and it comes back.
func TestSecondaryKilled(t *testing.T) {
	p := start(t)
	l := p.load()
	n := shared.Replicas()[0]
	check.Must(t, n.Kill())
	p.untilState(n, "down")
	l.await()
	l.end()
	l.noErrors()
	check.Must(t, n.StartNode())
	check.Within(t, limit, "it serves again", p.allUp)
}

// TestPrimaryKilled: the group elects another one, writes go on there, and the
// old one comes back as a secondary.
func TestPrimaryKilled(t *testing.T) {
	p := start(t)
	l := p.load()
	old := shared.Source()
	check.Must(t, old.Kill())
	l.resumed()
	l.await()
	l.end()
	check.Must(t, old.StartNode())
	check.Within(t, limit, "it serves again", p.allUp)
	if got := p.Status("Failovers"); got != "1" {
		t.Errorf("%s failovers counted", got)
	}
}

// TestSwitched: an operator hands the primary over. With PAUSE nobody sees an error.
func TestSwitched(t *testing.T) {
	for _, paused := range []bool{false, true} {
		p := start(t)
		l := p.load()
		if paused {
			p.Run("CAUSEWAY PAUSE WRITES")
			check.Within(t, limit, "open transactions have finished", func() bool { return p.Status("Open_transactions") == "0" })
		}
		check.Must(t, shared.Promote(shared.Replicas()[0]))
		check.Within(t, limit, "roles are found", p.allUp)
		if paused {
			p.Run("CAUSEWAY RESUME")
		}
		l.await()
		l.end()
		if paused {
			l.noErrors()
		}
	}
}

// TestPrimaryFrozen: the primary hangs, is given up by its group, and goes on,
// taking itself for the primary, until it notices.
func TestPrimaryFrozen(t *testing.T) {
	p := start(t)
	l := p.load()
	old := shared.Source()
	log := old.LogStatements(t)
	check.Must(t, old.Freeze())
	t.Cleanup(func() { _ = old.Thaw() })
	l.resumed()
	check.Within(t, limit, "it is down", func() bool { _, state := p.server(old); return strings.HasPrefix(state, "down") })
	l.Phase.Store(2)
	l.await()
	check.Must(t, old.Thaw())
	l.await()
	if n := log.Count(t, "INSERT /* phase 2 "); n != 0 {
		t.Errorf("%d writes went to the deposed primary", n)
	}
	check.Must(t, old.Attach())
	check.Within(t, limit, "it serves again", p.allUp)
	if state := memberState(t, old); state != "ONLINE" {
		t.Errorf("it serves, and is %s", state)
	}
	l.await()
	l.end()
}

// TestMemberStopped: a secondary whose group communication ends serves nothing
// until it is ONLINE again; the same server, never restarted, answers all along.
func TestMemberStopped(t *testing.T) {
	p := start(t)
	l := p.load()
	n := shared.Replicas()[0]
	ctx := patience(t)
	check.Must(t, n.Exec(ctx, "STOP GROUP_REPLICATION"))
	p.untilState(n, "excluded: group member OFFLINE")
	log := n.LogStatements(t)
	l.await()
	check.Must(t, n.Exec(ctx, "SET GLOBAL super_read_only = OFF; SET GLOBAL read_only = OFF")) // open by mistake
	l.await()
	if got := log.Count(t, "/* own, ") + log.Count(t, "/* phase"); got != 0 {
		t.Errorf("a stopped member got %d statements", got)
	}
	check.Must(t, n.Exec(ctx, "SET GLOBAL super_read_only = ON"))
	check.Must(t, n.Attach())
	check.Within(t, limit, "it serves again", p.allUp)
	l.end()
	l.noErrors()
}

// TestMajorityLost: with both secondaries cut off the primary is no source, and
// says why; when they are back, all goes on.
func TestMajorityLost(t *testing.T) {
	p := start(t)
	l := p.load()
	source := shared.Source()
	frozen := shared.Replicas()
	t.Cleanup(func() { thaw(t, frozen) })
	for _, n := range frozen {
		check.Must(t, n.Freeze())
	}
	p.untilState(source, "excluded: group member without a majority")
	if got := p.Status("Source"); !strings.Contains(got, "without a majority") {
		t.Errorf("Source: %s", got)
	}
	thaw(t, frozen)
	check.Within(t, limit, "all serve again", func() bool { return p.rejoined() && p.allUp() })
	l.await()
	l.end()
}

func thaw(t *testing.T, nodes []*cluster.Node) {
	for _, n := range nodes {
		if err := n.Thaw(); err != nil {
			t.Error(err)
		}
	}
}

// rejoined lets members in again that the group gave up meanwhile.
func (p *proxy) rejoined() bool {
	for _, n := range shared.Nodes() {
		if state := memberState(p.T, n); state == "ERROR" || state == "OFFLINE" {
			check.Must(p.T, n.Attach())
		}
	}
	return true
}

// TestMultiPrimary: several writable members are refused, in words.
func TestMultiPrimary(t *testing.T) {
	p := start(t)
	ctx := patience(t)
	check.Must(t, shared.Source().Exec(ctx, "SELECT group_replication_switch_to_multi_primary_mode()"))
	for _, n := range shared.Nodes() {
		p.untilState(n, "excluded: its group is in multi-primary mode")
	}
	if got := p.Status("Source"); !strings.Contains(got, "multi-primary") {
		t.Errorf("Source: %s", got)
	}
	uuid, err := shared.Source().Value(ctx, "SELECT @@server_uuid")
	check.Must(t, err)
	check.Must(t, shared.Source().Exec(ctx, "SELECT group_replication_switch_to_single_primary_mode('"+uuid+"')"))
	check.Within(t, limit, "all serve again", p.allUp)
}
