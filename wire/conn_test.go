package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// memConn is a net.Conn in memory: it gives in, piece by piece, then EOF.
type memConn struct {
	net.Conn // nil: nothing else is called
	in       [][]byte
	out      bytes.Buffer
	writes   int
	fail     error // of every write
}

func (m *memConn) Read(b []byte) (int, error) {
	for len(m.in) > 0 && len(m.in[0]) == 0 {
		m.in = m.in[1:]
	}
	if len(m.in) == 0 {
		return 0, io.EOF
	}
	n := copy(b, m.in[0])
	m.in[0] = m.in[0][n:]
	return n, nil
}

func (m *memConn) Write(b []byte) (int, error) {
	if m.fail != nil {
		return 0, m.fail
	}
	m.writes++
	return m.out.Write(b)
}

func (*memConn) Close() error { return nil }

// packets frames payloads from number 0 on.
func packets(payloads ...[]byte) []byte {
	var b []byte
	seq := uint8(0)
	for _, p := range payloads {
		for {
			n := min(len(p), MaxPayload)
			b = append(AppendHeader(b, n, seq), p[:n]...)
			seq++
			p = p[n:]
			if n < MaxPayload {
				break
			}
		}
	}
	return b
}

func TestConnReadsFrames(t *testing.T) {
	payloads := [][]byte{[]byte("first"), {}, []byte("x"), bytes.Repeat([]byte("y"), 300), bytes.Repeat([]byte("z"), 40<<10)}
	stream := packets(payloads...)
	for _, size := range []int{1, 3, 4, 5, 100, bufferSize, len(stream)} {
		var in [][]byte
		for rest := bytes.Clone(stream); len(rest) > 0; rest = rest[min(size, len(rest)):] {
			in = append(in, rest[:min(size, len(rest))])
		}
		c := NewConn(&memConn{in: in})
		for i, want := range payloads {
			f, err := c.ReadFrame()
			if err != nil {
				t.Fatalf("pieces of %d, packet %d: %v", size, i, err)
			}
			if !bytes.Equal(f.Payload, want) {
				t.Fatalf("pieces of %d, packet %d: %d bytes, want %d", size, i, len(f.Payload), len(want))
			}
			if raw := append(AppendHeader(nil, len(want), uint8(i)), want...); !bytes.Equal(f.Raw, raw) {
				t.Fatalf("pieces of %d, packet %d: raw % x", size, i, f.Raw[:min(len(f.Raw), 16)])
			}
		}
		if _, err := c.ReadFrame(); !errors.Is(err, io.EOF) {
			t.Errorf("after the last: %v", err)
		}
	}
}

func TestConnSplitsAnywhere(t *testing.T) {
	stream := packets([]byte("ab"), nil, []byte("c"))
	for i := range stream {
		c := NewConn(&memConn{in: [][]byte{bytes.Clone(stream[:i]), bytes.Clone(stream[i:])}})
		for _, want := range []string{"ab", "", "c"} {
			if p, err := c.ReadPacket(); err != nil || string(p) != want {
				t.Fatalf("split at %d: %q, %v", i, p, err)
			}
		}
	}
}

// What is cut short is not a clean end.
func TestConnEOF(t *testing.T) {
	stream := packets([]byte("abc"))
	for i := range stream {
		c := NewConn(&memConn{in: [][]byte{bytes.Clone(stream[:i])}})
		_, err := c.ReadPacket()
		want := io.ErrUnexpectedEOF
		if i == 0 {
			want = io.EOF
		}
		if !errors.Is(err, want) {
			t.Errorf("cut after %d bytes: %v, want %v", i, err, want)
		}
		var side *SideError
		if !errors.As(err, &side) || side.Op != "read" {
			t.Errorf("cut after %d bytes: %v does not name the side", i, err)
		}
	}
}

