package session

import (
	"bytes"
	"strings"
	"testing"

	"causeway/tests/session/raw"
	"causeway/wire"
)

// sizes around the 16 MB at which a payload goes on in another packet.
var sizes = []int{1 << 20, wire.MaxPayload - 100, wire.MaxPayload - 1, wire.MaxPayload, wire.MaxPayload + 1, 40 << 20}

// sizes are fewer where compression takes its time.
func (p profile) sizes() []int {
	if p.turn > 0 {
		return []int{1 << 20, wire.MaxPayload + 1}
	}
	return sizes
}

// TestLargePackets sends and receives payloads of more than one packet.
func TestLargePackets(t *testing.T) {
	lay(t, []string{"CREATE TABLE sess.large (id INT PRIMARY KEY, b LONGBLOB)"})
	for _, p := range append(profiles[:2:2], profiles[3:]...) { // "found" differs from "modern" in nothing that counts here
		t.Run(p.name, func(t *testing.T) {
			c := dial(t, p.caps)
			s, err := c.Prepare("SELECT ? AS x")
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range p.sizes() {
				large(t, c, s, n)
			}
			if a, err := c.Query("SELECT v FROM t WHERE id = 1"); err != nil || a.Value() != "10" {
				t.Errorf("afterwards: %v %v", a, err)
			}
		})
	}
}

// large lets a value of n bytes in the payload go out and come back, as text
// and as a parameter, and wants what comes to be what went.
func large(t *testing.T, c *raw.Client, s *raw.Stmt, n int) {
	t.Helper()
	const text = "SELECT '"
	body := strings.Repeat("abcdefghijklmnop", n/16+1)[:n-len(text)-2] // command byte and closing quote
	a, err := c.Query(text + body + "'")
	if err != nil || a.Value() != body {
		t.Errorf("text of %d bytes: %d bytes came back, code %d, %v", n, len(a.Value()), a.Code(), err)
		return
	}
	a, err = s.Execute(raw.NoCursor, raw.String(body))
	if err != nil || !bytes.HasSuffix([]byte(a.Value()), []byte(body)) {
		t.Errorf("parameter of %d bytes: %d bytes came back, code %d, %v", n, len(a.Value()), a.Code(), err)
	}
}

// TestLargeWrites stores large values on the source and reads them on a replica.
func TestLargeWrites(t *testing.T) {
	lay(t, []string{"CREATE TABLE sess.large (id INT PRIMARY KEY, b LONGBLOB)"})
	c := dial(t, raw.Modern)
	s, err := c.Prepare("INSERT INTO large VALUES (?, ?)")
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range []int{1 << 20, wire.MaxPayload, 30 << 20} {
		body := bytes.Repeat([]byte{0xfe, 0x00, 0xff, 'x'}, n/4)
		half := len(body) / 2
		for _, piece := range [][]byte{body[:half], body[half:]} {
			if err := s.SendLongData(1, piece); err != nil {
				t.Fatal(err)
			}
		}
		if a, err := s.Execute(raw.NoCursor, raw.Int64(int64(i)), raw.Long()); err != nil || a.Err() != nil {
			t.Fatalf("%d bytes of long data: %v %v", n, a.Err(), err)
		}
		a, err := c.Query("SELECT b FROM large WHERE id = " + string(rune('0'+i)))
		if err != nil || a.Value() != string(body) {
			t.Fatalf("%d bytes written: %d bytes read, %v %v", n, len(a.Value()), a.Err(), err)
		}
	}
}

// TestTooLargePacket: beyond max_allowed_packet comes MySQL's own error. MySQL
// may close before the client has written all; Causeway reads to the end first.
func TestTooLargePacket(t *testing.T) {
	needsCauseway(t)
	lay(t, nil)
	for _, addr := range []string{shared.Source().Addr, throughCauseway()} {
		c, err := raw.Dial(options(addr, raw.Modern))
		if err != nil {
			t.Fatal(err)
		}
		a, err := c.Query("SELECT '" + strings.Repeat("x", 130<<20) + "'")
		t.Logf("%s: code %d, %v", addr, a.Code(), err)
		closed := err != nil && addr == shared.Source().Addr
		if !closed && (err != nil || a.Code() != wire.ErrNetPacketTooLarge) {
			t.Errorf("%s: 130 MB were answered with %v, %v", addr, a.Err(), err)
		}
		c.Close()
	}
	mustServe(t, "after a packet that was too large")
}
