package server

import (
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/backend"
	"causeway/gtid"
	"causeway/token"
	"causeway/wire"
)

// outcomes returns how many tokens met with each outcome.
func (l *lab) outcomes() map[string]int {
	out := map[string]int{}
	for o := range tokenOutcomes {
		if n := int(valueOf(l.srv.metrics.tokens[o])); n > 0 {
			out[tokenOutcome(o).String()] = n
		}
	}
	return out
}

func (k *dbClient) wantToken(want string) {
	k.t.Helper()
	if got := k.route("Token"); got != want {
		k.t.Errorf("token %q, want %q", got, want)
	}
}

// Each way of handing in a token makes the next read see it, or go to the source.
func TestTokenWaysIn(t *testing.T) {
	const one = sourceUUID + ":101"
	encoded := strings.ReplaceAll(one, ":", "%3A")
	attr := func(sql string) string {
		return "\x01\x01" + "\x00\x01" + "\xfd\x00\x0ecauseway_token" + string(rune(len(one))) + one + sql
	}
	for name, handIn := range map[string]func(k *dbClient) reply{
		"variable": func(k *dbClient) reply {
			k.run("SET @causeway_token = '" + one + "'")
			return k.query("SELECT a FROM t")
		},
		"variable and others": func(k *dbClient) reply {
			k.run("SET @x = 1, @causeway_token := \"" + one + "\"")
			return k.query("SELECT a FROM t")
		},
		"comment": func(k *dbClient) reply {
			return k.query("SELECT a /*x='y',causeway_token='" + encoded + "',z='1'*/ FROM t")
		},
		"comment before": func(k *dbClient) reply {
			k.query("/*causeway_token='" + one + "'*/ SELECT a FROM t") // which no fakeNode answers
			return k.query("SELECT a FROM t")
		},
		"comment of a BEGIN": func(k *dbClient) reply {
			k.run("START TRANSACTION READ ONLY /*causeway_token='" + one + "'*/")
			return k.query("SELECT a FROM t")
		},
		"comment of another statement": func(k *dbClient) reply {
			k.run("DO 1 /*causeway_token='" + one + "'*/")
			return k.query("SELECT a FROM t")
		},
		"comment of a prepared statement": func(k *dbClient) reply {
			return k.execute(k.prepare("SELECT a FROM t /*causeway_token='"+one+"'*/"), 0, "")
		},
		"parameter": func(k *dbClient) reply {
			k.execute(k.prepare("SET @causeway_token = ?"), 0, "\x00\x01\xfd\x00"+string(rune(len(one)))+one)
			return k.query("SELECT a FROM t")
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := startLab(t, 1)
			l.source.commit()
			k := l.client()
			if r := handIn(k); r.first() != "source" || r.err != nil {
				t.Errorf("before the replica has it: from %q, %v", r.first(), r.err)
			}
			k.wantToken(one)
			k.query("COMMIT")
			l.apply()
			k.wantFrom("replica1", "SELECT a FROM t")
			if got := l.outcomes(); got["asked"] != 1 || got["foreign"]+got["malformed"] > 0 {
				t.Errorf("outcomes %v", got)
			}
		})
	}
	t.Run("query attribute", func(t *testing.T) {
		l := startLab(t, 1)
		l.source.commit()
		k := l.client(wire.CapQueryAttributes)
		k.command(wire.ComQuery, attr("SELECT a FROM t"))
		if r := k.answer(textValue); r.first() != "source" {
			t.Errorf("from %q: %v", r.first(), r.err)
		}
	})
	t.Run("connection attribute", func(t *testing.T) {
		l := startLab(t, 1)
		l.source.commit()
		k := &dbClient{t: t, testClient: &testClient{user: "app", password: "app_pw", firstPlugin: wire.PluginNative, caps: clientCaps | wire.CapDeprecateEOF,
			attrs: map[string]string{"causeway_token": one}}}
		if err := k.login(l.addr); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(k.close)
		k.wantFrom("source", "SELECT a FROM t")
		k.wantToken(one)
		bad := &testClient{user: "app", password: "app_pw", firstPlugin: wire.PluginNative, caps: clientCaps, attrs: map[string]string{"causeway_token": "x"}}
		if err := bad.login(l.addr); err == nil || !strings.Contains(err.Error(), "token cannot be taken") {
			t.Errorf("a malformed token at login: %v", err)
		}
		bad.close()
	})
}

