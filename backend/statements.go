package backend

import (
	"container/list"
	"errors"

	"causeway/wire"
)

// Statement is a prepared statement's text with what a server binds to it at
// PREPARE: the schema and the variables of the moment. Clients that prepare the
// same text in the same state share one.
type Statement struct {
	Text  string
	State *State
	Caps  wire.Capability // those that change the meaning of the text
}

// Prepared is a statement prepared on one connection.
type Prepared struct {
	ID uint32
	// Types are the parameter types that the server has seen last.
	Types string

	at preparedAt
}

// preparedAt tells apart what one connection has prepared. A server resolves a
// statement by the kinds of its first parameters and may give other rows for
// other kinds, so those have a server statement each. Kinds is "" until the
// first execution.
type preparedAt struct {
	of    *Statement
	kinds string
}

// statements are those prepared on one connection, the one used last in front.
type statements struct {
	byKey map[preparedAt]*list.Element
	order list.List
}

// Statement returns what is prepared here for executions with parameters of
// these kinds, nil if nothing is.
func (c *Conn) Statement(of *Statement, kinds string) *Prepared {
	t := &c.statements
	at := preparedAt{of, kinds}
	e := t.byKey[at]
	if e == nil {
		if e = t.byKey[preparedAt{of, ""}]; e == nil {
			return nil
		}
		if kinds != "" { // executed for the first time: the kinds are its own from now on
			p := e.Value.(*Prepared)
			delete(t.byKey, p.at)
			p.at = at
			t.byKey[at] = e
		}
	}
	t.order.MoveToFront(e)
	return e.Value.(*Prepared)
}

// AddStatement notes that a statement was prepared here under an id. The one
// that was not used for longest is closed with the next command if there are
// too many.
func (c *Conn) AddStatement(of *Statement, id uint32) *Prepared {
	t := &c.statements
	if t.byKey == nil {
		t.byKey = map[preparedAt]*list.Element{}
	}
	p := &Prepared{ID: id, at: preparedAt{of, ""}}
	if old := t.byKey[p.at]; old != nil {
		c.forget(old)
	}
	t.byKey[p.at] = t.order.PushFront(p)
	for c.maxStatements > 0 && t.order.Len() > c.maxStatements {
		c.forget(t.order.Back())
	}
	return p
}

// Take is Statement for one that is to have a cursor or long data. It is its
// taker's own: nobody else finds it, it is not among those that can be too many,
// and the taker closes it.
func (c *Conn) Take(of *Statement, kinds string) *Prepared {
	p := c.Statement(of, kinds)
	if p != nil {
		c.statements.remove(c.statements.byKey[p.at])
	}
	return p
}

// CloseTaken closes a statement with the next command, and with it its cursor and
// long data.
func (c *Conn) CloseTaken(p *Prepared) { c.closing = append(c.closing, p.ID) }

// CloseNow does not wait for the next command: what a server keeps for a cursor can
// be large.
func (c *Conn) CloseNow(p *Prepared) error {
	c.CloseTaken(p)
	if err := c.sendCloses(); err != nil {
		return err
	}
	return c.Flush()
}

func (c *Conn) forget(e *list.Element) { c.CloseTaken(c.statements.remove(e)) }

func (t *statements) remove(e *list.Element) *Prepared {
	p := t.order.Remove(e).(*Prepared)
	delete(t.byKey, p.at)
	return p
}

// Prepare prepares a statement on the connection, whose state must be the
// statement's. Its definitions are read past: the client has seen them, and
// each execution brings its own.
func (c *Conn) Prepare(of *Statement) (*Prepared, error) {
	if err := c.SendBytes(append([]byte{byte(wire.ComStmtPrepare)}, of.Text...)); err != nil {
		return nil, err
	}
	if err := c.Flush(); err != nil {
		return nil, err
	}
	first, err := c.ReadPacket()
	if err != nil {
		return nil, err
	}
	if wire.IsErr(first) {
		return nil, asError(first)
	}
	id, columns, params, _, err := wire.ParsePrepareOK(first)
	if err != nil {
		return nil, err
	}
	for range int(columns) + int(params) {
		if _, err := c.ReadPacket(); err != nil {
			return nil, err
		}
	}
	return c.AddStatement(of, id), nil
}

// errBroken is the error of a command on a connection whose answers are out of
// step: the next one that arrives would be taken for this command's.
var errBroken = errors.New("an earlier answer of this connection was lost")

// sendCloses comes before each command. It queues what closes forgotten
// statements; that has no answer.
func (c *Conn) sendCloses() error {
	if c.Broken {
		return errBroken
	}
	for _, id := range c.closing {
		c.ResetSequence()
		p := [5]byte{byte(wire.ComStmtClose), byte(id), byte(id >> 8), byte(id >> 16), byte(id >> 24)}
		if err := c.WritePacket(p[:]); err != nil {
			return err
		}
	}
	c.closing = c.closing[:0]
	return nil
}

// SetOption sends COM_SET_OPTION; caps are what the connection's texts mean
// from then on.
func (c *Conn) SetOption(payload []byte, caps wire.Capability) error {
	if err := c.SendBytes(payload); err != nil {
		return err
	}
	if err := c.Flush(); err != nil {
		return err
	}
	c.SetSequence(1)
	p, err := c.ReadPacket()
	if err != nil {
		return err
	}
	if wire.IsErr(p) {
		return asError(p)
	}
	c.account.Caps = caps
	return nil
}
