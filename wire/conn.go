package wire

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"
)

const (
	// HeaderSize is the size of a packet header: 3 bytes of payload length,
	// little endian, and 1 byte of sequence number.
	HeaderSize = 4
	// MaxPayload is the largest payload of one packet; a payload of this size
	// or more goes on in the next packet, which may be empty.
	MaxPayload = 1<<24 - 1

	bufferSize = 16 << 10
	// headroom is kept free before the first byte read into an empty buffer,
	// so that the relay can slip an EOF packet in without moving the rest.
	headroom = 16
)

// Errors of framing. The connection is of no use after either.
var (
	ErrSequence       = errors.New("wire: packets out of order")
	ErrPacketTooLarge = errors.New("wire: packet larger than allowed")
)

// SideError marks an I/O error with the operation it happened in, so that
// nobody has to guess later whether a command can have left this process.
type SideError struct {
	Op  string // "read" or "write"
	Err error
}

func (e *SideError) Error() string { return e.Op + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *SideError) Unwrap() error { return e.Err }

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// Conn frames MySQL packets over a net.Conn. One goroutine owns it; only
// PeerClosed, SetDeadline and Close may be called by another.
//
// It owns its reads and writes: on Linux a plain TCP connection is read and
// written by raw non-blocking system calls inside the netpoller's callback,
// which spares the scheduler's bookkeeping around each call. While no input is
// pending it holds no buffer.
type Conn struct {
	nc  net.Conn
	io  rawIO           // nil: through nc
	tcp syscall.RawConn // the socket under nc, also below TLS; nil if there is none

	peer net.Addr    // named by a PROXY header; nil: the socket's
	comp *compressed // between this and nc; nil: not negotiated. Never set together with io

	pooled *[bufferSize]byte
	buf    []byte // read buffer: pooled[:], or a larger one of its own
	spent  []byte // a larger one that slices handed out may still be in, until the next read
	r, w   int    // unread bytes are buf[r:w]
	joined []byte // payload of a packet sequence, when larger than MaxPayload

	out []byte // written, not yet flushed
	seq uint8
	max int
}

// NewConn takes over nc.
func NewConn(nc net.Conn) *Conn {
	c := &Conn{nc: nc, max: 1 << 30}
	if sc, ok := nc.(syscall.Conn); ok {
		if raw, err := sc.SyscallConn(); err == nil {
			c.tcp = raw
			c.io = newRawIO(raw)
		}
	}
	return c
}

// NetConn returns the connection underneath.
func (c *Conn) NetConn() net.Conn { return c.nc }

// Upgrade replaces the connection underneath, by TLS over it. Bytes that came
// in clear text before must have been read: see Buffered.
func (c *Conn) Upgrade(nc net.Conn) {
	c.nc = nc
	c.io = nil
}

// Buffered returns the bytes read and not yet consumed, valid until the next
// call of Fill, Need or ReadPacket. The caller may change them in place.
func (c *Conn) Buffered() []byte { return c.buf[c.r:c.w] }

// Discard consumes n buffered bytes.
func (c *Conn) Discard(n int) {
	c.r += n
	if c.r == c.w {
		c.drained()
	}
}

// drained rewinds an empty buffer and puts a large one aside.
func (c *Conn) drained() {
	c.r, c.w = headroom, headroom
	if len(c.buf) > bufferSize {
		c.spent, c.buf = c.buf, nil
		if c.pooled != nil {
			c.buf = c.pooled[:]
		}
	}
}

// Headroom returns how many bytes before the unread ones may be overwritten.
func (c *Conn) Headroom() int { return c.r }

// Back makes the n bytes before the unread ones part of them.
func (c *Conn) Back(n int) { c.r -= n }

// hold gives the connection a buffer to read into.
func (c *Conn) hold() {
	if c.buf == nil {
		if c.pooled == nil {
			c.pooled = buffers.Get().(*[bufferSize]byte)
		}
		c.buf = c.pooled[:]
		c.r, c.w = headroom, headroom
	}
}

// Rest lets go of a large buffer that was read from, for a connection that will
// idle. What was read last is not valid any more.
func (c *Conn) Rest() {
	if c.spent != nil {
		giveLarge(c.spent)
		c.spent = nil
	}
}