// A token that cannot be taken may have come with the COMMIT: its client is told that it
// did not run.
func TestTokenRefusedAtCommit(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.wantError(wire.ErrWrongValueForVar, "; nothing has run", "INSERT INTO t VALUES (1) /*causeway_token='x'*/")
	k.run("BEGIN", "INSERT INTO t VALUES (1)")
	l.forget()
	k.wantError(wire.ErrWrongValueForVar, "; nothing has run; the transaction is still open", "COMMIT /*causeway_token='x'*/")
	wantTexts(t, l.source)
	k.run("COMMIT")
}

// SET @causeway_token costs no server anything, and what is handed in merges.
func TestTokenSetIsLocal(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	l.forget()
	for _, v := range []string{sourceUUID + ":3", sourceUUID + ":5", sourceUUID + ":5", ""} {
		k.run("SET @causeway_token = '" + v + "'")
	}
	k.run("SET @causeway_token = NULL")
	id := k.prepare("SET @causeway_token = ?")
	if r := k.execute(id, 0, "\x01\x01\xfd\x00"); r.err != nil { // NULL
		t.Error(r.err)
	}
	if r := k.execute(id, 0, "\x00\x01\x08\x00\x01\x00\x00\x00\x00\x00\x00\x00"); r.err == nil {
		t.Error("a number was taken")
	}
	k.wantToken(sourceUUID + ":3:5")
	if texts := append(l.source.texts(), l.r().texts()...); len(texts) > 0 {
		t.Errorf("servers were asked %q", texts)
	}
	if got := l.outcomes(); got["known"] != 2 || got["same"] != 1 {
		t.Errorf("outcomes %v", got)
	}
	k.run("SET @other = 1, @causeway_token = '" + sourceUUID + ":7'")
	wantTexts(t, l.source, "SET @other = 1, @causeway_token = '"+sourceUUID+":7'")
}

// The token is given in both protocols, by either name, and nobody is asked.
func TestTokenOut(t *testing.T) {
	for kind, caps := range clientKinds {
		l := startLab(t, 1)
		k := l.client()
		k.caps = k.caps&^wire.CapDeprecateEOF | caps&wire.CapDeprecateEOF
		k = l.clientAs("app", "app_pw", caps)
		k.run("INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (1)")
		l.forget()
		const want = sourceUUID + ":101-102"
		for _, sql := range []string{"SELECT @causeway_token", "select @causeway_gtids as g limit 1;", "/* a */ SELECT @causeway_token /* b */, @`causeway_gtids` FROM DUAL"} {
			if r := k.query(sql); r.first() != want || r.err != nil || r.ok.Warnings != 0 {
				t.Errorf("%v: %s: %q, %v %v", kind, sql, r.rows, r.err, r.lost)
			}
		}
		if r := k.execute(k.prepare("SELECT @causeway_gtids"), 0, ""); r.first() != want || r.err != nil {
			t.Errorf("%v: prepared: %q, %v %v", kind, r.rows, r.err, r.lost)
		}
		if texts := append(l.source.texts(), l.r().texts()...); len(texts) > 0 {
			t.Errorf("servers were asked %q", texts)
		}
		if got := k.query("SELECT @causeway_token"); len(got.rows) != 1 {
			t.Errorf("%d rows", len(got.rows))
		}
	}
	l := startLab(t, 1)
	if r := l.client().query("SELECT @causeway_token"); r.err != nil || len(r.rows) != 1 || r.rows[0][0] != "" {
		t.Errorf("of a session that wrote nothing: %v %v", r.rows, r.err)
	}
}

