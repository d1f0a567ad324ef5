package seq

import (
	"regexp"
	"slices"
	"strings"
)

// Owed is a difference that is known to be Causeway's mistake and not mended
// yet. Generate leaves out what meets it; the row goes when its mistake does.
// The table may only get shorter.
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
	aRead    = t("SELECT id FROM $1.words ORDER BY id")
	readOnly = q("START TRANSACTION READ ONLY").pin(PinTrx)
)

// OwedNow is the table.
var OwedNow = []Owed{
	{"after SET TRANSACTION READ ONLY and SELECT @@x a read on a replica does not use it up: the next write fails",
		[]Step{q("SET TRANSACTION READ ONLY"), q("SELECT @@transaction_isolation, @@transaction_read_only"), aRead, write},
		func(s *session, next Step) bool {
			return s.state.pins&PinNext != 0 && !has(next, usesNext) && !next.resets
		}},
	{"in a READ ONLY transaction that has read from a replica LAST_INSERT_ID() in a read is refused",
		[]Step{readOnly, aRead, t("SELECT v FROM $1.t WHERE id = LAST_INSERT_ID()")}, notPlainInReadOnly},
	{"in a READ ONLY transaction that has read from a replica GET_LOCK is refused",
		[]Step{readOnly, aRead, t("SELECT GET_LOCK('$x', 0) AS g, id FROM $1.words ORDER BY id LIMIT 1")}, notPlainInReadOnly},
	{"in a READ ONLY transaction that has read from a replica CREATE TEMPORARY TABLE is refused with another text",
		[]Step{readOnly, aRead, q("CREATE TEMPORARY TABLE $0.temp1 (id INT)").pin(PinTemp)}, notPlainInReadOnly},
}

// notPlainInReadOnly is what a transaction that may run on a replica gets wrong.
func notPlainInReadOnly(s *session, next Step) bool {
	return s.state.pins&PinTrx != 0 && !next.resets && !has(next, plain) && slices.ContainsFunc(s.sinceReset(), func(b Step) bool { return has(b, saysReadOnly) })
}

var (
	usesNext     = regexp.MustCompile(`^(BEGIN|START|COMMIT|ROLLBACK)`)
	saysReadOnly = regexp.MustCompile(`READ ONLY|read_only = 1`)
	plain        = regexp.MustCompile(`^(COMMIT|ROLLBACK|INSERT INTO .1\.t \(v\) VALUES \(\d|SELECT [^@(]* FROM .[12]\.(t|words|kinds|times|child|tv)( ORDER BY id)?$)`)
)

// isOwed tells whether a step would only show what is known.
func isOwed(s *session, next Step) bool {
	return slices.ContainsFunc(OwedNow, func(o Owed) bool { return o.meets(s, next) })
}

func has(s Step, what *regexp.Regexp) bool { return what.MatchString(s.text) }

func (s *session) sinceReset() []Step {
	for i := len(s.before) - 1; i >= 0; i-- {
		if s.before[i].resets {
			return s.before[i+1:]
		}
	}
	return s.before
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
