package server

import (
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/backend"
	"causeway/wire"
)

// hang has a node answer a command never, and everybody know that it hangs.
func (l *lab) hang(n *fakeNode, command string) (asked chan bool) {
	asked = make(chan bool, 10)
	release := make(chan bool)
	l.t.Cleanup(func() { close(release) })
	n.on(command, func(c *fakeConn, _ string) {
		asked <- true
		<-release
		c.hangUp()
	})
	return asked
}

func seenHanging(addr string) func(v *backend.View) {
	hangs := func(n *backend.Node) *backend.Node {
		if n == nil || n.Addr != addr {
			return n
		}
		m := *n
		m.Up, m.PositionAt, m.LastAnswer, m.Exclude = false, time.Now().Add(-time.Minute), time.Now().Add(-time.Minute), "down"
		return &m
	}
	return func(v *backend.View) {
		v.Source = hangs(v.Source)
		for _, list := range [][]*backend.Node{v.Replicas, v.Nodes} {
			for i, n := range list {
				list[i] = hangs(n)
			}
		}
	}
}

// A replica hangs at what is sent before the statement: another server answers.
func TestReplicaHangsAtBegin(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	asked := l.hang(l.r(), "START TRANSACTION READ ONLY")
	k.run("START TRANSACTION READ ONLY")
	k.command(wire.ComQuery, "SELECT a FROM t")
	<-asked
	l.publish(seenHanging(l.r().addr()))
	if r := k.answer(textValue); r.first() != "source" {
		t.Errorf("answered by %q (%v, %v)", r.first(), r.err, r.lost)
	}
}

// The source hangs at BEGIN and another one takes its place: what BEGIN was for runs there.
func TestSourceHangsAtBegin(t *testing.T) {
	for _, first := range []string{"SELECT a FROM t FOR UPDATE", "INSERT INTO t VALUES (2)"} {
		l := startLab(t, 1)
		k := l.client()
		k.run("INSERT INTO t VALUES (1)")
		l.apply()
		asked := l.hang(l.source, "BEGIN")
		k.run("BEGIN")
		k.command(wire.ComQuery, first)
		<-asked
		l.failOver(seenHanging(l.source.addr()))
		if r := k.answer(textValue); r.err != nil || r.lost != nil {
			t.Errorf("%s: %v, %v", first, r.err, r.lost)
		}
		if got := l.source.texts(); len(got) < 2 || got[len(got)-2] != "BEGIN" {
			t.Errorf("%s: the new source was asked %q", first, got)
		}
	}
}

// KILL ends who waits for BEGIN, and what BEGIN was for runs nowhere.
func TestKillWhileBeginHangs(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.Pool.Max = 2 })
	l.source.on("KILL", func(c *fakeConn, _ string) { c.hangUp() }) // it does not answer that either
	k, killer := l.client(), l.client()
	id := k.query("SELECT CONNECTION_ID()").first()
	asked := l.hang(l.source, "BEGIN")
	k.run("BEGIN")
	k.command(wire.ComQuery, "INSERT INTO t VALUES (1)")
	<-asked
	killer.run("KILL " + id)
	k.wantGone()
	for end := time.Now().Add(loginTimeout); ; time.Sleep(time.Millisecond) {
		n := 0
		l.srv.eachSession(func(*session) { n++ })
		if n == 1 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the session is still there")
		}
	}
	if got := l.source.texts(); slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "INSERT") }) {
		t.Errorf("the source was asked %q", got)
	}
}
