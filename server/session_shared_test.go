package server

import (
	"strings"
	"testing"
	"time"

	"causeway/backend"
	"causeway/balance"
	"causeway/share"
	"causeway/wire"
)

const keyed = "SELECT a FROM t /*causeway_key='k'*/"

// startShared is a lab that shares keys with b over a store, and has joined.
func startShared(t *testing.T, tune ...func(*Options)) (*lab, *fakeStore) {
	f := newFakeStore()
	l := startLab(t, 1, append([]func(*Options){func(o *Options) {
		o.MaxKeys, o.MaxWait = 100, loginTimeout
		o.Share = &share.Options{Store: f, Name: "a", Members: []string{"a", "b"}, Lease: 200 * time.Millisecond, TTL: time.Hour, Timeout: loginTimeout}
	}}, tune...)...)
	until(t, "it joins", l.srv.others.Joined)
	return l, f
}

// TestWrittenElsewhere: what another Causeway published under a key is read under it.
func TestWrittenElsewhere(t *testing.T) {
	l, f := startShared(t)
	k := l.client()
	k.wantFrom("replica1", keyed)
	f.byB("app\x00k", l.source.commit())
	k.wantFrom("source", keyed)
	if got := k.route("Shared") + ", " + k.route("Reason"); got != "store, fallback" {
		t.Errorf("route: %s", got)
	}
	asked := f.asked()
	k.wantFrom("replica1", "SELECT a FROM t") // no key
	if f.asked() != asked {
		t.Error("a read without a key asked the store")
	}
	k.wantFrom("replica1", "SELECT a FROM t /*causeway_key='other'*/")
	l.apply()
	k.wantFrom("replica1", keyed)
}

// TestPublishedBeforeOK: the store has a write when its client is told of it, in every
// way to name whose it is.
func TestPublishedBeforeOK(t *testing.T) {
	for _, c := range []struct {
		scope Scope
		mark  string
		name  string
	}{
		{ScopeSession, " /*causeway_key='k'*/", "app\x00k"},
		{ScopeUser, "", "user:app"},
		{ScopeProxy, "", "proxy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, f := startShared(t, func(o *Options) { o.Users[0].Scope = c.scope })
			l.client().run("INSERT INTO t VALUES (1)" + c.mark)
			if got := f.has(c.name); len(got) != 1 || !strings.HasSuffix(got[0], ":1-101") {
				t.Errorf("the store has %q", got)
			}
		})
	}
}

// TestDistrust: where the store does not tell all, a read has what anybody committed.
func TestDistrust(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(f *fakeStore)
		want   string
	}{
		{"a member without a lease", func(f *fakeStore) { f.alone = true }, "leaseless"},
		{"a member with another list", func(f *fakeStore) { f.leftOut = true }, "other_list"},
		{"no floor", func(f *fakeStore) { f.floor.Until = 0 }, "no_floor"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, f := startShared(t)
			k := l.client()
			k.wantFrom("replica1", keyed)
			f.set(func() { c.change(f) })
			l.source.commit() // nobody published it
			k.wantFrom("source", keyed)
			if got := k.route("Shared"); got != "served as global: "+c.want {
				t.Errorf("route: %s", got)
			}
			l.apply()
			k.wantFrom("replica1", keyed)
		})
	}
}

// TestStoreAway: a write is acknowledged once the lease has run out, and reads are
// global; when the store is back it is joined again.
func TestStoreAway(t *testing.T) {
	l, f := startShared(t)
	k := l.client()
	f.set(func() { f.away = true })
	k.run("INSERT INTO t VALUES (1) /*causeway_key='k'*/")
	if l.srv.others.Joined() {
		t.Error("a write was acknowledged while the lease may run")
	}
	l.client().wantFrom("source", keyed)
	f.set(func() { f.away = false })
	until(t, "it joins again", l.srv.others.Joined)
	if got := f.has("app\x00k"); len(got) != 0 {
		t.Errorf("published meanwhile: %q", got)
	}
	if s := f.floor.Set; !strings.HasSuffix(s, ":1-101") {
		t.Errorf("the floor is %s, without the write", s)
	}
}

// TestNotAcknowledged: a write that can neither be published nor wait for the end of
// the lease is not told of as if it had worked.
func TestNotAcknowledged(t *testing.T) {
	l, f := startShared(t, func(o *Options) { o.MaxWait = time.Millisecond })
	f.set(func() { f.deaf = true })
	l.client().wantError(wire.ErrServerIsntAvailable, "took effect, but the other Causeways", "INSERT INTO t VALUES (1) /*causeway_key='k'*/")
}

