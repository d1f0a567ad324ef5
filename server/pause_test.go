package server

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"causeway/backend"
	"causeway/classifier"
	"causeway/gtid"
	"causeway/wire"
)

func TestBeginsWrite(t *testing.T) {
	stmtJob := func(k classifier.Kind, f classifier.Flags) *job {
		return &job{class: class(k, f), want: expectResult}
	}
	for _, k := range allKinds {
		wants := true
		switch k {
		case classifier.Read, classifier.ReadSource, classifier.Diagnostics, classifier.Use, classifier.Kill, classifier.Empty, classifier.Handler,
			classifier.Savepoint, classifier.Set, classifier.SetTransaction, classifier.Commit, classifier.Rollback, classifier.UnlockTables, classifier.TextPrepare:
			wants = false
		}
		if got := beginsWrite(stmtJob(k, 0), false); got != wants {
			t.Errorf("%v: %v", k, got)
		}
		for _, f := range []classifier.Flags{classifier.UnknownFunction, classifier.ImplicitCommit, classifier.MultiStatement} {
			if !beginsWrite(stmtJob(k, f), false) {
				t.Errorf("%v with %v does not wait", k, f)
			}
		}
		if beginsWrite(&job{class: class(k, 0), want: expectPrepare}, true) {
			t.Errorf("PREPARE of %v waits", k)
		}
	}
	if !beginsWrite(stmtJob(classifier.Read, 0), true) || beginsWrite(stmtJob(classifier.Read, classifier.NoTable), true) {
		t.Error("the first statement on a table begins the transaction")
	}
	subquery := stmtJob(classifier.Set, 0)
	subquery.class.Digest = "set @a = ( select a from t )"
	if !beginsWrite(subquery, true) || beginsWrite(subquery, false) || !beginsWrite(stmtJob(classifier.Handler, 0), true) {
		t.Error("so do SET and HANDLER")
	}
	execute := stmtJob(classifier.TextPrepare, 0)
	execute.class.Names = []string{"execute", "s"}
	if !beginsWrite(execute, false) {
		t.Error("EXECUTE may do anything")
	}
}

func TestPauseLimit(t *testing.T) {
	const malformed = -time.Minute
	for _, tt := range []struct {
		words []string
		want  time.Duration
	}{
		{nil, time.Minute}, {[]string{"for", "5", "seconds"}, 5 * time.Second}, {[]string{"for", "1", "second"}, time.Second},
		{[]string{"for", "0", "seconds"}, 0}, {[]string{"for", "-1", "seconds"}, -time.Second}, {[]string{"for", "3601", "seconds"}, 3601 * time.Second},
		{[]string{"for", "99999999999", "seconds"}, 0}, {[]string{"for", "x", "seconds"}, 0},
		{[]string{"for", "5"}, malformed}, {[]string{"for", "5", "minutes"}, malformed}, {[]string{"for", "5", "seconds", "more"}, malformed},
	} {
		got, ok := pauseLimit(tt.words, time.Minute)
		if ok != (tt.want != malformed) || ok && got != tt.want {
			t.Errorf("%v: %v %v", tt.words, got, ok)
		}
	}
}

func admins(o *Options) {
	o.Users = append(o.Users, User{Name: "root", Password: "root_pw", Admin: true})
}

// status returns one row of SHOW CAUSEWAY STATUS.
func (k *dbClient) status(name string) string {
	k.t.Helper()
	for _, row := range k.query("SHOW CAUSEWAY STATUS").rows {
		if row[0] == name {
			return row[1]
		}
	}
	k.t.Errorf("SHOW CAUSEWAY STATUS has no %s", name)
	return ""
}

func (k *dbClient) awaitStatus(name, value string) {
	k.t.Helper()
	for end := time.Now().Add(loginTimeout); k.status(name) != value; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			k.t.Fatalf("%s is %q, never %q", name, k.status(name), value)
		}
	}
}

