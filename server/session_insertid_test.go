package server

import (
	"testing"
	"time"

	"causeway/wire"
)

// leavesInsertID lets one client leave an insert id of its own on the only
// connection to the source.
func (l *lab) leavesInsertID() *dbClient {
	l.source.on("INSERT INTO auto", func(c *fakeConn, _ string) {
		one := c.node.commit()
		c.ok(func(ok *wire.OK) { ok.AffectedRows, ok.LastInsertID, ok.Track = 1, 7, c.node.track(one) })
	})
	k := l.client()
	k.run("INSERT INTO auto VALUES (1)")
	return k
}

func oneConnection(o *Options) { o.Pool.Max = 1 }

// awaitBusy waits until a session runs a command, or none any more.
func (l *lab) awaitBusy(id uint32, busy bool) {
	l.srv.eachSession(func(x *session) {
		for x.id == id && (x.busySince.Load() != 0) != busy {
			time.Sleep(time.Millisecond)
		}
	})
}

// What was to travel before an INSERT that then was not sent travels before
// nothing else: a read's answer would be out of step, and its rows another's.
func TestInsertIDOfAnInsertThatWasNotSent(t *testing.T) {
	for how, fails := range map[string]func(l *lab, victim, other *dbClient, id uint32) reply{
		"killed while it waited": func(l *lab, victim, other *dbClient, id uint32) reply {
			other.run("BEGIN", "INSERT INTO auto VALUES (1)")
			l.awaitBusy(id, false)
			victim.command(wire.ComQuery, "INSERT INTO t VALUES (2)")
			l.awaitBusy(id, true)
			l.client().run("KILL QUERY " + decimal(id))
			other.run("COMMIT")
			return victim.answer(textValue)
		},
		"source lost": func(l *lab, victim, _ *dbClient, _ uint32) reply {
			l.source.on("SET SESSION autocommit", func(c *fakeConn, _ string) { c.hangUp() })
			return victim.query("INSERT INTO t VALUES (2)")
		},
	} {
		t.Run(how, func(t *testing.T) {
			l := startLab(t, 1, oneConnection)
			victim := l.client()
			id := l.idOf("app")
			other := l.leavesInsertID()
			l.apply()
			other.wantFrom("replica1", "SELECT a FROM t") // its state is not the victim's
			victim.run("SET autocommit=1")
			if r := fails(l, victim, other, id); r.err == nil {
				t.Fatalf("the INSERT was answered: %+v, %v", r.ok, r.lost)
			}
			l.apply()
			l.forget()
			l.r().on("SELECT secret", func(c *fakeConn, _ string) { c.rows(1, []string{"secret"}) })
			if r := victim.query("SELECT secret FROM t"); r.first() != "secret" {
				t.Errorf("its next read: %q, %v %v", r.rows, r.err, r.lost)
			}
			wantTexts(t, l.r(), "SET SESSION autocommit='ON'", "SELECT secret FROM t")
			other.wantFrom("replica1", "SELECT a FROM t")
		})
	}
}

// A KILL QUERY can hit what travels before a write: the write runs, and its answer
// is not taken for another's.
func TestInsertIDRefused(t *testing.T) {
	l := startLab(t, 1, oneConnection)
	l.leavesInsertID()
	l.apply()
	l.source.on("SET LAST_INSERT_ID", func(c *fakeConn, _ string) {
		c.node.commit() // as the INSERT does, which the doubt's KILL may come before
		c.fail(1317, "Query execution was interrupted")
	})
	k := l.client()
	k.wantError(wire.ErrNetRead, "not known", "INSERT INTO t VALUES (2)")
	k.wantFrom("source", "SELECT a FROM t")
	l.apply()
	k.wantFrom("replica1", "SELECT a FROM t")
}

// Triggers may ask for LAST_INSERT_ID(): each write has the session's. That costs no
// round trip, and nothing where the connection has it already.
func TestInsertIDForTriggers(t *testing.T) {
	l := startLab(t, 1, oneConnection)
	l.leavesInsertID()
	k := l.client()
	id := k.prepare("DELETE FROM t WHERE a=?")
	l.forget()
	k.run("UPDATE t SET a=1", "UPDATE t SET a=2")
	k.execute(id, 0, typed)
	wantTexts(t, l.source, "SET LAST_INSERT_ID=0", "UPDATE t SET a=1", "UPDATE t SET a=2", "COM_STMT_EXECUTE DELETE FROM t WHERE a=?")
}
