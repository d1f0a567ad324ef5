package classifier

// show judges SHOW: the tables' shape is the same on a covered replica, all
// else is the source's or the session's own.
func (s statement) show() verdict {
	if s.is(1, "causeway") {
		return s.causeway()
	}
	if s.is(1, "grants") || s.is(1, "create", "user") { // user@host is no variable
		return verdict{kind: ReadSource}
	}
	v := s.query()
	v.flags &^= NoTable
	if v.kind != Read {
		return v
	}
	i := 1
	for s.is(i, "full") || s.is(i, "extended") {
		i++
	}
	switch s.word(i) {
	case "tables", "columns", "fields", "index", "indexes", "keys", "databases", "schemas":
		if s.ofSystemSchema(i) {
			v.kind = ReadSource
		}
		return v
	case "create":
		if s.is(i+1, "table") || s.is(i+1, "view") {
			return v
		}
	case "table":
		if s.is(i+1, "status") && !s.ofSystemSchema(i) {
			return v
		}
	case "warnings", "errors":
		v.kind = Diagnostics
		v.flags |= UsesDiagnostics
		return v
	case "count":
		if w := s.word(len(s.toks) - 1); w == "warnings" || w == "errors" {
			v.kind = Diagnostics
			v.flags |= UsesDiagnostics
			return v
		}
	}
	v.kind = ReadSource
	return v
}

// ofSystemSchema reports whether FROM or IN names a system schema.
func (s statement) ofSystemSchema(i int) bool {
	for ; i < len(s.toks); i++ {
		if w := s.word(i); (w == "from" || w == "in") && systemSchemas[s.name(i+1)] {
			return true
		}
	}
	return false
}

// explain judges EXPLAIN, DESCRIBE and DESC. Only ANALYZE runs the statement;
// the plain form may still run subqueries, so its functions count.
func (s statement) explain() verdict {
	if s.is(1, "causeway") {
		return s.causeway()
	}
	i, analyze, into := 1, false, false
options:
	for {
		switch {
		case s.is(i, "analyze"):
			analyze = true
			i++
		case (s.is(i, "format") || s.is(i, "type")) && s.op(i+1) == "=":
			i += 3
		case s.is(i, "extended"), s.is(i, "partitions"):
			i++
		case s.is(i, "into"):
			into = true
			i += 2
		case s.is(i, "for", "schema"), s.is(i, "for", "database"):
			i += 3
		default:
			break options
		}
	}
	v := s.explained(i, analyze)
	if into {
		v.kind = Write
		v.flags |= SelectInto | SetsUserVars | UsesUserVars | s.namesHint()
	}
	return v
}

// explained judges EXPLAIN of what stands at i.
func (s statement) explained(i int, analyze bool) verdict {
	if s.is(i, "for", "connection") {
		return verdict{kind: ReadSource}
	}
	j := i
	for s.op(j) == "(" {
		j++
	}
	switch s.word(j) {
	case "select", "table", "values", "with", "insert", "replace", "update", "delete":
	default: // a table, and perhaps a column
		v := s.query()
		v.flags &^= NoTable
		if v.kind == Read && systemSchemas[s.name(i)] && s.op(i+1) == "." {
			v.kind = ReadSource
		}
		return v
	}
	v := s.from(i).judge()
	if !analyze && v.kind != Read && !v.flags.Has(UnknownFunction) && v.kind != Unknown {
		v.kind = ReadSource // plans but does not run
		v.flags &^= MayCommit | SelectInto | FoundRows
	}
	return v
}
