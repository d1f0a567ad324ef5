package backend

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/gtid"
	"causeway/wire"
)

const testCaps = wire.CapProtocol41 | wire.CapSessionTrack | wire.CapDeprecateEOF

// memory is a net.Conn that answers with in, then EOF, and keeps what is sent.
type memory struct {
	net.Conn // nil: nothing else is called
	in       []byte
	out      bytes.Buffer
	writes   int
}

func (m *memory) Read(b []byte) (int, error) {
	if len(m.in) == 0 {
		return 0, io.EOF
	}
	n := copy(b, m.in)
	m.in = m.in[n:]
	return n, nil
}

func (m *memory) Write(b []byte) (int, error) {
	m.writes++
	return m.out.Write(b)
}

func (*memory) Close() error                { return nil }
func (*memory) SetDeadline(time.Time) error { return nil }

// answers frames one answer: numbers from 1 on.
func answers(payloads ...[]byte) []byte {
	var b []byte
	for i, p := range payloads {
		b = append(wire.AppendHeader(b, len(p), uint8(i+1)), p...)
	}
	return b
}

func okay(status wire.Status) []byte {
	return wire.OK{Status: status | wire.StatusAutocommit}.Append(nil, testCaps)
}

func end(status wire.Status) []byte {
	return wire.OK{Header: wire.HeaderEOF, Status: status | wire.StatusAutocommit}.Append(nil, testCaps)
}

func refusal(code uint16) []byte { return wire.NewError(code, "no").Append(nil, testCaps) }

func textRows(rows ...[]byte) []byte { return textRowsOf(2, rows...) }

func textRowsOf(columns int, rows ...[]byte) []byte {
	out := [][]byte{wire.AppendColumnCount(nil, columns)}
	for range columns {
		out = append(out, wire.AppendColumn(nil, wire.Column{Name: "c", Type: wire.TypeVarString}))
	}
	return answers(append(append(out, rows...), end(0))...)
}

// connTo makes a connection whose server will answer with in.
func connTo(in ...[]byte) (*Conn, *memory) {
	m := &memory{in: slices.Concat(in...)}
	return &Conn{
		Conn: wire.NewConn(m), Caps: testCaps, Node: &Node{}, cfg: &Config{TrackedVariables: []string{"time_zone"}},
		state: EmptyState,
	}, m
}

// sent splits what was sent into payloads; each must be number 0.
func sent(t *testing.T, m *memory) []string {
	t.Helper()
	var out []string
	for b := m.out.Bytes(); len(b) > 0; {
		n := wire.PayloadLength(b)
		if b[3] != 0 {
			t.Errorf("a command has number %d", b[3])
		}
		out = append(out, string(b[wire.HeaderSize:wire.HeaderSize+n]))
		b = b[wire.HeaderSize+n:]
	}
	return out
}

func wantSent(t *testing.T, m *memory, want ...string) {
	t.Helper()
	if got := sent(t, m); !slices.Equal(got, want) {
		t.Errorf("sent %q, want %q", got, want)
	}
}

func TestAlignQueues(t *testing.T) {
	want := EmptyState.WithSchema("db").WithVar("time_zone", "+01:00")
	c, m := connTo(answers(okay(0)), answers(okay(0)))
	n, err := c.Align(want)
	if n != 2 || err != nil || m.out.Len() > 0 {
		t.Fatalf("%d answers due, %v, %d bytes sent", n, err, m.out.Len())
	}
	c.Send(wire.ComQuery, "SELECT 1")
	c.Flush()
	wantSent(t, m, "\x02db", "\x03SET SESSION time_zone='+01:00'", "\x03SELECT 1")
	if m.writes != 1 {
		t.Errorf("%d writes, want one", m.writes)
	}
	if c.State() == want {
		t.Error("the state is taken for granted before it is confirmed")
	}
	if err := c.Confirm(n, want); err != nil || c.State() != want {
		t.Errorf("%v", err)
	}
}

func TestAlignNothingToDo(t *testing.T) {
	c, m := connTo()
	c.Node = &Node{Role: RoleReplica}
	for _, s := range []*State{EmptyState, EmptyState.WithVar("sql_log_bin", "OFF")} {
		if n, err := c.Align(s); n != 0 || err != nil || c.State() != s {
			t.Errorf("%d answers due, %v", n, err)
		}
	}
	if err := c.AlignNow(EmptyState); err != nil || m.writes != 0 {
		t.Errorf("%v after %d writes", err, m.writes)
	}
}

