package server

import (
	"errors"
	"fmt"
	"strings"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// asks is what a statement asks about the one before, in the midst of something
// else, where only a connection can answer.
type asks struct{ rowCount, foundRows, conditions bool }

func asksFor(c *classifier.Class) asks {
	d := strings.ToLower(c.Digest)
	a := asks{rowCount: strings.Contains(d, "row_count"), foundRows: strings.Contains(d, "found_rows")}
	a.conditions = strings.Contains(d, "warning_count") || strings.Contains(d, "error_count") || !a.rowCount && !a.foundRows
	return a
}

// asksAboutLast tells whether a command runs a statement that does.
func asksAboutLast(j *job) bool {
	return j.want == expectResult && (j.class.Kind == classifier.Diagnostics || j.class.Is(classifier.UsesDiagnostics))
}

// holds tells whether a connection gives the session's own answers.
func (s *session) holds(c *backend.Conn, a asks) bool {
	own := s.hasLast(c) && c.Asked() == s.lastAsked
	return (!a.rowCount || own) && (!a.foundRows || s.hasFound(c) && c.Asked() == s.found.asked) &&
		(!a.conditions || own && len(s.earlier) == 0)
}

// bringDiagnostics makes a connection answer as the session's last statement
// would have it, by statements that leave the same behind and do nothing else.
// It comes after all else that is run there before the statement.
func (s *session) bringDiagnostics(c *backend.Conn, j *job) error {
	if err := s.interruptibly(c, j, func() error { return s.readyFor(c, j) }); err != nil {
		return err
	}
	a := asksFor(j.class)
	if s.holds(c, a) {
		return nil
	}
	if j.class.Is(classifier.MultiStatement) { // it asks about another statement of its own text
		return s.clearDiagnostics(c)
	}
	texts, err := s.leavingTheSame(a)
	if err != nil {
		return err
	}
	s.bound(c)
	defer c.SetDeadline(noDeadline)
	for _, text := range texts {
		_, err := c.Query(text)
		if err != nil && !errors.As(err, new(*wire.Error)) {
			c.Broken = true
			return err
		}
		if err != nil && text != failing {
			return errAboutLast
		}
	}
	return nil
}

// readyFor does what sendAndRelay would do on a connection before it sends a command.
func (s *session) readyFor(c *backend.Conn, j *job) error {
	if err := c.AlignNow(s.reachable()); err != nil {
		c.Broken = true
		return err
	}
	if j.stmt != nil && s.mustPrepare(c, j) {
		if _, err := s.prepareOn(c, j.stmt); err != nil {
			return alignError(err)
		}
	}
	return nil
}

// failing leaves one error, and nothing else.
const failing = "SIGNAL SQLSTATE '45000'"

// maxRestored bounds what a server is made to count for FOUND_ROWS().
const maxRestored = 100000

// leavingTheSame returns statements after which a server says of the last one
// what the session's last one left. There is none for a ROW_COUNT() above 1.
func (s *session) leavingTheSame(a asks) ([]string, error) {
	texts := []string{setNothing} // ROW_COUNT() is 0 after it
	rowCount := int64(0)
	if a.foundRows {
		n, err := s.foundValue()
		if err != nil || n > maxRestored {
			return nil, errAboutLast
		}
		texts, rowCount = append(texts, findingRows(n)), -1
	}
	if a.conditions && s.warnings > 0 {
		if err := s.gather(); err != nil || a.foundRows {
			return nil, errAboutLast
		}
		switch {
		case s.errors == 0 && s.warnings <= 64:
			verb := "DO "
			if s.rowCount == -1 {
				verb = "SELECT "
			}
			texts, rowCount = append(texts, verb+"CAST('' AS SIGNED)"+strings.Repeat(", CAST('' AS SIGNED)", int(s.warnings)-1)), min(s.rowCount, 0)
		case s.errors == 1 && s.warnings == 1:
			texts, rowCount = append(texts, failing), -1
		default:
			return nil, errAboutLast
		}
	}
	switch {
	case !a.rowCount || s.rowCount == rowCount:
		return texts, nil
	case a.conditions && s.warnings > 0:
	case s.rowCount == 0:
		return append(texts, setNothing), nil
	case s.rowCount == -1:
		return append(texts, "SELECT 1"), nil
	case s.rowCount == 1 && !a.foundRows:
		return append(texts, "SELECT NULL INTO @`causeway`"), nil
	}
	return nil, errAboutLast
}

// findingRows is a SELECT that has found n rows and returns none.
func findingRows(n uint64) string {
	if n == 0 {
		return "SELECT 1 FROM DUAL WHERE FALSE"
	}
	const table = "JSON_TABLE(CONCAT('[', REPEAT('0,', %d), '0]'), '$[*]' COLUMNS (n FOR ORDINALITY)) AS %s"
	return fmt.Sprintf("SELECT SQL_CALC_FOUND_ROWS 1 FROM "+table+", "+table+" WHERE (a.n - 1) * 1000 + b.n <= %d LIMIT 0",
		(n-1)/1000, "a", 999, "b", n)
}
