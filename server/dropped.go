package server

import (
	"errors"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// A session whose schema has been dropped by somebody else keeps its name: MySQL
// answers 1049 to what needs the schema and runs all else. No connection can be
// brought into such a schema, and none that is in another may run anything for
// the session. So its statements run on connections that have no schema at all,
// where MySQL says 1046 to what needs one.

// enterSchema brings a connection to the source, if it is in another schema, to
// the session's state, and exchanges it if that schema does not exist.
func (s *session) enterSchema(c *backend.Conn, j *job) (*backend.Conn, error) {
	if s.state.Schema == "" || c.State().Schema == s.state.Schema || j.class.Kind == classifier.Use {
		return c, nil
	}
	if s.dropped == s.state.Schema && c == s.last && c.Turn == s.lastTurn && (j.class.Kind == classifier.Diagnostics || j.class.Is(classifier.UsesDiagnostics)) {
		return c, nil // it asks for what another try would overwrite
	}
	err := s.interruptibly(c, j, func() error { return c.AlignNow(s.state) })
	s.srv.metrics.replays.Inc()
	var missing *backend.NoSchema
	switch {
	case err == nil:
		s.dropped = ""
		return c, nil
	case !errors.As(err, &missing) || c.State().Schema != "" && s.homePins() != 0:
		c.Broken = true
		return c, alignError(err)
	}
	s.dropped = s.state.Schema
	if c.State().Schema == "" {
		return c, nil
	}
	s.home = nil
	s.homeID.Store(0)
	s.homeLast = c
	s.give(c)
	if c, err = s.homeConn(j.start, false); err != nil {
		return nil, err
	}
	return s.enterSchema(c, j) // once: this one has no schema
}

// schemaRefused tells whether the source refused a new connection because the
// session's schema does not exist: one without a schema is then wanted.
func (s *session) schemaRefused(n *backend.Node, w *backend.Want, err error) bool {
	if err == nil || n.Role != backend.RoleSource || w.State.Schema == "" {
		return false
	}
	var refused *wire.Error
	if !errors.As(err, &refused) || refused.Code != wire.ErrBadDB {
		return false
	}
	s.dropped = w.State.Schema
	return true
}

// notEntered handles a connection that did not reach the session's state.
func (s *session) notEntered(c *backend.Conn, j *job, err error) error {
	if c == nil {
		return s.answerError(j, err)
	}
	return s.lostAnswer(c, j, err)
}

// reachable is the state that the session's connections are brought to.
func (s *session) reachable() *backend.State {
	if s.dropped != "" && s.dropped == s.state.Schema {
		return s.state.WithSchema("")
	}
	return s.state
}

// tellDropped says of a statement that needs the schema what MySQL would have
// said, also to SHOW WARNINGS.
func (s *session) tellDropped(j *job) {
	r := &s.relay
	if r.err == nil || r.err.Code != wire.ErrNoDB || s.dropped == "" || s.dropped != s.state.Schema {
		return
	}
	r.err = wire.NewError(wire.ErrBadDB, "Unknown database '%s'", s.dropped)
	if j.want == expectResult || j.want == expectPrepare {
		s.noteRefused(r.err)
	}
}
