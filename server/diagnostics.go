package server

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// runOnLast runs a statement that asks about the one before: where that one
// ran, if nobody has had the connection since, else from what is known of it.
func (s *session) runOnLast(j *job) error {
	if s.refused != nil && isShowDiagnostics(j.class) {
		return s.showRefused()
	}
	if q, ok := parseOwn(s.textOf(j)); ok && len(q.items) == 1 && q.has("found_rows") && !s.calcFound && !s.matched {
		s.route.reason = reasonDiagnostics // the connection may tell of another session's SELECT
		return s.values(j, q, []string{fmt.Sprint(s.foundRows)})
	} else if ok && len(q.items) == 1 && q.has("row_count") && s.pinged {
		s.route.reason = reasonDiagnostics
		return s.values(j, q, []string{fmt.Sprint(s.rowCount)})
	}
	if c := s.retakeLast(); c != nil && c.Turn == s.lastTurn && s.unfit(c, s.view().Node(c.Node.Addr), j.start) == "" {
		if c == s.home && c.Node.Role == backend.RoleSource {
			return s.runOnHome(j)
		}
		return s.runOn(c, j)
	}
	return s.diagnosticsLost(j)
}

// leftNothing tells whether any connection without diagnostics gives the answer:
// the last statement left no warnings, or what asks for them asks about another
// statement of its own text.
func (s *session) leftNothing(j *job) bool {
	if j.class.Is(classifier.MultiStatement) {
		return true
	}
	return s.warnings == 0 && !strings.Contains(j.class.Digest, "row_count") && !strings.Contains(j.class.Digest, "found_rows")
}

// clearDiagnostics makes a connection forget another session's last statement.
func (s *session) clearDiagnostics(c *backend.Conn) error {
	s.bound(c)
	defer c.SetDeadline(noDeadline)
	if _, err := c.Query("DO 0"); err != nil {
		c.Broken = true
		return err
	}
	return nil
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
		values, err := s.ownValues(q, left)
		if err != nil {
			return s.answerError(j, err)
		}
		return s.values(j, q, values)
	}
	if s.leftNothing(j) {
		return s.runOnHome(j)
	}
	return s.answerError(j, wire.NewError(wire.ErrNotSupportedYet,
		"Causeway: this asks about the statement before, whose connection has been lent to another client; ask by a statement of its own (SELECT ROW_COUNT(), SELECT FOUND_ROWS(), SHOW WARNINGS), inside the transaction, or raise [pool] max_connections"))
}

// awaitLeft returns what was left of the last statement, nil if that is nothing.
func (s *session) awaitLeft() (*leftDiagnostics, error) {
	if s.lastLeft == nil {
		return &leftDiagnostics{found: fmt.Sprint(s.foundRows)}, nil
	}
	if c := s.last; c != nil && s.srv.pools.Retake(c, s.owner, nil) { // it lies idle: nobody else will ask
		s.last = nil
		err := c.Capture(s.lastLeft)
		s.srv.pools.Put(c, nil)
		if err != nil {
			return nil, err
		}
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

// errors counts those among the warnings.
func (l *leftDiagnostics) errors() int {
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
		if row[0] == "Error" || !strings.HasPrefix(strings.ToLower(j.class.Digest), "show errors") {
			rows = append(rows, row)
		}
	}
	if s.stale != nil && isShowWarnings(j.class) {
		rows = append(rows, []string{"Warning", fmt.Sprint(wire.ErrUnknown), s.stale.text})
	}
	rows = limited(rows, s.textOf(j))
	s.noteLocal(reasonDiagnostics)
	s.rowCount, s.foundRows, s.matched = -1, uint64(len(rows)), false
	packets := make([][]byte, len(rows))
	for i, row := range rows {
		packets[i] = wire.AppendTextRowStrings(nil, row...)
	}
	return s.packets(s.described(warningColumns), packets, 0)
}

var limitForm = regexp.MustCompile(`(?is)\blimit\s+(\d+)(?:\s*(,|\boffset\b)\s*(\d+))?\s*;?\s*$`)

// limited is what LIMIT at the end of a text leaves of rows.
func limited(rows [][]string, text string) [][]string {
	m := limitForm.FindStringSubmatch(text)
	if m == nil {
		return rows
	}
	count, from := m[1], m[3]
	if m[2] == "," {
		count, from = m[3], m[1]
	}
	skip, _ := strconv.Atoi(cmp.Or(from, "0")) // one too large for an int leaves the largest
	most, _ := strconv.Atoi(count)
	rows = rows[min(skip, len(rows)):]
	return rows[:min(most, len(rows))]
}

// ownValues are the values of the forms that parseOwn knows.
func (s *session) ownValues(q ownQuery, left *leftDiagnostics) ([]string, error) {
	values := make([]string, len(q.items))
	for i, item := range q.items {
		switch item.what {
		case "row_count":
			values[i] = fmt.Sprint(s.rowCount)
		case "found_rows":
			values[i] = left.found
		case "warning_count":
			values[i] = fmt.Sprint(max(int(s.warnings), len(left.warnings)))
		case "error_count":
			values[i] = fmt.Sprint(max(int(s.errors), left.errors()))
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

// keepsDiagnostics: SHOW WARNINGS and its like, and GET DIAGNOSTICS, leave what
// they tell of as it is.
func keepsDiagnostics(c *classifier.Class) bool {
	return c.Kind == classifier.Diagnostics && !c.Is(classifier.MultiStatement) &&
		(strings.HasPrefix(c.Digest, "show ") || strings.HasPrefix(c.Digest, "get "))
}
