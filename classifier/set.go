package classifier

import "strings"

// set judges SET in all its forms.
func (s statement) set() verdict {
	switch {
	case s.is(1, "transaction"):
		t, names := s.characteristics(2)
		v := verdict{kind: SetTransaction, trx: t, names: names, flags: SetsNextTrx}
		return v.withNames()
	case s.isScope(1) && s.is(2, "transaction"):
		return s.setScopedTransaction()
	case s.is(1, "password"):
		return verdict{kind: DDL, flags: ddlFlags}
	case s.is(1, "default", "role"):
		return verdict{kind: DDL, flags: ddlFlags}
	case s.is(1, "role"):
		return verdict{kind: Set, flags: SetsUntracked, names: []string{"role"}}
	case s.is(1, "resource", "group"):
		return verdict{kind: Set, flags: SetsUntracked, names: []string{"resource group"}}
	}
	v := s.changes(Set, 0)
	v.flags &^= HidesHint // := is that of an item so far
	next, sc := 0, scopeSession
	for _, part := range s.from(1).commas() {
		v.flags |= part.setsHint()
		if part.nextTrx() {
			next++
		}
		sc = part.assignment(&v, sc)
	}
	if next > 0 {
		v.flags |= SetsNextTrx
		if next == len(v.names) && v.kind == Set {
			v.kind = SetTransaction
		}
	}
	return v.withNames()
}

func (s statement) isScope(i int) bool { return scopes[s.word(i)] != 0 }

type scope uint8

const (
	scopeSession scope = iota + 1
	scopeGlobal
)

var scopes = map[string]scope{
	"session": scopeSession, "local": scopeSession, "global": scopeGlobal,
	"persist": scopeGlobal, "persist_only": scopeGlobal,
}

func (s statement) setScopedTransaction() verdict {
	t, names := s.characteristics(3)
	v := verdict{kind: Set, trx: t}
	if scopes[s.word(1)] == scopeGlobal {
		v.flags = SetsGlobal
		v.trx = Trx{}
		return v
	}
	v.names = names
	return v.withNames()
}

// commas cuts a list at its top-level commas.
func (s statement) commas() []statement {
	var parts []statement
	depth, from := 0, 0
	for i := range s.toks {
		switch s.op(i) {
		case "(":
			depth++
		case ")":
			depth--
		case ",":
			if depth == 0 {
				parts = append(parts, statement{s.toks[from:i], s.c})
				from = i + 1
			}
		}
	}
	return append(parts, statement{s.toks[from:], s.c})
}

// assignment judges one item of a SET list. A scope keyword also holds for the
// items after it that have none: SET GLOBAL a = 1, b = 2 sets two globals
// (measured on 9.7). It returns the keyword that holds from here on.
func (s statement) assignment(v *verdict, sc scope) scope {
	switch {
	case s.at(0).kind == tokUserVar:
		v.flags |= SetsUserVars
		v.names = append(v.names, userVarName(s.at(0).text))
	case s.at(0).kind == tokSysVar:
		s.assignSysVar(v)
	case s.isScope(0):
		sc = scopes[s.word(0)]
		s.assignVar(v, sc, 1)
	case s.is(0, "names"), s.is(0, "character", "set"), s.is(0, "charset"):
		v.names = append(v.names, "character_set_client", "character_set_results",
			"character_set_connection", "collation_connection")
	default:
		s.assignVar(v, sc, 0)
	}
	return sc
}

// nextTrx reports whether the item assigns @@transaction_... without a scope,
// which is for the next transaction only. Manual: SET TRANSACTION.
func (s statement) nextTrx() bool {
	if s.at(0).kind != tokSysVar || s.op(1) == "." {
		return false
	}
	name := modernName(unquote(s.at(0).text[2:]))
	return name == "transaction_read_only" || name == "transaction_isolation"
}

// assignSysVar judges @@x = ..., @@session.x = ...
func (s statement) assignSysVar(v *verdict) {
	first := unquote(s.at(0).text[2:])
	if s.op(1) == "." && scopes[first] != 0 {
		s.assignVar(v, scopes[first], 2)
		return
	}
	s.assignName(v, scopeSession, first, 1)
}

// assignVar judges the variable named at i.
func (s statement) assignVar(v *verdict, sc scope, i int) { s.assignName(v, sc, s.name(i), i+1) }

// assignName judges an assignment to the name, the rest of which stands at i.
func (s statement) assignName(v *verdict, sc scope, name string, i int) {
	if s.op(i) == "." { // a structured variable: hot_cache.key_buffer_size
		name += "." + s.name(i+1)
		i += 2
	}
	if name == "" || s.op(i) != "=" && s.op(i) != ":=" {
		v.kind = Unknown
		v.flags |= opaqueFlags
		return
	}
	if sc == scopeGlobal {
		v.flags |= SetsGlobal
		return
	}
	v.names = append(v.names, modernName(name))
	v.trx.assign(modernName(name), s.from(i+1))
}

// assign takes a transaction characteristic from the value of its variable.
func (t *Trx) assign(name string, value statement) {
	text := strings.ToLower(unquote(value.at(0).text))
	switch name {
	case "transaction_read_only":
		switch text {
		case "1", "on", "true":
			t.ReadOnly, t.ReadWrite = true, false
		case "0", "off", "false":
			t.ReadOnly, t.ReadWrite = false, true
		}
	case "transaction_isolation":
		t.Isolation = strings.ToUpper(strings.ReplaceAll(text, " ", "-"))
		if value.op(1) == "-" { // READ-COMMITTED without quotes
			t.Isolation = strings.ToUpper(text + "-" + value.word(2))
		}
	}
}

// modernName maps the old names of variables to those of MySQL 8.
func modernName(name string) string {
	switch name {
	case "tx_read_only":
		return "transaction_read_only"
	case "tx_isolation":
		return "transaction_isolation"
	}
	return name
}

func userVarName(text string) string { return "@" + unquote(text[1:]) }

// withNames adds the flags that follow from the names assigned.
func (v verdict) withNames() verdict {
	for _, name := range v.names {
		switch {
		case strings.HasPrefix(name, "@"):
		case name == "autocommit":
			v.flags |= SetsAutocommit | MayCommit
		case name == "transaction_read_only":
			if !v.flags.Has(SetsNextTrx) {
				v.flags |= SetsReadOnly
			}
		case name == "sql_log_bin":
			v.flags |= SetsLogBin
		case name == "last_insert_id", name == "identity":
			v.flags |= SetsLastInsertID
		}
		switch {
		case strings.HasPrefix(name, "session_track_") && !Tracked(name):
			v.flags |= SetsTracker
		case !strings.HasPrefix(name, "@") && !Tracked(name) && !homeVariables[name]:
			v.flags |= SetsUntracked
		}
	}
	return v
}
