package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrMalformed is wrapped by every error of a Parse function: the payload does
// not follow the protocol. The connection it came from cannot be used further.
var ErrMalformed = errors.New("malformed packet")

func malformed(what string) error { return fmt.Errorf("%w: %s", ErrMalformed, what) }

// OK is the OK packet, which with DEPRECATE_EOF also ends a result set (header
// 0xfe instead of 0x00). Specification: page_protocol_basic_ok_packet.
type OK struct {
	Header       byte // HeaderOK or HeaderEOF
	AffectedRows uint64
	LastInsertID uint64
	Status       Status
	Warnings     uint16
	Info         []byte // human-readable, such as "Rows matched: 1 ..."
	Track        []byte // session-state block without its length; nil if none
}

// ParseOK reads an OK packet sent by a server that negotiated caps. It does
// not allocate; Info and Track are slices into payload.
//
// The manual gives Info as string<EOF> when SESSION_TRACK is not negotiated;
// the server (net_send_ok) writes a string<lenenc> in both cases. Both are
// understood: what is no string<lenenc> to the end of the packet is a string<EOF>.
//
// SERVER_SESSION_STATE_CHANGED can stay set in an OK that has no block (the
// flag lives for a whole statement, the block only for its first OK, and OKs
// without SESSION_TRACK never have one); this is not malformed, Track is nil.
func ParseOK(payload []byte, caps Capability) (OK, error) {
	var ok OK
	if len(payload) == 0 || payload[0] != HeaderOK && payload[0] != HeaderEOF {
		return ok, malformed("OK header")
	}
	ok.Header = payload[0]
	rest := payload[1:]
	var n int
	var good bool
	if ok.AffectedRows, n, good = ReadLenEncInt(rest); !good {
		return ok, malformed("OK affected rows")
	}
	rest = rest[n:]
	if ok.LastInsertID, n, good = ReadLenEncInt(rest); !good {
		return ok, malformed("OK last insert id")
	}
	rest = rest[n:]
	if len(rest) < 4 {
		return ok, malformed("OK status")
	}
	ok.Status = Status(binary.LittleEndian.Uint16(rest))
	ok.Warnings = binary.LittleEndian.Uint16(rest[2:])
	return ok, ok.parseTail(rest[4:], caps)
}

// parseTail reads what follows the warnings: Info and Track.
func (ok *OK) parseTail(rest []byte, caps Capability) error {
	if len(rest) == 0 {
		return nil
	}
	info, n, good := ReadLenEncBytes(rest)
	if !caps.Has(CapSessionTrack) {
		if !good || n != len(rest) {
			info = rest
		}
		ok.Info = info
		return nil
	}
	if !good {
		return malformed("OK info")
	}
	ok.Info, rest = info, rest[n:]
	if !ok.Status.Has(StatusSessionStateChanged) || len(rest) == 0 {
		return nil
	}
	track, _, good := ReadLenEncBytes(rest)
	if !good {
		return malformed("OK session state")
	}
	ok.Track = track
	return nil
}

// Append appends the payload as a peer that negotiated caps must see it. A
// peer without SESSION_TRACK gets neither the block nor the flag that promises
// one; nor is the flag given without a block, on which strict readers trip.
// Info is a string<lenenc> in both cases, as the server's source has it (see
// ParseOK).
func (ok OK) Append(b []byte, caps Capability) []byte {
	track := ok.Track != nil && caps.Has(CapSessionTrack)
	status := ok.Status &^ StatusSessionStateChanged
	if track {
		status |= StatusSessionStateChanged
	}
	b = append(b, ok.Header)
	b = AppendLenEncInt(b, ok.AffectedRows)
	b = AppendLenEncInt(b, ok.LastInsertID)
	b = binary.LittleEndian.AppendUint16(b, uint16(status))
	b = binary.LittleEndian.AppendUint16(b, ok.Warnings)
	if len(ok.Info) > 0 || track {
		b = AppendLenEncString(b, ok.Info)
	}
	if track {
		b = AppendLenEncString(b, ok.Track)
	}
	return b
}
