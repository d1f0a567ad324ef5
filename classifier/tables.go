package classifier

import (
	"slices"
	"strings"
)

// Tables returns the tables that the statements of a class name, in lower case:
// "schema.table", or "table" where the text has no schema. It goes by the words
// before them, so a common table expression is among them, and what a view or a
// routine reads is not. It takes the digest apart each time: callers remember.
func (c *Class) Tables(m Mode) []string {
	all, _ := split(tokenise(c.Digest, m), nil)
	var out []string
	for _, s := range all {
		for _, name := range s.tables() {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// beforeTable are the words that a table's name may follow.
var beforeTable = map[string]bool{
	"from": true, "join": true, "straight_join": true, "update": true, "into": true, "table": true, "tables": true,
	"insert": true, "replace": true, "delete": true, "truncate": true, "describe": true, "desc": true, "explain": true, "exists": true,
	"ignore": true, "low_priority": true, "delayed": true, "quick": true, "high_priority": true, "lateral": true,
	"view": true, "references": true, "to": true, "handler": true,
}

// endsTables are the words after which a comma separates no tables.
var endsTables = map[string]bool{
	"where": true, "set": true, "group": true, "order": true, "having": true, "limit": true, "values": true, "value": true,
	"select": true, "window": true, "for": true, "procedure": true, "when": true, "then": true,
}

// tables walks over a statement. open tells for each depth of parentheses
// whether a comma there goes on with a list of tables.
func (s statement) tables() []string {
	var out []string
	open, next := []bool{false}, false
	for i := 0; i < len(s.toks); i++ {
		word, op, top := s.word(i), s.op(i), len(open)-1
		switch {
		case op == "(":
			open = append(open, next || open[top] && s.op(i-1) == ",")
		case op == ")" && top > 0:
			open, next = open[:top], false
		case op == ",":
			next = open[top]
		case s.beforeTable(i) && !s.namedHere(i, next):
			next = true
			open[top] = open[top] || word == "from" || word == "update" || word == "join" || word == "table" || word == "tables"
		case endsTables[word]:
			next, open[top] = false, false
		case next && s.name(i) != "":
			name := s.name(i)
			if s.op(i+1) == "." && s.name(i+2) != "" {
				name += "." + s.name(i+2)
				i += 2
			}
			if s.op(i+1) != "(" || s.toks[i].kind == tokQuoted || word != "" && functions[word] == 0 {
				out = append(out, strings.ToLower(name))
			}
			next = false
		default:
			next = false
		}
	}
	return out
}

// beforeTable also knows the words that come before tables in some places only.
func (s statement) beforeTable(i int) bool {
	switch word := s.word(i); word {
	case "not", "if": // IF NOT EXISTS
		return s.word(i+1) == "exists" || s.word(i+2) == "exists"
	case "on":
		return s.word(0) == "create" || s.word(0) == "drop" // an index
	case "using":
		return s.word(0) == "delete" && s.op(i+1) != "("
	case "like":
		return s.word(0) == "create"
	default:
		return beforeTable[word]
	}
}

// namedHere tells whether a keyword at i stands as a table's name itself, as
// words that are not reserved may.
func (s statement) namedHere(i int, next bool) bool {
	if !next {
		return false
	}
	switch s.word(i) {
	case "value", "tables", "view", "quick", "handler":
		return true
	}
	return false
}
