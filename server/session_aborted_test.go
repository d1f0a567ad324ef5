package server

import (
	"slices"
	"testing"

	"causeway/wire"
)

// loseTrx has a client's transaction lost, which was begun so.
func loseTrx(l *lab, how string, begin ...string) *dbClient {
	k := l.client()
	k.run(begin...)
	if how != "during it" {
		l.source.closeConns()
		l.r().closeConns()
	}
	switch how {
	case "told":
		if r := k.query("SELECT a FROM t"); r.err == nil {
			l.t.Errorf("a read in the lost transaction was answered by %q", r.first())
		}
	case "during it":
		for _, n := range []*fakeNode{l.source, l.r()} {
			n.on("ROLLBACK", func(c *fakeConn, _ string) { c.hangUp() })
		}
	}
	l.forget()
	return k
}

// A ROLLBACK that chains begins another transaction, also where the one that it ends
// is lost: nothing of what follows is committed before the client says so.
func TestRollbackOfALostTransactionChains(t *testing.T) {
	for _, how := range []string{"told", "not told", "during it"} {
		for _, chain := range []string{"ROLLBACK AND CHAIN", "ROLLBACK"} {
			l := startLab(t, 1)
			begin := []string{"BEGIN", "INSERT INTO t VALUES (1)"}
			if chain == "ROLLBACK" {
				begin = append([]string{"SET completion_type='CHAIN'"}, begin...)
			}
			k := loseTrx(l, how, begin...)
			if r := k.query(chain); r.err != nil || !r.ok.Status.Has(wire.StatusInTrans) || r.ok.Status.Has(wire.StatusInTransReadonly) {
				t.Errorf("%s, %s: %v, status %x", chain, how, r.err, r.ok.Status)
			}
			before := l.source.position()
			k.run("INSERT INTO t VALUES (3)")
			if got := l.source.texts(); !slices.Contains(got, "START TRANSACTION READ WRITE") || !l.source.position().Equal(before) {
				t.Errorf("%s, %s: the source was asked %q, and committed", chain, how, got)
			}
			k.run("COMMIT AND NO CHAIN")
		}
	}
}

// One that was READ ONLY stays that.
func TestRollbackOfALostReadOnlyTransactionChains(t *testing.T) {
	for _, how := range []string{"told", "not told"} {
		for node, level := range map[string]string{"replica1": "REPEATABLE-READ", "source": "SERIALIZABLE"} {
			l := startLab(t, 1)
			k := loseTrx(l, how, "SET transaction_isolation='"+level+"'", "START TRANSACTION READ ONLY", "SELECT a FROM t")
			if r := k.query("ROLLBACK AND CHAIN"); r.err != nil || !r.ok.Status.Has(wire.StatusInTrans|wire.StatusInTransReadonly) {
				t.Errorf("%s: %v, status %x", how, r.err, r.ok.Status)
			}
			k.wantError(wire.ErrReadOnlyTransaction, "READ ONLY", "INSERT INTO t VALUES (3)")
			k.wantFrom(node, "SELECT a FROM t")
		}
	}
}

// What is not known to be alike is not begun.
func TestRollbackOfALostTransactionOfAnotherLevel(t *testing.T) {
	l := startLab(t, 1)
	k := loseTrx(l, "not told", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "BEGIN", "INSERT INTO t VALUES (1)")
	k.wantError(wire.ErrServerIsntAvailable, "none has begun in its place", "ROLLBACK AND CHAIN")
	k.run("BEGIN", "INSERT INTO t VALUES (2)") // no "transaction was lost"
	l.source.closeConns()
	if r := k.query("ROLLBACK AND CHAIN"); r.err != nil {
		t.Error(r.err)
	}
}

func TestRollbackReleaseOfALostTransaction(t *testing.T) {
	for _, how := range []string{"told", "not told", "during it"} {
		k := loseTrx(startLab(t, 1), how, "BEGIN", "INSERT INTO t VALUES (1)")
		if r := k.query("ROLLBACK RELEASE"); r.err != nil {
			t.Errorf("%s: %v", how, r.err)
		}
		k.wantGone()
	}
}