// MySQL does not stop a pipeline: all answers are read, the first error counts,
// and the connection's state stays what it was known to be.
func TestConfirmReadsAllAnswers(t *testing.T) {
	want := EmptyState.WithSchema("db").WithVar("time_zone", "+01:00")
	for _, c := range []struct {
		name  string
		in    []byte
		code  uint16
		state *State // after it
	}{
		{"schema refused", slices.Concat(answers(refusal(1049)), answers(okay(0))), 1049, want.WithSchema("")},
		{"variable refused", slices.Concat(answers(okay(0)), answers(refusal(1231))), 1231, EmptyState},
		{"both refused", slices.Concat(answers(refusal(1049)), answers(refusal(1231))), 1049, EmptyState},
	} {
		conn, m := connTo(c.in)
		err := conn.AlignNow(want)
		var e *wire.Error
		if !errors.As(err, &e) || e.Code != c.code || conn.State() != c.state {
			t.Errorf("%s: %v", c.name, err)
		}
		if errors.As(err, new(*NoSchema)) != (c.state != EmptyState) {
			t.Errorf("%s: a %T, which says that all else was reached", c.name, err)
		}
		if len(m.in)+len(conn.Buffered()) != 0 {
			t.Errorf("%s: an answer is left", c.name)
		}
	}
	conn, _ := connTo(answers(okay(0)))
	if err := conn.AlignNow(want); !errors.Is(err, io.EOF) || conn.State() == want {
		t.Errorf("connection lost: %v", err)
	}
}

func TestReadResult(t *testing.T) {
	null := append([]byte{0xfb}, wire.AppendTextRowStrings(nil, "b")...)
	for _, c := range []struct {
		name string
		in   []byte
		want []string
		code uint16
	}{
		{"OK", answers(okay(0)), nil, 0},
		{"ERR", answers(refusal(1064)), nil, 1064},
		{"a row", textRows(wire.AppendTextRowStrings(nil, "a", "b")), []string{"a", "b"}, 0},
		{"no rows", textRows(), nil, 0},
		{"the first of several", textRows(wire.AppendTextRowStrings(nil, "a", "b"), wire.AppendTextRowStrings(nil, "c", "d")), []string{"a", "b"}, 0},
		{"NULL", textRows(null), []string{"", "b"}, 0},
		{"ERR after rows", answers([]byte{1}, []byte("def"), wire.AppendTextRowStrings(nil, "a"), refusal(1317)), nil, 1317},
	} {
		conn, _ := connTo(c.in)
		row, err := conn.ReadResult()
		var e *wire.Error
		if !slices.Equal(row, c.want) || (c.code == 0) != (err == nil) || c.code != 0 && (!errors.As(err, &e) || e.Code != c.code) {
			t.Errorf("%s: %q, %v", c.name, row, err)
		}
		for i := range c.in {
			conn, _ := connTo(bytes.Clone(c.in[:i]))
			if _, err := conn.ReadResult(); err == nil {
				t.Errorf("%s cut after %d bytes was taken", c.name, i)
			}
		}
	}
}

func TestReadResultNotesTheStatus(t *testing.T) {
	conn, _ := connTo(answers(okay(wire.StatusInTrans)))
	conn.ReadResult()
	if !conn.Status.Has(wire.StatusInTrans) {
		t.Errorf("status %x", conn.Status)
	}
}

func FuzzReadResult(f *testing.F) {
	f.Add(textRows(wire.AppendTextRowStrings(nil, "a", "b")))
	f.Add(answers(okay(0)))
	f.Add(answers([]byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}))
	f.Add(answers(nil))
	f.Fuzz(func(t *testing.T, in []byte) {
		conn, _ := connTo(in)
		conn.ReadResult()
		conn, _ = connTo(in)
		conn.Prepare(&Statement{Text: "SELECT 1"})
	})
}

