package server

import (
	"context"
	"fmt"
	"strings"

	"causeway/backend"
	"causeway/wire"
)

// runOnLast runs a statement that asks about the one before: where that one
// ran, if nobody has had the connection since, else from what is known of it.
func (s *session) runOnLast(j *job) error {
	if s.refused != nil && isShowDiagnostics(j.class) {
		return s.showRefused()
	}
	if c := s.retakeLast(); c != nil && c.Turn == s.lastTurn && s.unfit(c, s.view().Node(c.Node.Addr), j.start) == "" {
		if c == s.home && c.Node.Role == backend.RoleSource {
			return s.runOnHome(j)
		}
		return s.runOn(c, j)
	}
	return s.diagnosticsLost(j)
}

// retakeLast returns the connection that ran the last statement, held by the
// session; nil if it has gone to another one. Only then may it be looked at.
func (s *session) retakeLast() *backend.Conn {
	c := s.last
	switch {
	case c == nil:
		return nil
	case c == s.home, c == s.replicas[c.Node.Addr]:
		return c
	case c == s.homeLast && s.home == nil:
		if !s.srv.pools.Retake(c, &s.owner, nil) {
			return nil
		}
		s.home = c
		s.homeID.Store(c.ThreadID)
		s.retaken(c)
		return c
	case c == s.homeLast, s.replicas[c.Node.Addr] != nil, !s.srv.pools.Retake(c, &s.owner, nil):
		return nil
	}
	s.holdReplica(c)
	s.retaken(c)
	return c
}

// diagnosticsLost answers what asks about the statement before when its
// connection has gone to another session: from what Causeway saw of it, and what
// was read from the connection before it went.
func (s *session) diagnosticsLost(j *job) error {
	left, err := s.awaitLeft()
	if err != nil {
		return s.answerError(j, fmt.Errorf("what the server knew of the last statement is gone: %w", err))
	}
	s.route.reason = reasonDiagnostics
	if isShowDiagnostics(j.class) && j.stmt == nil {
		return s.showLeft(j, left)
	}
	text := s.textOf(j)
	if q, ok := parseOwn(text); ok {
		if value, known := s.ownValue(q, left); known {
			return s.scalar(j, q, value)
		}
	}
	return s.answerError(j, wire.NewError(wire.ErrNotSupportedYet,
		"Causeway: this asks about the statement before, whose connection has been lent to another client; ask by a statement of its own (SELECT ROW_COUNT(), SELECT FOUND_ROWS(), SHOW WARNINGS), inside the transaction, or raise [pool] max_connections"))
}

// awaitLeft returns what was left of the last statement, nil if that is nothing.
func (s *session) awaitLeft() (*leftDiagnostics, error) {
	if s.lastLeft == nil {
		return &leftDiagnostics{found: fmt.Sprint(s.foundRows)}, nil
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.srv.opts.Backend.ConnectTimeout)
	defer cancel()
	if err := s.lastLeft.Await(ctx); err != nil {
		return nil, err
	}
	left := &leftDiagnostics{warnings: s.lastLeft.Warnings, found: s.lastLeft.FoundRows}
	if left.found == "" {
		left.found = fmt.Sprint(s.foundRows)
	}
	return left, nil
}

type leftDiagnostics struct {
	warnings [][]string
	found    string
}

// errorCount is what @@error_count shows.
func (l *leftDiagnostics) errorCount() int {
	n := 0
	for _, row := range l.warnings {
		if row[0] == "Error" {
			n++
		}
	}
	return n
}

func (s *session) showLeft(j *job, left *leftDiagnostics) error {
	var rows [][]string
	for _, row := range left.warnings {
		if row[0] == "Error" || !strings.EqualFold(j.class.Digest, "show errors") {
			rows = append(rows, row)
		}
	}
	if s.stale != nil && isShowWarnings(j.class) {
		rows = append(rows, []string{"Warning", fmt.Sprint(wire.ErrUnknown), s.stale.text})
	}
	s.noteLocal(reasonDiagnostics)
	packets := make([][]byte, len(rows))
	for i, row := range rows {
		packets[i] = wire.AppendTextRowStrings(nil, row...)
	}
	return s.packets(warningColumns, packets, 0)
}

// ownValue is the value of one of the forms that parseOwn knows.
func (s *session) ownValue(q ownQuery, left *leftDiagnostics) (value string, known bool) {
	switch q.what {
	case "row_count":
		return fmt.Sprint(s.rowCount), true
	case "found_rows":
		return left.found, true
	case "warning_count":
		return fmt.Sprint(s.warnings), true
	case "error_count":
		return fmt.Sprint(left.errorCount()), true
	}
	return "", false
}
