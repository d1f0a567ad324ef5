package server

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"causeway/wire"
)

// isBackendFault fails unless err blames the backend.
func isBackendFault(t *testing.T, err error) {
	t.Helper()
	var b *backendError
	if !errors.As(err, &b) {
		t.Errorf("error %v, want one of the backend", err)
	}
}

// isPrefix fails unless the client has got the beginning of the right answer.
func isPrefix(t *testing.T, got, whole []byte) {
	t.Helper()
	if !bytes.HasPrefix(whole, got) {
		t.Errorf("client got %s\nwant the beginning of %s", describe(got), describe(whole))
	}
}

// A backend that goes away anywhere is noticed, and what the client has got
// until then is the beginning of the right answer.
func TestRelayBackendLostAnywhere(t *testing.T) {
	eachGolden(t, func(t *testing.T, g golden, caps wire.Capability, in, out []byte) {
		for i := range in {
			r := relayPieces(g.want, caps, nil, bytes.Clone(in[:i]))
			isBackendFault(t, r.err)
			if !errors.Is(r.err, io.EOF) && !errors.Is(r.err, io.ErrUnexpectedEOF) {
				t.Errorf("error %v, want EOF", r.err)
			}
			isPrefix(t, r.out, out)
			if len(r.out) > 0 && !r.started {
				t.Error("bytes left, but started is not set")
			}
			if t.Failed() {
				t.Fatalf("lost after byte %d of %d", i, len(in))
			}
		}
	})
}

func TestRelayWrongNumbers(t *testing.T) {
	eachGolden(t, func(t *testing.T, g golden, caps wire.Capability, in, out []byte) {
		for at := 0; at < len(in); at += wire.HeaderSize + wire.PayloadLength(in[at:]) {
			for _, wrong := range []byte{0, in[at+3] + 1, in[at+3] - 1, 255} {
				if wrong == in[at+3] {
					continue
				}
				bad := bytes.Clone(in)
				bad[at+3] = wrong
				r := relayPieces(g.want, caps, nil, bad)
				isBackendFault(t, r.err)
				if !errors.Is(r.err, errMalformedAnswer) {
					t.Errorf("packet at %d with number %d: %v", at, wrong, r.err)
				}
				isPrefix(t, r.out, out)
			}
		}
	})
}

func TestRelayMalformedAnswers(t *testing.T) {
	for _, c := range []struct {
		name string
		want expect
		in   []byte
	}{
		{"an empty packet", expectResult, framed(1, nil)},
		{"an empty packet among the definitions", expectResult, append(framed(1, []byte{2}), framed(2, nil)...)},
		{"an empty packet among the rows", expectRows, framed(1, nil)},
		{"no columns", expectResult, framed(1, []byte{0xfc, 0, 0})},
		{"more columns than MySQL has", expectResult, framed(1, []byte{0xfd, 1, 0, 1})},
		{"a count with a tail", expectResult, framed(1, []byte{1, 0})},
		{"a count cut short", expectResult, framed(1, []byte{0xfc, 1})},
		{"an OK cut short", expectResult, framed(1, []byte{0, 0, 0, 2})},
		{"an OK of one byte", expectSimple, framed(1, []byte{0})},
		{"an EOF with a header and nothing", expectRows, framed(1, []byte{0xfe})},
		{"EOF in place of an answer", expectResult, framed(1, []byte{0xfe, 0, 0, 2, 0})},
		{"an ERR without a code", expectResult, framed(1, []byte{0xff, 1})},
		{"a PREPARE's OK cut short", expectPrepare, framed(1, []byte{0, 1, 0, 0, 0, 0, 0, 0, 0, 0})},
		{"rows in answer to PREPARE", expectPrepare, framed(1, []byte{1}, []byte{3})},
		{"trackers that lie about their length", expectResult, framed(1, []byte{0, 0, 0, 2, 0x40, 0, 0, 0, 9, 3, 1})},
		{"an ERR among the definitions, cut short", expectResult, framed(1, []byte{1}, []byte{0xff})},
	} {
		for kind, caps := range clientKinds {
			t.Run(c.name+"/"+kind, func(t *testing.T) {
				r := relayPieces(c.want, caps, nil, bytes.Clone(c.in))
				isBackendFault(t, r.err)
			})
		}
	}
}

// A length that lies costs no more memory than what came.
func TestRelayLengthThatLies(t *testing.T) {
	for _, first := range []byte{0x00, 0xff, 0xfb, 0x01} {
		from := &pieces{in: [][]byte{{0xff, 0xff, 0xff, 1, first, 0, 0}}}
		r := relayConns(expectResult, modern, nil, from, &pieces{})
		isBackendFault(t, r.err)
		if n := cap(r.from.Buffered()); n > 16<<10 {
			t.Errorf("first byte %#x: %d bytes were made ready", first, n)
		}
	}
}

// A server that fails while it sends definitions sends an ERR in their place.
func TestRelayErrAmongDefinitions(t *testing.T) {
	for kind, caps := range clientKinds {
		for _, c := range []struct {
			want expect
			in   string
		}{{expectResult, "n2 d err1317"}, {expectResult, "n2 err1317"}, {expectPrepare, "p1:1:1 d err1317"}} {
			r := relayPieces(c.want, caps, nil, framed(1, answer(t, c.in)...))
			if r.err != nil || r.relay.err == nil || r.relay.err.Code != 1317 {
				t.Errorf("%s, %s: %v, kept %v", kind, c.in, r.err, r.relay.err)
			}
		}
	}
}

// A client that goes away ends the relaying of a plain read at once.
func TestRelayClientLost(t *testing.T) {
	eachGolden(t, func(t *testing.T, g golden, caps wire.Capability, in, out []byte) {
		for i := 1; i < len(out); i++ {
			from, to := &pieces{in: [][]byte{bytes.Clone(in)}}, &pieces{failAfter: i}
			r := relayConns(g.want, caps, nil, from, to)
			if r.err == nil && r.lost == nil && r.relay.err != nil {
				continue // the rest was left to go out with the ERR
			}
			var c *clientError
			if !errors.As(r.err, &c) || !errors.Is(r.err, errWriteFailed) {
				t.Fatalf("client lost after %d bytes: %v", i, r.err)
			}
			isPrefix(t, r.out, out)
		}
	})
}

// A write's answer is read to its end all the same, for its GTIDs.
func TestRelayFinishesWithoutClient(t *testing.T) {
	eachGolden(t, func(t *testing.T, g golden, caps wire.Capability, in, out []byte) {
		for i := 1; i < len(out); i++ {
			from, to := &pieces{in: inPieces(in, 16)}, &pieces{failAfter: i}
			r := relayConns(g.want, caps, func(r *relay) { r.finish = true }, from, to)
			if r.err != nil {
				t.Fatalf("client lost after %d bytes: %v", i, r.err)
			}
			if r.lost == nil && r.relay.err == nil {
				t.Fatalf("client lost after %d bytes, and nobody says so", i)
			}
			isPrefix(t, r.out, out)
			if got, want := len(r.gtid), bytes.Count(in, []byte(testGTIDs)); got != want {
				t.Fatalf("saw %d sets of GTIDs, want %d", got, want)
			}
		}
	})
}
