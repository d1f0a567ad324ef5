package raw

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"causeway/wire"
)

// Column is a column definition with all its fields.
type Column struct {
	Schema, Table, OrgTable, Name, OrgName string
	Charset                                uint16
	Length                                 uint32
	Type                                   byte
	Flags                                  uint16
	Decimals                               byte
	Default                                string // COM_FIELD_LIST only
}

func (c Column) String() string {
	return fmt.Sprintf("%s.%s(%s).%s(%s) charset=%d length=%d type=%02x flags=%04x decimals=%d%s",
		c.Schema, c.Table, c.OrgTable, c.Name, c.OrgName, c.Charset, c.Length, c.Type, c.Flags, c.Decimals, c.Default)
}

// Row holds the values of a text row, nil for NULL; a binary row is one value:
// its bytes as they came.
type Row [][]byte

// Result is one OK, one ERR or one set of rows, as a command can give several.
type Result struct {
	Err          *wire.Error
	Columns      []Column // nil: no rows, an OK
	Rows         []Row
	AffectedRows uint64
	LastInsertID uint64
	Warnings     uint16
	Status       wire.Status
	Info         string
	Track        []string // entries of the session-state block
	LocalFile    string   // the name that LOAD DATA LOCAL asked for
	// First is the EOF packet after the columns, where there is one. Its warnings
	// are those of parsing alone, of which only the server knows, as of OUT
	// parameters, which the last packet tells again.
	First *wire.EOF
}

// Answer is all that a command gave.
type Answer []Result

// Err is the error that ended the answer, nil if there was none.
func (a Answer) Err() error {
	if len(a) > 0 && a[len(a)-1].Err != nil {
		return a[len(a)-1].Err
	}
	return nil
}

// Code is the errno that ended the answer, 0 if there was none.
func (a Answer) Code() uint16 {
	if len(a) > 0 && a[len(a)-1].Err != nil {
		return a[len(a)-1].Err.Code
	}
	return 0
}

// Value is the first value of the first row, "" if there is none or NULL.
func (a Answer) Value() string {
	for _, r := range a {
		if len(r.Rows) > 0 && len(r.Rows[0]) > 0 {
			return string(r.Rows[0][0])
		}
	}
	return ""
}

// firstStatus leaves of the flags of the EOF after the columns what is promised
// (README, Limits): that of a transaction is a guess if autocommit is off.
func firstStatus(s wire.Status) wire.Status {
	s &= comparable &^ wire.StatusPSOut
	if !s.Has(wire.StatusAutocommit) {
		s &^= wire.StatusInTrans | wire.StatusInTransReadonly
	}
	return s
}

// comparable are the status flags that must be equal on every node: whether an
// index was used or the statement was slow depends on the node's statistics.
const comparable = wire.StatusInTrans | wire.StatusAutocommit | wire.StatusMoreResults | wire.StatusCursorExists |
	wire.StatusLastRowSent | wire.StatusDBDropped | wire.StatusNoBackslashEscapes | wire.StatusPSOut | wire.StatusInTransReadonly

// String writes all fields that must be equal on every node, one line a row.
func (a Answer) String() string {
	var b strings.Builder
	for _, r := range a {
		b.WriteString(r.String())
	}
	return b.String()
}

func (r Result) String() string {
	if r.Err != nil {
		return fmt.Sprintf("ERR %d (%s) %s\n", r.Err.Code, r.Err.State, r.Err.Message)
	}
	var b strings.Builder
	if r.LocalFile != "" {
		fmt.Fprintf(&b, "LOCAL FILE %s\n", r.LocalFile)
	}
	for _, c := range r.Columns {
		fmt.Fprintf(&b, "COLUMN %s\n", c)
	}
	if r.First != nil {
		fmt.Fprintf(&b, "EOF status=%04x\n", uint16(firstStatus(r.First.Status)))
	}
	for _, row := range r.Rows {
		fmt.Fprintf(&b, "ROW %s\n", row)
	}
	fmt.Fprintf(&b, "OK affected=%d id=%d warnings=%d status=%04x info=%q%s\n",
		r.AffectedRows, r.LastInsertID, r.Warnings, uint16(r.Status&comparable), r.Info, tracked(r.Track))
	return b.String()
}

func (row Row) String() string {
	words := make([]string, len(row))
	for i, v := range row {
		words[i] = "NULL"
		if v != nil {
			words[i] = fmt.Sprintf("%q", v)
		}
		if len(v) > 1000 {
			words[i] = fmt.Sprintf("%q... (%d bytes)", v[:100], len(v))
		}
	}
	return strings.Join(words, ", ")
}