func TestOnlyAdminsOperate(t *testing.T) {
	l := startLab(t, 1, admins)
	k := l.client()
	for _, sql := range []string{"CAUSEWAY PAUSE WRITES", "CAUSEWAY RESUME", "CAUSEWAY SET SOURCE 'x:1'", "CAUSEWAY nosuch"} {
		k.wantError(wire.ErrSpecificAccessDenied, "admin = true", sql)
	}
	k.run("INSERT INTO t VALUES (1)")
	root := l.clientAs("root", "root_pw")
	root.wantError(wire.ErrParse, "it knows CAUSEWAY PAUSE WRITES", "CAUSEWAY PAUSE READS")
	root.wantError(wire.ErrParse, "it knows CAUSEWAY PAUSE WRITES", "CAUSEWAY PAUSE WRITES FOR 9 HOURS")
	for _, n := range []string{"0", "3601", "99999999999"} {
		root.wantError(wire.ErrWrongArguments, "1 to 3600 seconds, '"+n+"' is not", "CAUSEWAY PAUSE WRITES FOR "+n+" SECONDS")
	}
	root.run("causeway set source '10.0.0.1:3306';")
	if got := l.mon.names(); len(got) != 1 || got[0] != "10.0.0.1:3306" {
		t.Errorf("named %q", got)
	}
	l.mon.refuse(errors.New("it is read only"))
	root.wantError(wire.ErrServerIsntAvailable, "it is read only", "CAUSEWAY SET SOURCE '10.0.0.1:3306'")
}

// TestPause: new writes and transactions wait, open ones go on, reads too.
func TestPause(t *testing.T) {
	l := startLab(t, 1, admins)
	root, inTrx, writer, beginner := l.clientAs("root", "root_pw"), l.client(), l.client(), l.client()
	inTrx.run("BEGIN", "INSERT INTO t VALUES (1)")
	root.run("CAUSEWAY PAUSE WRITES FOR 600 SECONDS")
	if got := root.status("Open_transactions"); got != "1" {
		t.Errorf("%s transactions are open", got)
	}
	l.forget()
	beginner.run("BEGIN") // no server hears of it
	writer.command(wire.ComQuery, "INSERT INTO t VALUES (2)")
	beginner.command(wire.ComQuery, "SELECT a FROM t")
	root.awaitStatus("Writes_waiting", "2")
	root.wantFrom("replica1", "SELECT a FROM t")
	root.run("SET sql_mode = ''")
	inTrx.run("INSERT INTO t VALUES (3)", "COMMIT")
	root.awaitStatus("Open_transactions", "0")
	for _, text := range l.source.texts() {
		if text == "INSERT INTO t VALUES (2)" || text == "SELECT a FROM t" || text == "BEGIN" {
			t.Errorf("the source was asked %q during the pause", text)
		}
	}
	root.run("CAUSEWAY RESUME")
	for _, k := range []*dbClient{writer, beginner} {
		if r := k.answer(textValue); r.err != nil || r.lost != nil {
			t.Errorf("after the pause: %v %v", r.err, r.lost)
		}
	}
	beginner.run("COMMIT")
	root.awaitStatus("Open_transactions", "0")
	root.awaitStatus("Writes", "served")
}

// TestPauseHoldsFirstStatement: whatever a transaction begins with waits, as BEGIN
// goes to the source with it. One that is READ ONLY begins on a replica.
func TestPauseHoldsFirstStatement(t *testing.T) {
	for _, first := range []string{"SAVEPOINT a", "SELECT @@version", "SET @a = 1", "USE other", "COMMIT"} {
		l := startLab(t, 1, admins)
		root, k := l.clientAs("root", "root_pw"), l.client()
		if strings.HasPrefix(first, "COMMIT") {
			k.run("SET completion_type='CHAIN'")
		}
		root.run("CAUSEWAY PAUSE WRITES FOR 600 SECONDS")
		k.run("START TRANSACTION READ ONLY", "SELECT a FROM t", "ROLLBACK AND NO CHAIN", "BEGIN")
		l.forget()
		k.command(wire.ComQuery, first)
		root.awaitStatus("Writes_waiting", "1")
		wantTexts(t, l.source)
		root.run("CAUSEWAY RESUME")
		if r := k.answer(textValue); r.err != nil || r.lost != nil {
			t.Errorf("%s: %v %v", first, r.err, r.lost)
		}
		k.run("INSERT INTO t VALUES (1)", "ROLLBACK AND NO CHAIN")
	}
}

