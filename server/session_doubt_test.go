package server

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"causeway/wire"
)

// lostWrite makes the source hang up during INSERT. The thread lives on, and
// commits when it is killed for the times-th time.
func (l *lab) lostWrite(times int) {
	var thread atomic.Uint32
	var left atomic.Int64
	left.Store(int64(times))
	l.source.on("INSERT", func(c *fakeConn, _ string) {
		thread.Store(c.id)
		c.hangUp()
	})
	l.source.rule(func(c *fakeConn, text string) bool {
		if !strings.HasPrefix(text, "KILL ") || thread.Load() == 0 {
			return false
		}
		if left.Add(-1) == 0 {
			c.node.commit()
			c.node.mu.Lock()
			delete(c.node.threads, thread.Load())
			c.node.mu.Unlock()
		}
		c.ok()
		return true
	})
}

// lost are the threads that live on without a connection.
func (n *fakeNode) lost() (ids []uint32) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id := range n.threads {
		if n.conns[id] == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// endLost ends them, but for some.
func (n *fakeNode) endLost(but ...uint32) {
	for _, id := range n.lost() {
		if !slices.Contains(but, id) {
			n.mu.Lock()
			delete(n.threads, id)
			n.mu.Unlock()
		}
	}
}

// The answer to a write is lost: its thread is killed, and only when it is gone
// the position is asked for, which has what it committed in the meantime.
func TestDoubtIsResolved(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.MaxWait = loginTimeout })
	l.lostWrite(3)
	k := l.client()
	l.forget()
	k.wantError(wire.ErrNetRead, "not known", "INSERT INTO t VALUES (1)")
	texts := l.source.texts()
	var kills, gone, asked int
	for i, text := range texts {
		switch {
		case strings.HasPrefix(text, "KILL "):
			kills++
		case strings.Contains(text, "processlist"):
			gone = i
		case text == "SELECT @@global.gtid_executed":
			asked = i
		}
	}
	if kills != 3 || asked < gone || asked == 0 {
		t.Errorf("the source was asked %q", texts)
	}
	l.source.mu.Lock()
	inserts := 0
	for _, text := range texts {
		if hasPrefix(text, "INSERT") {
			inserts++
		}
	}
	l.source.mu.Unlock()
	if inserts != 1 {
		t.Errorf("the write was sent %d times", inserts)
	}
	if got := k.route("Token"); got != sourceUUID+":1-101" {
		t.Errorf("token %q lacks what the thread committed", got)
	}
	k.wantFrom("source", "SELECT a FROM t")
	l.apply()
	k.wantFrom("replica1", "SELECT a FROM t")
}

// As long as the outcome is not known, reads go to the source.
func TestDoubtIsNotResolved(t *testing.T) {
	l := startLab(t, 1)
	l.lostWrite(1 << 30)
	k := l.client()
	k.wantError(wire.ErrNetRead, "not known", "INSERT INTO t VALUES (1)")
	k.wantFrom("source", "SELECT a FROM t")
	if got := k.route("Reason"); got != "doubt" {
		t.Errorf("reason %q, want doubt", got)
	}
	l.source.endLost()
	l.apply()
	k.wantFrom("replica1", "SELECT a FROM t")
}

// Nobody can be asked: the session stays in doubt.
func TestDoubtWhileTheSourceRefuses(t *testing.T) {
	l := startLab(t, 1)
	l.lostWrite(1)
	k := l.client()
	l.source.mu.Lock()
	l.source.refuse = wire.NewError(wire.ErrTooManyConnections, "Too many connections")
	l.source.mu.Unlock()
	k.wantError(wire.ErrNetRead, "not known", "INSERT INTO t VALUES (1)")
	l.r().entries()
	if r := k.query("SELECT a FROM t"); r.err == nil {
		t.Errorf("answered by %q while in doubt", r.first())
	}
	if got := l.r().texts(); len(got) != 0 {
		t.Errorf("the replica was asked %q while in doubt", got)
	}
	l.source.mu.Lock()
	l.source.refuse = nil
	l.source.mu.Unlock()
	k.wantFrom("source", "SELECT a FROM t")
}

// A read whose answer is lost on the source leaves no doubt.
func TestLostReadLeavesNoDoubt(t *testing.T) {
	l := startLab(t, 1)
	l.source.on("SELECT a FROM t FOR UPDATE", func(c *fakeConn, _ string) { c.hangUp() })
	k := l.client()
	l.forget()
	k.wantError(wire.ErrNetRead, "not a write", "SELECT a FROM t FOR UPDATE")
	if got := l.source.texts(); slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "KILL") }) {
		t.Errorf("the source was asked %q", got)
	}
	k.wantFrom("replica1", "SELECT a FROM t")
}

