package server

import (
	"errors"
	"strings"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// noteCounts keeps what a command's answer says of what may be asked about it.
func (s *session) noteCounts(c *backend.Conn, j *job) {
	r := &s.relay
	if j.want != expectResult && j.want != expectPrepare {
		s.noteCommand(c, j)
		return
	}
	s.told = r.ok.Warnings
	if r.err != nil {
		s.told = 1
	}
	if keepsDiagnostics(j, r.err) {
		s.warnings += r.ok.Warnings // an invalid condition number
		s.errors += r.ok.Warnings
	} else {
		moved := j.want == expectPrepare && r.err == nil && !(s.hasLast(c) && c.Asked() == s.lastAsked)
		s.newDiagnostics(c)
		if moved {
			s.lastAsked = notHere
		}
		s.warnings = s.warningsLeft(j)
		if r.err != nil && !s.keepsNone(r.err) {
			s.warnings, s.errors = 1, 1
		}
	}
	switch {
	case r.err != nil:
		s.rowCount = -1
	case j.want == expectPrepare || isGetDiagnostics(j):
	case r.ok.Header == wire.HeaderEOF:
		s.rowCount = -1
	default:
		s.rowCount = int64(r.ok.AffectedRows)
	}
	if j.want == expectResult {
		s.noteFound(c, j)
	}
}

// keepsNone: what the parser finds is copied from a list of its own, and so not even
// counted, where no condition is kept.
func (s *session) keepsNone(e *wire.Error) bool {
	return (e.Code == wire.ErrParse || e.Code == wire.ErrEmptyQuery) && s.variable("max_error_count", s.view()) == "0"
}

// warningsLeft is how many warnings the last statement of a text left. SHOW
// WARNINGS and its like after others of the same text leave theirs.
func (s *session) warningsLeft(j *job) uint16 {
	before := s.tracked.before
	if len(before) == 0 || !j.class.Is(classifier.MultiStatement) {
		return s.relay.ok.Warnings
	}
	texts := strings.Split(strings.TrimSuffix(strings.TrimSpace(j.class.Digest), ";"), ";")
	counts := append(before, s.relay.ok.Warnings)
	for len(texts) == len(counts) && len(texts) > 1 && showsDiagnostics(texts[len(texts)-1]) {
		texts, counts = texts[:len(texts)-1], counts[:len(counts)-1]
	}
	return counts[len(counts)-1]
}

func showsDiagnostics(digest string) bool {
	d := strings.ToLower(strings.TrimSpace(digest))
	return strings.HasPrefix(d, "show warnings") || strings.HasPrefix(d, "show errors") || strings.HasPrefix(d, "show count") || strings.HasPrefix(d, "get diagnostics")
}

// noteCommand does the same for commands that run no statement: they leave the
// diagnostics as they are, and add their errors.
func (s *session) noteCommand(c *backend.Conn, j *job) {
	r := &s.relay
	if j.want == expectText {
		return
	}
	asked := s.lastAsked
	s.rowCount, s.lastAsked = -1, notHere
	switch {
	case r.err != nil && s.hasLast(c):
		s.warnings++
		s.errors++
		s.told++
		if j.stmt != nil && s.gather() == nil && len(s.earlier) > 0 {
			s.earlier[len(s.earlier)-1] = backend.NewCondition(r.err) // the server has its own number of the statement
		}
	case r.err != nil:
		s.addCondition(r.err)
	case j.want == expectSimple:
		s.rowCount = 0
	}
	if j.want == expectColumns {
		s.warnings++ // it is deprecated
		s.told = 0
		if r.err != nil {
			s.told = 1
		}
	}
	if r.err == nil && j.stmt != nil {
		s.told = r.ok.Warnings
	}
	if s.hasLast(c) {
		s.lastAsked = asked // the server counts the same
	}
}

// beforeFieldList: COM_FIELD_LIST adds to the diagnostics of a connection, which
// must be the session's own.
func (s *session) beforeFieldList(c *backend.Conn, j *job) error {
	if s.hasLast(c) {
		return nil
	}
	if err := s.gather(); err != nil {
		return err
	}
	if err := s.interruptibly(c, j, func() error { return c.AlignNow(s.reachable()) }); err != nil { // which may warn
		c.Broken = !errors.As(err, new(*backend.NoSchema))
		return alignError(err)
	}
	if err := s.clearDiagnostics(c); err != nil {
		return err
	}
	s.last, s.lastTurn, s.lastAsked = c, c.Turn, c.Asked()
	return nil
}

// keepsDiagnostics: SHOW WARNINGS and its like, and GET DIAGNOSTICS, leave what
// they tell of as it is, unless they fail.
func keepsDiagnostics(j *job, err *wire.Error) bool {
	c := j.class
	return j.want == expectResult && err == nil && c.Kind == classifier.Diagnostics && !c.Is(classifier.MultiStatement) &&
		(strings.HasPrefix(c.Digest, "show ") || strings.HasPrefix(c.Digest, "get "))
}