// TestPauseHoldsReadThatWrites: it is found out on a replica, and waits like any write.
// Nor is it sent twice, if the source breaks.
func TestPauseHoldsReadThatWrites(t *testing.T) {
	l := startLab(t, 1, admins)
	root, k := l.clientAs("root", "root_pw"), l.client()
	for _, n := range []string{"v", "w"} {
		l.r().on("SELECT a FROM "+n, func(c *fakeConn, _ string) { c.fail(wire.ErrReadOnlyTransaction, "read only") })
	}
	root.run("CAUSEWAY PAUSE WRITES FOR 600 SECONDS")
	l.forget()
	k.command(wire.ComQuery, "SELECT a FROM v")
	root.awaitStatus("Writes_waiting", "1")
	wantTexts(t, l.source)
	root.run("CAUSEWAY RESUME")
	if r := k.answer(textValue); r.first() != "source" {
		t.Errorf("answered by %q, %v %v", r.first(), r.err, r.lost)
	}
	l.source.on("SELECT a FROM w", func(c *fakeConn, _ string) { c.hangUp() })
	k.wantError(wire.ErrNetRead, "not known", "SELECT a FROM w")
}

// TestPauseEnds: by another source, by its limit.
func TestPauseEnds(t *testing.T) {
	t.Run("another source", func(t *testing.T) {
		l := startLab(t, 1, admins)
		root, writer := l.clientAs("root", "root_pw"), l.client()
		root.run("CAUSEWAY PAUSE WRITES FOR 600 SECONDS")
		writer.command(wire.ComQuery, "INSERT INTO t VALUES (2)")
		root.awaitStatus("Writes_waiting", "1")
		l.publish(noSource) // in between nobody is
		l.source, l.replicas[0] = l.replicas[0], l.source
		l.mon.source = l.source
		l.publish()
		if r := writer.answer(textValue); r.err != nil || r.lost != nil {
			t.Errorf("%v %v", r.err, r.lost)
		}
		root.awaitStatus("Writes", "served")
	})
	t.Run("its limit", func(t *testing.T) {
		l := startLab(t, 1, admins, func(o *Options) { o.PauseLimit = 50 * time.Millisecond })
		root := l.clientAs("root", "root_pw")
		root.run("CAUSEWAY PAUSE WRITES", "INSERT INTO t VALUES (2)")
		root.awaitStatus("Writes", "served")
	})
	t.Run("its limit, and writes fail", func(t *testing.T) {
		l := startLab(t, 1, admins, func(o *Options) { o.PauseLimit, o.PauseEndRefuses = 50*time.Millisecond, true })
		root := l.clientAs("root", "root_pw")
		root.run("CAUSEWAY PAUSE WRITES")
		root.wantError(wire.ErrOptionPreventsStmt, "not been resumed in time", "INSERT INTO t VALUES (2)")
		root.wantError(wire.ErrOptionPreventsStmt, "not been resumed in time", "INSERT INTO t VALUES (2)")
		root.run("CAUSEWAY RESUME", "INSERT INTO t VALUES (2)")
	})
}

