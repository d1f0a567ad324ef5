package backend

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// State is the part of a session that can be replayed on another connection:
// its schema, the session variables it has set, and the user variables it has
// set to literals. It is immutable. Equal pointers are equal states, which is
// the common case and costs nothing; see Same for the others.
type State struct {
	Schema string
	vars   map[string]string // lower-case name -> value as the server's tracker reports it; "@name" -> literal that means the same under any of them
	key    string            // of all that is in it
	user   bool              // there are user variables
}

// EmptyState is the state of a session that has set nothing.
var EmptyState = intern("", nil)

// interned holds the states in use, so that thousands of sessions that set the
// same few variables share one. It is emptied when it has grown too large:
// Same does not depend on it.
var interned struct {
	sync.Mutex
	byKey map[string]*State
}

const maxInterned = 4096

func isUserVar(name string) bool { return strings.HasPrefix(name, "@") }

// intern returns the state with these contents, taking over vars.
func intern(schema string, vars map[string]string) *State {
	s := &State{Schema: schema, vars: vars}
	var b strings.Builder
	b.WriteString(schema)
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		b.WriteString("\x00" + name + "=" + vars[name])
		s.user = s.user || isUserVar(name)
	}
	s.key = b.String()
	interned.Lock()
	defer interned.Unlock()
	if old := interned.byKey[s.key]; old != nil {
		return old
	}
	if interned.byKey == nil || len(interned.byKey) >= maxInterned {
		interned.byKey = map[string]*State{}
	}
	interned.byKey[s.key] = s
	return s
}

// Same tells whether two states are equal.
func (s *State) Same(t *State) bool { return s == t || s.key == t.key }

// Key is the same for equal states, and for no others.
func (s *State) Key() string { return s.key }

// Var returns the value that the session gave a variable.
func (s *State) Var(name string) (string, bool) {
	v, ok := s.vars[name]
	if isUserVar(name) {
		v, _, _ = strings.Cut(v, numberIn)
	}
	return v, ok
}

// numberIn parts the literal of a user variable that is a number from the
// collation_connection under which it was set: CONCAT() makes a string of it by that one.
const numberIn = "\x00"

// WithNumber returns the state with a user variable set to a number, under a collation.
func (s *State) WithNumber(name, literal, collation string) *State {
	if collation != "" {
		literal += numberIn + collation
	}
	return s.WithVar(name, literal)
}

// Vars returns the names of all variables set, sorted.
func (s *State) Vars() []string { return slices.Sorted(maps.Keys(s.vars)) }

// HasUserVars tells whether user variables are part of the state.
func (s *State) HasUserVars() bool { return s.user }

// HasUserVarsBut tells whether user variables of other names are part of it.
func (s *State) HasUserVarsBut(names []string) bool {
	if s.user {
		for name := range s.vars {
			if isUserVar(name) && !slices.Contains(names, name) {
				return true
			}
		}
	}
	return false
}

// WithSchema returns the state with another schema.
func (s *State) WithSchema(schema string) *State {
	if s.Schema == schema {
		return s
	}
	return intern(schema, s.vars)
}

// WithVar returns the state with a variable set.
func (s *State) WithVar(name, value string) *State {
	name = strings.ToLower(name)
	if old, ok := s.vars[name]; ok && old == value {
		return s
	}
	vars := make(map[string]string, len(s.vars)+1)
	maps.Copy(vars, s.vars)
	vars[name] = value
	return intern(s.Schema, vars)
}

// WithoutVar returns the state without a variable.
func (s *State) WithoutVar(name string) *State {
	return s.without(func(n string) bool { return n == name })
}

// Binding returns the part that a server binds to a statement at PREPARE, or
// may: all but what no statement's meaning depends on.
func (s *State) Binding() *State { return s.without(unbound) }

// unbound names the variables that no statement's meaning depends on.
func unbound(name string) bool {
	switch name {
	case "autocommit", "transaction_read_only", "transaction_isolation", "wait_timeout", "interactive_timeout",
		"session_track_transaction_info", "net_read_timeout", "net_write_timeout", "lock_wait_timeout", "innodb_lock_wait_timeout", "sql_log_bin":
		return true
	}
	return isUserVar(name)
}

