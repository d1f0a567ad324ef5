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
	warns    = q("SELECT CAST('q' AS SIGNED)")
	aRead    = t("SELECT id FROM $1.words ORDER BY id")
	readOnly = q("START TRANSACTION READ ONLY").pin(PinTrx)
	warnings = q("SHOW WARNINGS")
)

// OwedNow is the table.
var OwedNow = []Owed{
	{"GET DIAGNOSTICS does not know of statements that ran on a replica",
		[]Step{warns, q("GET DIAGNOSTICS CONDITION 1 @c = MYSQL_ERRNO")},
		func(s *session, next Step) bool {
			return has(next, getDiagnostics) && (!has(s.last(), changesRows) || slices.ContainsFunc(s.sinceReset(), func(b Step) bool { return has(b, saysReadOnly) }))
		}},
	{"ROW_COUNT() after COM_PING is -1, not 0",
		[]Step{aRead, {op: opPing}, q("SELECT ROW_COUNT()")},
		func(s *session, next Step) bool { return has(next, rowCount) && s.last().op == opPing }},
	{"ROW_COUNT() after a read on a replica and COM_STMT_PREPARE is 0, not -1",
		[]Step{q("SET div_precision_increment = DEFAULT"), q("SELECT @@div_precision_increment"), {op: opPrepare, stmt: "a", text: "SELECT 1"}, q("SELECT ROW_COUNT()")},
		func(s *session, next Step) bool { return has(next, rowCount) && s.last().op == opPrepare }},
	{"the schema that MySQL tells after a CALL that failed is not told by a replica",
		[]Step{q("USE $2"), t("CALL $1.signals()"), q("SELECT DATABASE()")},
		func(_ *session, next Step) bool { return has(next, signals) }},
	{"a tracker that is switched off in a transaction ends the transaction at the next SET",
		[]Step{begin, q("SET session_track_schema = OFF"), q("SET net_write_timeout = 77")},
		func(_ *session, next Step) bool { return has(next, trackersOff) }},
	{"COM_SET_OPTION does not tell the warnings of the statement before",
		[]Step{warns, {op: opSetOption}},
		func(s *session, next Step) bool { return next.op == opSetOption && !has(s.last(), harmless) }},
	{"after a failed statement SHOW WARNINGS tells the warnings of COM_FIELD_LIST",
		[]Step{q("SELEC 1"), {op: opFieldList, text: "t"}, warnings},
		func(s *session, next Step) bool { return s.last().op == opFieldList && has(next, diagnostics) }},
	{"COM_STMT_PREPARE of SHOW WARNINGS forgets the warnings",
		[]Step{t("SELECT v FROM $1.t WHERE id IS NULL"), {op: opPrepare, stmt: "a", text: "SHOW WARNINGS"}, q("SELECT @@warning_count")},
		func(s *session, next Step) bool {
			return s.last().op == opPrepare && has(s.last(), diagnostics) && has(next, diagnostics)
		}},
	{"SHOW WARNINGS does not tell error 1243",
		[]Step{{op: opPrepare, stmt: "a", text: "SELECT 1"}, {op: opStmtClose, stmt: "a"}, {op: opExecute, stmt: "a"}, warnings},
		func(s *session, next Step) bool {
			return has(next, diagnostics) && s.last().stmt != "" && (s.closed(s.last().stmt) || s.last().op == opFetch)
		}},
	{"in a READ ONLY transaction that has read from a replica what needs the source as well is refused (README, Limits)",
		[]Step{readOnly, aRead, t("SELECT GET_LOCK('$x', 0) AS g, id FROM $1.words ORDER BY id LIMIT 1")}, needsBothInReadOnly},
}

// needsBothInReadOnly: the rows are of the replica's snapshot, the rest would be
// the source's.
func needsBothInReadOnly(s *session, next Step) bool {
	return s.state.pins&PinTrx != 0 && !next.resets && has(next, needsSource) && slices.ContainsFunc(s.sinceReset(), func(b Step) bool { return has(b, saysReadOnly) })
}

var (
	getDiagnostics = regexp.MustCompile(`^GET DIAG`)
	changesRows    = regexp.MustCompile(`^(INSERT|UPDATE)`)
	trackersOff    = regexp.MustCompile(`SET session_track`)
	harmless       = regexp.MustCompile(`^(DO 1|SELECT 1)$`)
	rowCount       = regexp.MustCompile(`ROW_COUNT`)
	diagnostics    = regexp.MustCompile(`SHOW (WARN|ERR|COUNT)|@@(warning|error)_count|DIAGNOSTICS`)
	signals        = regexp.MustCompile(`(signals|put)\(\)`)
	saysReadOnly   = regexp.MustCompile(`READ ONLY|read_only = 1`)
	needsSource    = regexp.MustCompile(`(LOCK\(|:=|INTO (@|OUT|DUMP)).* FROM | FROM .*(LOCK\(|:=|INTO (@|OUT|DUMP))`)
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
