package server

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// staleNote is the warning that goes with a read served beyond the bound.
type staleNote struct {
	text  string
	shown bool // the read itself has been answered; SHOW WARNINGS may ask
}

func newStaleNote(n *backend.Node, why string) *staleNote {
	age := "not known to be fresher than the source was at Causeway's start"
	if !n.FreshAsOf.IsZero() {
		age = fmt.Sprintf("up to %v old", time.Since(n.FreshAsOf).Round(time.Millisecond))
	}
	return &staleNote{text: fmt.Sprintf("Causeway: no replica qualified (too old, or over its lag limit) and %s; read from %s, %s", why, n.Addr, age)}
}

// count is how many warnings it is.
func (n *staleNote) count() uint16 {
	if n == nil {
		return 0
	}
	return 1
}

// addStaleNote adds the warning to the read's own count, and its row to the
// SHOW WARNINGS that follows on the same connection.
func (s *session) addStaleNote(r *relay, j *job, c *backend.Conn) {
	switch {
	case !s.stale.shown && j.class.Kind == classifier.Read:
		s.stale.shown = true
		r.extraWarnings = 1
	case j.class.Kind == classifier.Diagnostics && isShowWarnings(j.class) && c == s.last:
		r.extraRow = wire.AppendTextRowStrings(nil, "Warning", fmt.Sprint(wire.ErrServerIsntAvailable), s.stale.text)
	}
}

// isShowDiagnostics: the forms of SHOW that list the last statement's errors.
func isShowDiagnostics(c *classifier.Class) bool {
	return isShowWarnings(c) || strings.EqualFold(c.Digest, "show errors") || strings.HasPrefix(strings.ToLower(c.Digest), "show errors limit")
}

var limitForm = regexp.MustCompile(`(?is)\blimit\s+([0-9]{1,9})(?:\s*(,|offset)\s*([0-9]{1,9}))?\s*;?\s*$`)

// showLimit reads the LIMIT clause of such a SHOW.
func showLimit(text string) (offset, rows int, ok bool) {
	m := limitForm.FindStringSubmatch(text)
	if m == nil {
		return 0, 0, false
	}
	rows, _ = strconv.Atoi(m[1])
	other, _ := strconv.Atoi(m[3])
	switch strings.ToLower(m[2]) {
	case ",":
		return rows, other, true
	case "offset":
		return other, rows, true
	}
	return 0, rows, true
}

// warningColumns are those of the server's SHOW WARNINGS.
var warningColumns = []wire.Column{
	{Name: "Level", Type: wire.TypeVarString, Charset: 255, Length: 28, Flags: 0x01},
	{Name: "Code", Type: wire.TypeLong, Charset: 63, Length: 5, Flags: 0xa1},
	{Name: "Message", Type: wire.TypeVarString, Charset: 255, Length: 2048, Flags: 0x01},
}

// isShowWarnings: SHOW ERRORS and the counts have rows of another form.
func isShowWarnings(c *classifier.Class) bool {
	return strings.EqualFold(c.Digest, "show warnings") || strings.HasPrefix(strings.ToLower(c.Digest), "show warnings limit")
}
