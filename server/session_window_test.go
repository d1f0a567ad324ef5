package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"causeway/backend"
	"causeway/balance"
	"causeway/wire"
)

// sticky gives a lab windows that no test sees the end of.
func sticky(o *Options) { o.Sticky, o.MaxKeys = time.Hour, 100 }

const (
	plainRead = "SELECT a FROM t"
	insert    = "INSERT INTO t VALUES (1)"
)

// TestWindow: after a commit the session's reads go to the source though replicas
// have it, and nobody else's do.
func TestWindow(t *testing.T) {
	l := startLab(t, 1, sticky)
	k, other := l.client(), l.client()
	k.wantFrom("replica1", plainRead)
	k.run(insert)
	l.apply()
	k.wantFrom("source", plainRead)
	if got := k.route("Reason"); got != "sticky" {
		t.Errorf("reason %s", got)
	}
	if got := k.explain("Choice", plainRead); !strings.Contains(got, "by sticky, within the budget") {
		t.Errorf("EXPLAIN CAUSEWAY: %s", got)
	}
	if got := k.explain("Sticky", plainRead); !strings.HasPrefix(got, "59m59.") && got != "1h0m0s left of the window after a commit" {
		t.Errorf("EXPLAIN CAUSEWAY: %s", got)
	}
	other.wantFrom("replica1", plainRead)
	k.command(wire.ComResetConnection, "")
	k.answer(textValue)
	k.wantFrom("source", plainRead) // as the token, the window is the connection's
	until(t, "both reads are counted", func() bool { return l.counted(sourceTarget, reasonSticky) == 2 })
	if own := l.srv.ownReads.Load(); own != 0 {
		t.Errorf("%d reads counted as the source's own, which the budget grows with", own)
	}
}

// TestWindowEnds: then reads go by their token.
func TestWindowEnds(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.Sticky = 20 * time.Millisecond })
	k := l.client()
	k.run(insert)
	l.apply()
	until(t, "the window ends", func() bool { return k.query(plainRead).first() == "replica1" })
	if got := k.route("Reason"); got != "token_covered" {
		t.Errorf("reason %s", got)
	}
}

// TestWindowOpensWithCommits: with a commit and what may be one, whatever the verb.
func TestWindowOpensWithCommits(t *testing.T) {
	failing := func(c *fakeConn, _ string) {
		c.node.commit()
		c.fail(1644, "on purpose")
	}
	tracked := func(c *fakeConn, _ string) {
		one := c.node.commit()
		c.ok(func(ok *wire.OK) { ok.Track = wire.AppendTrackGTIDs(nil, one) })
	}
	for _, c := range []struct {
		name, node string
		run        []string
		rules      map[string]func(*fakeConn, string)
	}{
		{name: "a read", node: "replica1", run: []string{plainRead}},
		{name: "a transaction", node: "source", run: []string{"BEGIN", insert, "COMMIT"}},
		{name: "one that is rolled back", node: "replica1", run: []string{"BEGIN", insert, "ROLLBACK"}},
		{name: "a read only one", node: "replica1", run: []string{"START TRANSACTION READ ONLY", plainRead, "COMMIT"}},
		{name: "an empty one", node: "replica1", run: []string{"BEGIN", "COMMIT"}},
		{name: "a write that changes nothing", node: "replica1", run: []string{"UPDATE t SET a = a WHERE 0"},
			rules: map[string]func(*fakeConn, string){"UPDATE": func(c *fakeConn, _ string) { c.ok() }}},
		{name: "a SELECT that writes", node: "source", run: []string{"SELECT f()"}, rules: map[string]func(*fakeConn, string){"SELECT f()": tracked}},
		{name: "a failing CALL", node: "source", run: []string{"CALL p()"}, rules: map[string]func(*fakeConn, string){"CALL": failing}},
		{name: "XA ROLLBACK, which has a GTID", node: "replica1", run: []string{"XA ROLLBACK 'x'"}, rules: map[string]func(*fakeConn, string){"XA ROLLBACK": tracked}},
		{name: "XA PREPARE, which shows nothing", node: "replica1", run: []string{"XA PREPARE 'x'"}, rules: map[string]func(*fakeConn, string){"XA PREPARE": tracked}},
		{name: "XA ROLLBACK and XA COMMIT", node: "source", run: []string{"XA ROLLBACK 'x'; XA COMMIT 'y'"}, rules: map[string]func(*fakeConn, string){"XA ROLLBACK": tracked}},
		{name: "an error before anything was committed", node: "replica1", run: []string{"BEGIN", insert, "ROLLBACK"},
			rules: map[string]func(*fakeConn, string){"INSERT": func(c *fakeConn, _ string) { c.fail(1644, "duplicate") }}},
		{name: "an error while somebody committed", node: "source", run: []string{"BEGIN", insert, "ROLLBACK"}, rules: map[string]func(*fakeConn, string){"INSERT": failing}},
		{name: "XA COMMIT", node: "source", run: []string{"XA COMMIT 'x'"}, rules: map[string]func(*fakeConn, string){"XA COMMIT": tracked}},
		{name: "a token handed in", node: "replica1", run: []string{"SET @causeway_token = '" + sourceUUID + ":1-5'"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := startLab(t, 1, sticky)
			for prefix, fn := range c.rules {
				l.source.on(prefix, fn)
			}
			k := l.client()
			for _, sql := range c.run {
				if r := k.query(sql); r.lost != nil || r.err != nil && r.err.Code != 1644 {
					t.Fatalf("%s: %v%v", sql, r.err, r.lost)
				}
			}
			l.apply()
			k.wantFrom(c.node, plainRead)
		})
	}
}

