package wire

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
)

var methods = []Compression{Zlib, Zstd}

// packed compresses with the libraries' plain functions, not with the code
// under test.
func packed(t testing.TB, m Compression, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser = zlib.NewWriter(&out)
	if m == Zstd {
		var err error
		if w, err = zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1)); err != nil {
			t.Fatal(err)
		}
	}
	w.Write(b)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// outer frames what travels as a compressed packet; size 0: not compressed.
func outer(seq uint8, size int, travels []byte) []byte {
	b := AppendHeader(nil, len(travels), seq)
	b = append(b, byte(size), byte(size>>8), byte(size>>16))
	return append(b, travels...)
}

// compressedConn reads in and keeps what is written.
func compressedConn(m Compression, in ...[]byte) (*Conn, *memConn) {
	nc := &memConn{in: in}
	c := NewConn(nc)
	c.Compress(m, 0)
	return c, nc
}

func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	r.Read(b)
	return b
}

// TestCompressedGolden: bytes as zlib itself, not Go's, makes them.
func TestCompressedGolden(t *testing.T) {
	in := unhex(t, `29 00 00 00 45 00 00
		78 9c 73 64 60 60 60 0e 76 f5 71 75 0e 51 50 4f 4c 4a 4e 49 4d 4b cf c8 cc ca ce c9
		cd cb 2f 28 24 4e 40 1d 00 17 7f 18 e8`)
	c, _ := compressedConn(Zlib, in)
	got, err := c.ReadPacket()
	if want := "\x03SELECT 'abcdefghijklmnopqabcdefghijklmnopqabcdefghijklmnopqabcd'"; err != nil || string(got) != want {
		t.Fatalf("%q %v", got, err)
	}
}

// TestCompressedRoundTrip sends payloads of many sizes from one Conn to another.
func TestCompressedRoundTrip(t *testing.T) {
	for _, m := range methods {
		for _, level := range []int{1, 0, 22} {
			payloads := [][]byte{{}, []byte("x"), make([]byte, 45), make([]byte, 46), noise(100), make([]byte, 70<<10),
				noise(200 << 10), bytes.Repeat([]byte("row "), 1<<17)}
			if level == 0 && !raceEnabled { // once for each method: it takes its time
				payloads = append(payloads, make([]byte, MaxPayload-1), make([]byte, MaxPayload), []byte("behind"))
			}
			from, wireBytes := compressedConn(m)
			from.comp.level = level
			for _, p := range payloads {
				if err := from.WritePacket(p); err != nil {
					t.Fatal(err)
				}
			}
			if err := from.Flush(); err != nil {
				t.Fatal(err)
			}
			to, _ := compressedConn(m, wireBytes.out.Bytes())
			for i, want := range payloads {
				got, err := to.ReadPacket()
				if err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%v: payload %d: %d bytes, want %d: %v", m, i, len(got), len(want), err)
				}
			}
			if _, err := to.ReadPacket(); !errors.Is(err, io.EOF) {
				t.Fatalf("%v: at the end: %v", m, err)
			}
		}
	}
}

// TestCompressedPieces: a compressed packet may hold several packets or a part
// of one, and the socket may cut them anywhere.
func TestCompressedPieces(t *testing.T) {
	for _, m := range methods {
		stream := packets([]byte("first"), bytes.Repeat([]byte("second"), 100), []byte("third"))
		for cut := 1; cut < len(stream); cut += 7 {
			in := append(outer(0, cut, packed(t, m, stream[:cut])), outer(1, 0, stream[cut:])...)
			var pieces [][]byte
			for p := range in {
				pieces = append(pieces, in[p:p+1])
			}
			c, _ := compressedConn(m, pieces...)
			for _, want := range []int{5, 600, 5} {
				if got, err := c.ReadPacket(); err != nil || len(got) != want {
					t.Fatalf("%v cut at %d: %d bytes, %v", m, cut, len(got), err)
				}
			}
		}
	}
}