func TestConnJoins16MB(t *testing.T) {
	if testing.Short() {
		t.Skip("100 MB")
	}
	for _, n := range []int{MaxPayload - 1, MaxPayload, MaxPayload + 1, 2*MaxPayload + 3} {
		payload := bytes.Repeat([]byte("p"), n)
		m := &memConn{in: [][]byte{packets(payload, []byte("next"))}}
		c := NewConn(m)
		f, err := c.ReadFrame()
		if err != nil || !bytes.Equal(f.Payload, payload) {
			t.Fatalf("%d: %d bytes, %v", n, len(f.Payload), err)
		}
		if (f.Raw != nil) != (n < MaxPayload) {
			t.Errorf("%d: raw is %d bytes", n, len(f.Raw))
		}
		if p, err := c.ReadPacket(); err != nil || string(p) != "next" {
			t.Errorf("%d: then %q, %v", n, p, err)
		}
		c.ResetSequence()
		if err := errors.Join(c.WritePacket(payload), c.WritePacket([]byte("next")), c.Flush()); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(m.out.Bytes(), packets(payload, []byte("next"))) {
			t.Errorf("%d: written differently than read", n)
		}
	}
}

func TestConnReadRawJoinsNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("16 MB")
	}
	c := NewConn(&memConn{in: [][]byte{packets(make([]byte, MaxPayload))}})
	for _, want := range []int{MaxPayload, 0} {
		if raw, err := c.ReadRaw(); err != nil || len(raw) != HeaderSize+want {
			t.Errorf("%d bytes, %v, want %d", len(raw), err, HeaderSize+want)
		}
	}
}

func TestConnLimits(t *testing.T) {
	c := NewConn(&memConn{in: [][]byte{packets(make([]byte, 101))}})
	c.SetMaxPacket(100)
	if _, err := c.ReadPacket(); !errors.Is(err, ErrPacketTooLarge) {
		t.Errorf("one byte too many: %v", err)
	}
	c = NewConn(&memConn{in: [][]byte{packets(make([]byte, 100))}})
	c.SetMaxPacket(100)
	if _, err := c.ReadPacket(); err != nil {
		t.Errorf("as much as allowed: %v", err)
	}
}

// The limit holds for the whole payload, and a length that lies costs nothing.
func TestConnLimitOfJoinedPayload(t *testing.T) {
	if testing.Short() {
		t.Skip("16 MB")
	}
	c := NewConn(&memConn{in: [][]byte{packets(make([]byte, MaxPayload+10))}})
	c.SetMaxPacket(MaxPayload + 9)
	if _, err := c.ReadPacket(); !errors.Is(err, ErrPacketTooLarge) {
		t.Errorf("got %v", err)
	}
}

