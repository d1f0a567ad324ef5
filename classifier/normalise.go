package classifier

import (
	"bytes"
	"sync"
)

// maxTracked bounds the nesting that the normaliser follows; deeper groups are
// written as they are.
const maxTracked = 32

// maxKept bounds a literal that stays in the key.
const maxKept = 64

// groupKind is what a pair of parentheses is to the normaliser.
type groupKind uint8

const (
	groupOther groupKind = iota
	groupList            // after IN
	groupRow             // after VALUES, VALUE, ROW, or a row before it
)

// group is an open parenthesis.
type group struct {
	kind     groupKind
	start    int  // offset in out of the group, with its ROW word
	open     int  // offset in out of the parenthesis
	literals int  // literals in it
	mixed    bool // holds something else than literals and commas
	rowStart int  // the last row closed in it, out[rowStart:rowEnd]
	rowEnd   int
}

// normaliser writes the normalised text of one statement text. It is scratch
// memory: pooled, reset by run, its out valid until the next run.
type normaliser struct {
	lx  lexer
	out []byte

	groups [maxTracked]group
	depth  int
	deep   int // deepest nesting seen

	last      tokenKind // the last token written, tokEOF at a statement's start
	lastOp    byte      // its first byte if it is an operator
	lastStart int       // where it begins in out
	semi      bool      // a ; is to be written before the next token

	// a sign that may belong to a number: -1 is one literal
	sign      bool
	signAt    int // len(out) before it
	signLast  tokenKind
	signOp    byte
	signStart int

	words    int  // tokens of the present statement
	set      bool // it is a SET
	assigned bool // an = was seen in the present assignment
	keep     bool // literals stay as they are
	volatile bool // texts like this one differ each time: not for the cache
}

var normalisers = sync.Pool{New: func() any { return &normaliser{out: make([]byte, 0, 512)} }}

// release gives scratch memory back, if it is worth keeping.
func (n *normaliser) release() {
	if cap(n.out) > 1<<17 {
		return
	}
	n.lx.src = nil
	normalisers.Put(n)
}

// run normalises sql after the given prefix of out.
func (n *normaliser) run(sql []byte, m Mode, prefix byte, skipUncertain bool) {
	n.lx = lexer{src: sql, mode: m, skipUncertain: skipUncertain}
	n.out = append(n.out[:0], prefix)
	n.depth, n.deep = 0, 0
	n.groups[0] = group{}
	n.semi, n.volatile = false, false
	n.startStatement()
	for {
		t := n.lx.next()
		if t.kind == tokEOF {
			return
		}
		n.token(t)
	}
}

func (n *normaliser) startStatement() {
	n.last, n.lastOp, n.lastStart = tokEOF, 0, len(n.out)
	n.words, n.sign = 0, false
	n.set, n.assigned, n.keep = false, false, false
}

// token writes one token.
func (n *normaliser) token(t *token) {
	if t.kind == tokSemi {
		n.semi = true
		return
	}
	if n.semi {
		n.out = append(n.out, "; "...)
		n.semi = false
		n.depth = 0
		n.groups[0] = group{}
		n.startStatement()
	}
	switch text := n.lx.src[t.start:t.end]; t.kind {
	case tokString, tokNumber, tokParam:
		n.literal(t, text)
	case tokWord:
		n.word(t, text)
	case tokOp:
		n.operator(t, text)
	default:
		n.mix()
		n.space(text[0], t.gap)
		n.out = appendLower(n.out, text)
		n.target(text)
		n.written(t.kind, 0)
	}
	n.words++
}

// written notes what the last token was.
func (n *normaliser) written(k tokenKind, op byte) { n.last, n.lastOp, n.sign = k, op, false }

// mix notes that the innermost group holds more than literals.
func (n *normaliser) mix() {
	if g := n.group(); g != nil {
		g.mixed = true
	}
}

// group is the innermost open group, nil if it is too deep to follow.
func (n *normaliser) group() *group {
	if n.depth < maxTracked {
		return &n.groups[n.depth]
	}
	return nil
}

// space writes the blank that belongs before a token that begins with c, and
// notes where the token starts.
func (n *normaliser) space(c byte, gap bool) {
	switch {
	case n.last == tokEOF, n.last == tokOp && (n.lastOp == '(' || n.lastOp == '.'):
	case c == ',' || c == ')' || c == '.':
	case c == '(' && n.last == tokWord && !spaceBeforeParen(n.out[n.lastStart:], gap):
	case c == '(' && n.last == tokQuoted:
	default:
		n.out = append(n.out, ' ')
	}
	n.lastStart = len(n.out)
}

// literal writes ?, or the literal itself where its value matters.
func (n *normaliser) literal(t *token, text []byte) {
	if n.keep && len(text) <= maxKept {
		n.mix()
		n.space(text[0], t.gap)
		n.out = append(n.out, text...)
		n.written(t.kind, 0)
		return
	}
	if n.sign && t.kind == tokNumber {
		n.out = n.out[:n.signAt]
		n.last, n.lastOp, n.lastStart = n.signLast, n.signOp, n.signStart
	}
	if t.kind == tokString {
		if n.last == tokString {
			return // 'a' 'b' is one string
		}
		if n.last == tokWord && n.out[n.lastStart] == '_' { // _utf8'a'
			n.out = n.out[:n.lastStart]
			n.writeParam(tokString)
			return
		}
	}
	n.space('?', t.gap)
	n.writeParam(t.kind)
}

func (n *normaliser) writeParam(k tokenKind) {
	n.out = append(n.out, '?')
	if g := n.group(); g != nil {
		g.literals++
	}
	n.written(k, 0)
}