// TestWindowOfALostWrite: nobody knows that it has not committed.
func TestWindowOfALostWrite(t *testing.T) {
	l := startLab(t, 1, sticky, func(o *Options) { o.MaxWait = loginTimeout })
	l.lostWrite(3)
	k, b := l.client(), l.client()
	k.wantError(wire.ErrNetRead, "not known", insert+" /*causeway_key='k'*/")
	until(t, "the doubt ends", func() bool {
		k.query(plainRead)
		return k.route("Reason") != "doubt"
	})
	l.apply()
	k.wantFrom("source", plainRead)
	b.wantFrom("source", plainRead+" /*causeway_key='k'*/")
	if got := b.route("Reason"); got != "sticky" {
		t.Errorf("reason %s", got)
	}
}

// TestWindowOfAKey is everybody's who reads under it, and not of others on the
// connection that wrote.
func TestWindowOfAKey(t *testing.T) {
	l := startLab(t, 1, sticky)
	a, b := l.client(), l.client()
	a.run("BEGIN", insert+" /*causeway_key='k'*/", insert, "COMMIT")
	a.run(insert + " /*causeway_key='j'*/")
	l.apply()
	b.wantFrom("source", plainRead+" /*causeway_key='k'*/")
	b.wantFrom("source", plainRead+" /*causeway_key='j'*/")
	b.wantFrom("replica1", plainRead)
	b.wantFrom("replica1", plainRead+" /*causeway_key='other'*/")
	c := l.client()
	c.run(insert + " /*causeway_key='m'*/")
	l.apply()
	c.wantFrom("source", plainRead)
	c.wantFrom("replica1", plainRead+" /*causeway_key='other'*/")
}

// TestWindowOfAForgottenKey: it is not known any more which names wrote lately.
func TestWindowOfAForgottenKey(t *testing.T) {
	l := startLab(t, 1, sticky, func(o *Options) { o.MaxKeys = 1 })
	a, b := l.client(), l.client()
	a.run(insert+" /*causeway_key='k'*/", insert+" /*causeway_key='l'*/")
	l.apply()
	b.wantFrom("source", plainRead+" /*causeway_key='k'*/")
	b.wantFrom("replica1", plainRead)
}

// TestWindowOfAScope is that of all who share it.
func TestWindowOfAScope(t *testing.T) {
	for scope, want := range map[Scope]string{ScopeSession: "replica1", ScopeUser: "source", ScopeProxy: "source"} {
		l := startLab(t, 1, sticky, func(o *Options) { o.Users[0].Scope = scope })
		l.client().run(insert)
		l.apply()
		l.client().wantFrom(want, plainRead)
	}
}

