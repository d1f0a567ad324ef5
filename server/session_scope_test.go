package server

import (
	"strings"
	"testing"
	"time"

	"causeway/balance"
	"causeway/wire"
)

// TestKeys: what is written under a key, in each way to name one, is read under it
// on another connection, and is nobody else's.
func TestKeys(t *testing.T) {
	l := startLab(t, 1, func(o *Options) {
		o.MaxKeys = 100
		o.Users = append(o.Users, User{Name: "other", Password: "pw"})
	})
	a, b := l.client(), l.client()
	a.run("INSERT INTO t VALUES (1) /*causeway_key='user%3A1'*/")
	b.wantFrom("source", "SELECT a FROM t /*causeway_key='user%3A1'*/")
	if got := b.route("Reason") + " " + b.route("Scope"); got != "fallback session, key user:1" {
		t.Errorf("route: %s", got)
	}
	b.wantFrom("replica1", "SELECT a FROM t /*causeway_key='user%3A2'*/")
	b.wantFrom("replica1", "SELECT a FROM t")
	l.clientAs("other", "pw").wantFrom("replica1", "SELECT a FROM t /*causeway_key='user%3A1'*/") // another account's key of that name
	b.run("SET @causeway_key = 'user:1'")
	b.wantFrom("source", "SELECT a FROM t")
	b.run("SET @causeway_key = NULL")
	b.wantFrom("replica1", "SELECT a FROM t")
	l.apply()
	b.wantFrom("replica1", "SELECT a FROM t /*causeway_key='user%3A1'*/")
	if got := b.route("Reason"); got != "token_covered" {
		t.Errorf("reason %s", got)
	}
	if got := b.explain("Token", "SELECT a FROM t /*causeway_key='user%3A1'*/"); got != sourceUUID+":1-101" {
		t.Errorf("token %s", got)
	}
}

// TestKeyOfATransaction: its writes are the key's when it commits, whatever
// statement does that, and not if it is rolled back.
func TestKeyOfATransaction(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.MaxKeys = 100 })
	a, b := l.client(), l.client()
	const read = "SELECT a FROM t /*causeway_key='k'*/"
	a.run("BEGIN", "INSERT INTO t VALUES (1) /*causeway_key='k'*/", "INSERT INTO t VALUES (2)")
	b.wantFrom("replica1", read)
	a.run("COMMIT")
	b.wantFrom("source", read)
	l.apply()
	a.run("INSERT INTO t VALUES (1)") // the transaction is over
	b.wantFrom("replica1", read)
}

// TestFailedWriteUnderAKey: an ERR may hide a commit from others as well.
func TestFailedWriteUnderAKey(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.MaxKeys = 100 })
	a, b := l.client(), l.client()
	l.source.on("CALL", func(c *fakeConn, _ string) {
		c.node.commit()
		c.fail(1644, "on purpose")
	})
	a.wantError(1644, "on purpose", "CALL p() /*causeway_key='k'*/")
	b.wantFrom("source", "SELECT a FROM t /*causeway_key='k'*/")
}

// TestForgottenKey needs what was forgotten.
func TestForgottenKey(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.MaxKeys = 1 })
	a, b := l.client(), l.client()
	a.run("INSERT INTO t VALUES (1) /*causeway_key='k'*/", "INSERT INTO t VALUES (1) /*causeway_key='other'*/")
	b.wantFrom("source", "SELECT a FROM t /*causeway_key='k'*/")
	b.wantFrom("replica1", "SELECT a FROM t")
	l.apply()
	b.wantFrom("replica1", "SELECT a FROM t /*causeway_key='k'*/")
}

// TestForgottenKeyIsNeverStale: what may have been forgotten is a token, which a class
// that may serve stale reads to those without one does not waive.
func TestForgottenKeyIsNeverStale(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.MaxKeys = 1; o.Budget = balance.NewBudget(0, 0, time.Now()) })
	l.client().run("INSERT INTO t VALUES (1) /*causeway_key='k'*/", "INSERT INTO t VALUES (1) /*causeway_key='other'*/")
	l.client().wantError(wire.ErrServerIsntAvailable, "budget", "SELECT a FROM t /*causeway_key='k'*/")
}

// TestKeyOfBeforeTheStart: a Causeway that has just started knows no key, and each may
// have been written under before.
func TestKeyOfBeforeTheStart(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.MaxKeys = 1; o.Budget = balance.NewBudget(0, 0, time.Now()) })
	l.client().wantFrom("replica1", "SELECT a FROM t /*causeway_key='k'*/")
	l.r().setExecuted(gtidMust(sourceUUID + ":1-99")) // it has just joined with an old backup, say
	l.publish()
	l.client().wantError(wire.ErrServerIsntAvailable, "budget", "SELECT a FROM t /*causeway_key='k'*/")
	l.client().wantFrom("replica1", "SELECT a FROM t") // stale, with a warning: nobody promised it anything
}

