package server

import (
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// mayTrigger names the statements that change session state by triggers only, but
// for a variable that they name and that was never set: its type is news.
func mayTrigger(c *classifier.Class) bool {
	return (c.Kind == classifier.Write || c.Kind == classifier.DDL) && !c.Flags.Any(classifier.CreatesTemp|classifier.DropsTemp)
}

// keptUserVars tells whether the variables that the server has, by their sums, are
// those of the state: a value that is not as its literal may have been set unseen.
func (s *session) keptUserVars(sums map[string]string) bool {
	set := 0
	var empty []string // the server shows an empty string as it shows NULL
	for _, name := range s.state.Vars() {
		literal, _ := s.state.Var(name)
		if name[0] != '@' || strings.EqualFold(literal, "NULL") {
			continue
		}
		values := classifier.KeptValues(literal, s.mode)
		sum, ok := sums[name[1:]]
		if !ok && slices.Contains(values, "") {
			empty = append(empty, name[1:])
			continue
		}
		if !slices.ContainsFunc(values, func(value string) bool { return sum == backend.VarSum(value) }) {
			return false
		}
		set++
	}
	return set == len(sums) && s.areSet(empty)
}

// areSet asks whether user variables of these names are not NULL.
func (s *session) areSet(names []string) bool {
	if len(names) == 0 {
		return true
	}
	var list []string
	for _, name := range names {
		list = append(list, quotedVar(name)+" IS NOT NULL")
	}
	row, err := s.askHome("SELECT " + strings.Join(list, " AND "))
	return err == nil && len(row) == 1 && row[0] == "1"
}

func quotedVar(name string) string { return "@`" + strings.ReplaceAll(name, "`", "``") + "`" }

// namesUnset tells whether a statement names a user variable that was never set to a literal.
func (s *session) namesUnset(c *classifier.Class) bool {
	for _, m := range userVars.FindAllStringSubmatch(c.Digest, -1) {
		if _, set := s.state.Var(strings.ToLower(strings.ReplaceAll(m[1], "`", ""))); !set {
			return true
		}
	}
	return false
}

// keepUserVars makes user variables that were set to literals, or to system
// variables, part of the state, which can be replayed. false: something else was set.
func (s *session) keepUserVars(c *backend.Conn, j *job) bool {
	if j.class.Kind != classifier.Set || j.stmt != nil || s.sticky.userVars || j.class.Flags.Any(classifier.MultiStatement|classifier.UnknownFunction) {
		return false
	}
	text, ok := queryText(j.frame.Payload, s.login.Caps)
	if !ok {
		return false
	}
	vars, ok := classifier.SetVars(text, s.mode)
	if !ok {
		return false
	}
	if vars, ok = s.anywhere(c, j, vars); !ok {
		return false
	}
	state, on := s.state, c.State()
	collation, _ := j.under.Var("collation_connection")
	for _, v := range vars {
		if isNumber(v.Literal) && slices.ContainsFunc(j.class.Names, isCharset) {
			return false // before or after it
		}
		state, on = withUserVar(state, v.Name, v.Literal, collation), withUserVar(on, v.Name, v.Literal, collation)
	}
	s.state = state
	c.SetState(on)
	return true
}

// withUserVar sets a user variable to a literal that was read under a collation.
func withUserVar(state *backend.State, name, literal, collation string) *backend.State {
	if isNumber(literal) {
		return state.WithNumber("@"+name, literal, collation)
	}
	return state.WithVar("@"+name, literal)
}

// isNumber tells the literals of numbers from those of strings and NULL.
func isNumber(literal string) bool {
	lower := strings.ToLower(literal)
	switch {
	case lower == "true" || lower == "false" || strings.HasPrefix(lower, "cast("):
		return true
	case strings.HasPrefix(lower, "0x") || strings.HasPrefix(lower, "0b"):
		return false
	}
	return strings.ContainsRune("+-.0123456789", rune(lower[0]))
}

// maxKept is how long a string is at most that is brought to other connections.
const maxKept = 1 << 20

// anywhere gives variables literals that mean the same under any sql_mode and
// character set. Where the text does not tell it the server is asked.
func (s *session) anywhere(c *backend.Conn, j *job, vars []classifier.Assigned) ([]classifier.Assigned, bool) {
	var ask []int
	for i, v := range vars {
		if len(v.Literal) > maxKept {
			return nil, false
		}
		literal, ok := s.ownCharset(v.Literal, j.under)
		if !ok {
			ask = append(ask, i)
		}
		vars[i].Literal = literal
	}
	return vars, len(ask) == 0 || s.askVars(c, vars, ask)
}

// ownCharset writes a string with the character set that it was read in, the
// connection's: what the session sets later does not change it. MySQL keeps no more of
// a string than its bytes and its collation.
func (s *session) ownCharset(literal string, under *backend.State) (string, bool) {
	if literal == "" || literal[0] != '\'' && literal[0] != '"' {
		return literal, literal != ""
	}
	value, ok := classifier.LiteralValue(literal, s.mode)
	client, _ := under.Var("character_set_client")
	charset, _ := under.Var("character_set_connection")
	collation, _ := under.Var("collation_connection")
	if !ok || !asciiCharset(client) || !asciiCharset(charset) || collation != charset && !strings.HasPrefix(collation, charset+"_") {
		return "", false
	}
	return withCharset(charset, hex.EncodeToString([]byte(value)), collation), true
}

func withCharset(charset, digits, collation string) string {
	if charset == "binary" { // which has one collation, and its name is a keyword
		return "_binary X'" + digits + "'"
	}
	return "_" + charset + " X'" + digits + "' COLLATE " + collation
}

// asciiCharset names the common character sets in which ASCII is as it is.
func asciiCharset(name string) bool {
	switch name {
	case "utf8mb4", "utf8mb3", "utf8", "latin1", "ascii", "binary":
		return true
	}
	return false
}

// askedVar asks for what MySQL keeps of a user variable. JSON tells numbers of
// different types apart, and them from binary strings. COLLATE makes the comparison
// one under every collation_connection.
const askedVar = "%[1]s IS NULL, CHARSET(%[1]s), COLLATION(%[1]s), HEX(CONCAT(%[1]s)), " +
	"IF(CHARSET(%[1]s) = _utf8mb4'binary' COLLATE utf8mb4_bin, JSON_TYPE(JSON_EXTRACT(JSON_ARRAY(%[1]s), '$[0]')), 'STRING')"

const askedOfVar = 5

// askVars asks a connection for the values of some of the variables that it has been
// given. false: they are not known.
func (s *session) askVars(c *backend.Conn, vars []classifier.Assigned, ask []int) bool {
	var list []string
	for _, i := range ask {
		list = append(list, fmt.Sprintf(askedVar, quotedVar(vars[i].Name)))
	}
	s.keepDiagnostics(c)
	s.bound(c)
	defer c.SetDeadline(noDeadline)
	row, err := c.Query("SELECT " + strings.Join(list, ", "))
	if err != nil {
		c.Broken = c.Broken || !errors.As(err, new(*wire.Error))
		return false
	}
	if len(row) != len(ask)*askedOfVar { // sql_select_limit may be 0
		return false
	}
	for n, i := range ask {
		literal, ok := keptLiteral(row[n*askedOfVar : (n+1)*askedOfVar])
		if !ok {
			return false
		}
		vars[i].Literal = literal
	}
	return true
}

var (
	charsetName = regexp.MustCompile(`^[a-z0-9_]+$`)
	number      = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?(e-?[0-9]+)?$`)
)

// keptLiteral is the literal for an answer to askedVar.
func keptLiteral(row []string) (string, bool) {
	null, charset, collation, digits, kind := row[0], row[1], row[2], row[3], row[4]
	value, err := hex.DecodeString(digits)
	switch {
	case null == "1":
		return "NULL", true
	case null != "0" || err != nil || len(value) > maxKept:
		return "", false
	case kind == "STRING" || kind == "BLOB":
		return withCharset(charset, digits, collation), charsetName.MatchString(charset) && charsetName.MatchString(collation)
	}
	text := string(value)
	switch kind {
	case "INTEGER":
	case "UNSIGNED INTEGER":
		return unsigned(text), number.MatchString(text)
	case "DOUBLE":
		if !strings.Contains(text, "e") {
			text += "e0"
		}
	case "DECIMAL":
		if !strings.Contains(text, ".") {
			return text + ".", number.MatchString(text)
		}
	default:
		return "", false
	}
	return text, number.MatchString(text)
}
