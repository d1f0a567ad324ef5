package wire

import "encoding/binary"

// Types of columns that local answers use.
// Specification: field_types.h, enum_field_types.
const (
	TypeLong      byte = 0x03
	TypeDouble    byte = 0x05
	TypeLongLong  byte = 0x08
	TypeLongBlob  byte = 0xfb // a user variable that holds a string
	TypeVarString byte = 0xfd
)

// Collations that local answers use.
const (
	CollationBinary  uint16 = 63
	CollationUTF8MB4 uint16 = 255 // utf8mb4_0900_ai_ci
)

// Column is a column of a result that Causeway itself answers.
type Column struct {
	Name    string
	Type    byte
	Charset uint16
	Flags   uint16
	Length  uint32 // longest value, in bytes; a hint for the client's display
}

// AppendColumnCount appends the first packet of a result set.
func AppendColumnCount(b []byte, n int) []byte { return AppendLenEncInt(b, uint64(n)) }

// AppendColumn appends a column definition without schema and table.
// Specification: page_protocol_com_query_response_text_resultset_column_definition.
func AppendColumn(b []byte, c Column) []byte {
	const fixedLen = 0x0c
	b = AppendLenEncString(b, "def")
	b = append(b, 0, 0, 0) // schema, table, original table
	b = AppendLenEncString(b, c.Name)
	b = append(b, 0, fixedLen) // original name; length of what follows
	b = binary.LittleEndian.AppendUint16(b, c.Charset)
	b = binary.LittleEndian.AppendUint32(b, c.Length)
	b = append(b, c.Type)
	b = binary.LittleEndian.AppendUint16(b, c.Flags)
	return append(b, decimals(c.Type), 0, 0) // filler
}

// decimals is what the server puts there: 0x1f for text and floating point,
// whose number of decimals is not fixed.
func decimals(columnType byte) byte {
	switch columnType {
	case TypeVarString, TypeLongBlob, TypeDouble:
		return 0x1f
	}
	return 0
}

// AppendTextRow appends a row of the text protocol; nil is NULL.
func AppendTextRow(b []byte, values [][]byte) []byte {
	for _, v := range values {
		if v == nil {
			b = append(b, lenEncNull)
			continue
		}
		b = AppendLenEncString(b, v)
	}
	return b
}

// AppendTextRowStrings is AppendTextRow for a row without NULL.
func AppendTextRowStrings(b []byte, values ...string) []byte {
	for _, v := range values {
		b = AppendLenEncString(b, v)
	}
	return b
}
