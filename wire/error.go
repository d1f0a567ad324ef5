package wire

import (
	"encoding/binary"
	"fmt"
)

// Error is an ERR packet: what a server answered, or what Causeway answers in
// its place. Specification: page_protocol_basic_err_packet.
type Error struct {
	Code    uint16
	State   string // SQLSTATE, 5 characters; "" in an ERR before the greeting
	Message string
}

// NewError makes an error with the SQLSTATE that MySQL gives to code.
func NewError(code uint16, format string, args ...any) *Error {
	return &Error{Code: code, State: SQLState(code), Message: fmt.Sprintf(format, args...)}
}

// Error is the text as the mysql client prints it.
func (e *Error) Error() string {
	if e.State == "" {
		return fmt.Sprintf("ERROR %d: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("ERROR %d (%s): %s", e.Code, e.State, e.Message)
}

// IsErr reports whether payload is an ERR packet.
func IsErr(payload []byte) bool { return len(payload) > 0 && payload[0] == HeaderERR }

const stateLen = 5

// ParseError reads an ERR packet. The returned error shares no memory with
// payload. The SQLSTATE is known by its marker '#', not by the capabilities: an
// ERR in place of the greeting comes before any were negotiated, and has none;
// it is passed on without one as well.
func ParseError(payload []byte) (*Error, error) {
	if !IsErr(payload) || len(payload) < 3 {
		return nil, malformed("ERR")
	}
	e := &Error{Code: binary.LittleEndian.Uint16(payload[1:])}
	rest := payload[3:]
	if len(rest) > stateLen && rest[0] == '#' {
		e.State, rest = string(rest[1:1+stateLen]), rest[1+stateLen:]
	}
	e.Message = string(rest)
	return e, nil
}

// Append appends the payload of the ERR packet. Before the handshake response
// nothing is negotiated: caps is 0 then and, as the server does, no SQLSTATE is
// sent. Nor is one for an error that has none.
func (e *Error) Append(b []byte, caps Capability) []byte {
	b = binary.LittleEndian.AppendUint16(append(b, HeaderERR), e.Code)
	if caps.Has(CapProtocol41) && len(e.State) == stateLen {
		b = append(append(b, '#'), e.State...)
	}
	return append(b, e.Message...)
}
