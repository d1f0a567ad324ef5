package server

import (
	"strings"
	"testing"
	"time"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// TestNextReadOnlyTransactionSeesAll: what begins another transaction, or reads
// outside of one, while a READ ONLY transaction is open on a replica, sees what others
// of the scope were told of meanwhile.
func TestNextReadOnlyTransactionSeesAll(t *testing.T) {
	const read = "SELECT a FROM t"
	for _, next := range [][]string{
		{"COMMIT", "START TRANSACTION READ ONLY"},
		{"COMMIT"},
		{"COMMIT AND CHAIN"},
		{"ROLLBACK AND CHAIN"},
		{"SET completion_type = 1", "COMMIT"},
		{"SET completion_type = CHAIN", "ROLLBACK WORK"},
		{"BEGIN"},
		{"START TRANSACTION"},
		{"START TRANSACTION READ ONLY"},
		{"START TRANSACTION WITH CONSISTENT SNAPSHOT"},
		{"START TRANSACTION READ ONLY, WITH CONSISTENT SNAPSHOT"},
		{"COMMIT AND CHAIN", "SELECT NOW()"},
	} {
		t.Run(next[len(next)-1], func(t *testing.T) {
			l := startLab(t, 1, func(o *Options) { o.Users[0].Scope = ScopeProxy })
			r := l.client()
			r.run("START TRANSACTION READ ONLY")
			r.wantFrom("replica1", read)
			l.client().run(insert)
			r.wantFrom("replica1", read) // its snapshot
			for _, sql := range next {
				r.run(sql)
			}
			r.wantFrom("source", read)
			r.run("COMMIT AND NO CHAIN")
			l.apply()
			r.wantFrom("replica1", read)
		})
	}
}

// TestChainedTransactionIsTheSame: READ ONLY and its isolation level, to the client and
// to the server that gets it.
func TestChainedTransactionIsTheSame(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY")
	k.run("BEGIN")
	k.wantFrom("replica1", "SELECT a FROM t")
	l.forget()
	for _, sql := range []string{"COMMIT AND CHAIN", "ROLLBACK AND CHAIN"} {
		if r := k.query(sql); !r.ok.Status.Has(wire.StatusInTrans | wire.StatusInTransReadonly) {
			t.Errorf("%s: status %x", sql, r.ok.Status)
		}
		k.wantError(wire.ErrReadOnlyTransaction, readOnlyRefused, insert)
	}
	k.wantFrom("replica1", "SELECT a FROM t")
	wantTexts(t, l.r(), "COMMIT AND NO CHAIN NO RELEASE", "SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY", "START TRANSACTION", "SELECT a FROM t")
	if r := k.query("COMMIT"); r.ok.Status.Has(wire.StatusInTrans) {
		t.Errorf("status %x after COMMIT", r.ok.Status)
	}
	k.run(insert)
}

// TestSeveralStatementsAfterAReadOnlyTransaction: a text that begins by ending the
// transaction is the source's; one that may end it later runs where all can be seen,
// or is refused before it runs.
func TestSeveralStatementsAfterAReadOnlyTransaction(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.Users[0].Scope = ScopeProxy })
	k := l.client(wire.CapMultiStatements)
	begin := func() {
		k.run("START TRANSACTION READ ONLY")
		k.wantFrom("replica1", "SELECT a FROM t")
		l.client().run(insert)
		l.forget()
	}
	begin()
	k.query("COMMIT; SELECT a FROM t")
	wantTexts(t, l.r(), "COMMIT AND NO CHAIN NO RELEASE")
	l.apply()
	begin()
	k.query("COMMIT AND CHAIN; SELECT a FROM t")
	wantTexts(t, l.r(), "COMMIT AND NO CHAIN NO RELEASE")
	wantTexts(t, l.source, "SET TRANSACTION READ ONLY", "COMMIT AND CHAIN; SELECT a FROM t") // of the first READ ONLY, the second one is, too
	k.run("ROLLBACK AND NO CHAIN")
	l.apply()
	for _, sql := range []string{"SELECT a FROM t; COMMIT; SELECT a FROM t", "CALL p()", "SELECT a FROM t FOR SHARE"} {
		begin()
		k.wantError(wire.ErrServerIsntAvailable, "lacks writes", sql)
		wantTexts(t, l.r())
		l.apply()
		k.query(sql)
		if ran := l.r().texts(); len(ran) == 0 || ran[len(ran)-1] != sql {
			t.Errorf("%s: replica1 was asked %q", sql, ran)
		}
		k.run("ROLLBACK")
		l.apply()
	}
}

