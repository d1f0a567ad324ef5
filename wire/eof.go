package wire

import "encoding/binary"

// EOF is the packet that ends columns and rows without DEPRECATE_EOF.
// Specification: page_protocol_basic_eof_packet.
type EOF struct {
	Warnings uint16
	Status   Status
}

// maxEOFLen: a packet that starts with 0xfe is an EOF only if it is shorter
// than 9 bytes; a longer one is a row whose first value is over 16 MB.
const maxEOFLen = 9

// IsEOF reports whether payload, read where a row or column was expected, is
// an EOF packet instead (a peer without DEPRECATE_EOF).
func IsEOF(payload []byte) bool {
	return len(payload) > 0 && len(payload) < maxEOFLen && payload[0] == HeaderEOF
}

// AppendEOF appends the payload of an EOF packet. The flag that promises a
// session-state block is cleared: an EOF has no room for one.
func AppendEOF(b []byte, warnings uint16, status Status) []byte {
	b = binary.LittleEndian.AppendUint16(append(b, HeaderEOF), warnings)
	return binary.LittleEndian.AppendUint16(b, uint16(status&^StatusSessionStateChanged))
}

// ParseEOF reads an EOF packet.
func ParseEOF(payload []byte) (EOF, error) {
	if !IsEOF(payload) || len(payload) < 5 {
		return EOF{}, malformed("EOF")
	}
	return EOF{
		Warnings: binary.LittleEndian.Uint16(payload[1:]),
		Status:   Status(binary.LittleEndian.Uint16(payload[3:])),
	}, nil
}
