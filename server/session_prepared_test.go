package server

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"causeway/wire"
)

// prepare prepares a statement and returns its id, 0 if that failed.
func (k *dbClient) prepare(sql string) uint32 {
	k.t.Helper()
	k.command(wire.ComStmtPrepare, sql)
	p, err := k.c.ReadPacket()
	if err != nil || wire.IsErr(p) {
		k.t.Errorf("PREPARE of %s: % x, %v", sql, p, err)
		return 0
	}
	id, columns, params, _, err := wire.ParsePrepareOK(p)
	if err != nil {
		k.t.Errorf("PREPARE of %s: %v", sql, err)
		return 0
	}
	for _, n := range []uint16{params, columns} {
		for range n {
			k.c.ReadPacket()
		}
		if n > 0 && !k.caps.Has(wire.CapDeprecateEOF) {
			if p, err := k.c.ReadPacket(); err != nil || !wire.IsEOF(p) {
				k.t.Errorf("PREPARE of %s: % x, %v in place of an EOF", sql, p, err)
			}
		}
	}
	return id
}

// binaryValue reads a row of one text column.
func binaryValue(p []byte) (string, []byte, bool) {
	if len(p) < 2 {
		return "", nil, false
	}
	return textValue(p[2:])
}

func le(id uint32) string { return string(binary.LittleEndian.AppendUint32(nil, id)) }

// typed and untyped are the parameters of an execution: one BIGINT, 1, with and
// without its type.
const (
	typed   = "\x00\x01\x08\x00\x01\x00\x00\x00\x00\x00\x00\x00"
	untyped = "\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00"
)

func (k *dbClient) execute(id uint32, flags byte, params string) reply {
	k.command(wire.ComStmtExecute, le(id)+string(flags)+"\x01\x00\x00\x00"+params)
	return k.answer(binaryValue)
}

func (k *dbClient) wantExecuted(node string, id uint32, params string) {
	k.t.Helper()
	if r := k.execute(id, 0, params); r.first() != node || r.err != nil || r.lost != nil {
		k.t.Errorf("executed by %q (%v, %v), want %s", r.first(), r.err, r.lost, node)
	}
}

func TestPreparedReadsGoWhereTheirExecutionBelongs(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	l.forget()
	id := k.prepare("SELECT a FROM t WHERE b=?")
	k.wantExecuted("replica1", id, typed)
	wantTexts(t, l.r(), "COM_STMT_PREPARE SELECT a FROM t WHERE b=?", "COM_STMT_EXECUTE SELECT a FROM t WHERE b=?")
	k.run("INSERT INTO t VALUES (1)")
	k.wantExecuted("source", id, typed)
	l.apply()
	k.wantExecuted("replica1", id, typed)
	k.run("BEGIN")
	k.wantExecuted("source", id, typed)
	k.run("COMMIT")
	wantTexts(t, l.r(), "COM_STMT_EXECUTE SELECT a FROM t WHERE b=?")
	prepared := 0
	for _, text := range l.source.texts() {
		if strings.HasPrefix(text, "COM_STMT_PREPARE") {
			prepared++
		}
	}
	if prepared != 1 {
		t.Errorf("prepared %d times on the source, want once", prepared)
	}
}

func TestPreparedForOlderClients(t *testing.T) {
	l := startLab(t, 1)
	k := l.oldClient()
	k.wantExecuted("replica1", k.prepare("SELECT a FROM t WHERE b=?"), typed)
	k.wantExecuted("replica1", k.prepare("SELECT a FROM t"), "")
}

// The ids are the session's own, whatever the servers call them.
func TestPreparedIDs(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	first, second := k.prepare("SELECT a FROM t"), k.prepare("SELECT b FROM t")
	if first != 1 || second != 2 {
		t.Errorf("ids %d and %d, want 1 and 2", first, second)
	}
	l.forget()
	k.wantExecuted("replica1", second, "")
	k.wantExecuted("replica1", first, "")
	wantTexts(t, l.r(), "COM_STMT_EXECUTE SELECT b FROM t", "COM_STMT_EXECUTE SELECT a FROM t")
}