// TestPausedLeave: who waits can be killed, and ends when its client leaves.
func TestPausedLeave(t *testing.T) {
	l := startLab(t, 1, admins)
	root, queried, killed, leaver := l.clientAs("root", "root_pw"), l.client(), l.client(), l.client()
	id := func(k *dbClient) string { return k.query("SELECT CONNECTION_ID()").first() }
	queriedID, killedID, killer := id(queried), id(killed), l.client()
	root.run("CAUSEWAY PAUSE WRITES FOR 600 SECONDS")
	for _, k := range []*dbClient{queried, killed, leaver} {
		k.command(wire.ComQuery, "INSERT INTO t VALUES (2)")
	}
	root.awaitStatus("Writes_waiting", "3")
	killer.run("KILL QUERY "+queriedID, "KILL "+killedID)
	if r := queried.answer(textValue); r.err == nil || r.err.Code != wire.ErrQueryInterrupted {
		t.Errorf("KILL QUERY: %v %v", r.err, r.lost)
	}
	killed.wantGone()
	leaver.c.Close()
	root.awaitStatus("Writes_waiting", "0")
	l.source.entries()
	root.run("CAUSEWAY RESUME")
	queried.run("SELECT 1 FROM t")
	for _, text := range l.source.texts() {
		if text == "INSERT INTO t VALUES (2)" {
			t.Error("a statement was sent whose client had gone")
		}
	}
}

// TestFailoverWait: a write waits for the source that comes, not for the limit.
func TestFailoverWait(t *testing.T) {
	l := startLab(t, 1, admins, func(o *Options) { o.FailoverWait = time.Minute })
	writer, idle := l.client(), l.client()
	l.publish(noSource)
	l.source.closeConns()
	writer.command(wire.ComQuery, "INSERT INTO t VALUES (2)")
	idle.wantFrom("replica1", "SELECT a FROM t")
	l.source, l.replicas[0] = l.replicas[0], l.source
	l.mon.source = l.source
	l.forget()
	l.publish()
	if r := writer.answer(textValue); r.err != nil || r.lost != nil {
		t.Fatalf("%v %v", r.err, r.lost)
	}
	idle.run("INSERT INTO t VALUES (3)")
}

// TestNoWriteWhereItIsNotClear: a connection that a session holds is not used
// while no server is the source, and what the session has on it is kept.
func TestNoWriteWhereItIsNotClear(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("BEGIN", "INSERT INTO t VALUES (1)")
	l.publish(noSource, func(v *backend.View) { v.NoSource = "more than one server is writable: a, b" })
	l.forget()
	k.wantError(wire.ErrServerIsntAvailable, "more than one server is writable: a, b", "INSERT INTO t VALUES (2)")
	k.wantError(wire.ErrServerIsntAvailable, "more than one server is writable: a, b", "COMMIT")
	wantTexts(t, l.source)
	l.publish()
	k.run("COMMIT")
}

// failOver makes the replica the source, with what it has executed now.
func (l *lab) failOver(tune ...func(*backend.View)) { l.swap()(tune...) }

// swap is failOver that is seen later.
func (l *lab) swap() (seen func(tune ...func(*backend.View))) {
	from := l.source.addr()
	l.source, l.replicas[0] = l.replicas[0], l.source
	l.mon.source = l.source
	seq := l.mon.View().Promotion.Seq + 1
	return func(tune ...func(*backend.View)) {
		l.publish(append(tune, func(v *backend.View) {
			v.Promotion = backend.Promotion{Seq: seq, From: from, To: l.source.addr(), Settled: true}
		})...)
	}
}

func TestLostWrites(t *testing.T) {
	for _, forget := range []bool{false, true} {
		l := startLab(t, 1, func(o *Options) { o.ForgetLostWrites = forget; o.MaxWait = time.Millisecond })
		k, other := l.client(), l.client()
		k.run("INSERT INTO t VALUES (1)")
		l.apply()
		k.run("INSERT INTO t VALUES (2)") // the replica does not get it
		lost := l.source.position().Subtract(l.replicas[0].position())
		l.failOver()
		other.run("INSERT INTO t VALUES (3)")
		if !forget {
			k.wantError(wire.ErrServerIsntAvailable, lost.Line(), "SELECT a FROM t FOR UPDATE")
		}
		k.run("SELECT a FROM t FOR UPDATE", "INSERT INTO t VALUES (4)") // told once
		other.run("INSERT INTO t VALUES (5)")
		rows := k.query("SHOW CAUSEWAY LOST").rows
		if len(rows) != 1 || rows[0][0] != lost.Line() || rows[0][2] != l.replicas[0].addr() || rows[0][3] != l.source.addr() {
			t.Errorf("SHOW CAUSEWAY LOST: %v, want %v", rows, lost)
		}
		if n := valueOf(l.srv.metrics.lostWrites); n != 1 {
			t.Errorf("%v lost writes counted", n)
		}
	}
}

