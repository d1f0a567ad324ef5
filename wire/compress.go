package wire

import (
	"errors"
	"fmt"
	"io"
)

// Compression is a method by which packets are compressed.
type Compression uint8

// The methods that MySQL 8 knows.
const (
	Uncompressed Compression = iota
	Zlib
	Zstd
)

// String returns MySQL's name of the method.
func (m Compression) String() string {
	return [...]string{Uncompressed: "uncompressed", Zlib: "zlib", Zstd: "zstd"}[m]
}

// Capability returns the flag by which the method is offered and asked for.
func (m Compression) Capability() Capability {
	return [...]Capability{Uncompressed: 0, Zlib: CapCompress, Zstd: CapZstd}[m]
}

// CompressionNamed returns the method of that name.
func CompressionNamed(name string) (m Compression, ok bool) {
	for m = Uncompressed; m <= Zstd; m++ {
		if m.String() == name {
			return m, true
		}
	}
	return Uncompressed, false
}

// CompressionOf returns the method that follows from the negotiated flags: zlib
// if both were, as MySQL's server and client library have it.
func CompressionOf(caps Capability) Compression {
	switch {
	case caps.Has(CapCompress):
		return Zlib
	case caps.Has(CapZstd):
		return Zstd
	}
	return Uncompressed
}

// The levels of zstd that a client may ask for, and the one of a client that
// names none.
const (
	MaxZstdLevel     = 22
	defaultZstdLevel = 3
)

// ErrCompressed: a compressed packet does not hold what its header says.
var ErrCompressed = errors.New("wire: damaged compressed packet")

const (
	// compressedHeader is 3 bytes of length as it travels, 1 byte of number, 3
	// bytes of length before compression; 0 there: the rest is not compressed.
	// Specification: page_protocol_basic_compression_packet.
	compressedHeader = 7
	// minCompress: fewer bytes travel as they are (MIN_COMPRESS_LENGTH).
	minCompress = 50
	// compressPiece bounds what goes into one compressed packet, but for a packet
	// that is larger itself, and with it the memory of most writes.
	compressPiece = 64 << 10
)

// compressed is the layer of compressed packets below a Conn. One of them may hold
// any part of the stream of packets: several, or a piece of one. Those written
// here hold whole packets, as MySQL's do: Connector/Python reads no packet that is
// in more than two of them, or whose header is. It belongs to the goroutine of
// its Conn.
type compressed struct {
	raw    *Conn // over the socket or TLS; only its buffers and its I/O are used
	method Compression
	level  int

	seq uint8 // number of the next compressed packet, either way

	left int      // bytes of the current packet that are still to be handed out
	src  int      // bytes of raw's buffer that they are unfolded from; 0: they are not compressed
	from inflater // unfolds them; nil: none is under way
	more [1]byte  // what is behind them: nothing

	held []byte // was written and waits for the rest of its packet
}

// Compress puts all that follows, either way, into compressed packets. It is
// called behind the OK that ends the login, which still went out as it was.
// level is the client's wish and counts for zstd only.
func (c *Conn) Compress(m Compression, level int) {
	if m == Uncompressed {
		return
	}
	if level < 1 || level > MaxZstdLevel {
		level = defaultZstdLevel
	}
	raw := &Conn{nc: c.nc, io: c.io, tcp: c.tcp}
	raw.pooled, raw.buf, raw.r, raw.w = c.pooled, c.buf, c.r, c.w // a hasty client's first command
	c.pooled, c.buf, c.r, c.w = nil, nil, 0, 0
	c.io = nil
	c.comp = &compressed{raw: raw, method: m, level: level}
}

// Compression returns the method in use.
func (c *Conn) Compression() Compression {
	if c.comp == nil {
		return Uncompressed
	}
	return c.comp.method
}

// fill reads more of the stream into c. Nothing is held of c while there is
// nothing to read.
func (z *compressed) fill(c *Conn) (int, error) {
	for z.left == 0 {
		if err := z.next(); err != nil {
			return 0, cause(err)
		}
	}
	if z.src == 0 && z.raw.r == z.raw.w {
		if err := z.raw.Fill(); err != nil {
			return 0, cause(err)
		}
	}
	c.hold()
	p := c.buf[c.w:]
	p = p[:min(len(p), z.left)]
	if z.src == 0 {
		n := copy(p, z.raw.Buffered())
		z.raw.Discard(n)
		z.left -= n
		return n, nil
	}
	return z.unfold(p)
}

