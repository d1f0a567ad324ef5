package server

import (
	"strings"
	"testing"
	"time"

	"causeway/backend"
	"causeway/gtid"
	"causeway/wire"
)

// monotonicLab has two replicas of which the first is ahead, and reads of any age.
func monotonicLab(t *testing.T, on bool) (*lab, *dbClient) {
	t.Helper()
	l := startLab(t, 2, func(o *Options) {
		o.Classes = labClasses(time.Millisecond, 50*time.Millisecond)
		for i := range o.Classes {
			o.Classes[i].Monotonic, o.Classes[i].MaxStaleness = on, 0
		}
		o.MaxKeys = 10
	})
	return l, l.client()
}

// ahead lets the source commit, the first replica apply it, and a read see it there.
func (l *lab) ahead(k *dbClient, read string) {
	l.t.Helper()
	all := l.replicas
	l.source.commit()
	l.r().setExecuted(l.source.position())
	l.replicas = all[:1]
	l.publish()
	k.wantFrom("replica1", read)
	l.replicas = all
	l.publish()
}

// TestMonotonic: without the option reads go back in time, with it never, and as
// long as they stay on one replica nobody is asked.
func TestMonotonic(t *testing.T) {
	for _, on := range []bool{false, true} {
		l, k := monotonicLab(t, on)
		l.ahead(k, "SELECT a FROM t")
		back := false
		for range 8 {
			back = back || k.query("SELECT a FROM t").first() == "replica2"
		}
		if back == on {
			t.Errorf("monotonic %v: went back in time: %v", on, back)
		}
		l.r().mu.Lock()
		if n := l.r().askedSeen; n > 0 {
			t.Errorf("the replica was asked %d times", n)
		}
		l.r().mu.Unlock()
	}
}

// TestMonotonicElsewhere: when its replica is gone a read goes to one that has all
// that was seen, and waits for one that has not.
func TestMonotonicElsewhere(t *testing.T) {
	l, k := monotonicLab(t, true)
	l.ahead(k, "SELECT a FROM t")
	without := l.replicas[1:]
	l.replicas = without
	l.publish()
	k.wantFrom("source", "SELECT a FROM t") // what it has seen nobody else has
	without[0].setExecuted(l.source.position())
	l.publish()
	k.wantFrom("replica2", "SELECT a FROM t")
}

// TestMonotonicAfterTheSource: a read of the source counts as well.
func TestMonotonicAfterTheSource(t *testing.T) {
	l, k := monotonicLab(t, true)
	l.source.commit() // nobody of us
	k.wantFrom("source", "SELECT a FROM t FOR UPDATE")
	k.wantFrom("source", "SELECT a FROM t")
	if got := k.route("Reason"); got != "fallback" {
		t.Errorf("reason %s", got)
	}
	l.apply()
	if from := k.query("SELECT a FROM t").first(); !strings.HasPrefix(from, "replica") {
		t.Errorf("answered by %s", from)
	}
}

// TestMonotonicKey: what one session has seen under a key another one sees too.
func TestMonotonicKey(t *testing.T) {
	l, a := monotonicLab(t, true)
	const read = "SELECT a FROM t /*causeway_key='k'*/"
	l.ahead(a, read)
	for range 6 {
		l.client().wantFrom("replica1", read)
	}
}

// TestMonotonicCut: rows were seen even if their replica was lost before the end.
func TestMonotonicCut(t *testing.T) {
	l, a := monotonicLab(t, true)
	b := l.client()
	const read = "SELECT a FROM t /*causeway_key='k'*/"
	all := l.replicas
	l.source.commit()
	l.r().setExecuted(l.source.position())
	l.r().on("SELECT a", func(c *fakeConn, _ string) {
		c.send(wire.AppendColumnCount(nil, 1), wire.AppendColumn(nil, wire.Column{Name: "c", Type: wire.TypeVarString}), wire.AppendTextRowStrings(nil, "new"))
		c.hangUp()
	})
	l.replicas = all[:1]
	l.publish()
	if r := a.query(read); r.first() != "new" || r.err == nil {
		t.Fatalf("%+v", r)
	}
	l.replicas = all[1:] // which lacks that
	l.publish()
	b.wantFrom("source", read)
}

// TestMonotonicUnknown: a server that nobody can ask makes an error, never a guess.
func TestMonotonicUnknown(t *testing.T) {
	l, k := monotonicLab(t, true)
	l.ahead(k, "SELECT a FROM t")
	l.replicas = l.replicas[1:]
	l.publish()
	l.source.mu.Lock()
	l.source.refuse = wire.NewError(wire.ErrTooManyConnections, "Too many connections")
	l.source.mu.Unlock()
	l.source.closeConns()
	k.wantError(wire.ErrServerIsntAvailable, "monotonic reads", "SELECT a FROM t")
	l.source.mu.Lock()
	l.source.refuse = nil
	l.source.mu.Unlock()
	l.replicas[0].setExecuted(gtid.MustParse(sourceUUID + ":1-101"))
	l.publish()
	k.wantFrom("replica2", "SELECT a FROM t")
}

// TestMonotonicOwned: a commit shows before its GTID is executed.
func TestMonotonicOwned(t *testing.T) {
	l, k := monotonicLab(t, true)
	l.source.mu.Lock()
	l.source.owned = sourceUUID + ":101#15:103#16"
	l.source.mu.Unlock()
	k.wantFrom("source", "SELECT a FROM t FOR UPDATE")
	k.wantFrom("source", "SELECT a FROM t")
	l.replicas[1].setExecuted(gtid.MustParse(sourceUUID + ":1-103"))
	l.publish()
	k.wantFrom("replica2", "SELECT a FROM t")
}

func TestWithoutOwners(t *testing.T) {
	for in, want := range map[string]string{"": "", "u:5#15": "u:5", "u:5#15:6#16,\nv:tag:1#2": "u:5:6,\nv:tag:1"} {
		if got := withoutOwners(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestMonotonicAfterALoss: what a failover has lost, nobody is waited for to have, be it
// what was written here under a key or what others wrote, and what comes after it holds.
func TestMonotonicAfterALoss(t *testing.T) {
	for name, write := range map[string]func(l *lab, k *dbClient){
		"key":     func(_ *lab, k *dbClient) { k.run("INSERT INTO t VALUES (1) /*causeway_key='k'*/") },
		"foreign": func(l *lab, _ *dbClient) { l.source.commit() },
	} {
		t.Run(name, func(t *testing.T) {
			l, k := monotonicLab(t, true)
			const read = "SELECT a FROM t /*causeway_key='k'*/"
			write(l, k)
			k.wantFrom("source", "SELECT a FROM t FOR UPDATE /*causeway_key='k'*/")
			k.wantFrom("source", read)
			l.failOver()
			until(t, "the sources are compared", func() bool { return l.srv.acked.base.Load() != nil })
			l.replicas = l.replicas[1:] // replica2 has all of the new source
			l.publish(func(v *backend.View) { v.Promotion = l.mon.View().Promotion })
			k.query(read) // which may be told of the loss
			for _, who := range []*dbClient{k, l.client()} {
				for _, sql := range []string{read, "SELECT a FROM t", "SELECT a FROM t /*causeway_key='z'*/"} {
					who.wantFrom("replica2", sql)
				}
			}
			l.source.commit()
			k.wantFrom(l.source.name, "SELECT a FROM t FOR UPDATE /*causeway_key='k'*/")
			l.client().wantFrom(l.source.name, read)
		})
	}
}
