package wire

import "encoding/binary"

// First bytes with a meaning of their own. Which one applies depends on where
// the packet stands, so these are never switched on without that context.
const (
	HeaderOK         = 0x00
	HeaderMoreData   = 0x01 // authentication only
	HeaderLocalFile  = 0xfb // answer to COM_QUERY: LOAD DATA LOCAL
	HeaderEOF        = 0xfe // also: OK with DEPRECATE_EOF, authentication switch
	HeaderERR        = 0xff
	lenEncNull       = 0xfb
	lenEnc2          = 0xfc
	lenEnc3          = 0xfd
	lenEnc8          = 0xfe
	maxLenEnc1       = 0xfa
	maxLenEncIntSize = 9
)

// AppendLenEncInt appends v as int<lenenc>: 1, 3, 4 or 9 bytes.
func AppendLenEncInt(b []byte, v uint64) []byte {
	switch {
	case v <= maxLenEnc1:
		return append(b, byte(v))
	case v <= 0xffff:
		return append(b, lenEnc2, byte(v), byte(v>>8))
	case v <= 0xffffff:
		return append(b, lenEnc3, byte(v), byte(v>>8), byte(v>>16))
	}
	return binary.LittleEndian.AppendUint64(append(b, lenEnc8), v)
}

// ReadLenEncInt reads the int<lenenc> at the start of b and the number of
// bytes it took. ok is false if b is too short, or starts with 0xfb (NULL) or
// 0xff (ERR), which are no integers. Longer encodings than needed are taken,
// as the server's and every client's reader do.
func ReadLenEncInt(b []byte) (v uint64, n int, ok bool) {
	if len(b) == 0 {
		return 0, 0, false
	}
	switch c := b[0]; {
	case c <= maxLenEnc1:
		return uint64(c), 1, true
	case c == lenEnc2 && len(b) >= 3:
		return uint64(binary.LittleEndian.Uint16(b[1:])), 3, true
	case c == lenEnc3 && len(b) >= 4:
		return uint64(b[1]) | uint64(b[2])<<8 | uint64(b[3])<<16, 4, true
	case c == lenEnc8 && len(b) >= maxLenEncIntSize:
		return binary.LittleEndian.Uint64(b[1:]), maxLenEncIntSize, true
	}
	return 0, 0, false
}

// AppendLenEncString appends s as string<lenenc>.
func AppendLenEncString[T ~string | ~[]byte](b []byte, s T) []byte {
	return append(AppendLenEncInt(b, uint64(len(s))), s...)
}

// ReadLenEncBytes reads the string<lenenc> at the start of b: its content as a
// slice into b and the number of bytes it took with its length. ok is false if
// b ends before the string does.
func ReadLenEncBytes(b []byte) (s []byte, n int, ok bool) {
	v, n, ok := ReadLenEncInt(b)
	if !ok || v > uint64(len(b)-n) {
		return nil, 0, false
	}
	end := n + int(v)
	return b[n:end:end], end, true
}

// ReadTextValue reads one value of a row in the text protocol: as
// ReadLenEncBytes, but NULL is a value too, given as a nil slice. An empty
// string is a slice of length 0 that is not nil.
func ReadTextValue(b []byte) (s []byte, n int, ok bool) {
	if len(b) > 0 && b[0] == lenEncNull {
		return nil, 1, true
	}
	return ReadLenEncBytes(b)
}

// readNul reads a string<NUL> at the start of b. ok is false without a NUL.
func readNul(b []byte) (s []byte, n int, ok bool) {
	for i, c := range b {
		if c == 0 {
			return b[:i:i], i + 1, true
		}
	}
	return nil, 0, false
}

// readNulOrRest is readNul for the places where real clients and servers leave
// out the NUL of the last string.
func readNulOrRest(b []byte) (s []byte, n int) {
	if s, n, ok := readNul(b); ok {
		return s, n
	}
	return b, len(b)
}

// appendNul appends s and a NUL. A NUL inside s would shift every field behind
// it, so s ends there; MySQL's own C strings cannot hold one either.
func appendNul(b []byte, s string) []byte {
	for i := range len(s) {
		if s[i] == 0 {
			s = s[:i]
			break
		}
	}
	return append(append(b, s...), 0)
}