// What cannot be answered rightly is refused before anything runs.
func TestTokenElsewhereIsRefused(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	l.forget()
	for _, sql := range []string{
		"SELECT @causeway_token, a FROM t", "SELECT CONCAT(@causeway_token, 'x')", "INSERT INTO t VALUES (@causeway_token)", "SELECT a FROM t WHERE b = @causeway_gtids",
		"SET @x = @causeway_token", "SELECT @causeway_token := 'x'", "SELECT a FROM t INTO @causeway_token", "DO @causeway_token := 'x'", "CALL p(@causeway_token)",
		"PREPARE s FROM 'SET @causeway_token = ?'", "SET @causeway_token = 'x'; DELETE FROM t",
		"SET @causeway_gtids = 'x'", "SET @causeway_token = 'x', @x = @causeway_token",
	} {
		k.wantError(wire.ErrWrongValueForVar, "the token is known to Causeway only", sql)
	}
	for _, sql := range []string{"SET @causeway_token = CONCAT('a', 'b')", "SET @causeway_token = @x", "SET @a = 1, @causeway_token = NOW()"} {
		k.wantError(wire.ErrWrongValueForVar, "string literal", sql)
	}
	if texts := append(l.source.texts(), l.r().texts()...); len(texts) > 0 {
		t.Errorf("servers were asked %q", texts)
	}
	k.wantToken("")
}

// A token that the source does not have is an error that names it: never a wait,
// and never a read on the source.
func TestTokenForeign(t *testing.T) {
	l := startLab(t, 1, stillBudget)
	k := l.client()
	l.forget()
	const other = "99999999-9999-9999-9999-999999999999"
	k.wantError(wire.ErrWrongValueForVar, "has not executed: "+other+":1-3", "SELECT a FROM t /*causeway_token='"+other+":1-3'*/")
	k.wantError(wire.ErrWrongValueForVar, "has not executed: "+sourceUUID+":101-999", "SET @causeway_token = '"+sourceUUID+":1-999'")
	k.wantError(wire.ErrWrongValueForVar, "has not executed", "DELETE FROM t /*causeway_token='"+other+":1'*/")
	k.wantError(wire.ErrWrongValueForVar, "want a UUID", "SET @causeway_token = 'nonsense'")
	k.wantError(wire.ErrWrongValueForVar, "the limit of 16384 bytes", "SET @causeway_token = '"+strings.Repeat(sourceUUID+":1,", 500)+"'")
	if texts := append(l.source.texts(), l.r().texts()...); len(texts) > 0 {
		t.Errorf("servers were asked %q", texts)
	}
	if n := l.budget.Taken(); n != 0 {
		t.Errorf("%d reads of the budget", n)
	}
	if got := l.outcomes(); got["foreign"] != 3 || got["malformed"] != 2 || l.mon.askedSoon.Load() != 3 || l.mon.asked.Load() != 0 {
		t.Errorf("outcomes %v, asked %d gently and %d at once", got, l.mon.askedSoon.Load(), l.mon.asked.Load())
	}
	k.wantToken("")
	k.wantFrom("replica1", "SELECT a FROM t")
}

// Without an answer of the source a token that is new is an error within max_wait,
// one that is known is taken.
func TestTokenUnchecked(t *testing.T) {
	l := startLab(t, 1)
	l.source.commit()
	l.mon.noFresh.Store(true)
	k := l.client()
	k.wantError(wire.ErrServerIsntAvailable, "could not be asked within", "SELECT a FROM t /*causeway_token='"+sourceUUID+":101'*/")
	k.wantFrom("replica1", "SELECT a FROM t /*causeway_token='"+sourceUUID+":100'*/")
	l.r().setExecuted(l.source.position())
	l.publish(func(v *backend.View) { v.SourcePosition = gtidMust(sourceUUID + ":1-100"); v.Source.Up = false })
	k.wantFrom("replica1", "SELECT a FROM t /*causeway_token='"+sourceUUID+":101'*/") // a replica has it, so the lost source had
}

func signedWith(t *testing.T, secrets ...string) func(*Options) {
	c, err := token.New(secrets)
	if err != nil {
		t.Fatal(err)
	}
	return func(o *Options) { o.Tokens = c }
}

