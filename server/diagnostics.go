package server

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// The diagnostics of a session's last statement are the conditions in earlier,
// then those on the connection last, or in lastLeft if another session has that
// now. All else that may be asked about the statement, the session knows itself.

// notHere is no value of Conn.Asked: ROW_COUNT() on the last connection is not
// the session's.
const notHere = ^uint64(0)

// newDiagnostics: the last statement ran on c, and what was before is gone.
func (s *session) newDiagnostics(c *backend.Conn) {
	s.forgetConditions()
	s.last, s.lastTurn, s.lastAsked = c, c.Turn, s.asked
}

// forgetConditions clears the diagnostics area.
func (s *session) forgetConditions() {
	s.last, s.earlier = nil, nil
	s.dropLeft()
	s.warnings, s.errors = 0, 0
}

func (s *session) dropLeft() {
	s.lastLeft.Drop(backend.LeftWarnings)
	s.lastLeft = nil
}

// hasLast tells whether the conditions of the last statement are on c.
func (s *session) hasLast(c *backend.Conn) bool { return c == s.last && c.Turn == s.lastTurn }

// runOnLast runs a statement that asks about the one before: where that one
// ran, if nobody has had the connection since, else from what is known of it.
func (s *session) runOnLast(j *job) error {
	q, own := parseOwn(s.textOf(j))
	show := isShowDiagnostics(j.class)
	switch {
	case own && s.knows(q):
		return s.answerOwn(j, q)
	case !own && !show:
		return s.runAboutLast(j)
	case s.lazy != nil, own && q.has("last_insert_id") && !s.lastHasInsertID():
		return s.diagnosticsLost(j) // a question of our own would come between
	}
	if c := s.retake(s.last); c != nil && len(s.earlier) == 0 && s.hasLast(c) && s.holds(c, asks{foundRows: own && q.has("found_rows")}) && s.unfit(c, s.view().Node(c.Node.Addr), j.start) == "" {
		if c == s.home && c.Node.Role == backend.RoleSource {
			return s.runOnHome(j)
		}
		return s.runOn(c, j)
	}
	return s.diagnosticsLost(j)
}

// runAboutLast runs a statement of any other form. What reads a table goes where
// a read without a replica goes: the last statement's connection may be to a
// replica that is behind by now.
func (s *session) runAboutLast(j *job) error {
	if c := s.readTrx; c != nil {
		if err := s.bringDiagnostics(c, j); err != nil {
			return s.answerError(j, err)
		}
		return s.runOn(c, j)
	}
	c := s.retake(s.last)
	if c != nil && c != s.home && (j.class.Is(classifier.NoTable) || isShow(j.class)) && c.State() == s.state && s.holds(c, asksFor(j.class)) &&
		s.unfit(c, s.view().Node(c.Node.Addr), j.start) == "" {
		return s.runOn(c, j)
	}
	return s.runOnHome(j)
}

// knows tells whether all values of a statement of the session's own forms are
// known without asking.
func (s *session) knows(q ownQuery) bool {
	for _, item := range q.items {
		switch item.what {
		case "last_insert_id":
			if s.lastHasInsertID() {
				return false
			}
		case "found_rows":
			if !s.found.known {
				return false
			}
		case "warning_count", "error_count":
			if s.warnings > 0 && s.stale == nil {
				return false // a failed statement may have had warnings before
			}
		}
	}
	return true
}

// lastHasInsertID tells whether the last connection has LAST_INSERT_ID() too.
func (s *session) lastHasInsertID() bool {
	return s.last != nil && s.insert.on == s.last && s.insert.turn == s.lastTurn
}

// clearDiagnostics makes a connection forget another session's last statement.
// Of all that does so, SET leaves FOUND_ROWS() alone.
func (s *session) clearDiagnostics(c *backend.Conn) error {
	s.bound(c)
	defer c.SetDeadline(noDeadline)
	if _, err := c.Query(setNothing); err != nil {
		c.Broken = true
		return err
	}
	return nil
}

