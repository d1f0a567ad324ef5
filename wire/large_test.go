package wire

import (
	"bytes"
	"net"
	"runtime"
	"testing"
)

// Large packets, one after the other, make next to no garbage, and what was read stays as it
// is until the same connection's next read, whatever others read meanwhile.
func TestLargePacketsReuseBuffers(t *testing.T) {
	const size, packets = 1 << 20, 40
	a, askA := largePackets(t, 'a', size)
	b, askB := largePackets(t, 'b', size)
	read := func(c *Conn, ask chan<- struct{}, fill byte) []byte {
		ask <- struct{}{}
		p, err := c.ReadPacket()
		if err != nil || len(p) != size {
			t.Fatal(len(p), err)
		}
		if n := bytes.Count(p, []byte{fill}); n != size {
			t.Fatalf("%d of %d bytes are %c", n, size, fill)
		}
		return p
	}
	before := allocated()
	for range packets {
		p := read(a, askA, 'a')
		read(b, askB, 'b')
		if n := bytes.Count(p, []byte{'a'}); n != size {
			t.Fatalf("a read of another connection changed %d bytes", size-n)
		}
	}
	// Both connections' buffers and what a collection in between takes from the pools.
	if got := allocated() - before; got > packets*size && !raceEnabled {
		t.Errorf("%d KB were allocated for %d packets of %d KB", got>>10, 2*packets, size>>10)
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// largePackets is a connection from which a packet of size bytes comes when asked.
func largePackets(t *testing.T, fill byte, size int) (*Conn, chan<- struct{}) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	nc, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	ask := make(chan struct{}, 1)
	t.Cleanup(func() { nc.Close(); far.Close(); close(ask) })
	body := bytes.Repeat([]byte{fill}, size)
	go func() {
		seq := uint8(0)
		for range ask {
			if _, err := far.Write(AppendHeader(nil, size, seq)); err != nil {
				return
			}
			seq++
			if _, err := far.Write(body); err != nil {
				return
			}
		}
	}()
	return NewConn(nc), ask
}

func TestSizeClass(t *testing.T) {
	for n, want := range map[int]int{0: -1, bufferSize: -1, 2 * bufferSize: 0, 3 * bufferSize: -1, 4 * bufferSize: 1, 16 << 20: 9, 32 << 20: 10, 64 << 20: -1} {
		got, ok := sizeClass(n)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%d: %d, not %d", n, got, want)
		}
	}
}

// A connection that rests holds no large buffer, and goes on.
func TestConnRests(t *testing.T) {
	c := NewConn(&memConn{in: [][]byte{packets(make([]byte, 1<<20)), AppendHeader(nil, 4, 1), []byte("next")}})
	if _, err := c.ReadPacket(); err != nil {
		t.Fatal(err)
	}
	if c.spent == nil {
		t.Error("what was read is not valid until the next read")
	}
	c.Rest()
	if c.spent != nil || len(c.buf) > bufferSize {
		t.Errorf("%d and %d bytes are still held", len(c.spent), len(c.buf))
	}
	if p, err := c.ReadPacket(); err != nil || string(p) != "next" {
		t.Errorf("%q, %v", p, err)
	}
}
