package server

import (
	"fmt"
	"testing"

	"causeway/wire"
)

// A connection that was killed is no thread any more, also while it is being
// cleared away.
func TestKillTwice(t *testing.T) {
	l := startLab(t, 1)
	k, victim := l.client(), l.client()
	id := victim.query("SELECT CONNECTION_ID()").first()
	var n uint32
	if _, err := fmt.Sscan(id, &n); err != nil {
		t.Fatal(err)
	}
	x := l.srv.sessionOf(n)
	if x == nil {
		t.Fatalf("no session %s", id)
	}
	x.killed.Store(true)
	k.wantError(wire.ErrNoSuchThread, "Unknown thread id: "+id, "KILL "+id)
	k.wantError(wire.ErrNoSuchThread, "Unknown thread id: "+id, "KILL QUERY "+id)
	x.killed.Store(false)
	k.run("KILL " + id)
	victim.wantGone()
	k.wantError(wire.ErrNoSuchThread, "Unknown thread id: "+id, "KILL "+id)
}