// setNothing is a SET that changes nothing.
const setNothing = "SET SESSION session_track_schema=@@SESSION.session_track_schema"

// retake returns a connection of the session, held by it; nil if it has gone to
// another one. Only then may it be looked at.
func (s *session) retake(c *backend.Conn) *backend.Conn {
	switch {
	case c == nil:
		return nil
	case c == s.home, c == s.replicas[c.Node.Addr]:
		return c
	case c == s.homeLast && s.home == nil:
		if !s.srv.pools.Retake(c, s.owner, nil) {
			return nil
		}
		s.home = c
		s.homeID.Store(c.ThreadID)
		s.retaken(c)
		return c
	case c == s.homeLast, s.replicas[c.Node.Addr] != nil, !s.srv.pools.Retake(c, s.owner, nil):
		return nil
	}
	s.holdReplica(c)
	s.retaken(c)
	return c
}

// diagnosticsLost answers what asks about the statement before from what
// Causeway saw of it, and what was read from its connection.
func (s *session) diagnosticsLost(j *job) error {
	if err := s.gather(); err != nil {
		return s.answerError(j, fmt.Errorf("what the server knew of the last statement is gone: %w", err))
	}
	if isShowDiagnostics(j.class) && j.stmt == nil {
		return s.showConditions(j)
	}
	if q, ok := parseOwn(s.textOf(j)); ok {
		return s.answerOwn(j, q)
	}
	return s.answerError(j, errAboutLast)
}

var errAboutLast = wire.NewError(wire.ErrNotSupportedYet,
	"Causeway: this asks about the statement before, whose connection has been lent to another client; ask by a statement of its own (SELECT ROW_COUNT(), SELECT FOUND_ROWS(), SHOW WARNINGS), inside the transaction, or raise [pool] max_connections")

// gather brings all conditions of the last statement into earlier.
func (s *session) gather() error {
	if int(s.warnings) <= len(s.earlier) {
		s.last = nil
		s.dropLeft()
		return nil
	}
	if c := s.retake(s.last); c != nil && s.hasLast(c) {
		left := backend.NewLeftover(backend.LeftWarnings, s.owner, int(s.warnings)-len(s.earlier))
		if err := c.Capture(left); err != nil {
			return err
		}
		s.capturedFound(c, left)
		s.lastLeft = left
	}
	left := s.lastLeft
	if left == nil {
		s.last = nil // the texts went with the connection, their number did not
		return nil
	}
	if err := s.captureIdle(s.last, left); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.srv.opts.Backend.ConnectTimeout)
	defer cancel()
	if err := left.Await(ctx); err != nil {
		return err
	}
	s.keepConditions(left.Conditions...)
	s.last, s.lastLeft = nil, nil
	errors := 0
	for _, c := range s.earlier {
		if c.Level == "Error" {
			errors++
		}
	}
	s.warnings, s.errors = max(s.warnings, uint16(len(s.earlier))), max(s.errors, uint16(errors))
	return nil
}

// keepConditions adds to earlier what there is room for: a server keeps no more than
// max_error_count, of all connections together.
func (s *session) keepConditions(list ...backend.Condition) {
	if limit, err := strconv.Atoi(s.variable("max_error_count", s.view())); err == nil {
		list = list[:min(len(list), max(limit-len(s.earlier), 0))]
	}
	s.earlier = append(s.earlier, list...)
}

// captureIdle reads what was left on a connection that lies idle, but cannot be
// held now: nobody else may ever take it.
func (s *session) captureIdle(c *backend.Conn, left *backend.Leftover) error {
	if c == nil || left.Done() || !s.srv.pools.Retake(c, s.owner, nil) {
		return nil
	}
	defer s.srv.pools.Put(c, nil)
	return c.Capture(left)
}

// keepDiagnostics comes before a question of Causeway's own on a connection.
func (s *session) keepDiagnostics(c *backend.Conn) {
	s.keepFound(c)
	if s.hasLast(c) && s.gather() != nil {
		s.forgetConditions()
	}
}

