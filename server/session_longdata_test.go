package server

import (
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/wire"
)

// sendsLong prepares a statement and sends long data for it.
func (l *lab) sendsLong(k *dbClient, sql string) uint32 {
	l.t.Helper()
	id := k.prepare(sql)
	l.long(k, id)
	return id
}

// long sends long data, which has no answer, and waits until the source has it. It
// empties the source's log.
func (l *lab) long(k *dbClient, id uint32) {
	l.t.Helper()
	k.command(wire.ComStmtSendLongData, le(id)+"\x00\x00first")
	for deadline := time.Now().Add(loginTimeout); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if slices.ContainsFunc(l.source.texts(), func(text string) bool { return strings.HasPrefix(text, "COM_STMT_SEND_LONG_DATA") }) {
			return
		}
	}
	l.t.Fatal("the long data did not come")
}

// A write with long data waits while writes are paused, as any other.
func TestLongDataWaitsWhilePaused(t *testing.T) {
	l := startLab(t, 1, admins)
	root, k := l.clientAs("root", "root_pw"), l.client()
	id := l.sendsLong(k, "INSERT INTO t VALUES (?)")
	root.run("CAUSEWAY PAUSE WRITES FOR 600 SECONDS")
	l.forget()
	done := make(chan reply, 1)
	go func() { done <- k.execute(id, 0, typed) }()
	root.awaitStatus("Writes_waiting", "1")
	wantTexts(t, l.source)
	root.run("CAUSEWAY RESUME")
	if r := <-done; r.err != nil || r.lost != nil {
		t.Errorf("%v %v", r.err, r.lost)
	}
	wantTexts(t, l.source, "COM_STMT_EXECUTE INSERT INTO t VALUES (?)")
}

// Long data may begin a transaction on the source, in which the write would go on.
func TestLongDataBeginsNoTransactionWhilePaused(t *testing.T) {
	l := startLab(t, 1, admins)
	root, k := l.clientAs("root", "root_pw"), l.client()
	id := k.prepare("INSERT INTO t VALUES (?)")
	k.run("BEGIN")
	root.run("CAUSEWAY PAUSE WRITES FOR 600 SECONDS")
	l.forget()
	done := make(chan reply, 1)
	go func() {
		k.command(wire.ComStmtSendLongData, le(id)+"\x00\x00first")
		done <- k.execute(id, 0, typed)
	}()
	root.awaitStatus("Writes_waiting", "1")
	wantTexts(t, l.source)
	root.run("CAUSEWAY RESUME")
	if r := <-done; r.err != nil || !r.ok.Status.Has(wire.StatusInTrans) {
		t.Errorf("%v %v, status %x", r.err, r.lost, r.ok.Status)
	}
}

// Another server is the source: nothing runs on the one that has the data.
func TestLongDataAfterAFailover(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	id := l.sendsLong(k, "INSERT INTO t VALUES (?)")
	old := l.source
	l.source, l.replicas[0] = l.replicas[0], l.source
	l.publish()
	l.forget()
	if r := k.execute(id, 0, typed); r.err == nil || !strings.Contains(r.err.Message, "send it again") {
		t.Errorf("%v %v, %+v", r.err, r.lost, r.ok)
	}
	l.long(k, id)
	if r := k.execute(id, 0, typed); r.err != nil || r.lost != nil {
		t.Errorf("sent again: %v %v", r.err, r.lost)
	}
	wantTexts(t, old)
	if got := l.source.texts(); !slices.Contains(got, "COM_STMT_EXECUTE INSERT INTO t VALUES (?)") {
		t.Errorf("the new source was asked %q", got)
	}
}

// LAST_INSERT_ID() of a statement with long data, or of its triggers, is the session's.
func TestLongDataAndInsertID(t *testing.T) {
	for _, sql := range []string{"INSERT INTO t VALUES (?)", "INSERT INTO t VALUES (?, LAST_INSERT_ID())"} {
		t.Run(sql, func(t *testing.T) {
			l := startLab(t, 1, oneConnection)
			l.leavesInsertID()
			k := l.client()
			id := l.sendsLong(k, sql)
			l.forget()
			if r := k.execute(id, 0, typed); r.err != nil {
				t.Error(r.err)
			}
			wantTexts(t, l.source, "SET LAST_INSERT_ID=0", "COM_STMT_EXECUTE "+sql)
		})
	}
}

// A transaction that begins behind the data has the write in it.
func TestLongDataThenBegin(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	id := l.sendsLong(k, "INSERT INTO t VALUES (?)")
	l.forget()
	k.run("BEGIN")
	if r := k.execute(id, 0, typed); r.err != nil || !r.ok.Status.Has(wire.StatusInTrans) {
		t.Errorf("%v, status %x", r.err, r.ok.Status)
	}
	wantTexts(t, l.source, "BEGIN", "COM_STMT_EXECUTE INSERT INTO t VALUES (?)")
}

// The connection breaks under what runs there: the error has the number that the
// client waits for, and nothing is sent a second time without the data.
func TestLongDataOnAConnectionThatBreaks(t *testing.T) {
	for _, sql := range []string{"INSERT INTO t VALUES (?)", "SELECT a FROM t WHERE b=?"} {
		t.Run(sql, func(t *testing.T) {
			l := startLab(t, 1)
			k := l.client()
			id := l.sendsLong(k, sql)
			l.source.on("COM_STMT_EXECUTE", func(c *fakeConn, _ string) { c.hangUp() })
			if r := k.execute(id, 0, typed); r.err == nil || r.err.Code != wire.ErrNetRead {
				t.Errorf("%v %v", r.err, r.lost)
			}
			if r := k.query("SELECT a FROM t"); r.err != nil || r.lost != nil {
				t.Errorf("the next statement: %v %v", r.err, r.lost)
			}
		})
	}
}

// What was refused before it ran may be tried again: the data is still there.
func TestLongDataAfterARefusal(t *testing.T) {
	l := startLab(t, 1, admins, func(o *Options) { o.PauseEndRefuses = true })
	root, k := l.clientAs("root", "root_pw"), l.client()
	id := l.sendsLong(k, "INSERT INTO t VALUES (?)")
	root.run("CAUSEWAY PAUSE WRITES FOR 1 SECOND")
	time.Sleep(1100 * time.Millisecond)
	l.forget()
	if r := k.execute(id, 0, typed); r.err == nil || r.err.Code != wire.ErrOptionPreventsStmt {
		t.Errorf("%v %v", r.err, r.lost)
	}
	root.run("CAUSEWAY RESUME")
	if r := k.execute(id, 0, typed); r.err != nil {
		t.Error(r.err)
	}
	wantTexts(t, l.source, "COM_STMT_EXECUTE INSERT INTO t VALUES (?)")
}

// The connection that has a cursor breaks under FETCH.
func TestCursorBreaksUnderFetch(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	id := k.prepare("SELECT a FROM t")
	k.execute(id, 1, "")
	l.r().on("COM_STMT_FETCH", func(c *fakeConn, _ string) { c.hangUp() })
	k.command(wire.ComStmtFetch, le(id)+"\x01\x00\x00\x00")
	if r := k.answer(textValue); r.err == nil || r.err.Code != wire.ErrNetRead {
		t.Errorf("%v %v", r.err, r.lost)
	}
}