func tracked(entries []string) string {
	if len(entries) == 0 {
		return ""
	}
	return " track=" + strings.Join(entries, ",")
}

// trackedByDefault are the variables that a server reports to every client
// that asked for SESSION_TRACK.
var trackedByDefault = map[string]bool{
	"autocommit": true, "character_set_client": true, "character_set_connection": true,
	"character_set_results": true, "time_zone": true,
}

// ok reads an OK packet. Of the session-state block only what a server with
// default settings reports is kept: a proxy may have asked it for more. Without
// DEPRECATE_EOF nothing is kept: results end without a block then, and the
// server gives what they left behind with some later OK.
func (c *Client) ok(payload []byte) (Result, error) {
	ok, err := wire.ParseOK(payload, c.Caps)
	if err != nil {
		return Result{}, err
	}
	r := Result{AffectedRows: ok.AffectedRows, LastInsertID: ok.LastInsertID, Warnings: ok.Warnings, Status: ok.Status, Info: string(ok.Info)}
	if ok.Track == nil && c.Caps.Has(wire.CapSessionTrack) && ok.Status.Has(wire.StatusSessionStateChanged) {
		return r, errors.New("raw: an OK promises a session-state block and has none")
	}
	if ok.Track != nil && !ok.Status.Has(wire.StatusSessionStateChanged) {
		return r, errors.New("raw: an OK has a session-state block that it does not promise")
	}
	err = wire.WalkTrack(ok.Track, func(kind wire.TrackKind, name, value []byte) error {
		switch {
		case c.opt.AllTrackers:
			r.Track = append(r.Track, fmt.Sprintf("%d:%s:%s", kind, name, value))
		case !c.Caps.Has(wire.CapDeprecateEOF):
		case kind == wire.TrackSchema:
			r.Track = append(r.Track, "schema:"+string(value))
		case kind == wire.TrackSystemVariable && trackedByDefault[string(name)]:
			r.Track = append(r.Track, string(name)+":"+string(value))
		}
		return nil
	})
	return r, err
}

// readAnswer reads results until the last one. binary says how rows look.
func (c *Client) readAnswer(binary bool) (Answer, error) {
	var a Answer
	for {
		r, err := c.readResult(binary)
		if err != nil {
			return a, err
		}
		a = append(a, r)
		if r.Err != nil || !r.Status.Has(wire.StatusMoreResults) {
			return a, nil
		}
	}
}

func (c *Client) readResult(binary bool) (Result, error) {
	payload, err := c.conn.ReadPacket()
	if err != nil {
		return Result{}, err
	}
	if len(payload) == 0 {
		return Result{}, wire.ErrMalformed
	}
	switch payload[0] {
	case wire.HeaderOK:
		return c.ok(payload)
	case wire.HeaderERR:
		e, err := wire.ParseError(payload)
		return Result{Err: e}, err
	case wire.HeaderLocalFile:
		return c.sendLocalFile(string(payload[1:]))
	}
	n, used, ok := wire.ReadLenEncInt(payload)
	if !ok || used != len(payload) {
		return Result{}, fmt.Errorf("raw: %w: column count %x", wire.ErrMalformed, payload)
	}
	return c.readRows(int(n), binary)
}

// readRows reads n column definitions and the rows.
func (c *Client) readRows(n int, binary bool) (Result, error) {
	columns, err := c.readColumns(n)
	if err != nil {
		return Result{}, err
	}
	var first wire.EOF
	if !c.Caps.Has(wire.CapDeprecateEOF) {
		first, err = c.readEOF()
		// An open cursor's rows come by COM_STMT_FETCH; this EOF is the end.
		if err != nil || first.Status.Has(wire.StatusCursorExists) {
			return Result{Columns: columns, Status: first.Status, Warnings: first.Warnings}, err
		}
	}
	r, err := c.readRowsToEnd(n, binary)
	r.Columns = columns
	if !c.Caps.Has(wire.CapDeprecateEOF) {
		r.First = &first
	}
	if first.Status.Has(wire.StatusPSOut) {
		// The server tells of OUT parameters and of the OK after them in the
		// first EOF only (libmysqlclient has the same exception).
		r.Status |= first.Status & (wire.StatusPSOut | wire.StatusMoreResults)
	}
	return r, err
}

