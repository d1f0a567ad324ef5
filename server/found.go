package server

import (
	"bytes"
	"strconv"
	"strings"

	"causeway/classifier"
	"causeway/wire"
)

// noteFound follows what FOUND_ROWS() says, by what MySQL 9.7 was seen to do.
// matched: a statement may have set it out of sight, and only its connection knows.
func (s *session) noteFound(j *job) {
	r, c := &s.relay, j.class
	set := func(n uint64) { s.foundRows, s.matched = n, false }
	switch {
	case r.err != nil:
	case r.ok.Header == wire.HeaderEOF:
		set(r.rows)
	case c.Is(classifier.MultiStatement):
		s.matched = s.matched || mayFind(c.Digest)
	case c.Kind == classifier.Set:
	case c.Kind == classifier.Call, c.Kind == classifier.Unknown, c.Kind == classifier.TextPrepare, c.Is(classifier.UnknownFunction):
		s.matched = true
	case c.Kind == classifier.Do:
		set(1)
	case c.Is(classifier.SelectInto):
		set(r.ok.AffectedRows)
	case c.Kind == classifier.Write:
		if n, ok := foundByWrite(c.Digest, s.tracked.info); ok {
			set(n)
		}
	}
}

// keepTotal asks for the total of SQL_CALC_FOUND_ROWS before a statement runs that
// leaves it as it is, perhaps on another connection. It comes at most once for each
// such SELECT, and never if FOUND_ROWS() follows it.
func (s *session) keepTotal(class *classifier.Class, want expect) {
	switch {
	case want == expectSimple:
		return
	case want == expectPrepare:
		s.fetchTotal()
		return
	}
	switch class.Kind {
	case classifier.Read, classifier.ReadSource, classifier.LockingRead, classifier.Diagnostics, classifier.Do, classifier.Call:
		return
	}
	s.fetchTotal()
}

func (s *session) fetchTotal() {
	if !s.calcFound {
		return
	}
	var total string
	if s.lastLeft == nil && s.last != nil && !s.last.Broken { // held
		s.bound(s.last)
		defer s.last.SetDeadline(noDeadline)
		if row, err := s.last.Query("SELECT FOUND_ROWS()"); err == nil && len(row) == 1 {
			total = row[0]
		} else {
			s.last.Broken = true
		}
	} else if left, err := s.awaitLeft(); err == nil {
		total = left.found
	}
	if n, err := strconv.ParseUint(total, 10, 64); err == nil {
		s.foundRows, s.matched = n, false
	}
	s.calcFound = false
}

// mayFind tells whether one of several statements may set FOUND_ROWS().
func mayFind(digest string) bool {
	for _, word := range [...]string{"select", "update", "call", "execute", "do ", "show", "with"} {
		if strings.Contains(digest, word) {
			return true
		}
	}
	return strings.Count(digest, "delete") > strings.Count(digest, "delete from")
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
	_, rest, _ := bytes.Cut(info, []byte(": "))
	for _, b := range rest {
		if b < '0' || b > '9' {
			break
		}
		n = n*10 + uint64(b-'0')
	}
	return n
}