// TestScopes: whose writes the scopes let see.
func TestScopes(t *testing.T) {
	for _, c := range []struct {
		scope            Scope
		sameUser, others string
	}{
		{ScopeSession, "replica1", "replica1"},
		{ScopeUser, "source", "replica1"},
		{ScopeProxy, "source", "source"},
	} {
		t.Run(c.scope.String(), func(t *testing.T) {
			l := startLab(t, 1, func(o *Options) {
				o.Users = []User{{Name: "app", Password: "app_pw", Scope: c.scope}, {Name: "other", Password: "pw", Scope: c.scope}}
			})
			l.clientAs("app", "app_pw").run("INSERT INTO t VALUES (1)")
			k, other := l.client(), l.clientAs("other", "pw")
			k.wantFrom(c.sameUser, "SELECT a FROM t")
			other.wantFrom(c.others, "SELECT a FROM t")
			l.apply()
			k.wantFrom("replica1", "SELECT a FROM t")
			other.wantFrom("replica1", "SELECT a FROM t")
		})
	}
}

// TestSharedDoubt: as long as nobody knows whether a write has committed, all that
// must see it read from the source, also when its session has ended.
func TestSharedDoubt(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.MaxKeys = 100 })
	l.lostWrite(1 << 30)
	a, b := l.client(), l.client()
	a.wantError(wire.ErrNetRead, "not known", "INSERT INTO t VALUES (1) /*causeway_key='k'*/")
	a.close()
	const read = "SELECT a FROM t /*causeway_key='k'*/"
	b.wantFrom("source", read)
	if got := b.route("Reason"); got != "doubt" {
		t.Errorf("reason %s", got)
	}
	b.wantFrom("replica1", "SELECT a FROM t")
	l.source.commit() // the thread commits after all, and ends
	l.source.endLost()
	until(t, "the doubt ends", func() bool {
		b.query(read)
		return b.route("Reason") != "doubt"
	})
	b.wantFrom("source", read) // by the token
	if got := b.route("Token"); !strings.HasSuffix(got, ":1-101") {
		t.Errorf("token %s", got)
	}
	l.apply()
	b.wantFrom("replica1", read)
}

// TestClientLeavesItsWriteToTheKey: a write whose client has gone is seen.
func TestClientLeavesItsWriteToTheKey(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.MaxKeys = 100; o.MaxWait = loginTimeout })
	started, finish := make(chan bool), make(chan bool)
	l.source.on("INSERT", func(c *fakeConn, _ string) {
		started <- true
		<-finish
		one := c.node.commit()
		c.ok(func(ok *wire.OK) { ok.AffectedRows, ok.Track = 1, wire.AppendTrackGTIDs(nil, one) })
	})
	a, b := l.client(), l.client()
	a.command(wire.ComQuery, "INSERT INTO t VALUES (1) /*causeway_key='k'*/")
	<-started
	a.close()
	finish <- true
	until(t, "the key has the write", func() bool { return l.srv.scopes.keys.Len() == 1 })
	b.wantFrom("source", "SELECT a FROM t /*causeway_key='k'*/")
}

// TestLostWriteOfAKey: nobody waits for what a failover has lost.
func TestLostWriteOfAKey(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.MaxKeys = 100 })
	a, b := l.client(), l.client()
	a.run("INSERT INTO t VALUES (1) /*causeway_key='k'*/")
	l.failOver()
	until(t, "the loss is known", func() bool { return len(l.srv.lostRows()) > 0 })
	b.wantError(wire.ErrServerIsntAvailable, "were lost", "SELECT a FROM t /*causeway_key='k'*/")
	if r := b.query("SELECT a FROM t /*causeway_key='k'*/"); r.err != nil {
		t.Errorf("told of twice: %v", r.err)
	}
}

// TestKeyByOtherMeans: a key that is no literal is asked for, one of the login
// holds until another is named, and the token that is handed out has the key's.
func TestKeyByOtherMeans(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.MaxKeys = 100 })
	l.hinted("", "", "k")
	a, b := l.client(), l.client()
	a.run("INSERT INTO t VALUES (1) /*causeway_key='k'*/")
	b.run("SET @causeway_key = CONCAT('k', '')")
	b.wantFrom("source", "SELECT a FROM t")
	if got := b.query("SELECT @causeway_token").first(); got != sourceUUID+":1-101" {
		t.Errorf("token %q", got)
	}
}

// TestKeyOnASharedConnection: on a connection that others have used as well, a key
// needs its own writes and those without a key, not those of other keys.
func TestKeyOnASharedConnection(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.MaxKeys = 100 })
	k := l.client()
	k.run("INSERT INTO t VALUES (1) /*causeway_key='a'*/")
	k.wantFrom("replica1", "SELECT a FROM t /*causeway_key='b'*/")
	k.wantFrom("source", "SELECT a FROM t /*causeway_key='a'*/")
	k.wantFrom("source", "SELECT a FROM t") // the connection's own
	l.apply()
	k.run("INSERT INTO t VALUES (1)")
	l.source.on("CALL", func(c *fakeConn, _ string) { c.fail(1644, "after it, all that is known is the whole position") })
	k.wantError(1644, "", "CALL p() /*causeway_key='a'*/")
	k.wantFrom("source", "SELECT a FROM t /*causeway_key='b'*/")
}