// With a secret only what a Causeway with that secret gave is taken.
func TestTokenSigned(t *testing.T) {
	const secret = "a secret of some length"
	l := startLab(t, 1, signedWith(t, secret))
	k := l.client()
	k.run("INSERT INTO t VALUES (1)")
	l.apply()
	r := k.query("SELECT @causeway_token, @causeway_gtids")
	if len(r.rows) != 1 || !strings.HasPrefix(r.rows[0][0], "cw1.") || r.rows[0][1] != sourceUUID+":101" {
		t.Fatalf("%q %v", r.rows, r.err)
	}
	signed := r.rows[0][0]
	b := l.client()
	b.wantError(wire.ErrWrongValueForVar, "not signed", "SET @causeway_token = '"+sourceUUID+":101'")
	b.wantError(wire.ErrWrongValueForVar, "signature is wrong", "SET @causeway_token = '"+strings.Replace(signed, "cw1.M", "cw1.N", 1)+"'")
	b.run("SET @causeway_token = '" + signed + "'")
	b.wantToken(sourceUUID + ":101")
	// One that is older than the epoch names writes that may be gone.
	l.epoch++
	began := time.Now().Add(2 * time.Second)
	l.publish(func(v *backend.View) { v.EpochSince = began })
	l.client().wantError(wire.ErrWrongValueForVar, "began anew", "SET @causeway_token = '"+signed+"'")
}

// A token with writes that a failover lost is told of, or forgotten.
func TestTokenLost(t *testing.T) {
	for _, forget := range []bool{false, true} {
		l := startLab(t, 1, func(o *Options) { o.ForgetLostWrites = forget })
		l.srv.acked.mu.Lock()
		l.srv.acked.lost = gtidMust(sourceUUID + ":90")
		l.srv.acked.mu.Unlock()
		k := l.client()
		const set = "SET @causeway_token = '" + sourceUUID + ":89-91'"
		if !forget {
			k.wantError(wire.ErrWrongValueForVar, "does not have "+sourceUUID+":90", set)
			continue
		}
		k.run(set)
		k.wantToken(sourceUUID + ":89:91")
	}
}

// While a write may still commit, or has no GTID, no token stands for the session.
func TestTokenOutOfAnUncertainSession(t *testing.T) {
	l := startLab(t, 1)
	l.lostWrite(1 << 30)
	k := l.client()
	k.wantError(wire.ErrNetRead, "not known", "INSERT INTO t VALUES (1)")
	k.wantError(wire.ErrServerIsntAvailable, "not known yet", "SELECT @causeway_token")
	l2 := startLab(t, 1)
	k = l2.client()
	l2.source.on("INSERT", func(c *fakeConn, _ string) { c.ok(func(ok *wire.OK) { ok.AffectedRows = 1 }) })
	k.run("INSERT INTO ignored.t VALUES (1)")
	k.wantError(wire.ErrServerIsntAvailable, "no GTID tells of", "SELECT @causeway_token")
}

// In a transaction that reads from a replica a token holds from the next one on.
func TestTokenInAReadOnlyTransaction(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("START TRANSACTION READ ONLY")
	k.wantFrom("replica1", "SELECT a FROM t")
	l.source.commit()
	k.run("SET @causeway_token = '" + sourceUUID + ":101'")
	k.wantFrom("replica1", "SELECT a FROM t")
	if got := k.maybeRoute("Token_note"); !strings.Contains(got, "next one") {
		t.Errorf("note %q", got)
	}
	k.run("COMMIT", "START TRANSACTION READ ONLY")
	k.wantFrom("source", "SELECT a FROM t")
	if got := k.maybeRoute("Token_note"); got != "" {
		t.Errorf("note %q", got)
	}
}

