package server

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// foundRows is where FOUND_ROWS() of the session is known: it stays until the
// next statement that sets it, whatever runs in between.
type foundRows struct {
	known bool
	value uint64 // if known

	on    *backend.Conn // ran the statement
	turn  uint64
	asked uint64
	left  *backend.Leftover // whoever took the connection has read it
}

// hasFound tells whether FOUND_ROWS() on c is the session's.
func (s *session) hasFound(c *backend.Conn) bool { return c == s.found.on && c.Turn == s.found.turn }

func (s *session) setFound(f foundRows) {
	s.found.left.Drop(backend.LeftFoundRows)
	s.found = f
}

// foundValue returns FOUND_ROWS().
func (s *session) foundValue() (uint64, error) {
	if s.found.known {
		return s.found.value, nil
	}
	if c := s.retake(s.found.on); c != nil && s.hasFound(c) {
		left := backend.NewLeftover(backend.LeftFoundRows, s.owner, 0)
		if err := c.Capture(left); err != nil {
			return 0, err
		}
		s.found.left = left
	}
	left := s.found.left
	if left == nil {
		return 0, errAboutLast
	}
	if err := s.captureIdle(s.found.on, left); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.srv.opts.Backend.ConnectTimeout)
	defer cancel()
	if err := left.Await(ctx); err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(left.FoundRows, 10, 64)
	if err != nil {
		return 0, errAboutLast
	}
	s.found.known, s.found.value = true, n
	return n, nil
}

// keepFound comes before a SELECT of Causeway's own on a connection.
func (s *session) keepFound(c *backend.Conn) {
	if s.found.known || !s.hasFound(c) {
		return
	}
	left := backend.NewLeftover(backend.LeftFoundRows, s.owner, 0)
	if c.Capture(left) == nil {
		s.capturedFound(c, left)
	}
}

// capturedFound takes FOUND_ROWS() from what was read of a connection.
func (s *session) capturedFound(c *backend.Conn, left *backend.Leftover) {
	if s.found.known || !s.hasFound(c) {
		return
	}
	if n, err := strconv.ParseUint(left.FoundRows, 10, 64); err == nil {
		s.found.known, s.found.value = true, n
	}
}

// noteFound follows a statement that may have set FOUND_ROWS(). Which do, and to
// what, was found out on a server; what no packet tells stays on the connection.
func (s *session) noteFound(c *backend.Conn, j *job) {
	r, class := &s.relay, j.class
	here := foundRows{on: c, turn: c.Turn, asked: c.Asked()}
	known := func(n uint64) {
		here.known, here.value = true, n
		s.setFound(here)
	}
	switch {
	case r.err != nil && (r.err.Code == wire.ErrParse || class.Kind == classifier.Write) && !class.Is(classifier.MultiStatement):
	case r.err != nil && r.err.Code == wire.ErrRoutineNotFound && class.Kind == classifier.Call:
	case r.err != nil && r.err.Code == wire.ErrUnknownStmtHandler && class.Kind == classifier.TextPrepare && !class.Is(classifier.MultiStatement):
	case class.Kind == classifier.Set: // not even by a function
	case class.Is(classifier.MultiStatement) && !mayFind(s.wholeDigest(j)):
	case class.Kind == classifier.TextPrepare && !class.Is(classifier.MultiStatement) && !slices.Contains(class.Names, "execute"):
	case class.Flags.Any(classifier.Opaque|classifier.MultiStatement) || class.Kind == classifier.TextPrepare || class.Kind == classifier.Unknown:
		s.setFound(here)
	case r.err != nil:
	case class.Kind == classifier.Do:
		known(1)
	case r.ok.Header == wire.HeaderEOF && class.Is(classifier.FoundRows):
		s.setFound(here)
	case r.ok.Header == wire.HeaderEOF:
		if isSelect(class) {
			known(r.rows)
		}
	case class.Is(classifier.SelectInto):
		known(r.ok.AffectedRows)
	case class.Kind == classifier.Write:
		if n, ok := foundByWrite(class.Digest, s.tracked.info); ok {
			known(n)
		}
	}
}

// mayFind tells whether one of several statements may set FOUND_ROWS().
func mayFind(digest string) bool {
	for _, word := range [...]string{"select", "update", "call", "execute", "do ", "show", "with", "table", "values row", "desc", "explain"} {
		if strings.Contains(digest, word) {
			return true
		}
	}
	return strings.Count(digest, "delete") > strings.Count(digest, "delete from")
}

// wholeDigest is a statement's digest, or its text in lower case where the digest
// was cut.
func (s *session) wholeDigest(j *job) string {
	if len(j.class.Digest) < classifier.CutDigest {
		return j.class.Digest
	}
	return strings.ToLower(s.textOf(j))
}

// selects are the statements with rows that are run as SELECT: of SHOW those
// that read the information schema.
var selects = regexp.MustCompile(`^(?i:\(*\s*(select|with|values|table)\b|(desc|describe|explain) [^ ]+$|show (full |extended |session |global |local )*` +
	`(databases|schemas|tables|table status|columns|fields|index|indexes|keys|variables|status|procedure status|function status|triggers|events|character|charset|collation|engines|plugins|open|count)\b)`)

func isSelect(c *classifier.Class) bool {
	switch c.Kind {
	case classifier.Read, classifier.LockingRead:
		if strings.HasPrefix(c.Digest, "select") {
			return true
		}
	}
	return selects.MatchString(c.Digest)
}

// foundByWrite is FOUND_ROWS() after a write that counted so many rows in the info
// of its OK: what an UPDATE of one table matched and an INSERT selected, and 0 for
// several tables; anything else leaves it as it was.
func foundByWrite(digest string, counted uint64) (n uint64, ok bool) {
	for _, verb := range [...]string{") update ", ") delete "} { // WITH
		if i := strings.LastIndex(digest, verb); i >= 0 && strings.HasPrefix(digest, "with ") {
			digest = digest[i+2:]
		}
	}
	switch {
	case strings.HasPrefix(digest, "update "):
		tables, _, _ := strings.Cut(digest, " set ")
		if strings.Contains(tables, ",") || strings.Contains(tables, " join ") {
			return 0, true
		}
		return counted, true
	case strings.HasPrefix(digest, "delete "):
		tables, _, _ := strings.Cut(digest, " where ")
		return 0, !strings.Contains(tables, "delete from ") || strings.Contains(tables, " using ")
	case strings.HasPrefix(digest, "insert "), strings.HasPrefix(digest, "replace "):
		return counted, strings.Contains(digest, " select ") || strings.Contains(digest, " table ")
	}
	return 0, false
}

// countedIn reads the first number of an OK's info: "Rows matched: 3  Changed: 1
// Warnings: 0", or "Records: 3  Duplicates: 0  Warnings: 0".
func countedIn(info []byte) (n uint64) {
	n, _ = nextCount(info)
	return n
}

// changesNone tells whether the second number is 0: what an UPDATE matched it has not
// changed. The words of an info are of the session's language.
func changesNone(info []byte) bool {
	_, rest := nextCount(info)
	n, rest := nextCount(rest)
	return n == 0 && len(rest) > 0
}

// nextCount reads the next number of an info, and returns what follows it.
func nextCount(info []byte) (n uint64, rest []byte) {
	_, rest, _ = bytes.Cut(info, []byte(": "))
	for len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9' {
		n, rest = n*10+uint64(rest[0]-'0'), rest[1:]
	}
	return n, rest
}
