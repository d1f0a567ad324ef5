package classifier

import (
	"bytes"
	"unicode/utf8"
)

// tokenKind is the lexical sort of a token.
type tokenKind uint8

const (
	tokEOF     tokenKind = iota
	tokWord              // unquoted word: keyword or identifier
	tokQuoted            // identifier in backticks, or in "" under ANSI_QUOTES
	tokString            // '..', "..", N'..', x'..', b'..'
	tokNumber            // 1, .5, 1e5, 0x1f, 0b1
	tokParam             // ?
	tokUserVar           // @x, @'x', @`x`
	tokSysVar            // @@x, @@session.x: the @@ and the first name
	tokOp                // operators and punctuation
	tokSemi              // ;
)

// token is one token of a text: src[start:end].
type token struct {
	kind       tokenKind
	start, end int
	gap        bool // white space or a comment stands before it
	comment    bool // a comment stands before it
	afterDot   bool // an identifier because it follows a dot directly
}

// notes is what the lexer saw that makes a text special.
type notes uint8

const (
	noteExec      notes = 1 << iota // executable comment /*! */
	noteUncertain                   // one whose version decides if it is code
	noteBad                         // unterminated quote or comment, NUL byte, bad x''
	noteOddIdent                    // identifier whose bytes mean something else in another charset
	noteDollar                      // $tag$ text $tag$, or an identifier in $
)

// minServerVersion is the oldest server supported: code in /*!NNNNN */ up to
// it is always executed.
const minServerVersion = 80022

// lexer splits a text into tokens by the rules of MySQL's sql_lex.cc. It never
// fails: what is not lexically valid sets noteBad and the rest is one token.
type lexer struct {
	src   []byte
	pos   int
	mode  Mode
	notes notes

	// skipUncertain drops executable comments whose version is beyond
	// minServerVersion; else they are read as code.
	skipUncertain bool

	inExec   bool
	afterDot bool // the last token was a dot
	dollars  int  // words in $ so far
	tok      token
}

// character classes of the lexer
const (
	chIdent = 1 << iota // letters, digits, _, $, all bytes from 0x80 on
	chDigit
	chSpace
	chHex
)

var charClass = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= '0' && c <= '9':
			t[c] = chIdent | chDigit | chHex
		case c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
			t[c] = chIdent | chHex
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == '$', c >= 0x80:
			t[c] = chIdent
		case c == ' ', c >= '\t' && c <= '\r':
			t[c] = chSpace
		}
	}
	return t
}()

func isIdent(c byte) bool { return charClass[c]&chIdent != 0 }
func isDigit(c byte) bool { return charClass[c]&chDigit != 0 }

// peek returns the byte at pos+n, 0 beyond the end.
func (l *lexer) peek(n int) byte {
	if l.pos+n < len(l.src) {
		return l.src[l.pos+n]
	}
	return 0
}

// next returns the next token, valid until the next call; at the end, and for
// ever after, tokEOF. A pointer, because copying a token that was just written
// byte by byte stalls the processor: it was a quarter of a digest's time.
func (l *lexer) next() *token {
	t := &l.tok
	*t = token{}
	l.skipBlanks(t)
	t.start = l.pos
	dot := l.afterDot && !t.gap
	l.afterDot = false
	if l.pos >= len(l.src) {
		if l.inExec {
			l.notes |= noteBad
		}
		t.end = l.pos
		return t
	}
	c := l.src[l.pos]
	switch {
	case dot && isIdent(c):
		t.afterDot = true
		l.word(t)
	case isDigit(c), c == '.' && isDigit(l.peek(1)) && !l.dotIsSeparator(t.gap):
		l.number(t)
	case isIdent(c):
		l.wordOrPrefix(t, c)
	default:
		l.punctuation(t, c)
	}
	t.end = l.pos
	return t
}

// dotIsSeparator reports whether a dot at pos continues a qualified name: it
// follows an identifier directly, as in t.1a.
func (l *lexer) dotIsSeparator(gap bool) bool {
	if gap || l.pos == 0 {
		return false
	}
	c := l.src[l.pos-1]
	return isIdent(c) || c == '`'
}

