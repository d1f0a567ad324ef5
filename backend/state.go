package backend

import (
	"maps"
	"slices"
	"strings"
)

// State is the part of a session that can be replayed on another connection:
// its schema and the session variables it has set. It is immutable; equal
// pointers are equal states, which is the common case and costs nothing.
type State struct {
	Schema string
	vars   map[string]string // lower-case name -> value as the server's tracker reports it
}

// EmptyState is the state of a session that has set nothing.
var EmptyState = &State{}

// Var returns the value that the session gave a variable.
func (s *State) Var(name string) (string, bool) {
	v, ok := s.vars[name]
	return v, ok
}

// Vars returns the names of all variables set, sorted.
func (s *State) Vars() []string { return slices.Sorted(maps.Keys(s.vars)) }

// WithSchema returns the state with another schema.
func (s *State) WithSchema(schema string) *State {
	if s.Schema == schema {
		return s
	}
	return &State{Schema: schema, vars: s.vars}
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
	return &State{Schema: s.Schema, vars: vars}
}

// Replayable tells whether a variable is brought to other connections. What
// only concerns writing, the binary log or tracking stays where it was set; a
// replica connection keeps its own transaction_read_only as a safety net.
func Replayable(name string) bool {
	switch name {
	case "transaction_read_only", "tx_read_only", "sql_log_bin", "gtid_next", "timestamp", "insert_id",
		"last_insert_id", "identity", "rand_seed1", "rand_seed2", "pseudo_thread_id", "pseudo_replica_mode", "pseudo_slave_mode":
		return false
	}
	return !strings.HasPrefix(name, "session_track_") && !strings.HasPrefix(name, "binlog_")
}

// diff returns the assignments that lead from one state to another, without
// the schema. initial tells the values of variables that the target has not set.
func diff(from, to *State, initial func(name string) (string, bool)) []string {
	var out []string
	for _, name := range to.Vars() {
		value := to.vars[name]
		if old, ok := from.vars[name]; ok && old == value || !Replayable(name) {
			continue
		}
		out = append(out, name+"="+literal(name, value))
	}
	for _, name := range from.Vars() {
		if _, ok := to.vars[name]; ok || !Replayable(name) {
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
	return out
}

// literal writes a tracked value as SET takes it. Trackers report everything
// as text, while SET refuses a quoted number for a numeric variable.
func literal(name, value string) string {
	if value == "" && name == "character_set_results" {
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
