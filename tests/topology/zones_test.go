package topology

import (
	"fmt"
	"strings"
	"testing"

	"causeway/tests/check"
)

// TestZones: the own zone's replica is read from, the other's only while the own
// one does not have what a read must see.
func TestZones(t *testing.T) {
	lay(t)
	near, far := shared.Replica(1), shared.Replica(2)
	p := start(t, fmt.Sprintf("zone = \"a\"\nzones = { %q = \"a\", %q = \"a\", %q = \"b\" }\n", shared.Source().Addr, near.Addr, far.Addr), shared.Nodes()...)
	db := p.app()
	db.SetMaxOpenConns(1)
	read := func() {
		t.Helper()
		_, err := db.ExecContext(check.Patience(t), "SELECT v FROM t WHERE id = 1")
		check.Must(t, err)
	}
	before := p.reads(near)
	for range 50 {
		read()
	}
	if p.reads(near) == before || p.reads(far) != 0 {
		t.Errorf("%d reads in the own zone, %d in the other", p.reads(near)-before, p.reads(far))
	}
	if text := p.explain()["Candidate "+far.Addr]; text != "in zone b: serves only if no replica of Causeway's own zone can" {
		t.Errorf("explained as %q", text)
	}
	if text := p.explain()["Candidate "+near.Addr]; !strings.Contains(text, "zone a") {
		t.Errorf("explained as %q", text)
	}
	if z := p.node(far.Addr)["Zone"]; z != "b (not Causeway's)" {
		t.Errorf("zone %q", z)
	}

	check.Must(t, near.Pause(check.Patience(t)))
	t.Cleanup(func() { check.Must(t, near.Resume(check.Patience(t))) })
	_, err := db.ExecContext(check.Patience(t), "INSERT INTO t VALUES (1, 1)")
	check.Must(t, err)
	check.Until(t, "the other zone has the session's write", func() bool { read(); return p.reads(far) > 0 })
	check.Must(t, near.Resume(check.Patience(t)))
	check.Must(t, shared.WaitCaughtUp(check.Patience(t)))
	check.Until(t, "the own zone serves again", func() bool {
		before := p.reads(far)
		for range 10 {
			read()
		}
		return p.reads(far) == before
	})
}