// punctuation reads a token that starts with neither letter nor digit.
func (l *lexer) punctuation(t *token, c byte) {
	switch c {
	case '\'':
		t.kind = tokString
		l.quoted('\'', !l.mode.NoBackslashEscapes)
	case '"':
		t.kind = tokString
		if l.mode.ANSIQuotes {
			t.kind = tokQuoted
		}
		l.quoted('"', !l.mode.ANSIQuotes && !l.mode.NoBackslashEscapes)
	case '`':
		t.kind = tokQuoted
		l.quoted('`', false)
	case '@':
		l.variable(t)
	case '?':
		t.kind = tokParam
		l.pos++
	case ';':
		t.kind = tokSemi
		l.pos++
	case 0:
		l.bad(t)
	default:
		t.kind = tokOp
		l.pos += l.opLen(c)
		l.afterDot = c == '.'
	}
}

// opLen is the length of the operator at pos.
func (l *lexer) opLen(c byte) int {
	d, e := l.peek(1), l.peek(2)
	switch c {
	case '<':
		if d == '=' && e == '>' {
			return 3
		}
		if d == '=' || d == '>' || d == '<' {
			return 2
		}
	case '>':
		if d == '=' || d == '>' {
			return 2
		}
	case '-':
		if d == '>' && e == '>' {
			return 3
		}
		if d == '>' {
			return 2
		}
	case ':', '!':
		if d == '=' {
			return 2
		}
	case '&', '|':
		if d == c {
			return 2
		}
	}
	return 1
}

// quoted reads up to the closing quote; a doubled quote stands for itself.
func (l *lexer) quoted(q byte, backslash bool) {
	l.pos++
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case c == '\\' && backslash:
			l.pos += 2
		case c != q:
			l.pos++
		case l.peek(1) == q && l.pos+1 < len(l.src):
			l.pos += 2
		default:
			l.pos++
			return
		}
	}
	l.pos = len(l.src)
	l.notes |= noteBad
}

// variable reads @x, @'x', @`x`, @@x and @@scope.x up to the dot.
func (l *lexer) variable(t *token) {
	t.kind = tokUserVar
	l.pos++
	if l.peek(0) == '@' {
		t.kind = tokSysVar
		l.pos++
	}
	switch c := l.peek(0); {
	case c == '`' && l.pos < len(l.src):
		l.quoted('`', false)
	case (c == '\'' || c == '"') && t.kind == tokUserVar:
		l.quoted(c, !l.mode.NoBackslashEscapes && (c == '\'' || !l.mode.ANSIQuotes))
	default:
		for l.pos < len(l.src) && (isIdent(l.src[l.pos]) || t.kind == tokUserVar && l.src[l.pos] == '.') {
			l.pos++
		}
	}
}

// wordOrPrefix reads a word, or a string with a prefix: N'..', x'..', b'..'.
func (l *lexer) wordOrPrefix(t *token, c byte) {
	if l.peek(1) == '\'' {
		switch c {
		case 'n', 'N':
			t.kind = tokString
			l.pos++
			l.quoted('\'', !l.mode.NoBackslashEscapes)
			return
		case 'x', 'X', 'b', 'B':
			t.kind = tokString
			l.bitString()
			return
		}
	}
	if c == '$' && l.dollarQuoted(t) {
		return
	}
	l.word(t)
}

// bitString reads x'..' or b'..', which know no escapes.
func (l *lexer) bitString() {
	start := l.pos + 2
	end := bytes.IndexByte(l.src[start:], '\'')
	if end < 0 {
		l.pos = len(l.src)
		l.notes |= noteBad
		return
	}
	for _, c := range l.src[start : start+end] {
		if charClass[c]&chHex == 0 {
			l.notes |= noteBad
		}
	}
	l.pos = start + end + 1
}

// maxDollars bounds the searches for a closing tag.
const maxDollars = 16

