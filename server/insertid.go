package server

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// insertID is where LAST_INSERT_ID() of the session is known.
type insertID struct {
	on    *backend.Conn     // that connection has it, held or given back
	turn  uint64            // as long as it is still at this turn
	left  *backend.Leftover // or whoever took it has read it
	value string            // or it is this; "" is 0
}

// noteInsertID follows a statement that may have set LAST_INSERT_ID(). No
// packet tells its value: the OK has the value of an AUTO_INCREMENT column even
// if the client gave it, and nothing of LAST_INSERT_ID(expr).
func (s *session) noteInsertID(c *backend.Conn, j *job) {
	unseen := c == s.home && isInsert(j) && (s.relay.err != nil || strings.HasPrefix(j.class.Digest, "load")) // it may have generated one all the same
	if !s.tracked.insertID && !unseen && !mayUseInsertID(j.class) || j.want == expectPrepare {
		return
	}
	if !unseen && !s.tracked.insertID && j.class.Is(classifier.UsesLastInsertID) && !j.class.Flags.Any(classifier.SetsLastInsertID|classifier.MultiStatement|classifier.UnknownFunction) {
		return // it was only read
	}
	s.insert.left.Drop(backend.LeftInsertID)
	s.insert = insertID{on: c, turn: c.Turn}
	c.InsertID = ""
}

// mayUseInsertID names the statements that read LAST_INSERT_ID(), or set it, or
// may do so out of sight.
func mayUseInsertID(c *classifier.Class) bool {
	switch c.Kind {
	case classifier.Call, classifier.Unknown, classifier.TextPrepare, classifier.Do:
		return true
	case classifier.Read:
		return false
	case classifier.ReadSource: // which shows it
		return strings.Contains(strings.ToLower(c.Digest), "variables") || c.Flags.Any(classifier.UsesLastInsertID|classifier.SetsLastInsertID|classifier.UnknownFunction)
	}
	return c.Flags.Any(classifier.UsesLastInsertID | classifier.SetsLastInsertID | classifier.UnknownFunction)
}

// bringInsertID makes LAST_INSERT_ID() of a connection that of the session. If
// that was lost with its connection, a statement that asks for it gets an error,
// once; for all others it is 0 again.
func (s *session) bringInsertID(c *backend.Conn, class *classifier.Class) error {
	if s.insert.on == c && s.insert.turn == c.Turn {
		return nil
	}
	value, err := s.insertValue()
	s.insert = insertID{value: value}
	if err != nil && class.Is(classifier.UsesLastInsertID) {
		return err
	}
	if c.InsertID == value {
		return nil
	}
	s.bound(c)
	defer c.SetDeadline(noDeadline)
	if _, err := c.Query("SET LAST_INSERT_ID=" + value); err != nil {
		c.Broken = true
		return err
	}
	c.InsertID = value
	return nil
}

// runsTriggers tells whether a command may run triggers, which may ask for
// LAST_INSERT_ID() out of sight.
func runsTriggers(j *job) bool {
	return j.want == expectResult && j.class.Kind == classifier.Write && !mayUseInsertID(j.class)
}

// isInsert tells whether a command may generate an insert id.
func isInsert(j *job) bool {
	if !runsTriggers(j) {
		return false
	}
	d := j.class.Digest
	return strings.HasPrefix(d, "insert") || strings.HasPrefix(d, "replace") || strings.HasPrefix(d, "load") || j.class.Is(classifier.MultiStatement)
}

// pipeInsertID lets LAST_INSERT_ID() of the session travel before a write, in the
// same write to the server: triggers may ask for it, and an INSERT with a given value
// for its AUTO_INCREMENT column leaves it as it is, and its OK looks the same. It is
// the one thing that may travel before a write unconfirmed, see sendWithInsertID.
func (s *session) pipeInsertID(c *backend.Conn, j *job) {
	j.insertID = ""
	if s.insert.on == c && s.insert.turn == c.Turn {
		return
	}
	value, _ := s.insertValue()
	if s.insert = (insertID{value: value}); c.InsertID != value {
		j.insertID = value
	}
}

// sendWithInsertID sends a write with what travels before it, and relays its
// answer. If the server refused that (KILL QUERY may hit it) the write runs all the
// same, with another's id: its answer counts as lost.
func (s *session) sendWithInsertID(c *backend.Conn, j *job) error {
	id := j.insertID
	if s.mustPrepare(c, j) {
		if _, err := s.prepareOn(c, j.stmt); err != nil {
			return alignError(err)
		}
	}
	if err := c.Send(wire.ComQuery, "SET LAST_INSERT_ID="+id); err != nil {
		return &backendError{err}
	}
	if err := s.sendCommand(c, j); err != nil {
		return err
	}
	seq := c.Sequence()
	if _, err := c.ReadResult(); err != nil {
		return &backendError{err}
	}
	c.SetSequence(seq)
	c.InsertID = id
	return s.relay.run(j.want)
}

// insertValue returns the session's LAST_INSERT_ID().
func (s *session) insertValue() (string, error) {
	in := s.insert
	if in.left == nil {
		if c := in.on; c != nil && (c == s.home || c == s.readTrx) && in.turn == c.Turn {
			left := backend.NewLeftover(backend.LeftInsertID, s.owner, 0)
			err := c.Capture(left)
			return left.InsertID, err
		}
		return cmp.Or(in.value, "0"), nil
	}
	// Not read yet, it lies idle, but does not fit. One that was read may be the
	// session's again, with what others have left there meanwhile.
	if !in.left.Done() && s.srv.pools.Retake(in.on, s.owner, nil) {
		if s.last == in.on { // whose diagnostics are gone by this
			s.last = nil
		}
		defer s.srv.pools.Put(in.on, nil)
		if err := in.on.Capture(in.left); err != nil {
			return "0", err
		}
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.srv.opts.Backend.ConnectTimeout)
	defer cancel()
	if err := in.left.Await(ctx); err != nil {
		return "0", fmt.Errorf("the connection that had LAST_INSERT_ID() is gone (%w); read it right after the INSERT, or in its transaction", err)
	}
	return in.left.InsertID, nil
}