// TestReadCommittedSeesTheLatest: without a snapshot each read must see what was
// acknowledged before it; it goes on on the source if the replica does not get it.
func TestReadCommittedSeesTheLatest(t *testing.T) {
	for _, level := range []string{"READ-COMMITTED", "READ-UNCOMMITTED"} {
		l := startLab(t, 1, func(o *Options) { o.Users[0].Scope, o.MaxWait = ScopeProxy, 20*time.Millisecond })
		k := l.client()
		begin := func() {
			k.run("SET transaction_isolation='" + level + "'")
			k.run("START TRANSACTION READ ONLY")
			k.wantFrom("replica1", "SELECT a FROM t")
		}
		begin()
		l.client().run(insert)
		l.forget()
		k.wantFrom("source", "SELECT a FROM t")
		wantTexts(t, l.source, "SET SESSION transaction_isolation='"+level+"'", "SET TRANSACTION ISOLATION LEVEL "+strings.ReplaceAll(level, "-", " ")+", READ ONLY", "START TRANSACTION", "SELECT a FROM t")
		k.run("COMMIT")
		l.apply()
		begin()
		k.run("SAVEPOINT s")
		l.client().run(insert)
		k.wantError(wire.ErrServerIsntAvailable, "lacks writes", "SELECT a FROM t")
		l.apply()
		k.wantFrom("replica1", "SELECT a FROM t")
		k.run("COMMIT")
	}
}

func proxyScope(o *Options) { o.Users[0].Scope, o.MaxWait = ScopeProxy, 20*time.Millisecond }

// notYetRead is a session in a READ ONLY transaction that has begun on replica1 and
// has read no table there; its level is REPEATABLE READ.
func notYetRead(l *lab) *dbClient {
	k := l.client()
	k.run("START TRANSACTION READ ONLY")
	k.wantFrom("replica1", "SELECT NOW()")
	return k
}

// TestNothingReadYet: a transaction that has read no table keeps to no replica.
func TestNothingReadYet(t *testing.T) {
	const read = "SELECT a FROM t"
	t.Run("read", func(t *testing.T) {
		l := startLab(t, 1, proxyScope)
		k := notYetRead(l)
		l.client().run(insert)
		k.wantFrom("source", read)
		k.wantFrom("source", read)
		k.run("COMMIT")
		l.apply()
		k.wantFrom("replica1", read)
	})
	t.Run("prepared only", func(t *testing.T) {
		l := startLab(t, 1, proxyScope)
		k := notYetRead(l)
		id := k.prepare(read)
		l.client().run(insert)
		k.wantExecuted("source", id, "")
	})
	t.Run("savepoint", func(t *testing.T) { // which only this server has, and which makes no snapshot
		l := startLab(t, 1, proxyScope)
		k := notYetRead(l)
		k.run("SAVEPOINT s")
		l.client().run(insert)
		k.wantError(wire.ErrServerIsntAvailable, "lacks writes", read)
		l.apply()
		k.wantFrom("replica1", read)
	})
	t.Run("savepoint and failed", func(t *testing.T) { // it can neither move nor make another snapshot
		l := startLab(t, 1, proxyScope)
		l.r().on("SELECT bad", func(c *fakeConn, _ string) { c.fail(1140, "bad") })
		k := notYetRead(l)
		k.run("SAVEPOINT s")
		k.wantError(1140, "bad", "SELECT bad FROM t")
		l.client().run(insert)
		l.apply()
		k.wantError(wire.ErrServerIsntAvailable, "lacks writes", read)
	})
	t.Run("failed first", func(t *testing.T) { // it may have made a snapshot
		l := startLab(t, 1, proxyScope)
		l.r().on("SELECT bad", func(c *fakeConn, _ string) { c.status |= wire.StatusInTrans; c.fail(1140, "bad") })
		k := l.client()
		k.run("START TRANSACTION READ ONLY")
		k.wantError(1140, "bad", "SELECT bad FROM t")
		l.client().run(insert)
		k.wantFrom("source", read)
	})
	t.Run("failed and covered since", func(t *testing.T) {
		l := startLab(t, 1, proxyScope)
		l.r().on("SELECT bad", func(c *fakeConn, _ string) { c.fail(1140, "bad") })
		k := notYetRead(l)
		k.wantError(1140, "bad", "SELECT bad FROM t")
		l.client().run(insert)
		l.apply()
		l.forget()
		k.wantFrom("replica1", read)
		if got := l.r().texts(); len(got) < 3 || !strings.HasPrefix(got[0], "ROLLBACK") {
			t.Errorf("it kept what may be an old snapshot: %q", got)
		}
	})
	t.Run("failed after rows", func(t *testing.T) { // its snapshot was seen
		l := startLab(t, 1, proxyScope)
		l.r().on("SELECT part", func(c *fakeConn, _ string) {
			e := wire.NewError(3024, "too long").Append(nil, c.caps)
			c.send(wire.AppendColumnCount(nil, 1), wire.AppendColumn(nil, wire.Column{Name: "a", Type: wire.TypeVarString, Charset: 255}), wire.AppendTextRowStrings(nil, "x"), e)
		})
		k := notYetRead(l)
		k.query("SELECT part FROM t")
		l.client().run(insert)
		k.wantFrom("replica1", read)
	})
	t.Run("class of the source", func(t *testing.T) {
		classes := append(labClasses(time.Second, time.Second), Class{Name: "S", Consistency: OnSource, Priority: 3})
		l := startLab(t, 1, func(o *Options) { o.Classes = classes })
		notYetRead(l).wantFrom("source", read+" /*causeway_class='S'*/")
	})
	t.Run("without GTIDs", func(t *testing.T) {
		l := startOffLab(t, proxyScope)
		k := notYetRead(l)
		l.client().run(insert)
		k.wantFrom("source", read)
	})
	t.Run("in doubt", func(t *testing.T) {
		l := startLab(t, 1, proxyScope)
		k := notYetRead(l)
		l.lostWrite(1e6)
		l.client().query(insert)
		if r := k.query(read); r.first() == "replica1" {
			t.Error("answered by replica1 while a write of its scope was in doubt")
		}
	})
}