// TestReadNotAcknowledged: a read that writes, by a view or a function, and could not be
// published is told of like that; it is not sent again. A timeout changes nothing.
func TestReadNotAcknowledged(t *testing.T) {
	for _, timeout := range []time.Duration{0, time.Millisecond} {
		l, f := startShared(t, func(o *Options) {
			o.MaxWait = 30 * time.Millisecond
			o.Classes = labClasses(time.Millisecond, o.MaxWait)
			o.Classes[0].Timeout = timeout
		})
		l.publish(func(v *backend.View) { v.Replicas, v.Nodes = nil, v.Nodes[:1] })
		f.set(func() { f.deaf = true })
		l.source.on("KILL", func(c *fakeConn, _ string) { c.ok() })
		l.source.on("SELECT v", func(c *fakeConn, _ string) {
			one := c.node.commit()
			c.rowsWith(1, func(ok *wire.OK) {
				ok.Track, ok.Status = wire.AppendTrackGTIDs(nil, one), ok.Status|wire.StatusSessionStateChanged
			}, []string{"1"})
		})
		k := l.client()
		l.forget()
		const read = "SELECT v FROM w /*causeway_key='k'*/"
		k.wantError(wire.ErrServerIsntAvailable, "took effect, but the other Causeways", read)
		ran := 0
		for _, text := range l.source.texts() {
			if text == read {
				ran++
			}
		}
		if ran != 1 {
			t.Errorf("the source ran it %d times", ran)
		}
		if n := valueOf(l.srv.metrics.doubts.WithLabelValues("opened")); n != 1 {
			t.Errorf("%v doubts were opened", n)
		}
	}
}

// TestRowsBeforeABadPacket: what was ready to go when an answer broke did not go, and the
// error has the number that the client expects.
func TestRowsBeforeABadPacket(t *testing.T) {
	l := startLab(t, 1)
	for _, n := range []*fakeNode{l.source, l.r()} {
		n.on("SELECT b", func(c *fakeConn, _ string) {
			c.send(wire.AppendColumnCount(nil, 1), wire.AppendColumn(nil, wire.Column{Name: "c", Type: wire.TypeVarString}), wire.AppendTextRowStrings(nil, "1"), []byte{wire.HeaderEOF})
		})
	}
	k := l.client()
	k.run("BEGIN")
	k.wantError(wire.ErrNetRead, "it was not a write", "SELECT b FROM t FOR UPDATE")
	k.run("ROLLBACK", "START TRANSACTION READ ONLY")
	k.wantFrom("replica1", "SELECT a FROM t")
	k.wantError(wire.ErrNetRead, "and the transaction with it", "SELECT b FROM t")
}

// TestStoreDownRefuses: by configuration such writes do not even run.
func TestStoreDownRefuses(t *testing.T) {
	l, f := startShared(t, func(o *Options) { o.StoreDownRefuses = true })
	f.set(func() { f.away = true })
	until(t, "it notices", func() bool { return !l.srv.others.Joined() })
	k := l.client()
	l.forget()
	k.wantError(wire.ErrServerIsntAvailable, "store_down", "INSERT INTO t VALUES (1) /*causeway_key='k'*/")
	wantTexts(t, l.source)
	k.run("INSERT INTO t VALUES (1)", "SET @causeway_key = 'k'")
	k.wantFrom("source", "SELECT a FROM t")
}

// TestLostElsewhere: what the source does not have is told of once, and not waited for.
func TestLostElsewhere(t *testing.T) {
	l, f := startShared(t)
	f.byB("app\x00k", sourceUUID+":777")
	k := l.client()
	k.wantError(wire.ErrServerIsntAvailable, "were lost", keyed)
	k.wantFrom("replica1", keyed)
}

// TestFloorOfTheStore: a name that has expired in the store needs its floor, which no
// warning waives.
func TestFloorOfTheStore(t *testing.T) {
	l, f := startShared(t, func(o *Options) {
		o.Budget, o.Classes = balance.NewBudget(0, 0, time.Now()), labClasses(time.Millisecond, 20*time.Millisecond)
	})
	k := l.client()
	k.wantFrom("replica1", keyed)
	f.set(func() { f.floor.Set = l.source.commit() })
	k.wantError(wire.ErrServerIsntAvailable, "budget", keyed)
	l.apply()
	k.wantFrom("replica1", keyed)
}

func TestStoreStatus(t *testing.T) {
	l, f := startShared(t)
	k := l.client()
	k.run("INSERT INTO t VALUES (1) /*causeway_key='k'*/")
	f.set(func() { f.alone = true })
	k.query(keyed)
	got := map[string]string{}
	for _, row := range k.query("SHOW CAUSEWAY STATUS").rows {
		got[row[0]] = row[1]
	}
	for name, want := range map[string]string{"Store": "joined", "Store_trusted": "no: leaseless b", "Store_members": "a, b (no lease)",
		"Shared_writes published": "1", "Shared_reads global leaseless": "1"} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
}
