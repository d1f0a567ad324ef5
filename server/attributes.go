package server

import (
	"encoding/binary"

	"causeway/wire"
)

// skipAttributes returns what follows count query attributes: a null bitmap, a
// flag, types with names, then the values as in COM_STMT_EXECUTE.
// Specification: page_protocol_com_query.
func skipAttributes(p []byte, count uint64) ([]byte, bool) {
	if count > uint64(len(p)) {
		return nil, false
	}
	n := int(count)
	bitmap := (n + 7) / 8
	if len(p) < bitmap+1 || p[bitmap] != 1 {
		return nil, false
	}
	nulls := p[:bitmap]
	p = p[bitmap+1:]
	types := make([]byte, n)
	for i := range types {
		if len(p) < 2 {
			return nil, false
		}
		types[i] = p[0]
		_, size, ok := wire.ReadLenEncBytes(p[2:])
		if !ok {
			return nil, false
		}
		p = p[2+size:]
	}
	for i, t := range types {
		if nulls[i/8]&(1<<(i%8)) != 0 {
			continue
		}
		size, ok := binaryValueSize(t, p)
		if !ok || size > len(p) {
			return nil, false
		}
		p = p[size:]
	}
	return p, true
}

// binaryValueSize is the size of a value in the binary protocol.
// Specification: page_protocol_binary_resultset, "Binary Protocol Value".
func binaryValueSize(t byte, p []byte) (int, bool) {
	switch t {
	case 0x06: // NULL
		return 0, true
	case 0x01: // TINY
		return 1, true
	case 0x02, 0x0d: // SHORT, YEAR
		return 2, true
	case 0x03, 0x09, 0x04: // LONG, INT24, FLOAT
		return 4, true
	case 0x08, 0x05: // LONGLONG, DOUBLE
		return 8, true
	case 0x07, 0x0a, 0x0b, 0x0c: // TIMESTAMP, DATE, TIME, DATETIME: a length byte
		if len(p) == 0 {
			return 0, false
		}
		return 1 + int(p[0]), true
	default:
		_, n, ok := wire.ReadLenEncBytes(p)
		return n, ok
	}
}

// execution is where the parts of a COM_STMT_EXECUTE payload lie.
// Specification: page_protocol_com_stmt_execute.
type execution struct {
	flags     byte
	boundFlag int // offset of new_params_bind_flag, 0 if there are no parameters
	typesEnd  int // offset behind the types, boundFlag+1 if none were sent
}

// Flags of an execution. A client can ask for cursors of several types; servers
// know one.
const (
	opensCursor         = 0x07
	paramCountAvailable = 0x08
)

func parseExecute(p []byte, params int, caps wire.Capability) (execution, bool) {
	if len(p) < 10 {
		return execution{}, false
	}
	e := execution{flags: p[5]}
	pos := 10
	named := caps.Has(wire.CapQueryAttributes)
	if params == 0 && !(named && e.flags&paramCountAvailable != 0) {
		return e, true
	}
	if named { // the flag only says that there is a count without parameters as well
		n, size, ok := wire.ReadLenEncInt(p[pos:])
		if !ok || n > uint64(len(p))*8 {
			return e, false
		}
		params = int(n)
		pos += size
		if params == 0 {
			return e, true
		}
	}
	e.boundFlag = pos + (params+7)/8
	if e.boundFlag >= len(p) {
		return e, false
	}
	e.typesEnd = e.boundFlag + 1
	if p[e.boundFlag] == 0 {
		return e, true
	}
	return e, e.skipTypes(p, params, named)
}

func (e *execution) skipTypes(p []byte, params int, named bool) bool {
	for range params {
		e.typesEnd += 2
		if e.typesEnd > len(p) {
			return false
		}
		if !named {
			continue
		}
		_, n, ok := wire.ReadLenEncBytes(p[e.typesEnd:])
		if !ok {
			return false
		}
		e.typesEnd += n
	}
	return e.typesEnd <= len(p)
}

// withTypes returns the payload with parameter types that the client sent
// earlier, for a connection that has not seen them.
func (e execution) withTypes(p []byte, types string) []byte {
	out := make([]byte, 0, len(p)+len(types))
	out = append(out, p[:e.boundFlag]...)
	out = append(out, 1)
	out = append(out, types...)
	return append(out, p[e.typesEnd:]...)
}

func stmtID(p []byte) uint32 {
	if len(p) < 5 {
		return 0
	}
	return binary.LittleEndian.Uint32(p[1:])
}