// TestCompressedSequence: the numbers outside go on from what was read to what
// is written and begin anew with each command. Those inside are not looked at,
// and go on from those outside.
func TestCompressedSequence(t *testing.T) {
	odd := packets([]byte("query"))
	odd[3] = 77
	c, nc := compressedConn(Zlib, outer(0, 0, odd[:3]), outer(1, 0, odd[3:]), outer(0, 0, packets([]byte("next"))))
	for i, want := range []struct {
		payload string
		number  byte // of the answer
	}{{"query", 2}, {"next", 1}} {
		c.ResetSequence()
		f, err := c.ReadFrame()
		if err != nil || string(f.Payload) != want.payload || f.Raw[3] != 0 {
			t.Fatalf("command %d: %q %v", i, f.Raw, err)
		}
		nc.out.Reset()
		c.WritePacket([]byte("one"))
		c.Flush()
		c.WritePacket([]byte("two"))
		c.Flush()
		first := append(AppendHeader(nil, 3, want.number), "one"...)
		second := append(AppendHeader(nil, 3, want.number+1), "two"...)
		expect := append(outer(want.number, 0, first), outer(want.number+1, 0, second)...)
		if !bytes.Equal(nc.out.Bytes(), expect) {
			t.Errorf("answer %d\n got %x\nwant %x", i, nc.out.Bytes(), expect)
		}
	}
}

// TestCompressedRawAnswer: a file of many packets may come in few compressed ones.
func TestCompressedRawAnswer(t *testing.T) {
	file := packets([]byte("LOAD"), []byte("a"), []byte("b"), nil)
	c, _ := compressedConn(Zlib, outer(0, 0, file[:8]), outer(1, 0, file[8:]))
	for i := range 4 {
		raw, err := c.ReadRaw()
		if err != nil || raw[3] != byte(i) {
			t.Fatalf("packet %d: % x %v", i, raw, err)
		}
		if i == 2 && c.AnswerSequence() != 3 {
			t.Errorf("in the middle: %d", c.AnswerSequence())
		}
	}
	if c.AnswerSequence() != 2 {
		t.Errorf("answer has number %d, want 2", c.AnswerSequence())
	}
}

// TestCompressedNumbersWrap: a long answer has more than 256 of them.
func TestCompressedNumbersWrap(t *testing.T) {
	from, nc := compressedConn(Zlib)
	for range 300 {
		from.WritePacket([]byte("row"))
		from.Flush()
	}
	to, _ := compressedConn(Zlib, nc.out.Bytes())
	for i := range 300 {
		if got, err := to.ReadPacket(); err != nil || string(got) != "row" {
			t.Fatalf("packet %d: %q %v", i, got, err)
		}
	}
}

// bomb is smaller under the race detector, where compression takes its time.
var bomb = map[bool]int{false: MaxPayload + 100, true: 1 << 20}[raceEnabled]

// TestCompressedDamage: what does not hold what its header says is an error.
func TestCompressedDamage(t *testing.T) {
	for _, m := range methods {
		plain := packets(bytes.Repeat([]byte("x"), 200))
		good := packed(t, m, plain)
		cases := map[string]struct {
			in   []byte
			want error
		}{
			"shorter than said":   {outer(0, len(plain)+1, good), ErrCompressed},
			"longer than said":    {outer(0, len(plain)-1, good), ErrCompressed},
			"says 16 MB":          {outer(0, MaxPayload, good), ErrCompressed},
			"a bomb":              {outer(0, 60, packed(t, m, make([]byte, bomb))), ErrCompressed},
			"bytes behind":        {outer(0, len(plain), append(good[:len(good):len(good)], 0xff)), ErrCompressed},
			"cut short":           {outer(0, len(plain), good[:len(good)-3]), ErrCompressed},
			"not compressed":      {outer(0, len(plain), plain), ErrCompressed},
			"nothing":             {outer(0, 60, nil), ErrCompressed},
			"wrong number":        {outer(1, len(plain), good), ErrSequence},
			"ends in the header":  {outer(0, len(plain), good)[:5], io.ErrUnexpectedEOF},
			"ends in the packet":  {outer(0, len(plain), good)[:20], io.ErrUnexpectedEOF},
			"ends between":        {nil, io.EOF},
			"empty ones, then it": {append(append(outer(0, 0, nil), outer(1, 0, nil)...), outer(2, len(plain), good)...), nil},
		}
		for name, test := range cases {
			c, _ := compressedConn(m, test.in)
			_, err := c.ReadPacket()
			if !errors.Is(err, test.want) || (test.want == nil) != (err == nil) {
				t.Errorf("%v, %s: %v, want %v", m, name, err, test.want)
			}
		}
	}
}

