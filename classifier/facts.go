package classifier

import "strings"

// facts is what the tokens of a statement show wherever they stand.
type facts struct {
	flags   Flags
	lock    bool // FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE
	into    bool // INTO
	source  bool // only the source or home connection can answer
	diag    bool // needs the diagnostics of the statement before
	odd     bool // holds tokens that no plain read has
	unknown bool // calls an unknown function
	table   bool // reads a table
}

// look gathers the facts of a statement. It knows nothing of the grammar around
// the tokens, so it errs on the side of seeing too much.
func (s statement) look() facts {
	var f facts
	for i, t := range s.toks {
		switch t.kind {
		case tokUserVar:
			f.userVar(userVarName(t.text), s.op(i+1) == ":=")
		case tokSysVar:
			f.systemVar(s, i)
		case tokOp:
			f.odd = f.odd || t.text == "\\" || t.text == ":"
		case tokWord:
			if !t.afterDot {
				f.word(s, i)
			}
			f.call(s, i)
		case tokQuoted:
			f.call(s, i)
		}
		if s.op(i+1) == "." && systemSchemas[s.name(i)] {
			f.source = true
		}
	}
	return f
}

func (f *facts) userVar(name string, assigned bool) {
	f.flags |= UsesUserVars
	if name = strings.ToLower(name); name == "@"+HintToken || name == "@"+TokenGTIDs {
		f.flags |= NamesToken
	}
	if assigned {
		f.flags |= SetsUserVars
		f.assigns(name)
	}
}

func (f *facts) systemVar(s statement, i int) {
	f.flags |= ReadsSystemVars
	switch sysVarName(s, i) {
	case "last_insert_id", "identity":
		f.flags |= UsesLastInsertID
	case "warning_count", "error_count":
		f.flags |= UsesDiagnostics
		f.diag = true
	}
}

// sysVarName is the bare name of the system variable at i, whatever its scope.
func sysVarName(s statement, i int) string {
	name := unquote(s.at(i).text[2:])
	if s.op(i+1) != "." {
		return name
	}
	switch name {
	case "global", "session", "local", "persist", "persist_only":
		return s.name(i + 2)
	}
	return s.name(i + 2)
}

// word looks at a keyword.
func (f *facts) word(s statement, i int) {
	switch s.word(i) {
	case "for":
		f.lock = f.lock || s.word(i+1) == "update" || s.word(i+1) == "share"
	case "lock":
		f.lock = f.lock || s.word(i+1) == "in"
	case "into":
		f.into = true
		for j := i + 1; s.at(j).kind == tokUserVar || s.op(j) == ","; j++ {
			f.flags |= SetsUserVars
			if s.at(j).kind == tokUserVar {
				f.assigns(userVarName(s.at(j).text))
			}
		}
	case "sql_calc_found_rows":
		f.flags |= FoundRows
	case "update":
		f.odd = f.odd || s.word(i-1) != "for"
	case "delete":
		f.odd = true
	case "from":
		f.table = f.table || s.word(i+1) != "dual"
	case "table":
		f.table = true
	}
}

// call looks at a name that may be a function's.
func (f *facts) call(s statement, i int) {
	if s.op(i+1) != "(" {
		return
	}
	t, gap := s.at(i), s.at(i+1).gap
	if t.kind == tokWord && !t.afterDot {
		if sort, ok := functions[t.text]; ok && !(gap && mustTouch[t.text]) {
			f.function(sort, s.op(i+2) == ")")
			return
		}
		if beforeParen[t.text] || t.text == "intersect" && s.operand(i-1) {
			return
		}
	}
	if s.namesColumns(i) || s.vouched(i) {
		return
	}
	f.unknown = true
}

// operand reports whether an expression or a table can end at i.
func (s statement) operand(i int) bool {
	switch t := s.at(i); t.kind {
	case tokOp:
		return t.text == ")"
	case tokWord:
		return t.afterDot || functions[t.text] == 0 && !beforeParen[t.text]
	case tokEOF:
		return false
	}
	return true
}

// namesColumns reports whether the name at i, before a parenthesis, is an alias
// with a list of columns: AS d (a, b), ) d (a, b), or a CTE: c (a, b) AS (.
func (s statement) namesColumns(i int) bool {
	if s.at(i).afterDot {
		return false
	}
	if s.word(i-1) == "as" || s.op(i-1) == ")" {
		return true
	}
	end := s.closing(i + 1)
	return end > 0 && s.word(end+1) == "as" && s.op(end+2) == "("
}

// vouched reports whether the operator allows the function at i: by its bare
// name, or by its qualified one if it is called so.
func (s statement) vouched(i int) bool {
	name := s.name(i)
	if s.c.readOnly[name] {
		return true
	}
	return s.op(i-1) == "." && s.c.readOnly[s.name(i-2)+"."+name]
}

// function notes what a built-in function does to its statement.
func (f *facts) function(sort functionSort, noArguments bool) {
	switch sort {
	case fnSource:
		f.source = true
	case fnDiagnostics:
		f.diag = true
		f.flags |= UsesDiagnostics
	case fnLastInsertID:
		f.flags |= UsesLastInsertID
		if !noArguments {
			f.flags |= SetsLastInsertID
		}
	case fnGetLock:
		f.flags |= GetLock
	case fnReleaseLock:
		f.flags |= ReleaseLock
	}
}

// homeFlags are the facts that bind a read to the session's own connection.
const homeFlags = UsesUserVars | SetsUserVars | UsesLastInsertID | SetsLastInsertID |
	GetLock | ReleaseLock | ReadsSystemVars

// query is the verdict for a statement that reads as far as its first words
// say.
func (s statement) query() verdict {
	f := s.look()
	v := verdict{kind: Read, flags: f.flags}
	if !f.table {
		v.flags |= NoTable
	}
	switch {
	case f.odd || !s.balanced():
		v.kind = Unknown
		v.flags |= opaqueFlags
	case f.unknown:
		v.kind = Write
		v.flags |= UnknownFunction | opaqueFlags
	case f.into:
		v.kind = Write
	case f.lock:
		v.kind = LockingRead
	case f.diag:
		v.kind = Diagnostics
	case f.source, f.flags.Any(homeFlags):
		v.kind = ReadSource
	}
	if f.into {
		v.flags |= SelectInto
	}
	return v
}

// changes is the verdict for a statement of the given kind with expressions in
// it: their facts are added.
func (s statement) changes(kind Kind, flags Flags) verdict {
	f := s.look()
	if f.unknown {
		flags |= UnknownFunction | opaqueFlags
	}
	return verdict{kind: kind, flags: flags | f.flags}
}