// TestTokenOfAKeyHandedIn: a token is seen under each key, whichever its writes had.
func TestTokenOfAKeyHandedIn(t *testing.T) {
	const read = "SELECT a FROM t /*causeway_key='b'*/"
	for _, how := range []string{"variable", "comment"} {
		l := startLab(t, 1, func(o *Options) { o.MaxKeys = 100 })
		k := l.client()
		k.run("INSERT INTO t VALUES (1) /*causeway_key='a'*/")
		token := k.query("SELECT @causeway_token").first()
		k.wantFrom("replica1", read)
		if how == "comment" {
			k.wantFrom("source", "SELECT a FROM t /*causeway_key='b',causeway_token='"+token+"'*/")
			continue
		}
		if got := k.explain("Token", "SELECT a FROM t /*causeway_key='b',causeway_token='"+token+"'*/"); got != sourceUUID+":1-101" {
			t.Errorf("EXPLAIN: token %s", got)
		}
		k.wantFrom("replica1", read)
		k.run("SET @causeway_token = '" + token + "'")
		k.wantFrom("source", read)
	}
}

// TestNoKeyIsNoOtherKeys: what was written without a key is seen under each, though
// it becomes known under one.
func TestNoKeyIsNoOtherKeys(t *testing.T) {
	const keyed, other = "SELECT a FROM t /*causeway_key='k'*/", "SELECT a FROM t /*causeway_key='other'*/"
	untold := func(l *lab) { // a routine that sets the tracker off
		l.source.on("CALL", func(c *fakeConn, _ string) {
			c.node.commit()
			c.ok(func(ok *wire.OK) {
				ok.Track = wire.AppendTrackStateChange(wire.AppendTrackVariable(nil, "session_track_gtids", "OFF"), true)
			})
		})
	}
	for name, write := range map[string]func(l *lab, k *dbClient){
		"doubt": func(l *lab, k *dbClient) {
			l.lostWrite(1 << 30)
			k.wantError(wire.ErrNetRead, "not known", "INSERT INTO t VALUES (1)")
			k.wantFrom("source", keyed)
			l.source.commit() // the thread commits after all, and ends
			l.source.endLost()
		},
		"two doubts": func(l *lab, k *dbClient) {
			l.lostWrite(1 << 30)
			k.wantError(wire.ErrNetRead, "not known", "INSERT INTO t VALUES (1)")
			k.wantError(wire.ErrNetRead, "not known", "INSERT INTO t VALUES (2) /*causeway_key='k'*/")
			l.source.commit() // the thread commits after all, and ends
			l.source.endLost()
		},
		"untold": func(l *lab, k *dbClient) {
			untold(l)
			k.run("CALL p()", "DO 1 /*causeway_key='k'*/")
		},
		"transaction": func(_ *lab, k *dbClient) {
			k.run("BEGIN", "INSERT INTO t VALUES (1)", "COMMIT /*causeway_key='k'*/")
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := startLab(t, 1, func(o *Options) { o.MaxKeys = 100 })
			k := l.client()
			write(l, k)
			k.wantFrom("source", keyed)
			k.wantFrom("source", other)
		})
	}
	l := startLab(t, 1, func(o *Options) { o.MaxKeys = 100 })
	untold(l)
	a := l.client()
	a.run("INSERT INTO t VALUES (1)")
	l.apply()
	a.run("BEGIN", "INSERT INTO t VALUES (1) /*causeway_key='k'*/", "COMMIT /*causeway_key='k'*/")
	a.wantFrom("replica1", other) // a BEGIN without a key writes nothing
	l.apply()
	k, reader := l.client(), l.client()
	k.run("CALL p() /*causeway_key='k'*/", "DO 1 /*causeway_key='other'*/")
	reader.wantFrom("source", keyed) // what becomes known under another key is its own key's still
	reader.wantFrom("replica1", other)
}

// TestScopeCarried: another token is another user of the connection.
func TestScopeCarried(t *testing.T) {
	for _, scope := range []Scope{ScopeSession, ScopeCarried} {
		l := startLab(t, 1, func(o *Options) { o.Users[0].Scope = scope })
		k := l.client()
		other := "source"
		if scope == ScopeCarried {
			other = "replica1"
		}
		first, second := sourceUUID+":1", sourceUUID+":2"
		k.run("SET @causeway_token = '"+first+"'", "INSERT INTO t VALUES (1)")
		k.wantFrom("source", "SELECT a FROM t")
		k.run("SET @causeway_token = '" + first + "'") // the same request goes on
		k.wantFrom("source", "SELECT a FROM t")
		token := k.query("SELECT @causeway_token").first()
		k.run("SET @causeway_token = '" + second + "'")
		k.wantFrom(other, "SELECT a FROM t")
		k.wantFrom("source", "SELECT a FROM t /*causeway_token='"+token+"'*/")
		k.wantFrom(other, "SELECT a FROM t /*causeway_token='"+second+"'*/")
		k.run("SET @causeway_token = '"+token+"'", "SET @causeway_token = NULL")
		k.wantFrom(other, "SELECT a FROM t")
	}
}
