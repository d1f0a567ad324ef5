package server

import (
	"bytes"
	"strings"
	"testing"

	"causeway/wire"
)

// bigRow is a payload of n bytes that begins with first and goes on with fill.
func bigRow(n int, first, fill byte) []byte {
	b := bytes.Repeat([]byte{fill}, n)
	b[0] = first
	return b
}

// Rows around the size at which a payload goes on in another packet, and
// continuations that look like the end of the rows.
func TestRelayRowsOf16MB(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of MB")
	}
	for _, c := range []struct {
		name string
		row  []byte
	}{
		{"one byte less than a full packet", bigRow(wire.MaxPayload-1, 0xfd, 'x')},
		{"a full packet and an empty one", bigRow(wire.MaxPayload, 0xfe, 'x')},
		{"a full packet and a byte like EOF", bigRow(wire.MaxPayload+1, 0xfe, 0xfe)},
		{"a full packet and bytes like ERR", bigRow(wire.MaxPayload+9, 0xfe, 0xff)},
		{"a full packet and bytes like EOF", bigRow(wire.MaxPayload+5, 0xfd, 0xfe)},
		{"two full packets and an empty one", bigRow(2*wire.MaxPayload, 0xfe, 0xff)},
	} {
		for kind, caps := range map[string]wire.Capability{"modern": modern, "old": old} {
			t.Run(c.name+"/"+kind, func(t *testing.T) {
				payloads := func(head, tail string) [][]byte {
					return append(append(answer(t, head), c.row), answer(t, tail)...)
				}
				out := framed(1, payloads("n1 d", "r fe")...)
				if caps == old {
					out = framed(1, payloads("n1 d EOF", "r EOF")...)
				}
				r := relayPieces(expectResult, caps, nil, framed(1, payloads("n1 d", "r fe")...))
				if r.err != nil {
					t.Fatal(r.err)
				}
				if !bytes.Equal(r.out, out) {
					t.Errorf("client got %s\nwant %s", describe(r.out), describe(out))
				}
			})
		}
	}
}

// The header of a continuation may come in parts, and so may the packet after it.
func TestRelaySplitsAroundContinuations(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of MB")
	}
	row := bigRow(wire.MaxPayload, 0xfe, 0xff)
	in := framed(1, append(append(answer(t, "n1 d"), row), answer(t, "fe")...)...)
	out := framed(1, append(append(answer(t, "n1 d EOF"), row), answer(t, "EOF")...)...)
	end := len(in)
	for i := end - 16; i < end; i += 2 {
		r := relayPieces(expectResult, old, nil, split(in, i)...)
		if r.err != nil || !bytes.Equal(r.out, out) {
			t.Fatalf("split %d bytes before the end: %v, client got %s", end-i, r.err, describe(r.out))
		}
	}
}

// A result of any size is held in the read buffer only.
func TestRelayHoldsNothing(t *testing.T) {
	const rows = 2000
	block := framed(0, answer(t, "r300")...)
	var in []byte
	in = append(in, framed(1, answer(t, "n1 d")...)...)
	seq := uint8(3)
	for range rows {
		block[3] = seq
		seq++
		in = append(in, block...)
	}
	in = append(in, framed(seq, answer(t, "fe")...)...)
	from, to := &pieces{in: [][]byte{in}}, &pieces{discard: true}
	r := relayConns(expectResult, old, nil, from, to)
	if r.err != nil {
		t.Fatal(r.err)
	}
	if n := cap(r.from.Buffered()); n > 16<<10 {
		t.Errorf("the read buffer has grown to %d bytes", n)
	}
}

// gtidSet is the text of a set of about n bytes.
func gtidSet(n int) string {
	var b strings.Builder
	b.WriteString("3e11fa47-71ca-11e1-9e33-c80aa9429562")
	for i := 1; b.Len() < n; i += 2 {
		b.WriteString(":")
		b.WriteString(strings.Repeat("1", 1+i%3))
	}
	return b.String()
}