// next reads the header of the next packet and, if it is compressed, all of it:
// what its sender claims to have costs nothing before it is here.
func (z *compressed) next() error {
	if z.raw.r == z.raw.w {
		z.raw.release()
	}
	if err := z.raw.Need(compressedHeader); err != nil {
		return err
	}
	h := z.raw.Buffered()
	n, seq, size := PayloadLength(h), h[3], PayloadLength(h[4:])
	if seq != z.seq {
		err := fmt.Errorf("%w: got compressed number %d, expected %d", ErrSequence, seq, z.seq)
		z.seq = seq + 1 // of the error that the peer is told
		return err
	}
	z.seq++
	z.raw.Discard(compressedHeader)
	z.left, z.src = n, 0
	if size == 0 {
		return nil
	}
	z.left = 0
	if n == 0 {
		return fmt.Errorf("%w: %d bytes in none", ErrCompressed, size)
	}
	if err := z.raw.Need(n); err != nil {
		return err
	}
	z.left, z.src = size, n
	z.from = getInflater(z.method)
	if err := z.from.reset(z.raw.Buffered()[:n], size); err != nil {
		return fmt.Errorf("%w: %w", ErrCompressed, err)
	}
	return nil
}

// unfold hands out a part of the current packet and checks its length.
func (z *compressed) unfold(p []byte) (int, error) {
	n, err := z.from.Read(p)
	z.left -= n
	if err == nil && z.left == 0 {
		if _, err = io.ReadFull(z.from, z.more[:]); err == nil {
			return 0, fmt.Errorf("%w: longer than its header says", ErrCompressed)
		}
	}
	switch {
	case err == nil:
		return n, nil
	case err != io.EOF:
		return 0, fmt.Errorf("%w: %w", ErrCompressed, err)
	case z.left > 0:
		return 0, fmt.Errorf("%w: %d bytes shorter than its header says", ErrCompressed, z.left)
	case z.from.unread() > 0:
		return 0, fmt.Errorf("%w: %d bytes behind its end", ErrCompressed, z.from.unread())
	}
	putInflater(z.method, z.from)
	z.from = nil
	z.raw.Discard(z.src)
	z.src = 0
	return n, nil
}

// write sends b, which has its packet headers, in as many compressed packets
// as it takes: one, in one system call, but for b that is very long. Of a packet
// that is not complete nothing is sent yet.
func (z *compressed) write(b []byte) error {
	if len(z.held) > 0 {
		z.held = append(z.held, b...)
		b = z.held
	}
	for {
		n := wholePackets(b)
		if n == 0 {
			break
		}
		for piece := b[:n]; len(piece) > 0; {
			m := min(len(piece), MaxPayload)
			if err := z.send(piece[:m]); err != nil {
				return err
			}
			piece = piece[m:]
		}
		b = b[n:]
	}
	if len(b) == 0 {
		z.held = nil
		return nil
	}
	z.held = append(z.held[:0], b...)
	return nil
}

// wholePackets is the length of the packets at the beginning of b that are
// complete and go into one compressed packet: the first one, and more up to
// compressPiece.
func wholePackets(b []byte) int {
	n := 0
	for len(b)-n >= HeaderSize {
		next := n + HeaderSize + PayloadLength(b[n:])
		if next > len(b) || n > 0 && next > compressPiece {
			break
		}
		n = next
	}
	return n
}

// send sends one compressed packet.
func (z *compressed) send(b []byte) error {
	f := folders[z.method].Get().(folder)
	err := z.raw.write(f.fold(b, z.seq, z.level))
	if len(b) <= compressPiece { // one with larger buffers is not kept
		folders[z.method].Put(f)
	}
	z.seq++
	return cause(err)
}

// sync makes the packets that c writes next go on from the number of the last
// compressed one, as net_flush does in MySQL's server and client library: the
// number of packets that a command came in is lost on them.
func (z *compressed) sync(c *Conn) {
	if z.left == 0 && c.r == c.w {
		c.seq = z.seq
	}
}

// cause takes off the mark of the side: the Conn above puts it on again.
func cause(err error) error {
	if side, ok := err.(*SideError); ok {
		return side.Err
	}
	return err
}