// TestLostWritesFound: an operator names the wrong server, and then the right one.
func TestLostWritesFound(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.MaxWait = time.Millisecond })
	k, told := l.client(), l.client()
	told.run("INSERT INTO t VALUES (1)")
	l.apply()
	k.run("INSERT INTO t VALUES (2)") // the replica does not get it
	told.run("INSERT INTO t VALUES (3)")
	lost := l.source.position().Subtract(l.replicas[0].position())
	l.failOver()
	told.wantError(wire.ErrServerIsntAvailable, "were lost", "SELECT a FROM t FOR UPDATE")
	if rows := k.query("SHOW CAUSEWAY LOST").rows; len(rows) != 1 || rows[0][0] != lost.Line() {
		t.Errorf("SHOW CAUSEWAY LOST: %v, want %v", rows, lost)
	}
	l.failOver()
	k.wantFrom("source", "SELECT a FROM t FOR UPDATE") // nothing of it is lost now
	k.wantFrom("source", "SELECT a FROM t")            // the replica lacks it
	if rows := k.query("SHOW CAUSEWAY LOST").rows; len(rows) != 0 {
		t.Errorf("SHOW CAUSEWAY LOST: %v", rows)
	}
	l.failOver() // lost again, and told again
	k.wantError(wire.ErrServerIsntAvailable, "were lost", "SELECT a FROM t FOR UPDATE")
	if rows := k.query("SHOW CAUSEWAY LOST").rows; len(rows) != 1 || rows[0][0] != lost.Line() {
		t.Errorf("SHOW CAUSEWAY LOST: %v, want %v", rows, lost)
	}
}

// TestLateAcknowledged: the old source's OK comes when the comparison is over.
func TestLateAcknowledged(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	old := l.source
	held, sent := make(chan struct{}), make(chan struct{})
	old.on("INSERT INTO late", func(c *fakeConn, text string) {
		close(sent)
		<-held
		c.write(1)
	})
	k.command(wire.ComQuery, "INSERT INTO late VALUES (1)")
	<-sent
	l.failOver()
	for end := time.Now().Add(loginTimeout); !l.srv.lostKnown(l.mon.View()); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never compared")
		}
	}
	close(held)
	if r := k.answer(textValue); r.err != nil || r.lost != nil {
		t.Fatalf("%v %v", r.err, r.lost)
	}
	k.wantError(wire.ErrServerIsntAvailable, "were lost", "SELECT a FROM t FOR UPDATE")
	if rows := k.query("SHOW CAUSEWAY LOST").rows; len(rows) != 1 {
		t.Errorf("SHOW CAUSEWAY LOST: %v", rows)
	}
}

func TestIntervalsOf(t *testing.T) {
	set := gtid.MustParse(sourceUUID + ":1-3:7," + sourceUUID + ":tag:4:6-9")
	want := []string{sourceUUID + ":1-3", sourceUUID + ":7", sourceUUID + ":tag:4", sourceUUID + ":tag:6-9"}
	got := intervalsOf(set)
	var all gtid.Set
	for _, text := range got {
		all = all.Union(gtid.MustParse(text))
	}
	if len(got) != len(want) || !all.Equal(set) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAcknowledgedIsBounded(t *testing.T) {
	l := startLab(t, 1)
	l.source.setExecuted(gtid.MustParse(sourceUUID + ":1-1000"))
	l.publish()
	for i := 1; i < 1000; i += 2 {
		l.srv.ack(gtid.MustParse(fmt.Sprint(sourceUUID, ":", i)), nil)
	}
	if n := l.srv.acked.set.Intervals(); n > maxAckedIntervals {
		t.Errorf("%d intervals", n)
	}
}