// addCondition adds an error to those of the last statement, as commands do that
// are no statements.
func (s *session) addCondition(e *wire.Error) {
	if err := s.gather(); err != nil {
		s.forgetConditions()
	}
	s.keepConditions(backend.NewCondition(e))
	s.warnings++
	s.errors++
	s.told++
	s.rowCount = -1
}

// failAdding answers a command by an error that is added to the last
// statement's.
func (s *session) failAdding(e *wire.Error) error {
	s.addCondition(e)
	return s.sendError(e)
}

// refuseWith answers a statement by an error of our own, which SHOW WARNINGS
// then tells again; no connection knows of the statement.
func (s *session) refuseWith(e *wire.Error) error {
	s.noteRefused(e)
	return s.fail(e)
}

func (s *session) noteRefused(e *wire.Error) {
	s.forgetConditions()
	s.stale, s.told = nil, 0
	s.addCondition(e)
}

// showConditions is SHOW WARNINGS and SHOW ERRORS.
func (s *session) showConditions(j *job) error {
	var packets [][]byte
	for _, c := range s.limited(j) {
		packets = append(packets, wire.AppendTextRowStrings(nil, c.Level, c.Code, c.Message))
	}
	if s.stale != nil && isShowWarnings(j.class) {
		packets = append(packets, wire.AppendTextRowStrings(nil, "Warning", fmt.Sprint(wire.ErrServerIsntAvailable), s.stale.text))
	}
	s.noteLocal(reasonDiagnostics)
	s.rowCount, s.lastAsked = -1, notHere
	return s.packets(s.described(warningColumns), packets, 0)
}

// limited are the conditions that such a statement asks for.
func (s *session) limited(j *job) []backend.Condition {
	var list []backend.Condition
	errorsOnly := strings.HasPrefix(strings.ToLower(j.class.Digest), "show errors")
	for _, c := range s.earlier {
		if !errorsOnly || c.Level == "Error" {
			list = append(list, c)
		}
	}
	offset, rows, ok := showLimit(s.textOf(j))
	if !ok {
		return list
	}
	list = list[min(offset, len(list)):]
	return list[:min(rows, len(list))]
}

// answerOwn answers a statement of the session's own forms.
func (s *session) answerOwn(j *job, q ownQuery) error {
	values, err := s.ownValues(q)
	if err != nil {
		return s.answerError(j, err)
	}
	s.route.reason = reasonDiagnostics
	return s.values(j, q, values)
}

// ownValues are the values of the forms that parseOwn knows.
func (s *session) ownValues(q ownQuery) ([]string, error) {
	values := make([]string, len(q.items))
	for i, item := range q.items {
		switch item.what {
		case "row_count":
			values[i] = fmt.Sprint(s.rowCount)
		case "found_rows":
			n, err := s.foundValue()
			if err != nil {
				return nil, err
			}
			values[i] = fmt.Sprint(n)
		case "warning_count":
			values[i] = fmt.Sprint(s.warnings + s.stale.count())
		case "error_count":
			values[i] = fmt.Sprint(s.errors)
		case "connection_id":
			values[i] = fmt.Sprint(s.id)
		case "last_insert_id":
			value, err := s.insertValue()
			if err != nil {
				return nil, err
			}
			if s.insert.left == nil || s.insert.left.Done() {
				s.insert = insertID{value: value}
			}
			values[i] = value
		}
	}
	return values, nil
}

// described returns text columns as a server describes them to the session: in
// the character set of its results, where the bytes of a value are its.
func (s *session) described(columns []wire.Column) []wire.Column {
	s.knowCharset()
	text, known := s.srv.pools.TextColumns(s.state)
	if !known || text.Collation == wire.CollationUTF8MB4 {
		return columns
	}
	out := make([]wire.Column, len(columns))
	for i, c := range columns {
		if c.Charset == wire.CollationUTF8MB4 {
			c.Charset, c.Length = text.Collation, c.Length/4*text.Width
		}
		out[i] = c
	}
	return out
}
