package wire

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Compressors and decompressors take from tens of kilobytes to a megabyte each,
// so no connection has one of its own: it borrows one for a packet.

// inflater unfolds one compressed packet.
type inflater interface {
	io.Reader
	// reset begins with src, which should unfold to size bytes.
	reset(src []byte, size int) error
	// unread is how much of src was not needed, once Read said io.EOF.
	unread() int
	// release lets go of src.
	release()
}

var inflaters = [...]sync.Pool{
	Zlib: {New: func() any { return new(zlibInflater) }},
	Zstd: {New: func() any { return newZstdInflater() }},
}

func getInflater(m Compression) inflater { return inflaters[m].Get().(inflater) }

func putInflater(m Compression, f inflater) {
	f.release()
	inflaters[m].Put(f)
}

// zlibInflater unfolds as it is read, so a bomb is never larger than the
// buffer that it is read into.
type zlibInflater struct {
	src bytes.Reader // also an io.ByteReader: nothing behind the end is taken
	z   io.ReadCloser
}

func (i *zlibInflater) reset(src []byte, _ int) (err error) {
	i.src.Reset(src)
	if i.z != nil {
		return i.z.(zlib.Resetter).Reset(&i.src, nil)
	}
	i.z, err = zlib.NewReader(&i.src)
	return err
}

func (i *zlibInflater) Read(p []byte) (int, error) { return i.z.Read(p) }
func (i *zlibInflater) unread() int                { return i.src.Len() }
func (i *zlibInflater) release()                   { i.src.Reset(nil) }

// zstdInflater unfolds at once: a decoder that unfolds as it is read keeps as
// much as the frame says it looks back, up to 16 MB for as long as the reader
// likes; this one only while it works.
type zstdInflater struct {
	dec   *zstd.Decoder
	plain bytes.Reader
	buf   []byte
}

// keepPlain is the largest buffer that a pooled inflater keeps.
const keepPlain = 128 << 10

func newZstdInflater() *zstdInflater {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(MaxPayload), zstd.WithDecoderMaxWindow(MaxPayload+1))
	if err != nil {
		panic("BUG: options of the zstd decoder: " + err.Error())
	}
	return &zstdInflater{dec: dec}
}

func (i *zstdInflater) reset(src []byte, size int) (err error) {
	i.buf, err = i.dec.DecodeAll(src, i.buf[:0])
	i.plain.Reset(i.buf)
	if err == nil && len(i.buf) != size {
		err = fmt.Errorf("%d bytes, its header says %d", len(i.buf), size)
	}
	return err
}

func (i *zstdInflater) Read(p []byte) (int, error) { return i.plain.Read(p) }
func (i *zstdInflater) unread() int                { return 0 } // DecodeAll refuses what is no frame

func (i *zstdInflater) release() {
	if cap(i.buf) > keepPlain {
		i.buf = nil
	}
	i.plain.Reset(nil)
}

// folder makes compressed packets. What fold returns is valid until the next.
type folder interface {
	fold(b []byte, seq uint8, level int) []byte
}

var folders = [...]sync.Pool{
	Zlib: {New: func() any { return new(zlibFolder) }},
	Zstd: {New: func() any { return new(zstdFolder) }},
}

// framed finishes a packet: packed has room for the header and what b was
// compressed to, or should be; b itself is sent if it is not longer.
func framed(packed, b []byte, seq uint8) []byte {
	size := len(b)
	if len(b) < minCompress || len(packed)-compressedHeader >= len(b) {
		packed, size = append(packed[:compressedHeader], b...), 0
	}
	AppendHeader(packed[:0], len(packed)-compressedHeader, seq)
	packed[4], packed[5], packed[6] = byte(size), byte(size>>8), byte(size>>16)
	return packed
}

type zlibFolder struct {
	out bytes.Buffer
	w   *zlib.Writer
}

// fold uses the fastest level: each packet is a stream of its own, and the
// others clear half a megabyte of tables before each.
func (f *zlibFolder) fold(b []byte, seq uint8, _ int) []byte {
	f.out.Reset()
	f.out.Write(make([]byte, compressedHeader))
	if len(b) >= minCompress {
		if f.w == nil {
			f.w, _ = zlib.NewWriterLevel(&f.out, zlib.BestSpeed) // fails for unknown levels only
		} else {
			f.w.Reset(&f.out)
		}
		f.w.Write(b) // into memory: it cannot fail
		f.w.Close()
	}
	return framed(f.out.Bytes(), b, seq)
}

type zstdFolder struct {
	out        []byte
	fast, full *zstd.Encoder
}

// fold knows two strengths: levels from 3, the default, on are one. On 64 KB
// the higher ones gain little, and they take up to 32 MB of memory.
func (f *zstdFolder) fold(b []byte, seq uint8, level int) []byte {
	f.out = append(f.out[:0], make([]byte, compressedHeader)...)
	if len(b) >= minCompress {
		enc, strength := &f.full, zstd.SpeedDefault
		if level < defaultZstdLevel {
			enc, strength = &f.fast, zstd.SpeedFastest
		}
		if *enc == nil {
			*enc = newZstdEncoder(strength)
		}
		f.out = (*enc).EncodeAll(b, f.out)
	}
	f.out = framed(f.out, b, seq)
	return f.out
}

func newZstdEncoder(strength zstd.EncoderLevel) *zstd.Encoder {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(strength), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(compressPiece), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	if err != nil {
		panic("BUG: options of the zstd encoder: " + err.Error())
	}
	return enc
}
