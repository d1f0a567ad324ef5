package wire

import "encoding/binary"

const prepareOKLen = 12

// ParsePrepareOK reads the first packet of the answer to COM_STMT_PREPARE: the
// statement's id on that connection, the number of columns and parameters whose
// definitions follow, and the warnings.
// Specification: page_protocol_com_stmt_prepare, COM_STMT_PREPARE_OK.
func ParsePrepareOK(payload []byte) (id uint32, columns, params, warnings uint16, err error) {
	if len(payload) < prepareOKLen || payload[0] != HeaderOK {
		return 0, 0, 0, 0, malformed("COM_STMT_PREPARE answer")
	}
	return binary.LittleEndian.Uint32(payload[1:]),
		binary.LittleEndian.Uint16(payload[5:]),
		binary.LittleEndian.Uint16(payload[7:]),
		binary.LittleEndian.Uint16(payload[10:]),
		nil
}

// AppendPrepareOK appends the first packet of an answer to COM_STMT_PREPARE that
// Causeway itself gives; it has no warnings.
func AppendPrepareOK(b []byte, id uint32, columns, params uint16) []byte {
	b = binary.LittleEndian.AppendUint32(append(b, HeaderOK), id)
	b = binary.LittleEndian.AppendUint16(b, columns)
	b = binary.LittleEndian.AppendUint16(b, params)
	return append(b, 0, 0, 0) // filler, warnings
}

// SetStatementID writes the statement's id into an answer to COM_STMT_PREPARE
// or a COM_STMT_* command, in both of which it is the 4 bytes after the first.
// It reports false, and changes nothing, if payload is too short.
func SetStatementID(payload []byte, id uint32) bool {
	if len(payload) < 5 {
		return false
	}
	binary.LittleEndian.PutUint32(payload[1:], id)
	return true
}

// StatementID reads the id that SetStatementID writes.
func StatementID(payload []byte) (id uint32, ok bool) {
	if len(payload) < 5 {
		return 0, false
	}
	return binary.LittleEndian.Uint32(payload[1:]), true
}