// TestWindowOfACarrier: another token is another user of the connection.
func TestWindowOfACarrier(t *testing.T) {
	l := startLab(t, 1, sticky, func(o *Options) { o.Users[0].Scope = ScopeCarried })
	k := l.client()
	k.run("SET @causeway_token = '"+sourceUUID+":1'", insert)
	l.apply()
	k.wantFrom("source", plainRead)
	k.run("SET @causeway_token = '" + sourceUUID + ":2'")
	k.wantFrom("replica1", plainRead)
}

// TestWindowWithinTheBudget: beyond it reads go by their token, never without it.
func TestWindowWithinTheBudget(t *testing.T) {
	l := startLab(t, 1, sticky, func(o *Options) { o.Budget = balance.NewBudget(1e-9, 3, time.Now()) })
	k := l.client()
	k.run(insert)
	l.apply()
	for range 3 {
		k.wantFrom("source", plainRead)
	}
	for range 2 {
		k.wantFrom("replica1", plainRead)
		if got := k.route("Reason"); got != "token_covered" {
			t.Errorf("reason %s", got)
		}
	}
	if got := valueOf(l.srv.metrics.unstuck); got != 2 {
		t.Errorf("%g reads counted that the budget kept from the source", got)
	}
	if refused := l.srv.opts.Budget.Refused(); refused != 0 {
		t.Errorf("%d fallbacks counted as refused: none was asked for", refused)
	}
	k.run(insert)
	k.wantError(wire.ErrServerIsntAvailable, "budget", plainRead) // no replica has it: an error, not a stale read
}

// TestWindowOfReadOnlyTransactions: they begin on the source, whose snapshot has
// the commit.
func TestWindowOfReadOnlyTransactions(t *testing.T) {
	l := startLab(t, 1, sticky)
	k := l.client()
	k.run(insert)
	l.apply()
	k.run("START TRANSACTION READ ONLY")
	k.wantFrom("source", plainRead)
	if got := k.route("Reason"); got != "sticky" {
		t.Errorf("reason %s", got)
	}
	k.wantFrom("source", plainRead)
	k.run("COMMIT")
}

// TestWindowWithoutPart: a class without a part in the budget never asks the source.
func TestWindowWithoutPart(t *testing.T) {
	l := startLab(t, 1, sticky)
	k := l.client()
	k.run(insert)
	l.apply()
	k.wantFrom("replica1", plainRead+" /*causeway_class='F2'*/")
	k.wantFrom("source", plainRead+" /*causeway_class='F1'*/")
}

// TestWindowWithoutSource: replicas that have the commit serve.
func TestWindowWithoutSource(t *testing.T) {
	for name, tune := range map[string]func(*backend.View){"none": noSource, "excluded": func(v *backend.View) { v.Source.Exclude = "down: for a test" }} {
		l := startLab(t, 1, sticky)
		k := l.client()
		k.run(insert)
		l.apply()
		l.publish(tune)
		if r := k.query(plainRead); r.first() != "replica1" {
			t.Errorf("source %s: answered by %q, %v", name, r.first(), r.err)
		}
	}
	l := startLab(t, 1, sticky)
	k := l.client()
	k.run(insert)
	l.apply()
	l.source.ln.Close() // what the monitor has not seen yet
	l.source.closeConns()
	k.wantFrom("replica1", plainRead)
}

// TestExplainLeavesTokens: what EXPLAIN CAUSEWAY is handed is nobody's afterwards.
func TestExplainLeavesTokens(t *testing.T) {
	l := startLab(t, 1, sticky)
	a, b := l.client(), l.client()
	forged := fmt.Sprintf("/*causeway_key='k',causeway_token='%s%%3A900'*/", sourceUUID)
	if got := a.explain("Token", plainRead+" "+forged); !strings.Contains(got, "900") {
		t.Errorf("token %s", got)
	}
	a.wantFrom("replica1", plainRead)
	b.wantFrom("replica1", plainRead+" /*causeway_key='k'*/")
}