func (s *State) without(out func(name string) bool) *State {
	n := 0
	for name := range s.vars {
		if out(name) {
			n++
		}
	}
	if n == 0 {
		return s
	}
	vars := make(map[string]string, len(s.vars)-n)
	for name, value := range s.vars {
		if !out(name) {
			vars[name] = value
		}
	}
	return intern(s.Schema, vars)
}

// WithCharset returns the state with the variables that a login sets, see
// Pools.Charset.
func (s *State) WithCharset(values [4]string) *State {
	if s.charsetIs(values) {
		return s
	}
	vars := make(map[string]string, len(s.vars)+len(values)+1)
	maps.Copy(vars, s.vars)
	for i, name := range charsetVariables {
		vars[name] = values[i]
	}
	vars[ResultsCollation] = values[3]
	return intern(s.Schema, vars)
}

// HasCharset tells whether it is known what the login's collation set.
func (s *State) HasCharset() bool {
	_, ok := s.vars[charsetVariables[0]]
	return ok
}

func (s *State) charsetIs(values [4]string) bool {
	for i, name := range charsetVariables {
		if v, ok := s.vars[name]; !ok || v != values[i] {
			return false
		}
	}
	return s.vars[ResultsCollation] == values[3]
}

// sameMeaning compares the few variables that change what texts mean.
func (s *State) sameMeaning(t *State) bool {
	for _, name := range [...]string{"sql_mode", "time_zone", "character_set_client", "collation_connection"} {
		if s.vars[name] != t.vars[name] {
			return false
		}
	}
	return true
}

// WithBinding returns the state with the schema and the variables of a
// Binding in place of its own; what a Binding leaves out stays.
func (s *State) WithBinding(b *State) *State {
	vars := maps.Clone(b.vars)
	if vars == nil {
		vars = map[string]string{}
	}
	for name, value := range s.vars {
		if unbound(name) {
			vars[name] = value
		}
	}
	return intern(b.Schema, vars)
}

// replayable tells whether a variable is brought to other connections of a
// role. What only concerns writing or the binary log stays away from replicas,
// whose connections keep their own transaction_read_only as a safety net; user
// variables too, for what uses them runs on the source.
func replayable(name string, role Role) bool {
	if isUserVar(name) || name == ResultsCollation {
		return false // see userDiff and resultsClause
	}
	if role == RoleReplica {
		switch name {
		case "transaction_read_only", "tx_read_only", "sql_log_bin", "session_track_transaction_info":
			return false
		}
		return !strings.HasPrefix(name, "binlog_")
	}
	return true
}

// OnReplicas tells whether a session variable is brought to replicas.
func OnReplicas(name string) bool { return replayable(name, RoleReplica) }

// diff returns the assignments of session variables that lead from one state
// to another, without the schema. initial tells the values of variables that
// the target has not set.
func diff(from, to *State, role Role, initial func(name string) (string, bool)) []string {
	var out []string
	if from.vars[ResultsCollation] != to.vars[ResultsCollation] {
		if clause := to.resultsClause(); clause != "" {
			out = append(out, clause)
			from = from.afterResults(to)
		}
	}
	for _, name := range to.Vars() {
		value := to.vars[name]
		if old, ok := from.vars[name]; ok && old == value || !replayable(name, role) {
			continue
		}
		out = append(out, name+"="+literal(name, value))
	}
	for _, name := range from.Vars() {
		if _, ok := to.vars[name]; ok || !replayable(name, role) {
			continue
		}
		value, known := initial(name)
		switch {
		case !known:
			out = append(out, name+"=DEFAULT")
		case value != from.vars[name]:
			out = append(out, name+"="+literal(name, value))
		}
	}
	return bigSelectsLast(out, to, initial)
}

// A server that is told MaxJoinSize sets BigSelects by it, unreported.
const (
	MaxJoinSize = "max_join_size"
	BigSelects  = "sql_big_selects"
)

