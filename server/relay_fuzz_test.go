package server

import (
	"bytes"
	"testing"

	"causeway/wire"
)

// FuzzRelay gives any bytes as a backend's answer, in pieces of any size. The
// relay comes to an end without a panic, whatever it forwards is whole packets
// in order (but for the last, if the backend stopped within it), and it does
// not depend on how the bytes were cut.
func FuzzRelay(f *testing.F) {
	for _, g := range goldens {
		f.Add(framed(1, answer(f, g.in)...), uint8(g.want), uint32(old), uint8(7))
		f.Add(framed(1, answer(f, g.in)...), uint8(g.want), uint32(modern), uint8(255))
	}
	f.Add([]byte{0xff, 0xff, 0xff, 1, 0xfe}, uint8(expectRows), uint32(old), uint8(1))
	f.Add([]byte{1, 0, 0, 1, 1, 0, 0, 0, 2}, uint8(expectResult), uint32(old), uint8(2))
	f.Fuzz(func(t *testing.T, in []byte, want uint8, caps uint32, size uint8) {
		if want > uint8(expectText) {
			return
		}
		clientCaps := wire.Capability(caps)&backendCaps | wire.CapProtocol41
		whole := relayPieces(expect(want), clientCaps, nil, bytes.Clone(in))
		cut := relayPieces(expect(want), clientCaps, nil, inPieces(in, int(size)+1)...)
		checkNumbers(t, whole)
		checkNumbers(t, cut)
		if (whole.err == nil) != (cut.err == nil) || whole.err == nil && !bytes.Equal(whole.out, cut.out) {
			t.Fatalf("in one piece: %v%s\nin pieces of %d: %v%s", whole.err, describe(whole.out), int(size)+1, cut.err, describe(cut.out))
		}
		if len(whole.out) > 0 && !whole.started {
			t.Fatal("bytes left, but started is not set")
		}
	})
}

// checkNumbers fails unless the client got packets numbered from 1 on, whole
// if the relay says that all went well.
func checkNumbers(t *testing.T, r *relayed) {
	t.Helper()
	seq := uint8(1)
	b := r.out
	for len(b) >= wire.HeaderSize {
		if b[3] != seq {
			t.Fatalf("packet %d has number %d%s", seq, b[3], describe(r.out))
		}
		seq++
		b = b[min(len(b), wire.HeaderSize+wire.PayloadLength(b)):]
	}
	if r.err == nil && len(b) > 0 {
		t.Fatalf("half a packet was forwarded%s", describe(r.out))
	}
}