// TestTransactionCannotGoOn: what could not begin, or move, leaves the state that the
// client was told of.
func TestTransactionCannotGoOn(t *testing.T) {
	for _, sql := range []string{"START TRANSACTION READ WRITE, WITH CONSISTENT SNAPSHOT", "START TRANSACTION WITH CONSISTENT SNAPSHOT"} {
		l := startLab(t, 1, proxyScope)
		k := l.client()
		k.run("START TRANSACTION READ ONLY")
		k.wantFrom("replica1", "SELECT a FROM t")
		l.client().run(insert)
		l.publish(noSource)
		if r := k.query(sql); r.err == nil {
			t.Fatalf("%s began", sql)
		}
		l.publish()
		l.forget()
		k.run(insert)
		wantTexts(t, l.source, insert)
	}
	l := startLab(t, 1, proxyScope)
	k := notYetRead(l)
	l.publish(noSource)
	if r := k.query("CALL p()"); r.err == nil {
		t.Fatal("a CALL ran without a source")
	}
	if r := k.query("SELECT @causeway_token"); r.err != nil || !r.ok.Status.Has(wire.StatusInTrans|wire.StatusInTransReadonly) {
		t.Errorf("status %x, %v, in an open READ ONLY transaction", r.ok.Status, r.err)
	}
}

// TestGlobalCompletionType: the source's global value is the session's.
func TestGlobalCompletionType(t *testing.T) {
	l := startLab(t, 1, proxyScope)
	l.publish(func(v *backend.View) { v.Source.Defaults = map[string]string{"completion_type": "CHAIN"} })
	k := l.client()
	k.run("START TRANSACTION READ ONLY")
	k.wantFrom("replica1", "SELECT a FROM t")
	l.client().run(insert)
	l.publish(func(v *backend.View) { v.Source.Defaults = map[string]string{"completion_type": "CHAIN"} })
	k.run("COMMIT")
	k.wantFrom("source", "SELECT a FROM t")
}

// TestLongDataInAReadOnlyTransaction stays where the data is, or is refused.
func TestLongDataInAReadOnlyTransaction(t *testing.T) {
	l := startLab(t, 1, proxyScope)
	k := l.client()
	k.run("SET transaction_isolation='READ-COMMITTED'")
	k.run("START TRANSACTION READ ONLY")
	k.wantFrom("replica1", "SELECT a FROM t")
	id := k.prepare("SELECT a FROM t WHERE b=?")
	l.client().run(insert)
	k.command(wire.ComStmtSendLongData, le(id)+"\x00\x00first")
	if r := k.execute(id, 0, "\x00\x01\xfc\x00"); r.err == nil || !strings.Contains(r.err.Message, "lacks writes") {
		t.Errorf("answered by %q, %v", r.first(), r.err)
	}
}

