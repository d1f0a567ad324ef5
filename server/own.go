package server

import (
	"encoding/binary"
	"regexp"
	"strconv"
	"strings"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// ownQuery is a statement that Causeway can answer by itself: one row of values
// that it knows.
type ownQuery struct {
	items []ownItem
	show  bool // SHOW COUNT(*): it leaves the diagnostics alone
}

type ownItem struct {
	what   string // function or variable, in lower case
	column string // name of the result's column
}

// has tells whether one of the items is asked for.
func (q ownQuery) has(what string) bool {
	for _, item := range q.items {
		if item.what == what {
			return true
		}
	}
	return false
}

var (
	ownHead = regexp.MustCompile(`(?is)^\s*select\s+(.*?)(?:\s+from\s+dual)?(?:\s+limit\s+1)?\s*;?\s*$`)
	ownForm = regexp.MustCompile("(?is)^\\s*(?:((row_count|found_rows|connection_id|last_insert_id)\\s*\\(\\s*\\))|(@@(?:session\\.|local\\.)?(warning_count|error_count)))" +
		"(?:\\s+(?:as\\s+)?(?:`([^`]+)`|'([^']+)'|\"([^\"]+)\"|([a-z_][a-z0-9_]*)))?\\s*$")
	countForm = regexp.MustCompile(`(?is)^\s*show\s+count\s*\(\s*\*\s*\)\s*(warning|error)s\s*;?\s*$`)
)

// parseOwn reads such a statement.
func parseOwn(text string) (q ownQuery, ok bool) {
	if len(text) > 300 {
		return q, false
	}
	if m := countForm.FindStringSubmatch(text); m != nil {
		what := strings.ToLower(m[1]) + "_count"
		return ownQuery{[]ownItem{{what, "@@session." + what}}, true}, true
	}
	m := ownHead.FindStringSubmatch(text)
	if m == nil {
		return q, false
	}
	for part := range strings.SplitSeq(m[1], ",") {
		item, ok := parseItem(part)
		if !ok {
			return q, false
		}
		q.items = append(q.items, item)
	}
	return q, true
}

func parseItem(text string) (ownItem, bool) {
	m := ownForm.FindStringSubmatch(text)
	if m == nil {
		return ownItem{}, false
	}
	item := ownItem{what: strings.ToLower(m[2] + m[4]), column: m[1] + m[3]}
	for _, alias := range m[5:] {
		switch strings.ToLower(alias) {
		case "":
		case "from", "limit":
			return ownItem{}, false
		default:
			item.column = alias
		}
	}
	return item, true
}

// textOf is the text of a command that runs a statement.
func (s *session) textOf(j *job) string {
	if j.stmt != nil {
		return j.stmt.Text
	}
	text, _ := queryText(j.frame.Payload, s.login.Caps)
	return string(text)
}

// processlistForm is all of SHOW PROCESSLIST; what has more to it is for a server
// to judge.
var processlistForm = regexp.MustCompile(`^show (full )?processlist ?;?$`)

// ownFacts answers what a client asks of its own connection to Causeway.
func (s *session) ownFacts(class *classifier.Class, text []byte) (bool, error) {
	lower := strings.ToLower(class.Digest)
	switch {
	case processlistForm.MatchString(lower):
		s.runs.Store(class) // its own row tells of it
		return true, s.processlist(strings.Contains(lower, "full"))
	case !strings.Contains(lower, "connection_id"):
		return false, nil
	}
	q, ok := parseOwn(string(text))
	if !ok || s.aborted != "" || len(q.items) != 1 {
		return false, nil
	}
	s.route = route{reason: reasonLocal, digest: class.Digest}
	return true, s.values(&job{}, q, []string{strconv.FormatUint(uint64(s.id), 10)})
}

// executeHere is ownFacts for prepared statements.
func (s *session) executeHere(j *job) (bool, error) {
	if j.class.Kind != classifier.ReadSource || s.aborted != "" || !strings.Contains(strings.ToLower(j.class.Digest), "connection_id") {
		return false, nil
	}
	q, ok := parseOwn(j.stmt.Text)
	if !ok || len(q.items) != 1 {
		return false, nil
	}
	s.route = route{reason: reasonLocal, digest: j.class.Digest}
	return true, s.values(j, q, []string{strconv.FormatUint(uint64(s.id), 10)})
}

// Column flags of the protocol.
const (
	flagNotNull  = 0x0001
	flagUnsigned = 0x0020
	flagBinary   = 0x0080
)

// values answers by one row of integers, described as MySQL would.
func (s *session) values(j *job, q ownQuery, values []string) error {
	columns := make([]wire.Column, len(q.items))
	for i, item := range q.items {
		columns[i] = wire.Column{Name: item.column, Type: wire.TypeLongLong, Charset: 63, Length: 21, Flags: flagNotNull | flagBinary}
		switch item.what {
		case "connection_id", "last_insert_id":
			columns[i].Flags |= flagUnsigned
		case "transaction_read_only":
			columns[i].Length, columns[i].Flags = 1, flagBinary
		case "warning_count", "error_count":
			columns[i].Flags = flagUnsigned | flagBinary
		}
	}
	warnings := s.afterOwn(q, j.stmt != nil)
	if j.stmt == nil {
		return s.packets(columns, [][]byte{wire.AppendTextRowStrings(nil, values...)}, warnings)
	}
	row := make([]byte, 1+(len(values)+9)/8) // no NULL
	for _, value := range values {
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			signed, _ := strconv.ParseInt(value, 10, 64)
			n = uint64(signed)
		}
		row = binary.LittleEndian.AppendUint64(row, n)
	}
	return s.packets(columns, [][]byte{row}, warnings)
}

// foundRowsWarning is what a statement leaves that asks for FOUND_ROWS().
var foundRowsWarning = backend.Condition{
	Level: "Warning", Code: "1287", Message: "FOUND_ROWS() is deprecated and will be removed in a future release. Consider using COUNT(*) instead.",
}

// keepsWarnings tells whether a server would keep warnings for the session at all.
func (s *session) keepsWarnings() bool {
	v, ok := s.state.Var("max_error_count")
	return !ok || v != "0"
}

// afterOwn notes what such a statement does to the diagnostics itself: a SELECT
// clears them, also one that asks for the counts; FOUND_ROWS() is deprecated.
func (s *session) afterOwn(q ownQuery, prepared bool) (warnings uint16) {
	s.rowCount, s.lastAsked = -1, notHere
	s.setFound(foundRows{known: true, value: 1})
	if q.show {
		return 0
	}
	s.forgetConditions()
	s.stale = nil
	if q.has("found_rows") && !prepared && s.keepsWarnings() { // else PREPARE has said so
		warnings = 1
		s.earlier = []backend.Condition{foundRowsWarning}
	}
	s.warnings, s.errors = warnings, 0
	return warnings
}