// TestCompressedWrites: one system call for each flush, with less to send.
func TestCompressedWrites(t *testing.T) {
	for _, m := range methods {
		c, nc := compressedConn(m)
		for range 100 {
			c.WritePacket([]byte("a row like all the others"))
		}
		if nc.writes != 0 {
			t.Errorf("%v: %d writes before the flush", m, nc.writes)
		}
		c.Flush()
		if nc.writes != 1 || nc.out.Len() > 300 {
			t.Errorf("%v: %d bytes in %d writes", m, nc.out.Len(), nc.writes)
		}
		nc.fail = errors.New("gone")
		c.WritePacket([]byte("x"))
		var side *SideError
		if err := c.Flush(); !errors.As(err, &side) || side.Op != "write" || side.Err != nc.fail {
			t.Errorf("%v: %v", m, err)
		}
	}
}

// TestCompressedHoldsWholePackets: however the bytes of packets come, each
// compressed packet begins with one and ends with one. Connector/Python cannot
// read others.
func TestCompressedHoldsWholePackets(t *testing.T) {
	stream := packets([]byte("first"), noise(300<<10), []byte("third"), bytes.Repeat([]byte("x"), 70<<10), bytes.Repeat([]byte("y"), 60<<10), []byte("last"))
	for _, m := range methods {
		for _, chunk := range []int{1000, 16 << 10, len(stream)} {
			var got []byte
			c, nc := compressedConn(m)
			for part := range slices.Chunk(stream, chunk) {
				if err := c.WriteRaw(part); err != nil {
					t.Fatal(err)
				}
			}
			for out := nc.out.Bytes(); len(out) > 0; {
				n, size := PayloadLength(out), PayloadLength(out[4:])
				inside := unpacked(t, m, size, out[compressedHeader:compressedHeader+n])
				if whole := wholeAll(inside); whole != len(inside) {
					t.Fatalf("%v, written in %d: a compressed packet of %d bytes has %d of whole packets", m, chunk, len(inside), whole)
				}
				got = append(got, inside...)
				out = out[compressedHeader+n:]
			}
			if !bytes.Equal(got, stream) {
				t.Errorf("%v, written in %d: %d bytes came, not the %d that were written", m, chunk, len(got), len(stream))
			}
			if c.comp.held != nil {
				t.Errorf("%v: %d bytes are still held", m, len(c.comp.held))
			}
		}
	}
}

// unpacked undoes packed.
func unpacked(t *testing.T, m Compression, size int, b []byte) []byte {
	t.Helper()
	if size == 0 {
		return b
	}
	var r io.Reader
	var err error
	if m == Zstd {
		r, err = zstd.NewReader(bytes.NewReader(b))
	} else {
		r, err = zlib.NewReader(bytes.NewReader(b))
	}
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil || len(plain) != size {
		t.Fatalf("%d bytes, its header says %d: %v", len(plain), size, err)
	}
	return plain
}

// wholeAll is how much of b is whole packets.
func wholeAll(b []byte) int {
	n := 0
	for len(b)-n >= HeaderSize && n+HeaderSize+PayloadLength(b[n:]) <= len(b) {
		n += HeaderSize + PayloadLength(b[n:])
	}
	return n
}

// TestCompressKeepsWhatCame: a client need not wait for the login's OK.
func TestCompressKeepsWhatCame(t *testing.T) {
	nc := &memConn{in: [][]byte{append(packets([]byte("login")), outer(0, 0, packets([]byte("query")))...)}}
	c := NewConn(nc)
	if p, err := c.ReadPacket(); err != nil || string(p) != "login" {
		t.Fatalf("%q %v", p, err)
	}
	c.Compress(Zstd, 3)
	c.ResetSequence()
	if p, err := c.ReadPacket(); err != nil || string(p) != "query" {
		t.Fatalf("%q %v", p, err)
	}
	if c.Compression() != Zstd {
		t.Error(c.Compression())
	}
}