// dollarQuoted reads $tag$ text $tag$, a string to MySQL 9 (bodies of JavaScript
// routines) and identifiers with code between them to MySQL 8: never trusted.
func (l *lexer) dollarQuoted(t *token) bool {
	l.notes |= noteDollar
	if l.dollars++; l.dollars > maxDollars {
		return false
	}
	i := l.pos + 1
	for i < len(l.src) && isIdent(l.src[i]) && l.src[i] != '$' {
		i++
	}
	if i >= len(l.src) || l.src[i] != '$' {
		return false
	}
	tag := l.src[l.pos : i+1]
	end := bytes.Index(l.src[i+1:], tag)
	if end < 0 {
		return false
	}
	t.kind = tokString
	l.pos = i + 1 + end + len(tag)
	return true
}

// word reads identifier bytes.
func (l *lexer) word(t *token) {
	t.kind = tokWord
	start, high := l.pos, false
	for l.pos < len(l.src) && isIdent(l.src[l.pos]) {
		high = high || l.src[l.pos] >= 0x80
		l.pos++
	}
	if high && oddIdent(l.src[start:l.pos]) {
		l.notes |= noteOddIdent
	}
}

// oddIdent reports whether an identifier with high bytes could be several
// tokens in another single-byte charset, where 0xA0 is a blank: it is no valid
// UTF-8, or a piece between such blanks is an ASCII word.
func oddIdent(b []byte) bool {
	if !utf8.Valid(b) {
		return true
	}
	for _, piece := range bytes.Split(b, []byte{0xA0}) {
		if len(piece) > 0 && len(piece) < len(b) && isASCII(piece) {
			return true
		}
	}
	return false
}

// mayHide reports whether the text may mean something else in a charset whose
// second bytes look like ASCII: a high byte stands before one that may be its
// second and is no letter. Second bytes are 0x40 and above, so no quote, blank or
// semicolon is ever one; a letter changes no token's end, nor does a digit.
func mayHide(b []byte) bool {
	for i := 1; i < len(b); i++ {
		if b[i-1] >= utf8.RuneSelf && b[i] >= '@' && b[i] < utf8.RuneSelf && !isIdent(b[i]) {
			return true
		}
	}
	return false
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// number reads a number, or an identifier that starts with digits (1a).
func (l *lexer) number(t *token) {
	t.kind = tokNumber
	if l.src[l.pos] == '0' && l.radix(l.peek(1)) {
		return
	}
	start := l.pos
	l.digits()
	if l.pos > start && l.exponent() {
		return // MySQL ends the token here even if letters follow
	}
	if isIdent(l.peek(0)) && l.pos < len(l.src) && l.pos > start {
		l.word(t)
		return
	}
	if l.peek(0) == '.' {
		l.pos++
		l.digits()
		l.exponent()
	}
}

// radix reads 0x1f or 0b1; false if it is an identifier or a plain number.
func (l *lexer) radix(c byte) bool {
	if c != 'x' && c != 'b' {
		return false
	}
	i := l.pos + 2
	for i < len(l.src) && (c == 'x' && charClass[l.src[i]]&chHex != 0 || l.src[i] == '0' || l.src[i] == '1') {
		i++
	}
	if i == l.pos+2 || i < len(l.src) && isIdent(l.src[i]) {
		return false
	}
	l.pos = i
	return true
}

func (l *lexer) digits() {
	for l.pos < len(l.src) && isDigit(l.src[l.pos]) {
		l.pos++
	}
}

// exponent reads e5, E-5; false, and nothing read, if there is none.
func (l *lexer) exponent() bool {
	if c := l.peek(0); c != 'e' && c != 'E' {
		return false
	}
	n := 1
	if c := l.peek(1); c == '+' || c == '-' {
		n = 2
	}
	if !isDigit(l.peek(n)) {
		return false
	}
	l.pos += n
	l.digits()
	return true
}

// bad ends the text: what follows has no meaning that can be trusted.
func (l *lexer) bad(t *token) {
	l.notes |= noteBad
	t.kind = tokOp
	l.pos = len(l.src)
}
