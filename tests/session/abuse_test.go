package session

import (
	"bytes"
	"crypto/rand"
	"io"
	"net"
	"testing"
	"time"

	"causeway/tests/session/raw"
	"causeway/wire"
)

// patience bounds how long a test waits for something that must happen.
const patience = 20 * time.Second

// packet builds a packet by hand; n is the length that its header tells.
func packet(n int, seq uint8, payload []byte) []byte {
	return append(wire.AppendHeader(nil, n, seq), payload...)
}

// TestBadInputBeforeLogin sends what no client sends in place of the answer to
// the greeting. The connection must end, or get an error, in good time.
func TestBadInputBeforeLogin(t *testing.T) {
	needsCauseway(t)
	lay(t, nil)
	garbage := make([]byte, 64<<10)
	rand.Read(garbage)
	for name, input := range map[string][]byte{
		"garbage":                      garbage,
		"zeros":                        make([]byte, 4096),
		"HTTP":                         []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		"a wrong sequence number":      packet(40, 7, make([]byte, 40)),
		"an empty packet":              packet(0, 1, nil),
		"a short packet":               packet(3, 1, []byte{1, 2, 3}),
		"a packet of 16 MB announced":  packet(wire.MaxPayload, 1, make([]byte, 100)),
		"TLS announced, garbage after": append(packet(32, 1, wire.AppendSSLRequest(nil, raw.Base|wire.CapSSL, 1<<24, 255)), garbage[:500]...),
		"lengths that lie":             packet(60, 1, append(make([]byte, 32), bytes.Repeat([]byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, 4)...)),
		"a name without end":           packet(80, 1, append(make([]byte, 32), bytes.Repeat([]byte{'a'}, 48)...)),
	} {
		t.Run(name, func(t *testing.T) {
			nc, err := net.Dial("tcp", throughCauseway())
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			nc.SetDeadline(time.Now().Add(patience))
			if _, err := wire.NewConn(nc).ReadPacket(); err != nil {
				t.Fatalf("no greeting: %v", err)
			}
			nc.Write(input)                // the other side may have closed already
			nc.(*net.TCPConn).CloseWrite() // nothing more comes: half a packet stays half
			io.Copy(io.Discard, nc)        // returns when Causeway closes, or at the deadline
			mustServe(t, "after the bad input")
		})
	}
}

// TestSilentClient opens connections that say nothing, or half an answer.
func TestSilentClient(t *testing.T) {
	needsCauseway(t)
	lay(t, nil)
	for range 20 {
		nc, err := net.Dial("tcp", throughCauseway())
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		nc.Write([]byte{80, 0, 0, 1, 0x85}) // a fifth of a header's promise
	}
	mustServe(t, "beside silent connections")
}

// TestBadInputAfterLogin sends what no client sends as a command.
func TestBadInputAfterLogin(t *testing.T) {
	needsCauseway(t)
	lay(t, nil)
	query := append([]byte{byte(wire.ComQuery)}, "SELECT 1"...)
	huge := bytes.Repeat(packet(wire.MaxPayload, 0, nil), 130)
	for name, input := range map[string][]byte{
		"a wrong sequence number":      packet(len(query), 9, query),
		"an empty packet":              packet(0, 0, nil),
		"an unknown command":           packet(1, 0, []byte{0xee}),
		"a command byte 0xff":          packet(5, 0, []byte{0xff, 1, 2, 3, 4}),
		"half a packet":                packet(1000, 0, query),
		"2 GB announced":               huge,
		"garbage":                      bytes.Repeat([]byte{0xa5, 0x5a, 0xff}, 5000),
		"a short COM_STMT_EXECUTE":     packet(3, 0, []byte{byte(wire.ComStmtExecute), 1, 0}),
		"a short COM_STMT_FETCH":       packet(2, 0, []byte{byte(wire.ComStmtFetch), 1}),
		"a short COM_STMT_CLOSE":       packet(2, 0, []byte{byte(wire.ComStmtClose), 1}),
		"a short COM_STMT_RESET":       packet(2, 0, []byte{byte(wire.ComStmtReset), 1}),
		"a short COM_STMT_SEND_LONG":   packet(3, 0, []byte{byte(wire.ComStmtSendLongData), 1, 2}),
		"a short COM_SET_OPTION":       packet(2, 0, []byte{byte(wire.ComSetOption), 1}),
		"a short COM_CHANGE_USER":      packet(3, 0, []byte{byte(wire.ComChangeUser), 'a', 0}),
		"COM_CHANGE_USER without ends": packet(40, 0, append([]byte{byte(wire.ComChangeUser)}, bytes.Repeat([]byte{'u'}, 39)...)),
		"COM_FIELD_LIST without ends":  packet(9, 0, append([]byte{byte(wire.ComFieldList)}, "abcdefgh"...)),
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, raw.Modern)
			other := dial(t, raw.Modern)
			nc := c.Conn().NetConn()
			nc.SetDeadline(time.Now().Add(patience))
			go io.Copy(io.Discard, nc)
			nc.Write(input)
			nc.(*net.TCPConn).CloseWrite()
			if a, err := other.Query("SELECT v FROM t WHERE id = 1"); err != nil || a.Value() != "10" {
				t.Errorf("another connection: %v %v", a, err)
			}
			mustServe(t, "after the bad input")
		})
	}
}

// TestLyingExecute binds parameters with lengths and types that do not fit.
func TestLyingExecute(t *testing.T) {
	needsCauseway(t)
	lay(t, nil)
	for name, p := range map[string]raw.Param{
		"a string longer than the packet": {Type: raw.TypeString, Value: []byte{0xfd, 0xff, 0xff, 0xff, 'x'}},
		"a length of 2^63":                {Type: raw.TypeString, Value: []byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}},
		"a number without its bytes":      {Type: raw.TypeLongLong, Value: []byte{1}},
		"an unknown type":                 {Type: 0x99, Value: []byte{1, 2, 3}},
		"a datetime of 200 bytes":         {Type: raw.TypeDatetime, Value: []byte{200, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, raw.Modern)
			s, err := c.Prepare("SELECT v FROM t WHERE id = ?")
			if err != nil {
				t.Fatal(err)
			}
			a, err := s.Execute(raw.NoCursor, p)
			t.Logf("%v %v", a, err)
			mustServe(t, "after the execute")
		})
	}
}

// mustServe wants a new connection to work.
func mustServe(t *testing.T, when string) {
	t.Helper()
	c, err := raw.Dial(options(throughCauseway(), raw.Modern))
	if err != nil {
		t.Fatalf("a new connection %s: %v", when, err)
	}
	defer c.Quit()
	if a, err := c.Query("SELECT 1"); err != nil || a.Value() != "1" {
		t.Fatalf("a new connection %s: %v %v", when, a, err)
	}
}
