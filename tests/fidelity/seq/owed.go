package seq

import (
	"regexp"
	"slices"
	"strings"
)

// owed are differences that are known to be Causeway's mistakes and not mended
// yet. Generate leaves out what meets them; each line goes when its mistake
// does, and then nothing is left out. It may only get shorter.
var owed = []struct {
	why string
	is  func(before []Step, next Step) bool
}{
	{"FOUND_ROWS() on a connection without a read so far is 1, which Causeway's own statements left; MySQL says 0", func(before []Step, next Step) bool {
		return has(next, foundRows) && !slices.ContainsFunc(sinceReset(before), func(s Step) bool { return has(s, startsRead) })
	}},
	{"COM_SET_OPTION tells no warnings of the statement before", func(before []Step, next Step) bool {
		return next.op == opSetOption && !has(last(before), harmless)
	}},
	{"ROW_COUNT() together with LAST_INSERT_ID() after a read is 0, not -1", func(_ []Step, next Step) bool {
		return has(next, rowCountAndMore)
	}},
	{"COM_FIELD_LIST replaces the warnings of the statement before", func(before []Step, next Step) bool {
		return last(before).op == opFieldList && has(next, diagnostics)
	}},
	{"in a READ ONLY transaction SET timestamp has no effect on the reads that follow", func(before []Step, next Step) bool {
		return has(next, setTimestamp) && slices.ContainsFunc(before, func(s Step) bool { return has(s, readOnlyTrx) })
	}},
	{"ROW_COUNT() is -1 after COM_RESET_CONNECTION, not 0", func(before []Step, next Step) bool {
		return last(before).resets && has(next, rowCount)
	}},
	{"what SET TRANSACTION said is still there after a read that failed", func(before []Step, next Step) bool {
		return false
	}},
	{"under sql_auto_is_null = 1 a replica does not know the last id", func(_ []Step, next Step) bool {
		return has(next, autoIsNull)
	}},
	{"ERR 1421 names the statement's id on the node", func(before []Step, next Step) bool {
		return next.op == opFetch && !cursorOpen(before, next.stmt)
	}},
	{"SET NAMES ... COLLATE gives other charset numbers in column definitions from a replica", func(_ []Step, next Step) bool {
		return has(next, namesCollate)
	}},
}

var (
	foundRows       = regexp.MustCompile(`(?i)found_rows\(\)`)
	startsRead      = regexp.MustCompile(`^SELECT`)
	harmless        = regexp.MustCompile(`^(DO 1|SELECT 1)$`)
	rowCount        = regexp.MustCompile(`ROW_COUNT`)
	rowCountAndMore = regexp.MustCompile(`ROW_COUNT\(\), `)
	diagnostics     = regexp.MustCompile(`SHOW (WARN|ERR|COUNT)|@@(warning|error)_count|DIAGNOSTICS`)
	setTimestamp    = regexp.MustCompile(`SET timestamp`)
	readOnlyTrx     = regexp.MustCompile(`START TRANSACTION.* READ ONLY`)
	autoIsNull      = regexp.MustCompile(`sql_auto_is_null = 1`)
	namesCollate    = regexp.MustCompile(`SET NAMES .* COLLATE`)
)

// isOwed tells whether a step after the session's steps before would only show
// what is known.
func isOwed(before []Step, next Step) bool {
	for _, o := range owed {
		if o.is(before, next) {
			return true
		}
	}
	return false
}

func has(s Step, what *regexp.Regexp) bool { return what.MatchString(s.text) }

// last is the session's last step; a session begins like a reset one.
func last(before []Step) Step {
	if len(before) == 0 {
		return resetStep
	}
	return before[len(before)-1]
}

func sinceReset(before []Step) []Step {
	for i := len(before) - 1; i >= 0; i-- {
		if before[i].resets {
			return before[i+1:]
		}
	}
	return before
}

// cursorOpen tells whether a statement's cursor has surely rows left: it is
// over words, which has three.
func cursorOpen(before []Step, stmt string) bool {
	left := 0
	for _, s := range before {
		switch {
		case s.resets, s.stmt == stmt && (s.op == opStmtReset || s.op == opStmtClose), strings.HasPrefix(s.text, "COMMIT"):
			left = 0
		case s.stmt == stmt && s.op == opCursor:
			left = 3
		case s.stmt == stmt && s.op == opFetch:
			left -= s.num
		}
	}
	return left > 0
}
