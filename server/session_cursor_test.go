package server

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/backend"
	"causeway/wire"
)

// keeps makes a node keep cursors and long data with its statements as MySQL does,
// and answer as 9.7 does a statement that had a cursor: its execution without one by
// columns and an OK, which no client can read. Each cursor has one row and then more.
func (n *fakeNode) keeps() {
	type at struct{ conn, id uint32 }
	var mu sync.Mutex
	open, long, opened := map[at]string{}, map[at]string{}, 0
	n.rule(func(c *fakeConn, text string) bool {
		mu.Lock()
		defer mu.Unlock()
		cmd := wire.Command(c.payload[0])
		if !strings.HasPrefix(cmd.String(), "COM_STMT_") || cmd == wire.ComStmtPrepare {
			return false
		}
		here := at{c.id, stmtID(c.payload)}
		_, known := c.stmts[here.id]
		had, executed := open[here]
		switch {
		case cmd == wire.ComStmtClose:
			delete(open, here)
			delete(long, here)
			return false
		case !known:
			c.fail(wire.ErrUnknownStmtHandler, "Unknown prepared statement handler")
		case cmd == wire.ComStmtSendLongData:
			long[here] += string(c.payload[7:])
		case cmd == wire.ComStmtFetch && had == "":
			c.fail(errNoOpenCursor, "no open cursor")
		case cmd == wire.ComStmtFetch:
			c.send(binaryRow(had), wire.OK{Header: wire.HeaderEOF, Status: c.status | wire.StatusCursorExists}.Append(nil, c.caps))
		case cmd != wire.ComStmtExecute:
			return false
		case long[here] != "" && !hasPrefix(text, "COM_STMT_EXECUTE SELECT"):
			n.note(c, "data "+long[here])
			delete(long, here)
			c.ok()
		case c.payload[5]&1 != 0:
			opened++
			open[here] = fmt.Sprint("cursor ", opened)
			return false
		case executed:
			c.send([]byte{1}, wire.AppendColumn(nil, wire.Column{Name: "c", Type: wire.TypeVarString}), wire.OK{Status: c.status}.Append(nil, c.caps))
		default:
			return false
		}
		return true
	})
}

func (k *dbClient) longData(id uint32, data string) {
	k.command(wire.ComStmtSendLongData, le(id)+"\x00\x00"+data)
}

func (k *dbClient) wantFetched(id uint32, want string) {
	k.t.Helper()
	k.command(wire.ComStmtFetch, le(id)+"\x01\x00\x00\x00")
	if r := k.readRows(reply{}, 1, binaryValue); r.first() != want || r.err != nil || r.lost != nil {
		k.t.Errorf("fetched %q (%v, %v), want %q", r.first(), r.err, r.lost, want)
	}
}

func (k *dbClient) opensCursor(id uint32) {
	k.t.Helper()
	if r := k.execute(id, 1, ""); r.err != nil || r.lost != nil || !r.ok.Status.Has(wire.StatusCursorExists) {
		k.t.Fatalf("%v %v, status %x", r.err, r.lost, r.ok.Status)
	}
}

// soon fails a client's answers that do not come.
func (k *dbClient) soon() *dbClient {
	k.c.SetDeadline(time.Now().Add(5 * time.Second))
	return k
}

// Two statements of one text are two: each has its own cursor, whatever the client
// does with the other.
func TestTwoCursorsOfOneText(t *testing.T) {
	l := startLab(t, 1)
	l.r().keeps()
	k := l.client().soon()
	one, two := k.prepare("SELECT a FROM t"), k.prepare("SELECT a FROM t")
	k.opensCursor(one)
	k.opensCursor(two)
	k.wantFetched(one, "cursor 1")
	k.wantFetched(two, "cursor 2")
	k.prepare("SELECT a FROM t")
	k.command(wire.ComStmtClose, le(two))
	k.wantExecuted("replica1", k.prepare("SELECT a FROM t"), "")
	k.wantFetched(one, "cursor 1")
}

// A statement that had a cursor is executed without one: by the same client, and by
// another that has prepared the same text on the same connection.
func TestExecutedAfterACursor(t *testing.T) {
	for _, ends := range []string{"executed", "reset", "closed", "left"} {
		t.Run(ends, func(t *testing.T) {
			l := startLab(t, 1, func(o *Options) { o.Pool.Max = 1 })
			l.r().keeps()
			k, other := l.client().soon(), l.client().soon()
			k.t, other.t = t, t
			id, others := k.prepare("SELECT a FROM t"), other.prepare("SELECT a FROM t")
			k.opensCursor(id)
			switch ends {
			case "reset":
				k.command(wire.ComStmtReset, le(id))
				if r := k.answer(textValue); r.err != nil || r.lost != nil {
					t.Errorf("reset: %v %v", r.err, r.lost)
				}
			case "closed":
				k.command(wire.ComStmtClose, le(id))
				k.run("SET autocommit=1")
				id = k.prepare("SELECT a FROM t")
			}
			if ends == "left" {
				k.close()
			} else {
				k.wantExecuted("replica1", id, "")
			}
			other.wantExecuted("replica1", others, "")
		})
	}
}

// PREPARE, EXECUTE with a cursor and CLOSE, again and again, cost no more commands
// than that, and leave nothing open on the server.
func TestCursorCostsNothing(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.wantFrom("replica1", "SELECT a FROM t")
	l.forget()
	for range 3 {
		id := k.prepare("SELECT a FROM t")
		k.opensCursor(id)
		k.wantFetched(id, "replica1") // the last row
		k.command(wire.ComStmtClose, le(id))
	}
	k.wantFrom("replica1", "SELECT a FROM t")
	got := l.r().texts()
	for cmd, want := range map[string]int{"PREPARE": 3, "EXECUTE": 3, "FETCH": 3, "CLOSE": 3} {
		if n := strings.Count(strings.Join(got, ";"), "COM_STMT_"+cmd); n != want {
			t.Errorf("%s: %d, want %d: %q", cmd, n, want, got)
		}
	}
}

