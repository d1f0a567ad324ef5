package classifier

import (
	"cmp"
	"strconv"
	"strings"
)

// verbs maps a statement's first word to the function that judges it.
var verbs map[string]func(statement) verdict

func init() {
	verbs = map[string]func(statement) verdict{
		"select": statement.query, "table": statement.query, "values": statement.query,
		"with": statement.with, "explain": statement.explain, "describe": statement.explain,
		"desc": statement.explain, "show": statement.show, "help": fixed(ReadSource, 0),
		"checksum": statement.checksum,

		"insert": statement.insert, "replace": statement.insert, "update": statement.dml,
		"delete": statement.dml, "load": statement.load, "call": statement.call,
		"do": statement.do, "handler": statement.handler, "import": fixed(DDL, ddlFlags),

		"begin": statement.begin, "start": statement.start, "commit": statement.commit,
		"rollback": statement.rollback, "savepoint": fixed(Savepoint, 0),
		"release": fixed(Savepoint, 0), "xa": statement.xa,

		"set": statement.set, "use": fixed(Use, 0), "kill": statement.kill,
		"prepare": statement.prepare, "execute": statement.execute,
		"deallocate": statement.deallocate, "get": statement.getDiagnostics,
		"signal": fixed(Other, 0), "resignal": fixed(Other, 0),
		"lock": statement.lock, "unlock": statement.unlock, "flush": statement.flush,

		"create": statement.create, "drop": statement.drop, "alter": fixed(DDL, ddlFlags),
		"rename": fixed(DDL, ddlFlags), "truncate": fixed(DDL, ddlFlags),
		"grant": fixed(DDL, ddlFlags), "revoke": fixed(DDL, ddlFlags),
		"analyze": fixed(DDL, ddlFlags), "optimize": fixed(DDL, ddlFlags),
		"repair": fixed(DDL, ddlFlags), "check": fixed(DDL, ddlFlags),
		"cache": fixed(DDL, ddlFlags), "install": fixed(DDL, ddlFlags),
		"uninstall": fixed(DDL, ddlFlags), "reset": fixed(DDL, ddlFlags),
		"change": fixed(DDL, ddlFlags), "stop": fixed(DDL, ddlFlags),

		"purge": fixed(Other, MayCommit), "clone": fixed(Other, MayCommit),
		"shutdown": fixed(Other, MayCommit), "restart": fixed(Other, MayCommit),
		"binlog": fixed(Other, opaqueFlags), "causeway": statement.causeway,
	}
}

// ddlFlags is what every statement with an implicit commit may do.
const ddlFlags = ImplicitCommit | MayCommit

func fixed(kind Kind, flags Flags) func(statement) verdict {
	return func(statement) verdict { return verdict{kind: kind, flags: flags} }
}

// judge classifies one statement.
func (s statement) judge() verdict {
	i := 0
	for s.op(i) == "(" {
		i++
	}
	w := s.word(i)
	if i > 0 && w != "select" && w != "with" && w != "table" && w != "values" {
		return verdict{kind: Unknown, flags: opaqueFlags}
	}
	if verb := verbs[w]; verb != nil {
		return verb(s)
	}
	return s.changes(Unknown, opaqueFlags)
}

// with judges WITH ... by its main statement.
func (s statement) with() verdict {
	depth := 0
	for i := range s.toks {
		switch s.op(i) {
		case "(":
			depth++
		case ")":
			depth--
		}
		if depth > 0 {
			continue
		}
		switch s.word(i) {
		case "select", "table", "values":
			return s.query()
		case "update", "delete", "insert", "replace":
			return s.dml()
		}
	}
	return s.query() // the main query stands in parentheses
}

func (s statement) dml() verdict { return s.changes(Write, MayCommit) }

// insert judges INSERT and REPLACE. The parenthesis after the table's name is
// its list of columns.
func (s statement) insert() verdict {
	i := s.index(0, "into") + 1
	if i == 0 {
		for i = 1; insertModifiers[s.word(i)]; i++ {
		}
	}
	if s.op(i+1) == "." {
		i += 2
	}
	if s.op(i+1) != "(" {
		return s.dml()
	}
	v := s.from(i + 1).dml()
	return v
}

var insertModifiers = set("low_priority", "delayed", "high_priority", "ignore")

func (s statement) load() verdict {
	if s.is(1, "index") {
		return verdict{kind: DDL, flags: ddlFlags}
	}
	f := s.look().flags
	if f.Has(UsesUserVars) {
		f |= SetsUserVars // LOAD DATA ... (a, @x) SET b = @x
	}
	return verdict{kind: Write, flags: f | s.namesHint() | MayCommit}
}

func (s statement) call() verdict {
	f := s.look().flags
	return verdict{kind: Call, flags: f | s.namesHint() | opaqueFlags}
}

func (s statement) do() verdict { return s.changes(Do, 0) }