func TestPrepare(t *testing.T) {
	head := []byte{0, 9, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0}
	in := answers(head, []byte("p1"), []byte("p2"), []byte("c1"))
	conn, m := connTo(in, answers(okay(0)))
	p, err := conn.Prepare(&Statement{Text: "SELECT ?"})
	if err != nil || p.ID != 9 || p.Types != "" {
		t.Fatalf("%+v, %v", p, err)
	}
	wantSent(t, m, "\x16SELECT ?")
	if _, err := conn.ReadResult(); err != nil {
		t.Errorf("the next answer: %v", err)
	}
	for i := range in {
		conn, _ := connTo(bytes.Clone(in[:i]))
		if _, err := conn.Prepare(&Statement{Text: "SELECT ?"}); err == nil {
			t.Errorf("an answer cut after %d bytes was taken", i)
		}
	}
	conn, _ = connTo(answers(refusal(1064)))
	var e *wire.Error
	if _, err := conn.Prepare(&Statement{Text: "bad"}); !errors.As(err, &e) || e.Code != 1064 {
		t.Errorf("got %v", err)
	}
}

// COM_STMT_CLOSE has no answer: it waits for the next command.
func TestCloseStatement(t *testing.T) {
	conn, m := connTo()
	one, two := &Statement{Text: "1"}, &Statement{Text: "2"}
	conn.AddStatement(one, 0x01020304)
	conn.AddStatement(two, 7)
	conn.CloseTaken(conn.Take(one, ""))
	if m.writes != 0 || conn.Statement(one, "") != nil || conn.Statement(two, "") == nil {
		t.Errorf("%d writes, %v", m.writes, conn.statements)
	}
	conn.Send(wire.ComPing, "")
	conn.Send(wire.ComPing, "")
	conn.Flush()
	wantSent(t, m, "\x19\x04\x03\x02\x01", "\x0e", "\x0e")
}

// A statement that was taken is found by nobody else, and stays open however many
// there are and whoever prepares its text again.
func TestTakenStatement(t *testing.T) {
	conn, m := connTo()
	conn.maxStatements = 1
	st := &Statement{Text: "SELECT ?"}
	conn.AddStatement(st, 1)
	if p := conn.Take(st, "i"); p == nil || p.ID != 1 {
		t.Fatalf("taken: %v", p)
	}
	if p := conn.Take(st, "i"); p != nil {
		t.Errorf("taken twice: %v", p)
	}
	for id := uint32(2); id < 5; id++ {
		conn.AddStatement(&Statement{}, id)
	}
	conn.AddStatement(st, 5)
	conn.Send(wire.ComPing, "")
	conn.Flush()
	wantSent(t, m, "\x19\x02\x00\x00\x00", "\x19\x03\x00\x00\x00", "\x19\x04\x00\x00\x00", "\x0e")
}

// Executions with parameters of other kinds have a server statement of their
// own; the first takes over what the client's PREPARE made.
func TestStatementsByKinds(t *testing.T) {
	conn, m := connTo()
	st := &Statement{Text: "SELECT ?"}
	conn.AddStatement(st, 1)
	if p := conn.Statement(st, "i"); p == nil || p.ID != 1 {
		t.Fatalf("the first kinds: %v", p)
	}
	if p := conn.Statement(st, "s"); p != nil {
		t.Fatalf("other kinds share %v", p)
	}
	conn.AddStatement(st, 2)
	if p, q := conn.Statement(st, "s"), conn.Statement(st, "i"); p.ID != 2 || q.ID != 1 {
		t.Errorf("text %v, integer %v", p, q)
	}
	conn.AddStatement(st, 3)
	conn.AddStatement(st, 4) // the client prepares again and again
	conn.Send(wire.ComPing, "")
	conn.Flush()
	wantSent(t, m, "\x19\x03\x00\x00\x00", "\x0e")
}

func TestStatementsAreBounded(t *testing.T) {
	conn, m := connTo()
	conn.maxStatements = 2
	all := []*Statement{{Text: "a"}, {Text: "b"}, {Text: "c"}}
	conn.AddStatement(all[0], 1)
	conn.AddStatement(all[1], 2)
	conn.Statement(all[0], "")
	conn.AddStatement(all[2], 3)
	if conn.Statement(all[0], "") == nil || conn.Statement(all[1], "") != nil || conn.Statement(all[2], "") == nil {
		t.Error("not the one that was not used for longest went")
	}
	conn.Send(wire.ComPing, "")
	conn.Flush()
	wantSent(t, m, "\x19\x02\x00\x00\x00", "\x0e")
}