// release returns the buffers to their pools if nothing is in them.
func (c *Conn) release() {
	if c.r != c.w {
		return
	}
	c.Rest()
	if c.pooled != nil {
		buffers.Put(c.pooled)
	}
	c.pooled, c.buf = nil, nil
	c.r, c.w = 0, 0
}

// makeRoom makes space for reading: it moves the unread bytes to the front or
// doubles the buffer, so that a length that lies costs no more than what came.
func (c *Conn) makeRoom() {
	if c.buf == nil || c.w < len(c.buf) {
		return
	}
	unread := c.w - c.r
	dst := c.buf
	if unread > len(c.buf)/2 {
		dst = takeLarge(2 * len(c.buf))
	}
	copy(dst[headroom:], c.buf[c.r:c.w])
	if old := c.buf; len(old) > bufferSize && len(dst) > len(old) {
		giveLarge(old)
	}
	c.buf, c.r, c.w = dst, headroom, headroom+unread
}

// Fill blocks until at least one more byte is buffered.
func (c *Conn) Fill() error {
	c.makeRoom()
	var n int
	var err error
	if c.io != nil {
		n, err = c.io.read(c)
	} else if c.comp != nil {
		n, err = c.comp.fill(c)
	} else {
		c.hold()
		n, err = c.nc.Read(c.buf[c.w:])
	}
	c.w += n
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return &SideError{"read", err}
}

// Need blocks until at least n bytes are buffered.
func (c *Conn) Need(n int) error {
	for c.w-c.r < n {
		if err := c.Fill(); err != nil {
			if c.w > c.r && errors.Is(err, io.EOF) {
				return &SideError{"read", io.ErrUnexpectedEOF}
			}
			return err
		}
	}
	return nil
}

// SetMaxPacket limits the payload, joined from all its packets, that
// ReadPacket accepts.
func (c *Conn) SetMaxPacket(n int) { c.max = n }

// ResetSequence starts a new command: the next packet, either way, is number 0.
func (c *Conn) ResetSequence() {
	c.seq = 0
	if c.comp != nil && c.comp.left == 0 && c.r == c.w { // else the command is in the packet of the last one
		c.comp.seq = 0
	}
}

// SetSequence says which number the next packet has, either way.
func (c *Conn) SetSequence(n uint8) { c.seq = n }

// Sequence returns the number of the next packet, either way.
func (c *Conn) Sequence() uint8 { return c.seq }

// Frame is one whole payload. Raw is the same with its packet header, nil if
// it came in several packets. Both are valid until the next read.
type Frame struct {
	Payload []byte
	Raw     []byte
}

// ReadPacket reads one payload; packets split at 16 MB are joined.
func (c *Conn) ReadPacket() ([]byte, error) {
	f, err := c.ReadFrame()
	return f.Payload, err
}

// ReadFrame reads one payload and keeps its header.
func (c *Conn) ReadFrame() (Frame, error) {
	if c.r == c.w {
		c.release()
	}
	c.joined = nil
	total := 0
	for {
		raw, err := c.readOne(total)
		if err != nil {
			return Frame{}, err
		}
		n := len(raw) - HeaderSize
		total += n
		if n < MaxPayload && c.comp != nil {
			c.comp.sync(c)
		}
		if n < MaxPayload && c.joined == nil {
			return Frame{Payload: raw[HeaderSize:], Raw: raw}, nil
		}
		c.joined = append(c.joined, raw[HeaderSize:]...)
		if n < MaxPayload {
			return Frame{Payload: c.joined}, nil
		}
	}
}

// ReadRaw reads one packet with its header and joins nothing: LOAD DATA LOCAL
// is relayed packet by packet. Valid until the next read; may be changed.
func (c *Conn) ReadRaw() ([]byte, error) {
	if c.r == c.w {
		c.release()
	}
	return c.readOne(0)
}

// AnswerSequence returns the number of the packet that answers what ReadRaw
// read: the next one, or with compression the next compressed one's.
func (c *Conn) AnswerSequence() uint8 {
	if c.comp != nil {
		c.comp.sync(c)
	}
	return c.seq
}

