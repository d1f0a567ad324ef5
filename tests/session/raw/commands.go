package raw

import (
	"encoding/binary"
	"errors"
	"fmt"

	"causeway/wire"
)

// Attr is a query attribute; its value travels as a string.
type Attr struct{ Name, Value string }

// Query sends COM_QUERY and reads all results.
func (c *Client) Query(sql string, attrs ...Attr) (Answer, error) {
	if err := c.SendQuery(sql, attrs...); err != nil {
		return nil, err
	}
	return c.readAnswer(false)
}

// SendQuery sends COM_QUERY and leaves the answer unread.
func (c *Client) SendQuery(sql string, attrs ...Attr) error {
	var head []byte
	if c.Caps.Has(wire.CapQueryAttributes) {
		head = queryAttributes(attrs)
	} else if len(attrs) > 0 {
		return errors.New("raw: query attributes were not negotiated")
	}
	return c.start(wire.ComQuery, append(head, sql...))
}

// queryAttributes writes the parameters in front of a text.
// Specification: page_protocol_com_query.
func queryAttributes(attrs []Attr) []byte {
	b := wire.AppendLenEncInt(nil, uint64(len(attrs)))
	b = wire.AppendLenEncInt(b, 1) // sets of parameters: always one
	if len(attrs) == 0 {
		return b
	}
	b = append(b, make([]byte, (len(attrs)+7)/8)...) // none is NULL
	b = append(b, 1)                                 // types follow
	for _, a := range attrs {
		b = binary.LittleEndian.AppendUint16(b, uint16(wire.TypeVarString))
		b = wire.AppendLenEncString(b, a.Name)
	}
	for _, a := range attrs {
		b = wire.AppendLenEncString(b, a.Value)
	}
	return b
}

// ReadAnswer reads the results of a command sent before.
func (c *Client) ReadAnswer() (Answer, error) { return c.readAnswer(false) }

// Command sends any command and reads an answer as COM_QUERY gives it.
func (c *Client) Command(cmd wire.Command, payload []byte) (Answer, error) {
	if err := c.start(cmd, payload); err != nil {
		return nil, err
	}
	if cmd == wire.ComSetOption || cmd == wire.ComDebug {
		return c.readSetOption()
	}
	return c.readAnswer(false)
}

// readSetOption reads the answer to COM_SET_OPTION and COM_DEBUG: an EOF (with DEPRECATE_EOF
// an OK that has EOF's header) where other commands give an OK.
func (c *Client) readSetOption() (Answer, error) {
	payload, err := c.conn.ReadPacket()
	if err != nil {
		return nil, err
	}
	if wire.IsErr(payload) {
		e, err := wire.ParseError(payload)
		return Answer{{Err: e}}, err
	}
	r, done, err := c.rowsEnd(payload)
	if !done && err == nil {
		err = fmt.Errorf("raw: answer to COM_SET_OPTION is %x", payload)
	}
	return Answer{r}, err
}

// InitDB sends COM_INIT_DB.
func (c *Client) InitDB(schema string) (Answer, error) {
	return c.Command(wire.ComInitDB, []byte(schema))
}

// Ping sends COM_PING.
func (c *Client) Ping() (Answer, error) { return c.Command(wire.ComPing, nil) }

// Reset sends COM_RESET_CONNECTION.
func (c *Client) Reset() (Answer, error) { return c.Command(wire.ComResetConnection, nil) }

// SetOption sends COM_SET_OPTION; 0 switches several statements in one text on.
func (c *Client) SetOption(option uint16) (Answer, error) {
	return c.Command(wire.ComSetOption, binary.LittleEndian.AppendUint16(nil, option))
}

// Statistics sends COM_STATISTICS, whose answer is a text without a header.
func (c *Client) Statistics() (string, error) {
	if err := c.start(wire.ComStatistics, nil); err != nil {
		return "", err
	}
	payload, err := c.conn.ReadPacket()
	return string(payload), err
}

// FieldList sends COM_FIELD_LIST: column definitions up to an EOF or OK.
func (c *Client) FieldList(table, wild string) (Answer, error) {
	payload := append(append([]byte(table), 0), wild...)
	if err := c.start(wire.ComFieldList, payload); err != nil {
		return nil, err
	}
	var columns []Column
	for {
		payload, err := c.conn.ReadPacket()
		if err != nil {
			return nil, err
		}
		if wire.IsErr(payload) {
			e, err := wire.ParseError(payload)
			return Answer{{Err: e}}, err
		}
		if r, done, err := c.rowsEnd(payload); done || err != nil {
			r.Columns = columns
			return Answer{r}, err
		}
		column, err := parseColumn(payload)
		if err != nil {
			return nil, err
		}
		columns = append(columns, column)
	}
}

// ChangeUser sends COM_CHANGE_USER and authenticates anew.
func (c *Client) ChangeUser(user, password, schema string) error {
	u := wire.ChangeUser{
		User: user, Database: schema, Collation: c.opt.Collation, AuthPlugin: c.Greeting.AuthPlugin,
		Auth: scramble(c.Greeting.AuthPlugin, password, c.Greeting.AuthData), Attrs: c.opt.Attrs,
	}
	c.deadline()
	c.conn.ResetSequence()
	if err := c.send(u.Append(nil, c.Caps)); err != nil {
		return err
	}
	return c.authenticate(c.Greeting.AuthPlugin, password, c.Greeting.AuthData)
}