// COMMIT lost: in doubt, and no transaction is open any more.
func TestLostCommit(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.MaxWait = loginTimeout })
	k := l.client()
	k.run("BEGIN", "INSERT INTO t VALUES (1)")
	l.source.on("COMMIT", func(c *fakeConn, _ string) {
		c.node.commit()
		c.hangUp()
	})
	k.wantError(wire.ErrNetRead, "not known", "COMMIT")
	if got := k.route("Token"); !strings.HasSuffix(got, ":1-101") {
		t.Errorf("token %q lacks the commit", got)
	}
	k.run("INSERT INTO t VALUES (2)") // no "transaction was lost"
}

// A write lost within a transaction: the transaction is gone with it.
func TestLostWriteInATransaction(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.MaxWait = loginTimeout })
	k := l.client()
	k.run("BEGIN")
	l.source.on("INSERT", func(c *fakeConn, _ string) { c.hangUp() })
	k.wantError(wire.ErrNetRead, "lost", "INSERT INTO t VALUES (1)")
	k.wantError(wire.ErrServerIsntAvailable, "transaction was lost", "UPDATE t SET a=1")
	k.run("ROLLBACK", "UPDATE t SET a=1")
}

// A write lost with sticky state ends the session, after its own error.
func TestLostWriteWithStickyState(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.MaxWait = loginTimeout })
	k := l.client()
	k.run("SET @a=(SELECT 1)")
	l.source.on("INSERT", func(c *fakeConn, _ string) { c.hangUp() })
	k.wantError(wire.ErrNetRead, "lost", "INSERT INTO t VALUES (1)")
	k.wantGone()
}

// A client that goes away lets its write finish: the node sees no KILL, and the
// answer is read to its end.
func TestClientLeavesDuringItsWrite(t *testing.T) {
	l := startLab(t, 1)
	started, finish, read := make(chan bool), make(chan bool), make(chan error, 1)
	l.source.on("INSERT", func(c *fakeConn, _ string) {
		started <- true
		<-finish
		one := c.node.commit()
		c.ok(func(ok *wire.OK) { ok.AffectedRows, ok.Track = 1, wire.AppendTrackGTIDs(nil, one) })
		c.ResetSequence()
		_, err := c.ReadPacket()
		read <- err // COM_QUIT of the pool, and not a reset
		c.closed = true
	})
	k := l.client()
	l.forget()
	k.command(wire.ComQuery, "INSERT INTO t VALUES (1)")
	<-started
	k.close()
	finish <- true
	l.stop() // which ends the idle connections
	if err := <-read; err != nil {
		t.Errorf("the connection was cut: %v", err)
	}
	if got := l.source.texts(); !slices.Equal(got, []string{"INSERT INTO t VALUES (1)"}) {
		t.Errorf("the source was asked %q", got)
	}
}

// A second write is lost while the first is in doubt: neither is forgotten. The
// thread of the first lives on and commits last.
func TestTwoDoubts(t *testing.T) {
	l := startLab(t, 1)
	first := uint32(0)
	l.source.on("INSERT", func(c *fakeConn, text string) {
		c.hangUp()
		if strings.Contains(text, "(1)") {
			first = c.id
			return
		}
		c.lingers = false
	})
	l.source.on("KILL", func(c *fakeConn, _ string) { c.ok() }) // it takes long
	k := l.client()
	k.wantError(wire.ErrNetRead, "not known", "INSERT INTO t VALUES (1)")
	k.wantError(wire.ErrNetRead, "not known", "INSERT INTO t VALUES (2)")
	l.apply()
	k.wantFrom("source", "SELECT a FROM t")
	if got := k.route("Reason"); got != "doubt" {
		t.Errorf("reason %q, want doubt", got)
	}
	k.wantError(wire.ErrServerIsntAvailable, "not known yet", "SELECT @causeway_token")
	l.source.commit() // by the first
	l.source.mu.Lock()
	delete(l.source.threads, first)
	l.source.mu.Unlock()
	k.wantFrom("source", "SELECT a FROM t")
	l.apply()
	k.wantFrom("replica1", "SELECT a FROM t")
	if got := k.route("Token"); got != sourceUUID+":1-101" {
		t.Errorf("token %q lacks what the first has committed", got)
	}
}