// word writes a keyword or identifier in lower case; NULL is a literal but
// after IS and NOT.
func (n *normaliser) word(t *token, text []byte) {
	if len(text) == 4 && !t.afterDot && !n.keep && n.isNull(text) {
		n.space('?', t.gap)
		n.writeParam(tokNumber)
		return
	}
	intro := text[0] == '_'
	if !intro {
		n.mix()
	}
	n.space(text[0], t.gap)
	n.out = appendLower(n.out, text)
	k := tokWord
	if t.afterDot {
		k = tokQuoted // never a keyword
	}
	n.statementWord(n.out[n.lastStart:])
	n.written(k, 0)
}

func (n *normaliser) isNull(text []byte) bool {
	if text[0]|0x20 != 'n' || !equalFold(text, "null") {
		return false
	}
	if n.last == tokWord {
		prev := string(n.out[n.lastStart:])
		return prev != "is" && prev != "not"
	}
	return n.last == tokOp
}

// statementWord finds out, from a statement's first words and a SET's targets,
// whether its literals matter.
func (n *normaliser) statementWord(w []byte) {
	if n.words == 0 {
		switch string(w) {
		case "set":
			n.set = true
		case "kill", "causeway":
			n.keep, n.volatile = true, true
		}
		return
	}
	n.target(w)
}

// target notes the variable that a SET assigns: the values of some decide the
// class.
func (n *normaliser) target(name []byte) {
	if !n.set || n.assigned || n.depth > 0 {
		return
	}
	name = bytes.Trim(name, "@`\"")
	n.keep = literalMatters[string(name)]
}

// operator writes an operator or punctuation.
func (n *normaliser) operator(t *token, text []byte) {
	c := text[0]
	switch c {
	case '(':
		n.openGroup(t)
		return
	case ')':
		n.closeGroup(t)
		return
	case ',':
		if n.depth == 0 {
			n.assigned, n.keep = false, n.keep && !n.set
		}
	default:
		if len(text) > 1 || c != '-' && c != '+' {
			n.mix()
		}
		n.assigned = n.assigned || c == '=' || c == ':' && len(text) == 2
	}
	before, last, op, start := len(n.out), n.last, n.lastOp, n.lastStart
	n.space(c, t.gap)
	n.out = append(n.out, text...)
	n.written(tokOp, c)
	if (c == '-' || c == '+') && len(text) == 1 {
		if last == tokOp && op != ')' && op != '*' {
			n.sign, n.signAt, n.signLast, n.signOp, n.signStart = true, before, last, op, start
			return
		}
		n.mix()
	}
}

func (n *normaliser) openGroup(t *token) {
	g := group{}
	parent := n.group()
	if parent != nil {
		g.kind, g.start = n.groupKindHere(parent)
		parent.mixed = true
	}
	n.space('(', t.gap && (t.comment || !n.lx.mode.IgnoreSpace))
	g.open = len(n.out)
	if g.start < 0 {
		g.start = g.open
	}
	n.out = append(n.out, '(')
	n.depth++
	n.deep = max(n.deep, n.depth)
	if n.depth < maxTracked {
		n.groups[n.depth] = g
	}
	n.written(tokOp, '(')
}

// groupKindHere says what a group that opens now is, and where it starts: -1
// for at its parenthesis.
func (n *normaliser) groupKindHere(parent *group) (groupKind, int) {
	switch n.last {
	case tokWord:
		switch string(n.out[n.lastStart:]) {
		case "in":
			return groupList, -1
		case "values", "value":
			return groupRow, -1
		case "row":
			return groupRow, n.lastStart
		}
	case tokOp:
		afterRow := n.lastOp == ',' && parent.rowEnd > 0 && parent.rowEnd == n.lastStart
		if afterRow || n.lastOp == '(' && parent.kind == groupList {
			return groupRow, -1
		}
	}
	return groupOther, -1
}

func (n *normaliser) closeGroup(t *token) {
	n.space(')', t.gap)
	n.out = append(n.out, ')')
	n.written(tokOp, ')')
	if n.depth == 0 {
		return
	}
	n.depth--
	if n.depth+1 >= maxTracked {
		return
	}
	g := &n.groups[n.depth+1]
	if g.kind == groupOther {
		return
	}
	if !g.mixed && g.literals > 0 || string(n.out[g.open:]) == "(? +)" { // a digest's own
		n.out = append(n.out[:g.open], "(?+)"...)
	}
	if g.kind == groupRow {
		n.closeRow(g, &n.groups[n.depth])
	}
	n.lastStart = len(n.out) - 1
}

// closeRow drops a row that reads as the one before it.
func (n *normaliser) closeRow(g, parent *group) {
	row := n.out[g.start:]
	if parent.rowEnd > 0 && parent.rowEnd+2 == g.start &&
		bytes.Equal(n.out[parent.rowStart:parent.rowEnd], row) {
		n.out = n.out[:parent.rowEnd]
		return
	}
	parent.rowStart, parent.rowEnd = g.start, len(n.out)
}

// appendLower appends s with ASCII letters in lower case.
func appendLower(dst, s []byte) []byte {
	for _, c := range s {
		dst = append(dst, lower[c])
	}
	return dst
}

var lower = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if c := byte(i); c >= 'A' && c <= 'Z' {
			t[i] = c + 'a' - 'A'
		}
	}
	return t
}()

// equalFold compares with a word in lower case.
func equalFold(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i, c := range b {
		if lower[c] != word[i] {
			return false
		}
	}
	return true
}
