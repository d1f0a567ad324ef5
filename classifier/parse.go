package classifier

import (
	"strings"
	"sync"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	_ "github.com/pingcap/tidb/pkg/parser/test_driver" // the parser's value types
)

// What is shown to the parser. Its tree is walked recursively and Go cannot
// recover from a stack that grew too far, so size and nesting are bounded.
const (
	maxParsed     = 16 << 10
	maxParsedNest = 64
)

// parserPool holds TiDB parsers, which are not safe for concurrent use.
type parserPool struct{ pool sync.Pool }

func (p *parserPool) get() *parser.Parser {
	if x := p.pool.Get(); x != nil {
		return x.(*parser.Parser)
	}
	return parser.New()
}

// secondOpinion shows a text that was found to be a plain read to the parser
// and takes the verdict back if the parser saw something else. A text that it
// cannot parse keeps its verdict: MySQL knows more than the parser.
func (c *Classifier) secondOpinion(v *verdict, count int, sql []byte, m Mode, deep int) {
	if len(sql) > maxParsed || deep > maxParsedNest {
		return
	}
	o := opinion{readOnly: c.readOnly, verdict: *v}
	if !c.parsers.ask(&o, withoutComments(sql, m), m, count) {
		return
	}
	*v = o.verdict
	if v.kind == Read && !o.table {
		v.flags |= NoTable
	}
}

// ask forms an opinion; false if the parser cannot parse the text. The trees
// belong to the parser, so it goes back to the pool after they were read.
func (p *parserPool) ask(o *opinion, sql string, m Mode, count int) (ok bool) {
	one := p.get()
	defer func() {
		// The parser is a large generated program that gets users' bytes. What
		// it cannot stand is a text it cannot parse; the instance is dropped.
		if recover() != nil {
			ok = false
			return
		}
		p.pool.Put(one)
	}()
	one.SetSQLMode(m.parserMode())
	stmts, _, err := one.Parse(sql, "", "")
	if err != nil {
		return false
	}
	if len(stmts) != count {
		o.object(Unknown, opaqueFlags)
	}
	for _, s := range stmts {
		o.of(s)
	}
	return true
}

func (m Mode) parserMode() mysql.SQLMode {
	var sm mysql.SQLMode
	if m.ANSIQuotes {
		sm |= mysql.ModeANSIQuotes
	}
	if m.NoBackslashEscapes {
		sm |= mysql.ModeNoBackslashEscapes
	}
	if m.PipesAsConcat {
		sm |= mysql.ModePipesAsConcat
	}
	if m.IgnoreSpace {
		sm |= mysql.ModeIgnoreSpace
	}
	return sm
}

// withoutComments is the text as MySQL reads it: TiDB's parser would run
// comments that are meant for TiDB (/*T! */), which MySQL skips.
func withoutComments(sql []byte, m Mode) string {
	var b strings.Builder
	b.Grow(len(sql))
	lx := lexer{src: sql, mode: m}
	for {
		t := lx.next()
		if t.kind == tokEOF {
			return b.String()
		}
		if t.gap {
			b.WriteByte(' ')
		}
		b.Write(sql[t.start:t.end])
	}
}

// opinion is a verdict as the parser's trees change it.
type opinion struct {
	readOnly map[string]bool
	verdict  verdict
	table    bool // one is named, or it is no SELECT
}

// of judges the top of the tree.
func (o *opinion) of(s ast.StmtNode) {
	switch n := s.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
	case *ast.ShowStmt:
		o.table = true
	case *ast.ExplainStmt:
		o.table = true
		if n.Analyze {
			o.of(n.Stmt)
			return
		}
	default:
		o.object(Unknown, opaqueFlags)
		return
	}
	s.Accept(o)
}

// object takes the verdict back.
func (o *opinion) object(k Kind, f Flags) {
	o.verdict = join(o.verdict, verdict{kind: k, flags: f})
}

// Enter looks at one node of the tree.
func (o *opinion) Enter(in ast.Node) (ast.Node, bool) {
	switch n := in.(type) {
	case *ast.TableName:
		o.table = true
	case *ast.SelectStmt:
		if n.LockInfo != nil && n.LockInfo.LockType != ast.SelectLockNone {
			o.object(LockingRead, 0)
		}
		if n.SelectIntoOpt != nil {
			o.object(Write, SelectInto)
		}
	case *ast.InsertStmt, *ast.UpdateStmt, *ast.DeleteStmt:
		o.object(Write, MayCommit)
	case *ast.VariableExpr:
		o.object(ReadSource, UsesUserVars)
	case *ast.FuncCallExpr:
		o.function(n.Schema.L, n.FnName.L)
	}
	return in, false
}

// Leave goes on.
func (o *opinion) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// function objects to what is no plain function to MySQL.
func (o *opinion) function(schema, name string) {
	if schema == "" && (functions[name] == fnPlain || parserFunctions[name]) {
		return
	}
	if o.readOnly[name] || o.readOnly[schema+"."+name] {
		return
	}
	o.object(Write, UnknownFunction|opaqueFlags)
}

// parserFunctions are the parser's own names for what has a syntax of its own.
var parserFunctions = set("json_memberof", "char_func", "insert_func", "default_func",
	ast.DateLiteral, ast.TimeLiteral, ast.TimestampLiteral)