// TestChainedTransactionNeedsItsToken: a token handed in during a transaction holds
// from the next one on, however that begins; so does a key.
func TestChainedTransactionNeedsItsToken(t *testing.T) {
	l := startLab(t, 1)
	for _, c := range []struct{ in, chain, read string }{
		{"SET @causeway_token = '%s'", "COMMIT AND CHAIN", "SELECT a FROM t"},
		{"", "COMMIT AND CHAIN /*causeway_token='%s'*/", "SELECT a FROM t"},
		{"", "BEGIN", "SELECT a FROM t /*causeway_key='k'*/"},
	} {
		k, w := l.client(), l.client()
		k.run("START TRANSACTION READ ONLY")
		k.wantFrom("replica1", "SELECT a FROM t")
		w.run(insert + " /*causeway_key='k'*/")
		token := w.query("SELECT @causeway_token").first()
		for _, sql := range []string{c.in, c.chain} {
			if sql != "" {
				k.run(strings.ReplaceAll(sql, "%s", token))
			}
		}
		k.wantFrom("source", c.read)
		k.run("COMMIT")
		l.apply()
	}
}

func TestRenews(t *testing.T) {
	fresh, used, latest, locks := facts{fresh: true}, facts{}, facts{rereads: true}, facts{onlyLocks: true}
	for _, c := range []struct {
		class *classifier.Class
		f     facts
		want  renewal
	}{
		{class(classifier.Read, 0), fresh, renewPlace},
		{class(classifier.Read, 0), used, renewNothing},
		{class(classifier.Read, 0), latest, renewLater},
		{class(classifier.Read, 0), locks, renewPlace},
		{class(classifier.Read, classifier.NoTable), fresh, renewNothing},
		{class(classifier.Write, classifier.NoTable|classifier.UnknownFunction), fresh, renewPlace},
		{class(classifier.Write, classifier.UnknownFunction), used, renewNothing},
		{class(classifier.LockingRead, 0), used, renewHere},
		{class(classifier.LockingRead, 0), latest, renewLater},
		{class(classifier.Do, 0), used, renewNothing},
		{class(classifier.Do, 0), latest, renewLater},
		{class(classifier.Call, 0), used, renewHere},
		{class(classifier.TextPrepare, 0), used, renewNothing},
		{&classifier.Class{Kind: classifier.TextPrepare, Names: []string{"execute"}}, used, renewHere},
		{class(classifier.Handler, 0), used, renewNothing},
		{&classifier.Class{Kind: classifier.Handler, Names: []string{"read"}}, used, renewHere},
		{&classifier.Class{Kind: classifier.LockingRead, Digest: "select a from t for update"}, used, renewNothing},
		{class(classifier.Unknown, classifier.MultiStatement), used, renewHere},
		{class(classifier.Commit, 0), latest, renewNothing},
		{class(classifier.Savepoint, 0), latest, renewNothing},
	} {
		if got := renews(c.class, c.f); got != c.want {
			t.Errorf("%v %v, %+v: %d, not %d", c.class.Kind, c.class.Flags, c.f, got, c.want)
		}
	}
}

func TestReopens(t *testing.T) {
	cl := classifier.New(classifier.Options{CacheEntries: 100})
	for _, c := range []struct {
		sql, completion string
		again, chain    bool
	}{
		{"COMMIT", "", false, false}, {"COMMIT", "0", false, false}, {"COMMIT", "RELEASE", false, false},
		{"COMMIT", "CHAIN", true, true}, {"rollback work", "1", true, true}, {"COMMIT AND NO CHAIN", "1", false, false},
		{"COMMIT AND CHAIN", "2", true, true}, {"COMMIT AND NO CHAIN RELEASE", "", false, false}, {"COMMIT RELEASE", "1", false, false},
		{"ROLLBACK TO s", "1", false, false}, {"BEGIN", "", true, false}, {"START TRANSACTION READ WRITE", "", true, false},
		{"START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY", "", true, false}, {"START TRANSACTION READ ONLY, READ WRITE", "", false, false},
		{"COMMIT; SELECT 1", "1", false, false}, {"SELECT 1", "1", false, false},
	} {
		again, chain := reopens(cl.Classify([]byte(c.sql), classifier.Mode{}), c.completion)
		if again != c.again || chain != c.chain {
			t.Errorf("%s, completion_type %q: %v %v", c.sql, c.completion, again, chain)
		}
	}
}

// TestSerializableIsTheSources: its reads take locks.
func TestSerializableIsTheSources(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	for _, set := range []string{"SET transaction_isolation='SERIALIZABLE'", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY"} {
		k.run(set, "START TRANSACTION READ ONLY")
		k.wantFrom("source", "SELECT a FROM t")
		k.run("COMMIT", "SET transaction_isolation='REPEATABLE-READ'")
	}
	k.run("START TRANSACTION READ ONLY")
	k.wantFrom("replica1", "SELECT a FROM t")
}

// TestCompletionTypeRelease: MySQL ends the connection after its OK.
func TestCompletionTypeRelease(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("SET completion_type='RELEASE'", "BEGIN", insert, "COMMIT NO RELEASE", "BEGIN", insert, "COMMIT")
	k.wantGone()
}
