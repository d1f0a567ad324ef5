package server

import (
	"bytes"
	"testing"

	"causeway/wire"
)

// TestInfileKeepsItsText: the client's file is read into the buffer that its command was
// in, and what the command did is still read from its text.
func TestInfileKeepsItsText(t *testing.T) {
	l := startLab(t, 1)
	came := make(chan []byte, 1)
	l.source.on("LOAD", func(c *fakeConn, _ string) {
		c.send(append([]byte{wire.HeaderLocalFile}, "f"...))
		var got []byte
		for {
			p, err := c.ReadPacket()
			if err != nil || len(p) == 0 {
				break
			}
			got = append(got, p...)
		}
		came <- got
		c.ok(func(ok *wire.OK) { ok.Status |= wire.StatusMoreResults })
		c.ok()
	})
	k := l.client(wire.CapMultiStatements, wire.CapLocalFiles)
	k.wantFrom("replica1", "SELECT a FROM t")
	const text = "LOAD DATA LOCAL INFILE 'f' INTO TABLE t; HANDLER t OPEN"
	k.command(wire.ComQuery, text)
	if p, err := k.c.ReadPacket(); err != nil || p[0] != wire.HeaderLocalFile {
		t.Fatalf("% x, %v", p, err)
	}
	file := bytes.Repeat([]byte("1"), 2*len(text))
	if err := k.send(file); err != nil {
		t.Fatal(err)
	}
	if err := k.send(nil); err != nil {
		t.Fatal(err)
	}
	if r := k.answer(textValue); r.err != nil || r.lost != nil {
		t.Fatalf("%v %v", r.err, r.lost)
	}
	if got := <-came; !bytes.Equal(got, file) {
		t.Errorf("the source got %q", got)
	}
	if pins := k.query("SHOW CAUSEWAY PINS").rows; len(pins) != 1 || pins[0][3] != "unknown_statement" {
		t.Errorf("pins %q", pins)
	}
}
