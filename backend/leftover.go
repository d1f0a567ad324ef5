package backend

import (
	"context"
	"sync"
	"sync/atomic"
)

// LeftoverKind says what a session may still ask of its last statements on a
// connection that it gave back. No packet has told it.
type LeftoverKind uint8

// The kinds.
const (
	LeftInsertID  LeftoverKind = 1 << iota // LAST_INSERT_ID()
	LeftWarnings                           // the texts of SHOW WARNINGS
	LeftFoundRows                          // FOUND_ROWS() after SQL_CALC_FOUND_ROWS
)

// Leftover is that, once for each time that a connection is given back.
// Whoever takes the connection next reads it first, see Conn.Capture; until
// then the session can take its connection back and find all in its place.
type Leftover struct {
	Kind  LeftoverKind
	owner *Owner
	done  chan struct{}
	once  sync.Once // closes done
	// dropped are the kinds that its session does not care for any more.
	dropped atomic.Uint32
	count   int // conditions in the diagnostics area, see NewLeftover

	// Valid once Await returned nil.
	InsertID, FoundRows string
	Conditions          []Condition
	err                 error
}

// NewLeftover returns what to give to Put. conditions is how many warnings and
// errors there are, as far as the session knows.
func NewLeftover(kind LeftoverKind, owner *Owner, conditions int) *Leftover {
	return &Leftover{Kind: kind, owner: owner, done: make(chan struct{}), count: conditions}
}

// Drop tells that nobody will ask for these kinds; for others somebody may.
func (l *Leftover) Drop(kind LeftoverKind) {
	if l != nil {
		l.dropped.Or(uint32(kind))
	}
}

// wanted are the kinds that somebody may ask for.
func (l *Leftover) wanted() LeftoverKind {
	return l.Kind &^ LeftoverKind(l.dropped.Load())
}

// Await waits until the connection's next session has read it.
func (l *Leftover) Await(ctx context.Context) error {
	select {
	case <-l.done:
		return l.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Done tells whether the connection has gone to another session, or is closed.
func (l *Leftover) Done() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// lost ends it without an answer, unless it has one.
func (l *Leftover) lost(err error) { l.end(err) }

func (l *Leftover) end(err error) {
	l.once.Do(func() {
		l.err = err
		close(l.done)
	})
}

// Capture reads what its session may still ask for of a connection.
func (c *Conn) Capture(l *Leftover) error {
	kind := l.wanted()
	if kind == 0 {
		l.end(nil)
		return nil
	}
	c.SetDeadline(deadlineIn(c.cfg.ConnectTimeout))
	defer c.SetDeadline(noDeadline)
	err := c.captureInto(l, kind)
	if err != nil {
		c.Broken = true
	}
	l.end(err)
	return err
}

// captureInto asks for the diagnostics first: SELECT LAST_INSERT_ID() would leave
// nothing of them.
func (c *Conn) captureInto(l *Leftover, kind LeftoverKind) error {
	if kind&LeftWarnings != 0 {
		var err error
		if l.Conditions, l.FoundRows, err = c.Conditions(l.count); err != nil {
			return err
		}
	} else if kind&LeftFoundRows != 0 {
		row, err := c.Query("SELECT FOUND_ROWS()")
		if err != nil {
			return err
		}
		l.FoundRows = row[0]
	}
	if kind&LeftInsertID != 0 {
		row, err := c.Query("SELECT LAST_INSERT_ID()")
		if err != nil {
			return err
		}
		l.InsertID, c.InsertID = row[0], row[0]
	}
	return nil
}
