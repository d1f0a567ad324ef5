package raw

import (
	"encoding/binary"
	"fmt"
	"math"

	"causeway/wire"
)

// Types of parameters, as in the server's field_types.h.
const (
	TypeTiny     byte = 0x01
	TypeLong     byte = 0x03
	TypeDouble   byte = 0x05
	TypeNull     byte = 0x06
	TypeLongLong byte = 0x08
	TypeDatetime byte = 0x0c
	TypeBlob     byte = 0xfc
	TypeString   byte = 0xfe
)

// Param is a parameter with the bytes that stand for its value.
type Param struct {
	Name  string // of a query attribute, behind the parameters
	Type  byte
	Value []byte
	Null  bool
	Long  bool // sent before by SendLongData: no bytes here
}

// Int64 is a BIGINT parameter.
func Int64(v int64) Param {
	return Param{Type: TypeLongLong, Value: binary.LittleEndian.AppendUint64(nil, uint64(v))}
}

// Double is a DOUBLE parameter.
func Double(v float64) Param {
	return Param{Type: TypeDouble, Value: binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))}
}

// String is a text parameter.
func String(s string) Param {
	return Param{Type: TypeString, Value: wire.AppendLenEncString(nil, s)}
}

// Null is a NULL of type VARCHAR.
func Null() Param { return Param{Type: TypeString, Null: true} }

// Long stands for a parameter that SendLongData has sent.
func Long() Param { return Param{Type: TypeBlob, Long: true} }

// Stmt is a prepared statement.
type Stmt struct {
	ID      uint32
	Params  []Column
	Columns []Column

	c *Client
}

// Prepare sends COM_STMT_PREPARE. A refusal is a *wire.Error.
func (c *Client) Prepare(sql string) (*Stmt, error) {
	if err := c.start(wire.ComStmtPrepare, []byte(sql)); err != nil {
		return nil, err
	}
	payload, err := c.conn.ReadPacket()
	if err != nil {
		return nil, err
	}
	if wire.IsErr(payload) {
		return nil, serverError(payload)
	}
	id, columns, params, _, err := wire.ParsePrepareOK(payload)
	if err != nil {
		return nil, err
	}
	s := &Stmt{ID: id, c: c}
	if s.Params, err = c.definitions(int(params)); err != nil {
		return nil, err
	}
	s.Columns, err = c.definitions(int(columns))
	return s, err
}

// definitions reads n column definitions and their EOF, if there is one.
func (c *Client) definitions(n int) ([]Column, error) {
	if n == 0 {
		return nil, nil
	}
	columns, err := c.readColumns(n)
	if err == nil && !c.Caps.Has(wire.CapDeprecateEOF) {
		_, err = c.readEOF()
	}
	return columns, err
}

// String writes the statement's definitions.
func (s *Stmt) String() string {
	text := ""
	for _, p := range s.Params {
		text += fmt.Sprintf("PARAM %s\n", p)
	}
	for _, c := range s.Columns {
		text += fmt.Sprintf("COLUMN %s\n", c)
	}
	return text
}

// Cursor flags of Execute.
const (
	NoCursor       byte = 0
	CursorReadOnly byte = 1
)

// Execute sends COM_STMT_EXECUTE with all parameters bound anew.
func (s *Stmt) Execute(cursor byte, params ...Param) (Answer, error) {
	return s.execute(cursor, true, params)
}

// ExecuteSame executes with the types of the time before.
func (s *Stmt) ExecuteSame(params ...Param) (Answer, error) {
	return s.execute(NoCursor, false, params)
}

func (s *Stmt) execute(cursor byte, types bool, params []Param) (Answer, error) {
	b := binary.LittleEndian.AppendUint32(nil, s.ID)
	attributes := s.c.Caps.Has(wire.CapQueryAttributes)
	if attributes {
		cursor |= 8 // PARAMETER_COUNT_AVAILABLE
	}
	b = append(b, cursor, 1, 0, 0, 0)
	if attributes {
		b = wire.AppendLenEncInt(b, uint64(len(params)))
	}
	if len(params) > 0 {
		b = appendParams(b, params, types, attributes)
	}
	if err := s.c.start(wire.ComStmtExecute, b); err != nil {
		return nil, err
	}
	return s.c.readAnswer(true)
}

// appendParams writes NULL bits, types and values.
// Specification: page_protocol_com_stmt_execute.
func appendParams(b []byte, params []Param, types, names bool) []byte {
	nulls := make([]byte, (len(params)+7)/8)
	for i, p := range params {
		if p.Null {
			nulls[i/8] |= 1 << (i % 8)
		}
	}
	b = append(b, nulls...)
	if !types {
		b = append(b, 0)
	} else {
		b = append(b, 1)
		for _, p := range params {
			b = append(b, p.Type, 0)
			if names {
				b = wire.AppendLenEncString(b, p.Name)
			}
		}
	}
	for _, p := range params {
		if !p.Null && !p.Long {
			b = append(b, p.Value...)
		}
	}
	return b
}

// Fetch sends COM_STMT_FETCH and reads up to n rows of the open cursor.
func (s *Stmt) Fetch(n uint32) (Result, error) {
	b := binary.LittleEndian.AppendUint32(nil, s.ID)
	b = binary.LittleEndian.AppendUint32(b, n)
	if err := s.c.start(wire.ComStmtFetch, b); err != nil {
		return Result{}, err
	}
	return s.c.readRowsToEnd(len(s.Columns), true)
}

// SendLongData sends a piece of a parameter; there is no answer.
func (s *Stmt) SendLongData(param uint16, data []byte) error {
	b := binary.LittleEndian.AppendUint32(nil, s.ID)
	b = binary.LittleEndian.AppendUint16(b, param)
	return s.c.start(wire.ComStmtSendLongData, append(b, data...))
}

// Reset sends COM_STMT_RESET.
func (s *Stmt) Reset() (Answer, error) {
	return s.c.Command(wire.ComStmtReset, binary.LittleEndian.AppendUint32(nil, s.ID))
}

// Close sends COM_STMT_CLOSE; there is no answer.
func (s *Stmt) Close() error {
	return s.c.start(wire.ComStmtClose, binary.LittleEndian.AppendUint32(nil, s.ID))
}

// Unprepared is a statement with an id that the server may not know.
func Unprepared(c *Client, id uint32) *Stmt { return &Stmt{ID: id, c: c} }