func TestJudgeToken(t *testing.T) {
	at := time.Unix(1000, 0)
	node := func(set, errant string, up bool) *backend.Node {
		return &backend.Node{Up: up, Position: gtidMust(set), Errant: gtidMust(errant)}
	}
	const u, e = sourceUUID, "99999999-9999-9999-9999-999999999999"
	for _, c := range []struct {
		name   string
		view   backend.View
		lost   string
		set    string
		issued time.Time
		want   tokenOutcome
	}{
		{name: "known", view: backend.View{Source: node("", "", true), SourcePosition: gtidMust(u + ":1-9")}, set: u + ":9", want: tokenKnown},
		{name: "newer", view: backend.View{Source: node("", "", true), SourcePosition: gtidMust(u + ":1-9")}, set: u + ":10", want: tokenNew},
		{name: "on a replica, but the source can be asked", view: backend.View{Source: node("", "", true), SourcePosition: gtidMust(u + ":1-9"),
			Replicas: []*backend.Node{node(u+":1-10", "", true)}}, set: u + ":10", want: tokenNew},
		{name: "on a replica, the source is lost", view: backend.View{Source: node("", "", false), SourcePosition: gtidMust(u + ":1-9"),
			Replicas: []*backend.Node{node(u+":1-10", "", true)}}, set: u + ":10", want: tokenKnown},
		{name: "no source, errant", view: backend.View{SourcePosition: gtidMust(u + ":1-9"),
			Replicas: []*backend.Node{node(u+":1-10,"+e+":1", e+":1", true)}}, set: e + ":1", want: tokenNew},
		{name: "lost", view: backend.View{SourcePosition: gtidMust(u + ":1-9")}, lost: u + ":5", set: u + ":1-9", want: tokenLost},
		{name: "old", view: backend.View{SourcePosition: gtidMust(u + ":1-9"), EpochSince: at}, set: u + ":1", issued: at.Add(-time.Second), want: tokenOld},
		{name: "of that second", view: backend.View{SourcePosition: gtidMust(u + ":1-9"), EpochSince: at.Add(time.Millisecond)}, set: u + ":1", issued: at, want: tokenKnown},
		{name: "a plain set has no time", view: backend.View{SourcePosition: gtidMust(u + ":1-9"), EpochSince: at}, set: u + ":1", want: tokenKnown},
	} {
		lost := gtid.Set{}
		if c.lost != "" {
			lost = gtidMust(c.lost)
		}
		if got := judgeToken(&c.view, lost, gtidMust(c.set), c.issued); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	for i, name := range tokenOutcomeNames {
		if name == "" || slices.Index(tokenOutcomeNames[:], name) != i {
			t.Errorf("outcome %d is called %q", i, name)
		}
	}
}

// Many tokens with gaps make the session's wider, never longer without bound.
func TestTokenIsBounded(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.TokenIntervals = 4 })
	k := l.client()
	for _, n := range []string{"1", "3", "5", "7", "9", "11"} {
		k.run("SET @causeway_token = '" + sourceUUID + ":" + n + "'")
	}
	got := gtidMust(k.query("SELECT @causeway_gtids").first())
	if got.Intervals() > 4 || !got.Contains(gtidMust(sourceUUID+":1:3:5:7:9:11")) || !gtidMust(sourceUUID+":1-100").Contains(got) {
		t.Errorf("token %v", got)
	}
}

// A read of a global class sees what anybody had committed when it arrived.
func TestGlobal(t *testing.T) {
	l := startLab(t, 1, stillBudget, func(o *Options) {
		o.Classes = labClasses(time.Millisecond, 50*time.Millisecond)
		g := o.Classes[0]
		g.Name, g.Consistency, g.Priority = "G", Global, 3
		o.Classes = append(o.Classes, g)
	})
	k := l.client()
	const sql = "SELECT a FROM t /*causeway_class='G'*/"
	k.wantFrom("replica1", sql)
	l.source.commit() // by somebody who bypasses Causeway
	k.wantFrom("source", sql)
	if got := k.route("Reason"); got != "fallback" {
		t.Errorf("reason %s", got)
	}
	k.wantFrom("replica1", "SELECT a FROM t")
	if got := k.explain("Consistency", sql); got != "global" {
		t.Errorf("explained as %q", got)
	}
	l.apply()
	k.wantFrom("replica1", sql)
	if n := l.mon.asked.Load(); n != 3 {
		t.Errorf("asked %d times for 3 reads", n)
	}
	l.mon.noFresh.Store(true)
	k.wantError(wire.ErrServerIsntAvailable, "did not tell it within", sql)
	l.mon.noFresh.Store(false)
	l.publish(func(v *backend.View) { v.Promotion = backend.Promotion{Seq: 1} }) // the new source applies its backlog yet
	k.wantError(wire.ErrServerIsntAvailable, "did not tell it within", sql)
}
