package server

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// diagQuery is GET DIAGNOSTICS with user variables as its targets.
type diagQuery struct {
	stacked   bool
	condition string // number or @variable; "": of the statement
	items     []diagItem
}

type diagItem struct{ variable, item string }

var (
	diagForm = regexp.MustCompile(`(?is)^\s*get\s+(?:(current|stacked)\s+)?diagnostics\s+(?:condition\s+(?:([0-9]{1,9})|'([0-9]{1,9})'|(@[a-z0-9_$.]+))\s+)?(@.+?)\s*;?\s*$`)
	diagPart = regexp.MustCompile("(?is)^\\s*@(?:([a-z0-9_$.]+)|`([^`]+)`)\\s*=\\s*([a-z_]+)\\s*$")
)

// parseGetDiagnostics reads the forms that need no server.
func parseGetDiagnostics(text string) (q diagQuery, ok bool) {
	if len(text) > 2000 {
		return q, false
	}
	m := diagForm.FindStringSubmatch(text)
	if m == nil {
		return q, false
	}
	q.stacked, q.condition = strings.EqualFold(m[1], "stacked"), m[2]+m[3]+m[4]
	for part := range strings.SplitSeq(m[5], ",") {
		p := diagPart.FindStringSubmatch(part)
		if p == nil {
			return q, false
		}
		item := strings.ToUpper(p[3])
		ofStatement := item == "NUMBER" || item == "ROW_COUNT"
		if ofStatement != (q.condition == "") || !ofStatement && !slices.Contains(backend.ConditionItems, item) {
			return q, false
		}
		q.items = append(q.items, diagItem{strings.ToLower(p[1] + p[2]), item})
	}
	return q, true
}

// getDiagnostics answers it: the variables become part of the session's state,
// as if they had been set to literals. false: it is for the server.
func (s *session) getDiagnostics(j *job) (bool, error) {
	q, ok := parseGetDiagnostics(s.textOf(j))
	number, known := s.conditionNumber(q.condition)
	if !ok || !known {
		return false, nil
	}
	s.noteLocal(reasonDiagnostics)
	if q.stacked {
		s.rowCount, s.lastAsked, s.told = -1, notHere, 1
		return true, s.fail(wire.NewError(wire.ErrNoHandlerActive, "GET STACKED DIAGNOSTICS when handler not active"))
	}
	if q.condition != "" || s.warnings > 0 {
		if err := s.gather(); err != nil {
			return true, s.answerError(j, fmt.Errorf("what the server knew of the last statement is gone: %w", err))
		}
	}
	if q.condition != "" && (number < 1 || number > len(s.earlier)) {
		count := s.rowCount
		s.addCondition(wire.NewError(wire.ErrInvalidConditionNumber, "Invalid condition number"))
		s.rowCount = count
		return true, s.sendWarned(1)
	}
	state, sets := s.state, make([]string, 0, len(q.items))
	collation, _ := s.state.Var("collation_connection")
	for _, item := range q.items {
		value, ok := s.diagValue(item.item, number)
		if !ok {
			return true, s.fail(errAboutLast)
		}
		state = withUserVar(state, item.variable, value, collation)
		sets = append(sets, "@`"+item.variable+"` = "+value)
	}
	s.state = state
	s.bringAgain(q.items)
	if err := s.setOnTrx(sets); err != nil {
		return true, s.answerError(j, err)
	}
	return true, s.sendWarned(0)
}

// bringAgain makes the next statement on the source bring the variables there,
// though their values in the session's state may be as they were: the server's are
// others once the session's are not followed.
func (s *session) bringAgain(items []diagItem) {
	if !s.sticky.userVars || s.home == nil {
		return
	}
	on := s.home.State()
	for _, item := range items {
		on = on.WithoutVar("@" + item.variable)
	}
	s.home.SetState(on)
}

// setOnTrx sets user variables on the replica of a read-only transaction, whose
// later statements may use them.
func (s *session) setOnTrx(sets []string) error {
	c := s.readTrx
	if c == nil {
		return nil
	}
	s.bound(c)
	defer c.SetDeadline(noDeadline)
	_, err := c.Query("SET " + strings.Join(sets, ", "))
	if err != nil {
		c.Broken = true
	}
	return err
}

// conditionNumber reads the number that CONDITION names. A variable is known if
// it was set to a literal.
func (s *session) conditionNumber(text string) (int, bool) {
	if text == "" {
		return 0, true
	}
	if text[0] == '@' && s.sticky.userVars {
		return 0, false
	}
	if text[0] == '@' {
		text, _ = s.state.Var(strings.ToLower(text))
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// diagValue is the literal for an item.
func (s *session) diagValue(item string, number int) (string, bool) {
	switch item {
	case "NUMBER":
		return unsigned(strconv.Itoa(len(s.earlier))), true
	case "ROW_COUNT":
		return strconv.FormatInt(s.rowCount, 10), true
	}
	items := s.earlier[number-1].Items
	if items == nil {
		return "", false
	}
	value := items[slices.Index(backend.ConditionItems, item)]
	if item == "MYSQL_ERRNO" {
		return unsigned(value), true
	}
	return "_utf8mb3 X'" + hex.EncodeToString([]byte(value)) + "'", true
}

// unsigned is a literal of the type that GET DIAGNOSTICS gives its numbers.
func unsigned(n string) string { return "CAST(" + n + " AS UNSIGNED)" }

func isGetDiagnostics(j *job) bool {
	return j.want == expectResult && j.class.Kind == classifier.Diagnostics && !j.class.Is(classifier.MultiStatement) && strings.HasPrefix(j.class.Digest, "get ")
}
