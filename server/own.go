package server

import (
	"encoding/binary"
	"regexp"
	"strconv"
	"strings"

	"causeway/classifier"
	"causeway/wire"
)

// ownQuery is a SELECT of one value that Causeway can answer by itself.
type ownQuery struct {
	what   string // function or variable, in lower case
	column string // name of the result's column
}

var ownForm = regexp.MustCompile("(?is)^\\s*select\\s+(?:((row_count|found_rows|connection_id)\\s*\\(\\s*\\))|(@@(?:session\\.|local\\.)?(warning_count|error_count)))" +
	"(?:\\s+(?:as\\s+)?(?:`([^`]+)`|'([^']+)'|\"([^\"]+)\"|([a-z_][a-z0-9_]*)))?(?:\\s+from\\s+dual)?(?:\\s+limit\\s+1)?\\s*;?\\s*$")

var countForm = regexp.MustCompile("(?is)^\\s*show\\s+count\\s*\\(\\s*\\*\\s*\\)\\s*(warnings|errors)\\s*;?\\s*$")

// parseOwn reads such a statement.
func parseOwn(text string) (ownQuery, bool) {
	if len(text) > 200 {
		return ownQuery{}, false
	}
	if m := countForm.FindStringSubmatch(text); m != nil {
		what := strings.ToLower(strings.TrimSuffix(strings.ToLower(m[1]), "s")) + "_count"
		return ownQuery{what: what, column: "@@session." + what}, true
	}
	m := ownForm.FindStringSubmatch(text)
	if m == nil {
		return ownQuery{}, false
	}
	q := ownQuery{what: strings.ToLower(m[2] + m[4]), column: m[1] + m[3]}
	for _, alias := range m[5:] {
		switch strings.ToLower(alias) {
		case "":
		case "from", "limit":
			return ownQuery{}, false
		default:
			q.column = alias
		}
	}
	return q, true
}

// textOf is the text of a command that runs a statement.
func (s *session) textOf(j *job) string {
	if j.stmt != nil {
		return j.stmt.Text
	}
	text, _ := queryText(j.frame.Payload, s.login.Caps)
	return string(text)
}

// ownFacts answers what a client asks of its own connection to Causeway.
func (s *session) ownFacts(class *classifier.Class, text []byte) (bool, error) {
	lower := strings.ToLower(class.Digest)
	switch {
	case strings.HasPrefix(lower, "show processlist"), strings.HasPrefix(lower, "show full processlist"):
		return true, s.processlist(strings.Contains(lower, "full"))
	case !strings.Contains(lower, "connection_id"):
		return false, nil
	}
	q, ok := parseOwn(string(text))
	if !ok || s.aborted != "" {
		return false, nil
	}
	s.route = route{reason: reasonLocal, digest: class.Digest}
	return true, s.scalar(&job{}, q, strconv.FormatUint(uint64(s.id), 10))
}

// executeHere is ownFacts for prepared statements.
func (s *session) executeHere(j *job) (bool, error) {
	if j.class.Kind != classifier.ReadSource || s.aborted != "" || !strings.Contains(strings.ToLower(j.class.Digest), "connection_id") {
		return false, nil
	}
	q, ok := parseOwn(j.stmt.Text)
	if !ok {
		return false, nil
	}
	s.route = route{reason: reasonLocal, digest: j.class.Digest}
	return true, s.scalar(j, q, strconv.FormatUint(uint64(s.id), 10))
}

// Column flags of the protocol.
const (
	flagNotNull  = 0x0001
	flagUnsigned = 0x0020
	flagBinary   = 0x0080
)

// scalar answers by one row with one integer, described as MySQL would.
func (s *session) scalar(j *job, q ownQuery, value string) error {
	column := wire.Column{Name: q.column, Type: wire.TypeLongLong, Charset: 63, Length: 21, Flags: flagNotNull | flagBinary}
	switch q.what {
	case "connection_id":
		column.Flags |= flagUnsigned
	case "warning_count", "error_count":
		column.Flags = flagUnsigned | flagBinary
	}
	if !strings.HasPrefix(q.column, "@@session.") { // a SELECT, which SHOW COUNT(*) is not
		s.rowCount, s.foundRows, s.calcFound, s.warnings = -1, 1, false, 0
		s.last = nil
		s.lastLeft.Drop()
		s.lastLeft = nil
	}
	warnings := uint16(0)
	if q.what == "found_rows" {
		warnings = 1 // it is deprecated
		s.warnings = 1
	}
	if j.stmt == nil {
		return s.packets([]wire.Column{column}, [][]byte{wire.AppendTextRowStrings(nil, value)}, warnings)
	}
	n, _ := strconv.ParseInt(value, 10, 64)
	if u, err := strconv.ParseUint(value, 10, 64); err == nil {
		n = int64(u)
	}
	row := binary.LittleEndian.AppendUint64([]byte{0, 0}, uint64(n))
	return s.packets([]wire.Column{column}, [][]byte{row}, warnings)
}