// The types of parameters are sent once; a connection that has not seen them
// gets them with the execution.
func TestPreparedTypesAreSentAgain(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	id := k.prepare("SELECT a FROM t WHERE b=?")
	k.wantExecuted("replica1", id, typed)
	k.wantExecuted("replica1", id, untyped)
	k.run("BEGIN")
	k.wantExecuted("source", id, untyped)
	if got := l.source.lastExecute(); got != typed {
		t.Errorf("the source got % x, want % x", got, typed)
	}
	k.wantExecuted("source", id, untyped)
	if got := l.source.lastExecute(); got != untyped {
		t.Errorf("the source got % x the second time, want % x", got, untyped)
	}
}

// A statement keeps the schema of its PREPARE.
func TestPreparedKeepsItsSchema(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	id := k.prepare("INSERT INTO t VALUES (1)")
	k.run("USE other")
	sel := k.prepare("SELECT a FROM t")
	k.run("USE third")
	l.forget()
	if r := k.execute(id, 0, ""); r.err != nil {
		t.Error(r.err)
	}
	l.apply()
	l.r().closeConns() // the replica must prepare it again
	l.forget()
	k.wantExecuted("replica1", sel, "")
	got := strings.Join(l.r().texts(), "; ")
	if want := "COM_INIT_DB other; COM_STMT_PREPARE SELECT a FROM t; COM_INIT_DB third; COM_STMT_EXECUTE SELECT a FROM t"; !strings.HasSuffix(got, want) {
		t.Errorf("the replica was asked %q, want it to end in %q", got, want)
	}
}

func TestPreparedUnknownIDs(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	for cmd, want := range map[wire.Command]bool{wire.ComStmtExecute: true, wire.ComStmtReset: true, wire.ComStmtFetch: true} {
		k.command(cmd, le(99)+"\x00\x01\x00\x00\x00")
		if r := k.answer(textValue); (r.err != nil && r.err.Code == wire.ErrUnknownStmtHandler) != want {
			t.Errorf("%v: %v %v", cmd, r.err, r.lost)
		}
	}
	k.command(wire.ComStmtClose, le(99)) // no answer
	k.command(wire.ComStmtSendLongData, le(99)+"\x00\x00abc")
	k.command(wire.ComStmtExecute, "")
	if r := k.answer(textValue); r.err == nil {
		t.Error("an execution without an id was answered")
	}
	k.wantFrom("replica1", "SELECT a FROM t")
}

func TestPreparedClosed(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	id := k.prepare("SELECT a FROM t")
	k.wantExecuted("replica1", id, "")
	k.command(wire.ComStmtClose, le(id))
	if r := k.execute(id, 0, ""); r.err == nil || r.err.Code != wire.ErrUnknownStmtHandler {
		t.Errorf("a closed statement: %v %v", r.err, r.lost)
	}
	l.forget()
	other := l.client()
	other.wantExecuted("replica1", other.prepare("SELECT a FROM t"), "")
	if got := l.r().texts(); slices.Contains(got, "COM_STMT_CLOSE SELECT a FROM t") && len(got) > 3 {
		t.Errorf("what the next client prepares is not there any more: %q", got)
	}
}

// Ids wrap, and one that is in use is passed over.
func TestPreparedIDsWrap(t *testing.T) {
	s := &session{nextStmt: 1<<32 - 2, stmts: map[uint32]*stmt{1: {}, 2: {}}}
	for _, want := range []uint32{1<<32 - 1, 3, 4} {
		if got := s.newStmtID(); got != want {
			t.Errorf("id %d, want %d", got, want)
		}
	}
}

