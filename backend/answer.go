package backend

import (
	"errors"

	"causeway/wire"
)

// ReadResult reads one answer, of a statement of Causeway's own, to its end
// and returns its first row. Without a whole answer the connection is broken.
func (c *Conn) ReadResult() ([]string, error) {
	c.SetSequence(1)
	row, err := c.readResult()
	for err == nil && c.Status.Has(wire.StatusMoreResults) { // of several statements in one text
		_, err = c.readResult()
	}
	if err != nil && !errors.As(err, new(*wire.Error)) {
		c.Broken = true
	}
	return row, err
}

func (c *Conn) readResult() ([]string, error) {
	first, err := c.ReadPacket()
	if err != nil {
		return nil, err
	}
	if len(first) == 0 {
		return nil, wire.ErrMalformed
	}
	switch first[0] {
	case wire.HeaderOK:
		return nil, c.noteOK(first)
	case wire.HeaderERR:
		return nil, asError(first)
	}
	columns, _, ok := wire.ReadLenEncInt(first)
	if !ok {
		return nil, wire.ErrMalformed
	}
	for range columns {
		definition, err := c.ReadPacket()
		if err != nil {
			return nil, err
		}
		c.lastColumn = append(c.lastColumn[:0], definition...)
	}
	return c.readRows(int(columns))
}

func (c *Conn) readRows(columns int) ([]string, error) {
	var row []string
	for {
		p, err := c.ReadPacket()
		if err != nil {
			return nil, err
		}
		switch {
		case len(p) == 0:
			return nil, wire.ErrMalformed
		case p[0] == wire.HeaderERR:
			return nil, asError(p)
		case p[0] == wire.HeaderEOF && len(p) < wire.MaxPayload:
			return row, c.noteOK(p)
		case row == nil || c.eachRow != nil:
			if row, err = textRow(p, columns); err != nil {
				return nil, err
			}
			if c.eachRow != nil {
				c.eachRow(row)
			}
		}
	}
}

func textRow(p []byte, columns int) ([]string, error) {
	row := make([]string, 0, columns)
	for range columns {
		v, n, ok := wire.ReadTextValue(p)
		if !ok {
			return nil, wire.ErrMalformed
		}
		row = append(row, string(v))
		p = p[n:]
	}
	return row, nil
}

func (c *Conn) noteOK(payload []byte) error {
	ok, err := wire.ParseOK(payload, c.Caps)
	if err == nil {
		c.Status = ok.Status
		if c.onTrack != nil {
			c.onTrack(ok.Track)
		}
	}
	return err
}

func asError(payload []byte) error {
	e, err := wire.ParseError(payload)
	if err != nil {
		return err
	}
	return e
}
