package seq

import (
	"regexp"
	"slices"
	"strings"
)

// Owed is a difference that is known: Causeway's mistake, which the README's
// limits name. Generate leaves out what meets it; the row goes when its mistake
// does.
type Owed struct {
	Why   string
	Shows []Step // what differs, as short as it gets

	meets func(s *session, next Step) bool
}

// Script is what shows the difference.
func (o Owed) Script() Script {
	s := Script{Steps: o.Shows}
	for i := range s.Caps {
		s.Caps[i] = modernCaps
	}
	return s
}

var (
	warns    = q("SELECT CAST('q' AS SIGNED)")
	warnings = q("SHOW WARNINGS")
	aRead    = t("SELECT id FROM $1.words ORDER BY id")
	readOnly = q("START TRANSACTION READ ONLY").pin(PinTrx)
)

// OwedNow is the table.
var OwedNow = []Owed{
	{"in a READ ONLY transaction that has read from a replica what needs the source as well is refused (README, Limits)",
		[]Step{readOnly, aRead, t("SELECT GET_LOCK('$x', 0) AS g, id FROM $1.words ORDER BY id LIMIT 1")}, needsBothInReadOnly},
	{"FOUND_ROWS() after a CALL that sets none is that of the connection (README, Limits)",
		[]Step{t("CALL $1.put(5)"), t("SELECT FOUND_ROWS()")}, foundAfterCall},
	{"FOUND_ROWS() after SET @c = (SELECT ...) and then a write that reads a user variable that was never set (README, Limits)",
		[]Step{q("SET @c = (SELECT MAX(id) FROM $1.words)").pin(PinUser), t("INSERT INTO $1.t (v) VALUES (@d)").pin(PinUser), q("SELECT FOUND_ROWS()")}, foundAfterUnset},
}

// foundAfterCall: nothing between them surely sets it.
func foundAfterCall(s *session, next Step) bool {
	if !has(next, asksFound) {
		return false
	}
	for _, b := range slices.Backward(s.sinceReset()) {
		switch {
		case has(b, calls):
			return true
		case has(b, finds):
			return false
		}
	}
	return false
}

// foundAfterUnset: the write makes what the SET has found FOUND_ROWS().
func foundAfterUnset(s *session, next Step) bool {
	if !has(next, asksFound) {
		return false
	}
	unset := false
	for _, b := range slices.Backward(s.sinceReset()) {
		switch {
		case unset && has(b, setsFrom):
			return true
		case has(b, finds):
			return false
		}
		unset = unset || has(b, unsetUser)
	}
	return false
}

// needsBothInReadOnly: the rows are of the replica's snapshot, the rest would be
// the source's.
func needsBothInReadOnly(s *session, next Step) bool {
	return s.state.pins&PinTrx != 0 && !next.resets && has(next, needsSource) && slices.ContainsFunc(s.sinceReset(), func(b Step) bool { return has(b, saysReadOnly) })
}

var (
	saysReadOnly = regexp.MustCompile(`READ ONLY|read_only = 1`)
	asksFound    = regexp.MustCompile(`(?i)^SELECT FOUND_ROWS\(\)`)
	calls        = regexp.MustCompile(`^CALL .*(put|signals)\(`)
	setsFrom     = regexp.MustCompile(`^SET @.*\(SELECT`)
	finds        = regexp.MustCompile(`^SELECT .* FROM `)
	needsSource  = regexp.MustCompile(`(LOCK\(|:=|INTO (@|OUT|DUMP)).* FROM | FROM .*(LOCK\(|:=|INTO (@|OUT|DUMP))`)
)

// isOwed tells whether a step would only show what is known.
func isOwed(s *session, next Step) bool {
	return slices.ContainsFunc(OwedNow, func(o Owed) bool { return o.meets(s, next) })
}

// meetsOwed tells whether a script shows what is known.
func (s Script) meetsOwed() bool {
	var sessions [Sessions]session
	return slices.ContainsFunc(s.Steps, func(step Step) bool {
		m := &sessions[step.On]
		owed := isOwed(m, step)
		m.before, m.state = append(m.before, step), m.state.after(step)
		return owed
	})
}

func has(s Step, what *regexp.Regexp) bool { return what.MatchString(s.text) }

// last is the session's last step; a session begins like a reset one.
func (s *session) last() Step {
	if len(s.before) == 0 {
		return resetStep
	}
	return s.before[len(s.before)-1]
}

func (s *session) sinceReset() []Step {
	for i := len(s.before) - 1; i >= 0; i-- {
		if s.before[i].resets {
			return s.before[i+1:]
		}
	}
	return s.before
}

// closed tells whether a statement is gone.
func (s *session) closed(stmt string) bool {
	is := func(what op) func(Step) bool {
		return func(b Step) bool { return b.op == what && b.stmt == stmt }
	}
	since := s.sinceReset()
	return !slices.ContainsFunc(since, is(opPrepare)) || slices.ContainsFunc(since, is(opStmtClose))
}

// cursorOpen tells whether a statement's cursor has surely rows left: it is
// over words, which has three.
func (s *session) cursorOpen(stmt string) bool {
	left := 0
	for _, b := range s.before {
		switch {
		case b.resets, b.stmt == stmt && (b.op == opStmtReset || b.op == opStmtClose), strings.HasPrefix(b.text, "COMMIT"):
			left = 0
		case b.stmt == stmt && b.op == opCursor:
			left = 3
		case b.stmt == stmt && b.op == opFetch:
			left -= b.num
		}
	}
	return left > 0
}