// Trackers may be larger than the read buffer.
func TestRelayTrackersOf100KB(t *testing.T) {
	for _, size := range []int{100, 240, 16<<10 - 40, 16 << 10, 17 << 10, 100 << 10} {
		set := gtidSet(size)
		okWith := func(header byte, status wire.Status) []byte {
			return wire.OK{Header: header, Status: status | wire.StatusAutocommit, Track: wire.AppendTrackGTIDs(nil, set)}.Append(nil, backendCaps)
		}
		more := okWith(0, wire.StatusMoreResults)
		in := framed(1, append(append([][]byte{more}, answer(t, "n1 d r")...), okWith(wire.HeaderEOF, 0))...)
		for kind, c := range map[string]struct {
			caps wire.Capability
			out  []byte
		}{
			"modern":    {modern, in},
			"untracked": {untracked, framed(1, answer(t, "ok+more n1 d r fe")...)},
			"old":       {old, framed(1, answer(t, "ok+more n1 d EOF r EOF")...)},
		} {
			for _, n := range []int{len(in), 1000, 4096, 16 << 10} {
				r := relayPieces(expectResult, c.caps, nil, inPieces(in, n)...)
				if r.err != nil {
					t.Fatalf("%s, %d bytes in pieces of %d: %v", kind, size, n, r.err)
				}
				out := c.out
				if kind != "modern" {
					out = bytes.Replace(out, payload(t, "ok+more"), wire.OK{Status: wire.StatusAutocommit | wire.StatusMoreResults}.Append(nil, old), 1)
					out[0] = 7
				}
				wantBytes(t, r.out, out)
				if len(r.gtid) != 2 || r.gtid[0] != set || r.gtid[1] != set {
					t.Errorf("%s: GTIDs were not seen whole", kind)
				}
			}
		}
	}
}

// An answer that is longer than what it replaces leaves the buffer on its own.
func TestRelayLongerReplacement(t *testing.T) {
	long := wire.AppendTrackSchema(nil, strings.Repeat("s", 200))
	in := framed(1, answer(t, "n1 d r fe+more+schema ok+schema")...)
	end := func(header byte, status wire.Status) []byte {
		ok := wire.OK{Header: header, Status: wire.StatusAutocommit | status, Track: long}
		if header == wire.HeaderOK {
			ok.AffectedRows, ok.LastInsertID = 3, 300
		}
		return ok.Append(nil, backendCaps)
	}
	out := framed(1, append(answer(t, "n1 d r"), end(wire.HeaderEOF, wire.StatusMoreResults), end(0, 0))...)
	for i := 1; i < len(in); i++ {
		r := relayPieces(expectResult, modern, func(r *relay) { r.track = func([]byte) []byte { return long } }, split(in, i)...)
		if r.err != nil {
			t.Fatal(r.err)
		}
		wantBytes(t, r.out, out)
	}
}

func TestRelayPointSelectAllocatesNothing(t *testing.T) {
	skipUnderRace(t)
	for kind, caps := range clientKinds {
		in := framed(1, answer(t, "n1 d r fe")...)
		again := make([]byte, len(in))
		from, to := &pieces{}, &pieces{discard: true}
		r := &relay{from: wire.NewConn(from), fromCaps: backendCaps, to: wire.NewConn(to), toCaps: caps, first: firstEOF{before: wire.StatusAutocommit}}
		pieces := make([][]byte, 1)
		n := testing.AllocsPerRun(200, func() {
			copy(again, in)
			pieces[0] = again
			from.in = pieces
			scratch := r.scratch
			*r = relay{from: r.from, fromCaps: r.fromCaps, to: r.to, toCaps: caps, scratch: scratch, first: firstEOF{before: wire.StatusAutocommit}}
			r.from.SetSequence(1)
			r.to.SetSequence(1)
			if err := r.run(expectResult); err != nil {
				t.Fatal(err)
			}
		})
		if n != 0 {
			t.Errorf("%s client: %v allocations a point select, want 0", kind, n)
		}
	}
}