func (s statement) handler() verdict {
	verb, name := "read", s.name(1)
	if s.op(2) == "." {
		name = s.name(3)
	}
	if i := s.index(1, "open", "close"); i == 2 || i == 4 { // HANDLER t OPEN, HANDLER s.t CLOSE
		verb = s.word(i)
		if s.is(i+1, "as") {
			i++
		}
		name = cmp.Or(s.name(i+1), name)
	}
	v := s.changes(Handler, 0) // READ has a WHERE clause
	v.names = []string{verb, strings.ToLower(name)}
	return v
}

// checksum judges CHECKSUM TABLE, a read of whole tables.
func (s statement) checksum() verdict {
	v := s.query()
	v.flags &^= NoTable
	return v
}

// create tells temporary tables, which commit nothing, from the rest.
func (s statement) create() verdict {
	if s.is(1, "temporary", "table") {
		return s.createTemp()
	}
	v := verdict{kind: DDL, flags: ddlFlags}
	if s.has(1, "select") && s.is(1, "table") {
		v.flags |= s.look().flags // CREATE TABLE ... SELECT
	}
	return v
}

func (s statement) createTemp() verdict {
	f := s.look()
	i := 3
	if s.is(i, "if", "not", "exists") {
		i += 3
	}
	flags := f.flags | CreatesTemp | MayCommit
	if q := s.index(i, "select", "values", "with"); q > 0 && s.from(q).look().unknown { // columns look like calls, a query has none
		flags |= UnknownFunction | opaqueFlags
	}
	return verdict{kind: Write, flags: flags}
}

func (s statement) drop() verdict {
	switch {
	case s.is(1, "temporary"):
		return verdict{kind: Write, flags: DropsTemp | MayCommit}
	case s.is(1, "prepare"):
		return s.deallocate()
	case s.is(1, "table"), s.is(1, "tables"):
		return verdict{kind: DDL, flags: ddlFlags | DropsTemp}
	}
	return verdict{kind: DDL, flags: ddlFlags}
}

func (s statement) lock() verdict {
	if s.is(1, "instance") {
		return verdict{kind: LockTables, flags: LocksInstance}
	}
	return verdict{kind: LockTables, flags: ddlFlags | LocksTables}
}

func (s statement) unlock() verdict {
	if s.is(1, "instance") {
		return verdict{kind: UnlockTables, flags: UnlocksInstance}
	}
	return verdict{kind: UnlockTables, flags: ddlFlags | UnlocksTables}
}

// flush tells FLUSH TABLES ... WITH READ LOCK and FOR EXPORT, which hold locks
// until UNLOCK TABLES. Without tables it is the global read lock.
func (s statement) flush() verdict {
	v := verdict{kind: DDL, flags: ddlFlags}
	i := 1
	if s.is(i, "local") || s.is(i, "no_write_to_binlog") {
		i++
	}
	if !s.is(i, "table") && !s.is(i, "tables") {
		return v
	}
	switch {
	case s.is(i+1, "with", "read", "lock"):
		v.kind = LockTables
		v.flags |= LocksServer
	case s.has(i, "lock"), s.has(i, "export"):
		v.kind = LockTables
		v.flags |= LocksTables
	}
	return v
}

// kill reads KILL [CONNECTION | QUERY] id.
func (s statement) kill() verdict {
	v := s.changes(Kill, 0)
	i := 1
	if s.is(i, "query") || s.is(i, "connection") {
		v.killQuery = s.is(i, "query")
		i++
	}
	if s.at(i).kind == tokNumber && len(s.toks) == i+1 {
		v.killID = number(s.at(i).text)
	}
	return v
}

// number reads a decimal or 0x number, 0 if it is none that fits.
func number(text string) uint64 {
	base := 10
	if hex, ok := strings.CutPrefix(text, "0x"); ok {
		text, base = hex, 16
	}
	n, err := strconv.ParseUint(text, base, 64)
	if err != nil {
		return 0
	}
	return n
}

func (s statement) prepare() verdict {
	return verdict{kind: TextPrepare, flags: s.look().flags, names: []string{"prepare", strings.ToLower(s.name(1))}}
}

func (s statement) execute() verdict {
	return verdict{kind: TextPrepare, flags: s.look().flags | s.namesHint() | opaqueFlags, names: []string{"execute", strings.ToLower(s.name(1))}}
}

// getDiagnostics judges GET [CURRENT | STACKED] DIAGNOSTICS @a = NUMBER.
func (s statement) getDiagnostics() verdict {
	f := s.look().flags
	if f.Has(UsesUserVars) {
		f |= SetsUserVars
	}
	return verdict{kind: Diagnostics, flags: f | s.namesHint() | UsesDiagnostics}
}

// causeway collects the words of a statement to the proxy.
func (s statement) causeway() verdict {
	v := verdict{kind: Causeway}
	for i := range s.toks {
		v.names = append(v.names, unquote(s.at(i).text))
	}
	return v
}

// deallocate judges {DEALLOCATE | DROP} PREPARE.
func (s statement) deallocate() verdict {
	return verdict{kind: TextPrepare, names: []string{"deallocate", strings.ToLower(s.name(2))}}
}