func TestSendFrame(t *testing.T) {
	conn, m := connTo()
	st := &Statement{}
	conn.AddStatement(st, 7)
	conn.CloseTaken(conn.Take(st, ""))
	raw := append(wire.AppendHeader(nil, 5, 0), "\x03SQL!"...)
	if err := conn.SendFrame(wire.Frame{Payload: raw[wire.HeaderSize:], Raw: raw}); err != nil {
		t.Fatal(err)
	}
	wantSent(t, m, "\x19\x07\x00\x00\x00", "\x03SQL!")
	if m.writes != 1 || conn.Sequence() != 1 {
		t.Errorf("%d writes, the answer is expected with number %d", m.writes, conn.Sequence())
	}
	conn, m = connTo()
	if err := conn.SendFrame(wire.Frame{Payload: []byte("\x03SQL!")}); err != nil {
		t.Fatal(err)
	}
	wantSent(t, m, "\x03SQL!")
	if conn.Sequence() != 1 {
		t.Errorf("the answer is expected with number %d", conn.Sequence())
	}
}

// A payload of 16 MB and more is numbered on, and so is its answer.
func TestSendFrameOf16MB(t *testing.T) {
	if testing.Short() {
		t.Skip("16 MB")
	}
	conn, m := connTo()
	if err := conn.SendFrame(wire.Frame{Payload: make([]byte, wire.MaxPayload)}); err != nil {
		t.Fatal(err)
	}
	if want := 2*wire.HeaderSize + wire.MaxPayload; m.out.Len() != want || conn.Sequence() != 2 {
		t.Errorf("%d bytes, want %d; next number %d", m.out.Len(), want, conn.Sequence())
	}
}

// Where query attributes were negotiated, each text has its empty set before it.
func TestSendWithQueryAttributes(t *testing.T) {
	conn, m := connTo()
	conn.Caps |= wire.CapQueryAttributes
	conn.Send(wire.ComQuery, "SELECT 1")
	conn.Send(wire.ComInitDB, "db")
	conn.Flush()
	wantSent(t, m, "\x03\x00\x01SELECT 1", "\x02db")
}

func TestQuit(t *testing.T) {
	conn, m := connTo()
	conn.Quit()
	wantSent(t, m, "\x01")
	conn, m = connTo()
	conn.Broken = true
	conn.Quit()
	wantSent(t, m)
}

func TestCheckIncarnation(t *testing.T) {
	const uuid = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
	node := func(known, position string) *Node {
		return &Node{Incarnation: Incarnation{ServerUUID: known}, Position: gtid.MustParse(position)}
	}
	for _, c := range []struct {
		name     string
		node     *Node
		executed string
		ok       bool
	}{
		{"nothing is known", node("", ""), uuid + ":1-5", true},
		{"the same", node(uuid, uuid+":1-5"), uuid + ":1-5", true},
		{"upper case", node(strings.ToUpper(uuid), ""), "", true},
		{"further on", node(uuid, uuid+":1-5"), uuid + ":1-9", true},
		{"another server", node("ffffffff-71ca-11e1-9e33-c80aa9429562", ""), uuid + ":1-5", false},
		{"an older state", node(uuid, uuid+":1-5"), uuid + ":1-4", false},
		{"reset", node(uuid, uuid+":1-5"), "", false},
	} {
		conn, _ := connTo()
		conn.Node, conn.Executed = c.node, gtid.MustParse(c.executed)
		if err := conn.checkIncarnation(uuid); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrIncarnation) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestSetupStatement(t *testing.T) {
	base := map[string]string{"time_zone": "SYSTEM", "sql_mode": "ANSI", "sort_buffer_size": "1"}
	conn, _ := connTo()
	conn.Node = &Node{Role: RoleReplica, Defaults: map[string]string{"time_zone": "SYSTEM", "sql_mode": "", "sort_buffer_size": "2"}}
	got := conn.setupStatement(base)
	for _, want := range []string{"session_track_gtids='OWN_GTID'", "session_track_system_variables='time_zone,session_track_gtids,session_track_schema,", "transaction_read_only=ON", "sql_mode='ANSI'"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	for _, not := range []string{"time_zone='SYSTEM'", "sort_buffer_size"} {
		if strings.Contains(got, not) {
			t.Errorf("%s has %s", got, not)
		}
	}
	if strings.Contains(got, "collation_connection") {
		t.Errorf("%s sets the login's collation again", got)
	}
	conn.account.Collation = 309
	if got := conn.setupStatement(base); !strings.Contains(got, ", collation_connection=309") {
		t.Errorf("a collation that the login has no room for: %s", got)
	}
	conn.Node = &Node{Role: RoleSource}
	if got := conn.setupStatement(nil); strings.Contains(got, "read_only") {
		t.Errorf("on the source: %s", got)
	}
}