// BigSelectsAfter is what BigSelects is after MaxJoinSize was set to a value: ON
// only without a limit.
func BigSelectsAfter(maxJoinSize string) string {
	if maxJoinSize == "18446744073709551615" {
		return "ON"
	}
	return "OFF"
}

// bigSelectsLast keeps an assignment of MaxJoinSize from moving BigSelects.
func bigSelectsLast(sets []string, to *State, initial func(name string) (string, bool)) []string {
	if !slices.ContainsFunc(sets, func(set string) bool { return strings.HasPrefix(set, MaxJoinSize+"=") }) {
		return sets
	}
	sets = slices.DeleteFunc(sets, func(set string) bool { return strings.HasPrefix(set, BigSelects+"=") })
	value, ok := to.vars[BigSelects]
	if !ok {
		value, ok = initial(BigSelects)
	}
	if !ok {
		return append(sets, BigSelects+"=DEFAULT")
	}
	return append(sets, BigSelects+"="+literal(BigSelects, value))
}

// ResultsCollation is no variable of a server: it is the collation by which the
// login or SET NAMES made results be described, which setting the variables one by
// one does not bring back. A state that knows its charset and has none set
// character_set_results by itself: results are described by its default collation.
const ResultsCollation = "results_collation"

// resultsClause is the assignment that makes results be described as in s.
func (s *State) resultsClause() string {
	if collation := s.vars[ResultsCollation]; collation != "" {
		return "NAMES " + literal("", charsetOf(collation)) + " COLLATE " + literal("", collation)
	}
	if charset, ok := s.vars[charsetResults]; ok {
		return charsetResults + "=" + literal(charsetResults, charset)
	}
	return ""
}

// charsetOf is the character set of a collation, whose name begins with it.
func charsetOf(collation string) string {
	charset, _, _ := strings.Cut(collation, "_")
	return charset
}

// afterResults is the state after the clause of to: what to has besides is still
// to be set.
func (s *State) afterResults(to *State) *State {
	collation := to.vars[ResultsCollation]
	if collation == "" {
		return s.WithVar(charsetResults, to.vars[charsetResults])
	}
	charset := charsetOf(collation)
	return s.WithVar(charsetVariables[0], charset).WithVar(charsetVariables[1], charset).
		WithVar(charsetVariables[2], charset).WithVar(charsetVariables[3], collation)
}

// userDiff returns the assignments of user variables. One that was never set
// is NULL. A number that was set under another collation is set under that one again.
func userDiff(from, to *State, role Role) []string {
	if role == RoleReplica || !from.user && !to.user {
		return nil
	}
	var out []string
	now := to.vars[charsetVariables[3]]
	under := now
	use := func(collation string) {
		if now != "" && collation != under {
			out = append(out, charsetVariables[3]+"="+collation)
			under = collation
		}
	}
	for _, name := range to.Vars() {
		value := to.vars[name]
		if old, ok := from.vars[name]; !isUserVar(name) || ok && old == value {
			continue
		}
		number, collation, is := strings.Cut(value, numberIn)
		if is {
			use(collation)
		}
		out = append(out, userVar(name)+"="+number)
	}
	for _, name := range from.Vars() {
		if _, ok := to.vars[name]; isUserVar(name) && !ok {
			out = append(out, userVar(name)+"=NULL")
		}
	}
	use(now)
	return out
}

// userVar writes a user variable's name as SET takes it, whatever is in it.
func userVar(name string) string {
	return "@`" + strings.ReplaceAll(name[1:], "`", "``") + "`"
}

// literal writes a tracked value as SET takes it. Trackers report everything
// as text, while SET refuses a quoted number for a numeric variable.
func literal(name, value string) string {
	if value == "" && name == charsetResults {
		return "NULL"
	}
	if isNumber(value) {
		return value
	}
	return "'" + strings.ReplaceAll(strings.ReplaceAll(value, `\`, `\\`), "'", "''") + "'"
}

func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole, frac, point := strings.Cut(s, ".")
	return digits(whole) && (!point || digits(frac))
}

func digits(s string) bool {
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}