// A server need not keep the rows of a cursor that the client has given up.
func TestCursorGivenUp(t *testing.T) {
	for _, cmd := range []wire.Command{wire.ComStmtReset, wire.ComStmtClose} {
		l := startLab(t, 1)
		l.r().keeps()
		k := l.client()
		id := k.prepare("SELECT a FROM t")
		k.opensCursor(id)
		k.command(cmd, le(id))
		closed := func() bool { return slices.Contains(l.r().texts(), "COM_STMT_CLOSE SELECT a FROM t") }
		for end := time.Now().Add(5 * time.Second); !closed(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%v closed nothing on the server", cmd)
			}
		}
	}
}

// Long data belongs to the statement that it was sent for, not to others of its text.
func TestLongDataOfOneText(t *testing.T) {
	for _, when := range []string{"before", "after"} {
		t.Run(when, func(t *testing.T) {
			l := startLab(t, 1)
			l.source.keeps()
			k := l.client().soon()
			k.t = t
			const text = "INSERT INTO t VALUES (?)"
			one, two := k.prepare(text), uint32(0)
			if when == "before" {
				two = k.prepare(text)
			}
			k.longData(one, "of ")
			if when == "after" {
				two = k.prepare(text)
			}
			k.longData(one, "one")
			l.forget()
			for i, id := range []uint32{two, one, one} {
				if r := k.execute(id, 0, typed); r.err != nil || r.lost != nil {
					t.Fatalf("%v %v", r.err, r.lost)
				}
				if got := slices.Contains(l.source.texts(), "data of one"); got != (i == 1) {
					t.Errorf("execution %d had the data: %v", i, got)
				}
			}
		})
	}
}

// An execution with long data can open a cursor as well.
func TestCursorWithLongData(t *testing.T) {
	l := startLab(t, 1)
	l.source.keeps()
	k := l.client().soon()
	id := k.prepare("SELECT a FROM t WHERE b=?")
	k.longData(id, "x")
	if r := k.execute(id, 1, typed); !r.ok.Status.Has(wire.StatusCursorExists) {
		t.Fatalf("%v %v", r.err, r.lost)
	}
	k.wantFetched(id, "cursor 1")
	k.longData(id, "y") // another execution is to come: the cursor has had its time
	k.wantExecuted("source", id, typed)
	k.wantExecuted("replica1", id, typed)
}

// Data that goes on where the connection with its beginning was lost is not sent on
// to another one, where it would be stored without the beginning.
func TestLongDataLostInTheMiddle(t *testing.T) {
	l := startLab(t, 1)
	l.source.keeps()
	k := l.client().soon()
	id := k.prepare("INSERT INTO t VALUES (?)")
	k.longData(id, "first")
	k.run("INSERT INTO t VALUES (0)") // the data has arrived
	l.source.closeConns()
	k.run("INSERT INTO t VALUES (0)") // a new connection
	k.longData(id, "second")
	l.forget()
	if r := k.execute(id, 0, typed); r.err == nil {
		t.Errorf("executed with a part of its data: %q", l.source.texts())
	}
	if r := k.execute(id, 0, typed); r.err != nil {
		t.Errorf("the next execution: %v", r.err)
	}
}

// A connection with an open cursor is kept, whatever else the session does.
func TestCursorStaysOpen(t *testing.T) {
	for name, meanwhile := range map[string]func(l *lab, k *dbClient){
		"COM_SET_OPTION": func(_ *lab, k *dbClient) {
			k.command(wire.ComSetOption, "\x00\x00")
			if p, err := k.c.ReadPacket(); err != nil || wire.IsErr(p) {
				k.t.Errorf("% x, %v", p, err)
			}
		},
		"SET GLOBAL": func(l *lab, k *dbClient) {
			l.publish(func(v *backend.View) { v.Source.DefaultsSeq++ })
			k.wantFrom("replica1", "SELECT b FROM t")
		},
		"no schema": func(l *lab, k *dbClient) {
			l.source.on("DROP DATABASE", func(c *fakeConn, _ string) {
				c.db = ""
				c.ok(func(ok *wire.OK) { ok.Track = wire.AppendTrackSchema(nil, "") })
			})
			k.run("DROP DATABASE d")
			l.apply()
			k.run("SELECT b FROM t")
		},
		"a transaction whose first read the replica cannot answer": func(l *lab, k *dbClient) {
			l.r().on("SELECT fresh", func(c *fakeConn, _ string) { c.fail(wire.ErrNoSuchTable, "no such table") })
			k.run("START TRANSACTION READ ONLY")
			k.wantFrom("source", "SELECT fresh FROM t")
			k.run("COMMIT")
		},
		"many statements": func(_ *lab, k *dbClient) {
			for i := range 5 {
				k.wantExecuted("replica1", k.prepare(fmt.Sprintf("SELECT %d FROM t", i)), "")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := startLab(t, 1, func(o *Options) { o.Pool.Statements = 2 })
			l.r().keeps()
			k := l.client().soon()
			k.t = t
			id := k.prepare("SELECT a FROM t")
			k.opensCursor(id)
			k.wantFetched(id, "cursor 1")
			meanwhile(l, k)
			k.wantFetched(id, "cursor 1")
		})
	}
}
