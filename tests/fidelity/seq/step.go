package seq

import (
	"fmt"
	"strings"

	"causeway/tests/session/raw"
)

// Sessions is how many sessions a sequence interleaves.
const Sessions = 4

// op is what a step sends.
type op int

const (
	opQuery op = iota
	opInitDB
	opPing
	opReset
	opChangeUser // text is the schema
	opSetOption  // num is the option
	opFieldList
	opLoad // a LOAD DATA LOCAL with args[0] as the file
	opPrepare
	opExecute
	opExecuteSame // with the types of the execution before
	opCursor
	opFetch // num rows
	opLongData
	opStmtReset
	opStmtClose
)

var opNames = map[op]string{
	opInitDB: "COM_INIT_DB", opPing: "COM_PING", opReset: "COM_RESET_CONNECTION", opChangeUser: "COM_CHANGE_USER app",
	opSetOption: "COM_SET_OPTION", opFieldList: "COM_FIELD_LIST", opPrepare: "prepare", opExecute: "execute",
	opExecuteSame: "execute with the old types", opCursor: "execute with a cursor", opFetch: "fetch",
	opLongData: "send long data to", opStmtReset: "COM_STMT_RESET", opStmtClose: "COM_STMT_CLOSE",
}

// Pin is what ties a session to one connection of the source, as bits. It errs
// towards pinned: a bit is cleared only by a step that surely ends it.
type Pin uint32

const (
	PinTrx      Pin = 1 << iota // a transaction
	PinChain                    // completion_type = CHAIN: the next COMMIT begins another one
	PinTemp                     // temporary table temp1
	PinShadow                   // temporary table t
	PinLock                     // GET_LOCK
	PinTables                   // LOCK TABLES
	PinHandler                  // HANDLER ... OPEN
	PinCursor                   // an open cursor
	PinText                     // text PREPARE
	PinXA                       // XA START until its end
	PinXAActive                 // XA START until XA END
	PinNext                     // SET TRANSACTION, for the next transaction only
	PinUser                     // user variables whose values only the server knows
)

// Step is one thing that a session does. Text may hold $1 and $2, the session's
// two schemas, $0, a schema that all share for temporary tables, and $x, a word
// of its own for names that are the server's, such as those of locks.
type Step struct {
	On   int    // which session, from 0
	Kind string // the row of Kinds that it comes from

	op   op
	text string
	stmt string // name of the prepared statement
	args []raw.Param
	show string // args as the report shows them
	num  int

	pins   Pin
	frees  Pin
	unless Pin      // frees only if none of these is there
	auto   int      // 1: autocommit goes on, -1: off
	table  bool     // touches a table
	resets bool     // ends all that a session has
	ddl    bool     // may leave tables behind
	xa     bool     // may leave a prepared transaction behind
	forget []string // variables that it sets; see Hooks
	runs   string   // the text of the prepared statement that it executes; Generate fills it in
}

// String writes a step as a line of a script.
func (s Step) String() string {
	who := string(rune('A' + s.On))
	switch s.op {
	case opQuery:
		return fmt.Sprintf("%s  %s", who, printable(s.text))
	case opLoad:
		return fmt.Sprintf("%s  %s   (the file: %s)", who, printable(s.text), s.show)
	case opSetOption, opFetch:
		return fmt.Sprintf("%s  %s %s %d", who, opNames[s.op], s.stmt, s.num)
	case opPrepare:
		return fmt.Sprintf("%s  prepare %s: %s", who, s.stmt, printable(s.text))
	}
	words := []string{who, opNames[s.op]}
	for _, w := range []string{s.stmt, printable(s.text), s.show} {
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.Replace(strings.Join(words, " "), " ", "  ", 1)
}

// printable shows bytes that are no UTF-8 as escapes.
func printable(s string) string {
	if strings.ToValidUTF8(s, "") == s && !strings.ContainsAny(s, "\n\x00") {
		return s
	}
	return fmt.Sprintf("%q", s)
}

// names puts a session's names into a text.
func (s Step) names(word string) string { return expand(s.text, word) }

func expand(text, word string) string {
	return strings.NewReplacer("$1", word+"1", "$2", word+"2", "$x", word, "$0", word[:len(word)-1]).Replace(text)
}

// pin, free and the like complete a step in the table of kinds.
func (s Step) pin(p Pin) Step  { s.pins |= p; return s }
func (s Step) free(p Pin) Step { s.frees |= p; return s }
func (s Step) onTable() Step   { s.table = true; return s }
func (s Step) isDDL() Step     { s.ddl, s.frees = true, s.frees|PinTrx; return s }

// q is a text.
func q(text string) Step { return Step{op: opQuery, text: text} }

// t is a text that touches a table.
func t(text string) Step { return q(text).onTable() }

func initDB(schema string) Step { return Step{op: opInitDB, text: schema} }

// bound adds parameters and how they look.
func (s Step) bound(args ...arg) Step {
	var show []string
	for _, a := range args {
		s.args = append(s.args, a.param)
		show = append(show, a.show)
	}
	s.show = "(" + strings.Join(show, ", ") + ")"
	return s
}

// arg is a parameter with its look in a report.
type arg struct {
	param raw.Param
	show  string
}

func num(v int64) arg      { return arg{raw.Int64(v), fmt.Sprint(v)} }
func str(v string) arg     { return arg{raw.String(v), fmt.Sprintf("%q", v)} }
func double(v float64) arg { return arg{raw.Double(v), fmt.Sprintf("%v double", v)} }
func null() arg            { return arg{raw.Null(), "NULL"} }
func long() arg            { return arg{raw.Long(), "long data"} }