// SkipRest reads past what is left of a payload that was ErrPacketTooLarge, to
// the packet that ends it, and keeps none of it.
func (c *Conn) SkipRest() error {
	for {
		if err := c.Need(HeaderSize); err != nil {
			return err
		}
		n := PayloadLength(c.buf[c.r:])
		c.Discard(HeaderSize)
		c.seq++
		for left := n; left > 0; {
			if c.r == c.w {
				if err := c.Fill(); err != nil {
					return err
				}
			}
			take := min(left, c.w-c.r)
			c.Discard(take)
			left -= take
		}
		if n < MaxPayload {
			return nil
		}
	}
}

// readOne reads one packet; before is what its payload already has.
func (c *Conn) readOne(before int) ([]byte, error) {
	if err := c.Need(HeaderSize); err != nil {
		return nil, err
	}
	h := c.buf[c.r:]
	n := PayloadLength(h)
	if h[3] != c.seq && c.comp != nil {
		// See sync: nobody checks these. Whoever passes the packet on sees it
		// numbered as if it came alone.
		h[3] = c.seq
	}
	if h[3] != c.seq {
		return nil, fmt.Errorf("%w: got number %d, expected %d", ErrSequence, h[3], c.seq)
	}
	if before+n > c.max {
		return nil, ErrPacketTooLarge
	}
	if err := c.Need(HeaderSize + n); err != nil {
		return nil, err
	}
	c.seq++
	raw := c.buf[c.r : c.r+HeaderSize+n : c.r+HeaderSize+n]
	c.Discard(HeaderSize + n)
	return raw, nil
}

// PayloadLength reads the length from a packet header.
func PayloadLength(h []byte) int { return int(h[0]) | int(h[1])<<8 | int(h[2])<<16 }

// AppendHeader appends a packet header.
func AppendHeader(b []byte, n int, seq uint8) []byte {
	return append(b, byte(n), byte(n>>8), byte(n>>16), seq)
}

// WritePacket queues a payload with the next sequence number, split into
// packets where it must be. Flush sends it; a full queue is sent at once.
func (c *Conn) WritePacket(payload []byte) error {
	for {
		n := min(len(payload), MaxPayload)
		c.out = AppendHeader(c.out, n, c.seq)
		c.seq++
		if err := c.QueueRaw(payload[:n]); err != nil {
			return err
		}
		payload = payload[n:]
		if n < MaxPayload {
			return nil
		}
	}
}

// QueueRaw queues b, which has its packet headers.
func (c *Conn) QueueRaw(b []byte) error {
	if len(c.out)+len(b) <= bufferSize {
		c.out = append(c.out, b...)
		return nil
	}
	if err := c.Flush(); err != nil {
		return err
	}
	return c.write(b)
}

// WriteRaw sends what is queued and then b, which has its packet headers, as
// it stands. Small pieces leave in one system call.
func (c *Conn) WriteRaw(b []byte) error {
	if len(c.out) == 0 {
		return c.write(b)
	}
	if err := c.QueueRaw(b); err != nil {
		return err
	}
	return c.Flush()
}

// Flush sends what is queued.
func (c *Conn) Flush() error {
	if len(c.out) == 0 {
		return nil
	}
	err := c.write(c.out)
	c.out = c.out[:0]
	return err
}

// DropOutput lets go of the queue's memory, for a connection that will idle.
func (c *Conn) DropOutput() {
	if len(c.out) == 0 {
		c.out = nil
	}
}

func (c *Conn) write(b []byte) error {
	var err error
	if c.io != nil {
		err = c.io.write(b)
	} else if c.comp != nil {
		err = c.comp.write(b)
	} else {
		_, err = c.nc.Write(b)
	}
	if err != nil {
		return &SideError{"write", err}
	}
	return nil
}

// SetDeadline bounds all reads and writes, those under way too.
func (c *Conn) SetDeadline(t time.Time) error { return c.nc.SetDeadline(t) }

// Close closes the connection; a read or write under way returns an error.
// The buffer is not returned here: its owner may still be reading into it.
func (c *Conn) Close() error { return c.nc.Close() }

// PeerClosed tells, without reading, whether the other side has closed its end.
func (c *Conn) PeerClosed() bool { return c.tcp != nil && peerClosed(c.tcp) }
