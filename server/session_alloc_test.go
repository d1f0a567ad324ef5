package server

import (
	"testing"

	"causeway/backend"
	"causeway/wire"
)

// benchSession is a session whose client and replica are memory, so that only
// the session's own work is measured.
type benchSession struct {
	*session
	client, replica *pieces
	conn            *backend.Conn
	command, answer []byte
	in, out         [1][]byte
}

func newBenchSession(t testing.TB, l *lab, caps wire.Capability, command []byte) *benchSession {
	b := &benchSession{client: &pieces{discard: true}, replica: &pieces{discard: true}, command: framed(0, command)}
	b.answer = framed(1, answer(t, "n1 d r fe")...)
	login := &Login{User: "app", Database: "db", Caps: caps | wire.CapProtocol41}
	b.session = newSession(l.srv, wire.NewConn(b.client), login, 1)
	n := l.mon.View().Replicas[0]
	c := &backend.Conn{Conn: wire.NewConn(b.replica), Node: n, Caps: backendCaps}
	c.SetState(b.state)
	l.srv.pools.Adopt(c, b.want(n, false))
	b.conn = c
	b.in[0], b.out[0] = make([]byte, len(b.command)), make([]byte, len(b.answer))
	return b
}

// once runs the whole way of one command.
func (b *benchSession) once(t testing.TB) {
	b.in[0], b.out[0] = b.in[0][:len(b.command):cap(b.in[0])], b.out[0][:len(b.answer):cap(b.out[0])]
	copy(b.in[0], b.command)
	copy(b.out[0], b.answer)
	b.client.in, b.replica.in = b.in[:], b.out[:]
	in, out := b.in[0], b.out[0]
	b.session.client.ResetSequence()
	f, err := b.session.client.ReadFrame()
	if err == nil {
		err = b.serve(f)
	}
	if err != nil {
		t.Fatal(err)
	}
	b.in[0], b.out[0] = in, out
}

// maxReadAllocs is what a plain read of a known digest may allocate on its way
// through a session.
const maxReadAllocs = 0

func TestSessionReadAllocations(t *testing.T) {
	skipUnderRace(t)
	l := startLab(t, 1)
	for kind, caps := range clientKinds {
		b := newBenchSession(t, l, caps, []byte("\x03SELECT c FROM sbtest1 WHERE id=4711"))
		defer b.cancel()
		b.once(t)
		if b.route.reason != reasonRead {
			t.Fatalf("went by %v", b.route.reason)
		}
		if n := testing.AllocsPerRun(200, func() { b.once(t) }); n > maxReadAllocs {
			t.Errorf("%s client: %v allocations, want at most %d", kind, n, maxReadAllocs)
		} else {
			t.Logf("%s client: %v allocations", kind, n)
		}
	}
}

func TestSessionExecuteAllocations(t *testing.T) {
	skipUnderRace(t)
	l := startLab(t, 1)
	b := newBenchSession(t, l, modern, []byte("\x17\x01\x00\x00\x00\x00\x01\x00\x00\x00"+untyped))
	defer b.cancel()
	class := l.srv.opts.Classifier.Classify([]byte("SELECT c FROM sbtest1 WHERE id=?"), b.mode)
	shared := l.srv.shared.get([]byte("SELECT c FROM sbtest1 WHERE id=?"), class, b.state.Binding(), 0)
	b.stmts = map[uint32]*stmt{1: {id: 1, sharedStmt: shared, params: 1}}
	b.conn.AddStatement(&shared.Statement, 7)
	b.once(t)
	if n := testing.AllocsPerRun(200, func() { b.once(t) }); n > maxReadAllocs {
		t.Errorf("%v allocations, want at most %d", n, maxReadAllocs)
	} else {
		t.Logf("%v allocations", n)
	}
}

func BenchmarkSessionRead(b *testing.B) {
	l := startLab(b, 1)
	s := newBenchSession(b, l, modern, []byte("\x03SELECT c FROM sbtest1 WHERE id=4711"))
	defer s.cancel()
	b.ReportAllocs()
	for b.Loop() {
		s.once(b)
	}
}

// skipUnderRace: with the race detector a sync.Pool forgets at random.
func skipUnderRace(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("allocations are not those of a normal build")
	}
}
