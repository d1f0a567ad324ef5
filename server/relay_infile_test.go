package server

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"causeway/wire"
)

// infile relays LOAD DATA LOCAL: the client answers the request with file,
// packets with their headers.
func infile(t *testing.T, caps wire.Capability, asked, after string, file []byte, number uint8) (*relayed, []byte) {
	t.Helper()
	from := &pieces{in: [][]byte{framed(1, answer(t, asked)...), framed(number, answer(t, after)...)}}
	to := &pieces{in: inPieces(file, 7)}
	r := relayConns(expectResult, caps, nil, from, to)
	return r, from.out.Bytes()
}

func TestRelayLocalInfile(t *testing.T) {
	for kind, caps := range clientKinds {
		t.Run(kind, func(t *testing.T) {
			file := framed(2, []byte("1,2\n3,4\n"), []byte("5,6\n"), nil)
			r, sent := infile(t, caps, "file", "ok", file, 5)
			if r.err != nil {
				t.Fatal(r.err)
			}
			wantBytes(t, sent, file)
			wantBytes(t, r.out, append(framed(1, answer(t, "file")...), framed(5, answer(t, "ok")...)...))
		})
	}
}

func TestRelayLocalInfileEmptyFile(t *testing.T) {
	r, sent := infile(t, modern, "file", "ok+gtid", framed(2, nil), 3)
	if r.err != nil {
		t.Fatal(r.err)
	}
	wantBytes(t, sent, framed(2, nil))
	wantBytes(t, r.out, append(framed(1, answer(t, "file")...), framed(3, answer(t, "ok+gtid")...)...))
	if len(r.gtid) != 1 {
		t.Error("the GTID was not seen")
	}
}

// An older client has one packet more behind it, so the numbers of the file's
// packets differ on both legs.
func TestRelayLocalInfileRenumbers(t *testing.T) {
	r, sent := infile(t, old, "n1 d fe+more file", "ok", framed(6, []byte("x"), nil), 7)
	if r.err != nil {
		t.Fatal(r.err)
	}
	wantBytes(t, sent, framed(5, []byte("x"), nil))
	wantBytes(t, r.out, append(framed(1, answer(t, "n1 d EOF+more EOF+more file")...), framed(8, answer(t, "ok")...)...))
}

func TestRelayLocalInfileRefused(t *testing.T) {
	r, _ := infile(t, modern, "file", "err1062", framed(2, []byte("1"), nil), 4)
	if r.err != nil || r.relay.err == nil || r.relay.err.Code != 1062 {
		t.Fatalf("%v, kept %v", r.err, r.relay.err)
	}
	if r.to.Sequence() != 4 {
		t.Errorf("the ERR would have number %d, want 4", r.to.Sequence())
	}
}

// The numbers of a long file's packets wrap.
func TestRelayLocalInfileWraps(t *testing.T) {
	var payloads [][]byte
	for range 600 {
		payloads = append(payloads, []byte("row\n"))
	}
	payloads = append(payloads, nil)
	file := framed(2, payloads...)
	const after = (2 + 601) % 256
	r, sent := infile(t, modern, "file", "ok", file, after)
	if r.err != nil {
		t.Fatal(r.err)
	}
	wantBytes(t, sent, file)
}

// A full packet goes on in the next one; if that is empty, it ends the
// payload and not the file.
func TestRelayLocalInfileFullPacket(t *testing.T) {
	if testing.Short() {
		t.Skip("32 MB")
	}
	file := framed(2, bigRow(wire.MaxPayload, 'x', 'x'), []byte("tail"), nil)
	from := &pieces{in: [][]byte{framed(1, answer(t, "file")...), framed(6, answer(t, "ok")...)}}
	to := &pieces{in: [][]byte{file}}
	r := relayConns(expectResult, modern, nil, from, to)
	if r.err != nil {
		t.Fatal(r.err)
	}
	if !bytes.Equal(from.out.Bytes(), file) {
		t.Errorf("the server got %s\nwant %s", describe(from.out.Bytes()), describe(file))
	}
}

func TestRelayLocalInfileClientLost(t *testing.T) {
	file := framed(2, []byte("1,2\n"), []byte("3"), nil)
	for i := range file {
		r, _ := infile(t, modern, "file", "ok", file[:i], 5)
		var c *clientError
		if !errors.As(r.err, &c) || !errors.Is(r.err, io.EOF) && !errors.Is(r.err, io.ErrUnexpectedEOF) {
			t.Fatalf("client lost after %d bytes: %v", i, r.err)
		}
	}
}

func TestRelayLocalInfileWrongNumber(t *testing.T) {
	r, sent := infile(t, modern, "file", "ok", framed(3, []byte("1"), nil), 5)
	var c *clientError
	if !errors.As(r.err, &c) || !errors.Is(r.err, wire.ErrSequence) {
		t.Errorf("error %v, want a wrong number of the client", r.err)
	}
	if len(sent) > 0 {
		t.Errorf("the server got %s", describe(sent))
	}
}