// TestCompressedIdleHoldsNothing: buffers are for connections that have work.
func TestCompressedIdleHoldsNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	there, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	here, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	c := NewConn(here)
	c.Compress(Zlib, 0)
	for range 2 {
		there.Write(outer(0, 0, packets([]byte("query"))))
		c.ResetSequence()
		if _, err := c.ReadPacket(); err != nil {
			t.Fatal(err)
		}
	}
	got := make(chan error)
	go func() {
		c.ResetSequence()
		_, err := c.ReadPacket()
		got <- err
	}()
	there.Close()
	if err := <-got; !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if c.buf != nil || c.pooled != nil {
		t.Error("a buffer is held while nothing comes")
	}
}

// TestCompressedAllocations: pooled tools, no garbage for each packet.
func TestCompressedAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("with the race detector a sync.Pool forgets at random")
	}
	for _, m := range methods {
		query := packets(bytes.Repeat([]byte("SELECT 1 "), 20))
		in := outer(0, len(query), packed(t, m, query))
		c, nc := compressedConn(m)
		row := bytes.Repeat([]byte("value "), 50)
		n := testing.AllocsPerRun(100, func() {
			nc.in, nc.out = [][]byte{in}, bytes.Buffer{}
			c.ResetSequence()
			if _, err := c.ReadPacket(); err != nil {
				t.Fatal(err)
			}
			c.WritePacket(row)
			c.Flush()
		})
		t.Logf("%v: %v allocations for a command and its answer", m, n)
		if n > 8 {
			t.Errorf("%v: %v allocations", m, n)
		}
	}
}

// FuzzCompressed reads any bytes as a stream of compressed packets: no panic,
// and what comes out is what the libraries make of it.
func FuzzCompressed(f *testing.F) {
	for _, m := range methods {
		plain := packets(bytes.Repeat([]byte("x"), 200), []byte("y"))
		f.Add(uint8(m), outer(0, len(plain), packed(f, m, plain)))
		f.Add(uint8(m), append(outer(0, 0, plain[:100]), outer(1, len(plain)-100, packed(f, m, plain[100:]))...))
		f.Add(uint8(m), outer(0, 60, packed(f, m, make([]byte, 1<<16))))
	}
	f.Add(uint8(1), []byte{})
	f.Fuzz(func(t *testing.T, method uint8, in []byte) {
		m := methods[int(method)%len(methods)]
		c, _ := compressedConn(m, in)
		var got []byte
		for {
			if err := c.Fill(); err != nil {
				break
			}
			got = append(got, c.Buffered()...)
			c.Discard(len(c.Buffered()))
		}
		good, damaged := unfoldAll(m, in)
		rest, ok := bytes.CutPrefix(got, good)
		if !ok || !bytes.HasPrefix(damaged, rest) {
			t.Errorf("%v: %d bytes, want %d and then some of %d", m, len(got), len(good), len(damaged))
		}
	})
}

// unfoldAll is a second opinion: what is in the whole packets, and what a
// damaged one at the end would give, of which any beginning may come out.
func unfoldAll(m Compression, in []byte) (good, damaged []byte) {
	for seq := uint8(0); len(in) >= compressedHeader && in[3] == seq; seq++ {
		n, size := PayloadLength(in), PayloadLength(in[4:])
		in = in[compressedHeader:]
		if size == 0 {
			n = min(n, len(in)) // handed out as it comes
			good, in = append(good, in[:n]...), in[n:]
			continue
		}
		if n > len(in) {
			return good, nil
		}
		plain, ok := unfoldOne(m, in[:n], size)
		if !ok {
			return good, plain
		}
		good = append(good, plain...)
		in = in[n:]
	}
	return good, nil
}

func unfoldOne(m Compression, src []byte, size int) ([]byte, bool) {
	if m == Zstd {
		dec, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxPayload), zstd.WithDecoderMaxWindow(MaxPayload+1))
		defer dec.Close()
		plain, err := dec.DecodeAll(src, nil)
		if len(plain) != size {
			return nil, false
		}
		return plain, err == nil
	}
	r := bytes.NewReader(src)
	z, err := zlib.NewReader(r)
	if err != nil {
		return nil, false
	}
	plain, err := io.ReadAll(io.LimitReader(z, int64(size)+1))
	return plain, err == nil && len(plain) == size && r.Len() == 0
}