// Long data goes on at once, and the execution follows it.
func TestPreparedLongData(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	id := k.prepare("SELECT a FROM t WHERE b=?")
	l.forget()
	k.command(wire.ComStmtSendLongData, le(id)+"\x00\x00first")
	k.command(wire.ComStmtSendLongData, le(id)+"\x00\x00second")
	k.wantExecuted("source", id, typed)
	wantTexts(t, l.source, "COM_STMT_PREPARE SELECT a FROM t WHERE b=?", "COM_STMT_SEND_LONG_DATA SELECT a FROM t WHERE b=?",
		"COM_STMT_SEND_LONG_DATA SELECT a FROM t WHERE b=?", "COM_STMT_EXECUTE SELECT a FROM t WHERE b=?")
	k.wantExecuted("replica1", id, typed)
}

// A parameter that was sent as long data has no value in the execution: the attributes
// behind it are read where they are.
func TestAttributesBehindLongData(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.MaxKeys = 100 })
	k, b := l.client(wire.CapQueryAttributes), l.client()
	id := k.prepare("INSERT INTO t VALUES (?)")
	const head = "\x03\x00\x01" + "\xfe\x00\x00" + "\xfe\x00\x0ccauseway_key" + "\xfe\x00\x05other"
	for key, long := range map[string]bool{"k": true, "q": false} {
		values := "\x01" + key + "\x01o"
		if long {
			k.command(wire.ComStmtSendLongData, le(id)+"\x00\x00first")
		} else {
			values = "\x01x" + values
		}
		if r := k.execute(id, paramCountAvailable, head+values); r.err != nil {
			t.Fatal(r.err)
		}
		b.wantFrom("replica1", "SELECT a FROM t /*causeway_key='o'*/")
		b.wantFrom("source", "SELECT a FROM t /*causeway_key='"+key+"'*/")
		l.apply()
	}
	k.command(wire.ComStmtSendLongData, le(id)+"\x00\x00first")
	if r := k.execute(id, paramCountAvailable, "\x02\x00\x01"+"\xfe\x00\x00"+"\xfe\x00\x0ccauseway_key"+"\x05k"); r.err == nil || r.err.Code != wire.ErrWrongValueForVar {
		t.Errorf("a key that is not all there: %v", r.err)
	}
}

// The connection that had the data is lost: the client must send it again.
func TestPreparedLongDataLost(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	id := k.prepare("INSERT INTO t VALUES (?)")
	k.command(wire.ComStmtSendLongData, le(id)+"\x00\x00first")
	k.run("INSERT INTO t VALUES (0)") // the data has arrived
	l.source.closeConns()
	k.run("INSERT INTO t VALUES (0)") // a new connection
	if r := k.execute(id, 0, typed); r.err == nil || !strings.Contains(r.err.Message, "send it again") {
		t.Errorf("got %v %v", r.err, r.lost)
	}
	if r := k.execute(id, 0, typed); r.err != nil {
		t.Errorf("the next execution: %v", r.err)
	}
}

func TestPreparedCursor(t *testing.T) {
	for kind, k := range map[string]func(*lab) *dbClient{"modern": func(l *lab) *dbClient { return l.client() }, "old": (*lab).oldClient} {
		t.Run(kind, func(t *testing.T) {
			l := startLab(t, 1)
			k := k(l)
			k.t = t
			id := k.prepare("SELECT a FROM t")
			if r := k.execute(id, 1, ""); r.err != nil || !r.ok.Status.Has(wire.StatusCursorExists) || len(r.rows) != 0 {
				t.Fatalf("%v %v, status %x", r.err, r.lost, r.ok.Status)
			}
			k.command(wire.ComStmtFetch, le(id)+"\x01\x00\x00\x00")
			r := k.readRows(reply{}, 1, binaryValue)
			if r.first() != "replica1" || !r.ok.Status.Has(wire.StatusLastRowSent) {
				t.Errorf("fetched %q, %v, status %x", r.rows, r.err, r.ok.Status)
			}
			k.command(wire.ComStmtReset, le(id))
			if r := k.answer(textValue); r.err != nil || r.lost != nil {
				t.Errorf("reset: %v %v", r.err, r.lost)
			}
			k.command(wire.ComStmtFetch, le(id)+"\x01\x00\x00\x00")
			if r := k.answer(textValue); r.err == nil || r.err.Code != errNoOpenCursor {
				t.Errorf("fetch after reset: %v %v", r.err, r.lost)
			}
			k.wantExecuted("replica1", id, "")
		})
	}
}