func TestConnLengthThatLies(t *testing.T) {
	c := NewConn(&memConn{in: [][]byte{{0xff, 0xff, 0xff, 0, 1, 2, 3}}})
	if _, err := c.ReadPacket(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
	if len(c.buf) > bufferSize {
		t.Errorf("%d bytes were made ready for 3 that came", len(c.buf))
	}
}

func TestConnSequence(t *testing.T) {
	stream := packets([]byte("a"), []byte("b"))
	stream[HeaderSize+1+3] = 7
	c := NewConn(&memConn{in: [][]byte{stream}})
	if _, err := c.ReadPacket(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ReadPacket(); !errors.Is(err, ErrSequence) {
		t.Errorf("got %v", err)
	}
	c.SetSequence(7)
	if p, err := c.ReadPacket(); err != nil || string(p) != "b" {
		t.Errorf("its header was consumed: %q, %v", p, err)
	}
	c.SetSequence(255)
	m := c.NetConn().(*memConn)
	c.WritePacket(nil)
	c.WritePacket(nil)
	c.Flush()
	if want := []byte{0, 0, 0, 255, 0, 0, 0, 0}; !bytes.Equal(m.out.Bytes(), want) {
		t.Errorf("numbers do not wrap: % x", m.out.Bytes())
	}
}

// What is queued leaves with one write, and before what is written after it.
func TestConnQueues(t *testing.T) {
	m := &memConn{}
	c := NewConn(m)
	c.WritePacket([]byte("a"))
	c.WritePacket([]byte("b"))
	if m.out.Len() > 0 {
		t.Error("a queued packet left by itself")
	}
	if err := c.WriteRaw([]byte("raw")); err != nil {
		t.Fatal(err)
	}
	if want := string(packets([]byte("a"), []byte("b"))) + "raw"; m.out.String() != want || m.writes != 1 {
		t.Errorf("%d writes of %q, want one of %q", m.writes, m.out.String(), want)
	}
	if err := c.Flush(); err != nil || m.writes != 1 {
		t.Errorf("an empty queue was flushed: %v", err)
	}
	c.DropOutput()
	c.QueueRaw([]byte("q"))
	c.DropOutput() // not while something is queued
	c.QueueRaw(bytes.Repeat([]byte("L"), bufferSize+1))
	if got := m.out.Bytes()[len(m.out.Bytes())-bufferSize-2:]; got[0] != 'q' || got[1] != 'L' {
		t.Errorf("a large piece overtook the queue: %q", got[:4])
	}
}

func TestConnWriteFails(t *testing.T) {
	broken := errors.New("broken pipe")
	c := NewConn(&memConn{fail: broken})
	c.WritePacket([]byte("a"))
	err := c.Flush()
	var side *SideError
	if !errors.As(err, &side) || side.Op != "write" || !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if err := c.WritePacket(make([]byte, bufferSize+1)); !errors.Is(err, broken) {
		t.Errorf("a large packet: %v", err)
	}
}

func TestConnBack(t *testing.T) {
	c := NewConn(&memConn{in: [][]byte{[]byte("abcdef")}})
	if err := c.Need(6); err != nil {
		t.Fatal(err)
	}
	if c.Headroom() < 9 {
		t.Errorf("%d bytes free before the first byte, an EOF packet needs 9", c.Headroom())
	}
	c.Discard(2)
	c.Back(3)
	if got := string(c.Buffered()[1:]); got != "abcdef" {
		t.Errorf("buffered %q", got)
	}
	c.Discard(len(c.Buffered()))
	if len(c.Buffered()) != 0 || c.Headroom() < 9 {
		t.Error("an empty buffer was not rewound")
	}
}

// A buffer that has grown for one packet is let go of after it.
func TestConnShrinks(t *testing.T) {
	c := NewConn(&memConn{in: [][]byte{packets(make([]byte, 1<<20), []byte("next"))}})
	if _, err := c.ReadPacket(); err != nil {
		t.Fatal(err)
	}
	if p, err := c.ReadPacket(); err != nil || string(p) != "next" {
		t.Fatalf("%q, %v", p, err)
	}
	c.ReadPacket()
	if len(c.buf) > bufferSize {
		t.Errorf("%d bytes are still held", len(c.buf))
	}
}

func TestConnUpgrade(t *testing.T) {
	plain, secret := &memConn{in: [][]byte{packets([]byte("plain"))}}, &memConn{in: [][]byte{packets(nil, []byte("secret"))[HeaderSize:]}}
	c := NewConn(plain)
	c.ReadPacket()
	c.Upgrade(secret)
	if p, err := c.ReadPacket(); err != nil || string(p) != "secret" {
		t.Errorf("%q, %v", p, err)
	}
	c.WritePacket([]byte("x"))
	c.Flush()
	if plain.out.Len() > 0 || secret.out.Len() == 0 {
		t.Error("written below TLS")
	}
}

// loopback is both ends of a TCP connection, on which raw system calls are used.
func loopback(t testing.TB) (*Conn, *Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	a, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return NewConn(a), NewConn(b)
}

// More than the sockets' buffers hold goes through, both ways at once.
func TestConnTCP(t *testing.T) {
	a, b := loopback(t)
	const packetSize, count = 300 << 10, 40
	var wg sync.WaitGroup
	for _, ends := range [][2]*Conn{{a, b}, {b, a}} {
		from, to := ends[0], ends[1]
		wg.Go(func() {
			for range count {
				from.WriteRaw(packets(bytes.Repeat([]byte("w"), packetSize)))
			}
		})
		wg.Go(func() {
			for i := range count {
				to.ResetSequence()
				if p, err := to.ReadPacket(); err != nil || len(p) != packetSize || p[packetSize-1] != 'w' {
					t.Errorf("packet %d: %d bytes, %v", i, len(p), err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestConnTCPDeadline(t *testing.T) {
	a, _ := loopback(t)
	a.SetDeadline(time.Now().Add(-time.Second))
	_, err := a.ReadPacket()
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("read: %v, want a timeout", err)
	}
	err = a.WriteRaw([]byte("x"))
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("write: %v, want a timeout", err)
	}
	a.SetDeadline(time.Time{})
	if err := a.WriteRaw([]byte("x")); err != nil {
		t.Errorf("after the deadline was lifted: %v", err)
	}
}

func TestConnTCPCloseEndsARead(t *testing.T) {
	a, _ := loopback(t)
	ended := make(chan error)
	go func() {
		_, err := a.ReadPacket()
		ended <- err
	}()
	a.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestConnPeerClosed(t *testing.T) {
	a, b := loopback(t)
	if a.tcp == nil || a.io == nil {
		t.Skip("no raw system calls on this platform")
	}
	if a.PeerClosed() {
		t.Error("an open connection is told to be closed")
	}
	b.WriteRaw([]byte("unread"))
	if a.PeerClosed() {
		t.Error("unread bytes are taken for the end")
	}
	b.Close()
	if !a.PeerClosed() {
		t.Error("the other side has closed, and nobody says so")
	}
	if _, err := a.ReadRaw(); err == nil {
		t.Error("read a packet of nonsense")
	}
	if NewConn(&memConn{}).PeerClosed() {
		t.Error("a connection without a socket is told to be closed")
	}
}

func TestConnTCPAllocatesNothing(t *testing.T) {
	a, b := loopback(t)
	out := packets([]byte("SELECT 1"))
	noAllocs(t, func() {
		a.WriteRaw(out)
		b.ResetSequence()
		if _, err := b.ReadFrame(); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzReadFrame: any bytes, in pieces of any size, give the same packets, and
// no more memory is taken than what came needs.
func FuzzReadFrame(f *testing.F) {
	f.Add(packets([]byte("ab"), nil, []byte("c")), uint8(1))
	f.Add([]byte{0xff, 0xff, 0xff, 0, 1}, uint8(2))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 2}, uint8(3))
	f.Fuzz(func(t *testing.T, in []byte, size uint8) {
		read := func(pieces [][]byte) (out []byte, err error) {
			c := NewConn(&memConn{in: pieces})
			c.SetMaxPacket(1 << 20)
			for {
				f, e := c.ReadFrame()
				if e != nil {
					return out, e
				}
				if f.Raw != nil && !bytes.Equal(f.Raw[HeaderSize:], f.Payload) {
					t.Fatal("raw and payload differ")
				}
				if len(c.buf) > 4*len(in)+bufferSize {
					t.Fatalf("%d bytes held for %d", len(c.buf), len(in))
				}
				out = append(append(out, f.Payload...), '|')
			}
		}
		var pieces [][]byte
		n := int(size) + 1
		for rest := bytes.Clone(in); len(rest) > 0; rest = rest[min(n, len(rest)):] {
			pieces = append(pieces, rest[:min(n, len(rest))])
		}
		whole, err1 := read([][]byte{bytes.Clone(in)})
		cut, err2 := read(pieces)
		if !bytes.Equal(whole, cut) || err1.Error() != err2.Error() {
			t.Fatalf("in one piece %q, %v; in pieces of %d %q, %v", whole, err1, n, cut, err2)
		}
	})
}