func (c *Client) readEOF() (wire.EOF, error) {
	payload, err := c.conn.ReadPacket()
	if err != nil {
		return wire.EOF{}, err
	}
	if !wire.IsEOF(payload) {
		return wire.EOF{}, fmt.Errorf("raw: %w: no EOF after columns: %x", wire.ErrMalformed, payload)
	}
	return wire.ParseEOF(payload)
}

func (c *Client) readColumns(n int) ([]Column, error) {
	columns := make([]Column, 0, n)
	for range n {
		payload, err := c.conn.ReadPacket()
		if err != nil {
			return nil, err
		}
		column, err := parseColumn(payload)
		if err != nil {
			return nil, err
		}
		columns = append(columns, column)
	}
	return columns, nil
}

// readRowsToEnd reads rows up to the packet that ends them.
func (c *Client) readRowsToEnd(n int, binary bool) (Result, error) {
	var rows []Row
	for {
		payload, err := c.conn.ReadPacket()
		if err != nil {
			return Result{}, err
		}
		if len(payload) > 0 && payload[0] == wire.HeaderERR {
			e, err := wire.ParseError(payload)
			return Result{Rows: rows, Err: e}, err
		}
		if r, done, err := c.rowsEnd(payload); done || err != nil {
			r.Rows = rows
			return r, err
		}
		row, err := parseRow(payload, n, binary)
		if err != nil {
			return Result{}, err
		}
		rows = append(rows, row)
	}
}

// rowsEnd tells whether a packet ends the rows: an OK with the header of EOF
// for a client with DEPRECATE_EOF, an EOF for others.
func (c *Client) rowsEnd(payload []byte) (Result, bool, error) {
	if len(payload) == 0 || payload[0] != wire.HeaderEOF {
		return Result{}, false, nil
	}
	if c.Caps.Has(wire.CapDeprecateEOF) {
		if len(payload) >= wire.MaxPayload { // a row that starts with a huge value
			return Result{}, false, nil
		}
		r, err := c.ok(payload)
		return r, true, err
	}
	if !wire.IsEOF(payload) {
		return Result{}, false, nil
	}
	eof, err := wire.ParseEOF(payload)
	return Result{Status: eof.Status, Warnings: eof.Warnings}, true, err
}

func parseRow(payload []byte, n int, binary bool) (Row, error) {
	if binary {
		return Row{append([]byte(nil), payload...)}, nil
	}
	row := make(Row, 0, n)
	for range n {
		v, used, ok := wire.ReadTextValue(payload)
		if !ok {
			return nil, fmt.Errorf("raw: %w: row", wire.ErrMalformed)
		}
		if v != nil {
			v = append([]byte{}, v...)
		}
		row = append(row, v)
		payload = payload[used:]
	}
	if len(payload) != 0 {
		return nil, fmt.Errorf("raw: %w: %d bytes after a row", wire.ErrMalformed, len(payload))
	}
	return row, nil
}

func parseColumn(payload []byte) (Column, error) {
	var words [6]string
	for i := range words {
		s, n, ok := wire.ReadLenEncBytes(payload)
		if !ok {
			return Column{}, fmt.Errorf("raw: %w: column", wire.ErrMalformed)
		}
		words[i], payload = string(s), payload[n:]
	}
	if len(payload) < 13 || payload[0] != 0x0c {
		return Column{}, fmt.Errorf("raw: %w: column's fixed fields %x", wire.ErrMalformed, payload)
	}
	f := payload[1:]
	c := Column{
		Schema: words[1], Table: words[2], OrgTable: words[3], Name: words[4], OrgName: words[5],
		Charset: binary.LittleEndian.Uint16(f), Length: binary.LittleEndian.Uint32(f[2:]),
		Type: f[6], Flags: binary.LittleEndian.Uint16(f[7:]), Decimals: f[9],
	}
	if rest := f[12:]; len(rest) > 0 {
		c.Default = fmt.Sprintf(" default=%x", rest)
	}
	return c, nil
}

// sendLocalFile answers LOAD DATA LOCAL with LocalFile and an empty packet.
func (c *Client) sendLocalFile(name string) (Result, error) {
	data := c.LocalFile
	for len(data) > 0 {
		n := len(data)
		if c.LocalChunk > 0 {
			n = min(n, c.LocalChunk)
		}
		if err := c.send(data[:n]); err != nil {
			return Result{}, err
		}
		data = data[n:]
	}
	if err := c.send(nil); err != nil {
		return Result{}, err
	}
	r, err := c.readResult(false)
	r.LocalFile = name
	return r, err
}