// The cursor's connection is lost, and a new one to the same node is in its place.
func TestPreparedCursorLost(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	id := k.prepare("SELECT a FROM t")
	k.execute(id, 1, "")
	l.r().closeConns()
	k.wantFrom("replica1", "SELECT a FROM t")
	k.command(wire.ComStmtFetch, le(id)+"\x01\x00\x00\x00")
	if r := k.answer(textValue); r.err == nil {
		t.Errorf("fetched %q", r.rows)
	}
	l.forget()
	k.wantFrom("replica1", "SELECT a FROM t")
	k.wantExecuted("replica1", id, "")
	if n := len(l.r().texts()); n != 3 { // SELECT, PREPARE, EXECUTE on the new connection
		t.Errorf("the replica was asked %d times, want 3", n)
	}
}

func TestPreparedPrepareFails(t *testing.T) {
	l := startLab(t, 1)
	l.r().on("COM_STMT_PREPARE", func(c *fakeConn, _ string) { c.fail(1064, "syntax") })
	l.source.on("COM_STMT_PREPARE", func(c *fakeConn, _ string) { c.fail(1064, "syntax") })
	k := l.client()
	k.command(wire.ComStmtPrepare, "SELECT bad")
	if r := k.answer(textValue); r.err == nil || r.err.Code != 1064 {
		t.Errorf("%v %v", r.err, r.lost)
	}
	if r := k.execute(1, 0, ""); r.err == nil || r.err.Code != wire.ErrUnknownStmtHandler {
		t.Errorf("%v %v", r.err, r.lost)
	}
}

// A replica that does not know the table yet cannot prepare: the source does.
func TestPreparedOnTheSourceWhenTheReplicaCannot(t *testing.T) {
	l := startLab(t, 1)
	l.r().on("COM_STMT_PREPARE", func(c *fakeConn, _ string) { c.fail(1146, "no such table") })
	k := l.client()
	id := k.prepare("SELECT a FROM fresh")
	if r := k.execute(id, 0, ""); r.first() != "source" {
		t.Errorf("executed by %q, %v %v", r.first(), r.err, r.lost)
	}
}

// PREPARE in a read-only transaction runs nothing: the transaction goes on.
func TestPreparedInReadOnlyTransaction(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("START TRANSACTION READ ONLY")
	k.wantFrom("replica1", "SELECT a FROM t")
	l.forget()
	l.r().on("COM_STMT_PREPARE INSERT", func(c *fakeConn, _ string) { c.fail(wire.ErrReadOnlyTransaction, "read only") })
	k.command(wire.ComStmtPrepare, "INSERT INTO t VALUES (?)")
	if r := k.answer(textValue); r.err == nil || r.err.Code != wire.ErrReadOnlyTransaction {
		t.Errorf("PREPARE of an INSERT: %v %v", r.err, r.lost)
	}
	ddl := k.prepare("CREATE TABLE u (a INT)")
	wantTexts(t, l.r(), "COM_STMT_PREPARE INSERT INTO t VALUES (?)")
	k.wantFrom("replica1", "SELECT a FROM t")
	l.forget()
	if r := k.execute(ddl, 0, ""); r.err != nil {
		t.Errorf("CREATE TABLE: %v", r.err)
	}
	wantTexts(t, l.r(), "COMMIT AND NO CHAIN NO RELEASE")
}

func TestPreparedAfterReset(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	id := k.prepare("SELECT a FROM t")
	k.command(wire.ComResetConnection, "")
	k.answer(textValue)
	if r := k.execute(id, 0, ""); r.err == nil || r.err.Code != wire.ErrUnknownStmtHandler {
		t.Errorf("%v %v", r.err, r.lost)
	}
}
