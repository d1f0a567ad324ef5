package classifier

import (
	"strings"
)

// TokenGTIDs is the user variable that gives the token as a plain set of GTIDs.
const TokenGTIDs = "causeway_gtids"

// TokenColumn is a column of a SELECT that asks for the token.
type TokenColumn struct {
	Plain bool   // @causeway_gtids
	Name  string // of the result's column
}

// TokenSelect reads SELECT @causeway_token, @causeway_gtids, one or both, with
// aliases, FROM DUAL and LIMIT 1 or without; ok is false for all other texts.
func TokenSelect(sql []byte, m Mode) (columns []TokenColumn, ok bool) {
	l, ok := listOf(sql, m, "select")
	for ok {
		var c TokenColumn
		if c, ok = l.tokenColumn(); !ok {
			return nil, false
		}
		columns = append(columns, c)
		if !l.take(",") {
			break
		}
	}
	if l.take("from") && !l.take("dual") || l.take("limit") && !l.take("1") {
		return nil, false
	}
	l.take(";")
	return columns, ok && len(l.toks) == 0
}

// tokenList is what is left to read of a statement's tokens.
type tokenList struct {
	sql  []byte
	toks []token
}

// listOf returns the tokens behind a statement's first word.
func listOf(sql []byte, m Mode, verb string) (l tokenList, ok bool) {
	lx := lexer{src: sql, mode: m}
	l.sql = sql
	for t := lx.next(); t.kind != tokEOF; t = lx.next() {
		l.toks = append(l.toks, *t)
	}
	return l, lx.notes == 0 && l.take(verb)
}

func (l *tokenList) text() string { return string(l.sql[l.toks[0].start:l.toks[0].end]) }

// take moves over the next token if it is the word or the sign.
func (l *tokenList) take(word string) bool {
	if len(l.toks) == 0 || l.toks[0].kind == tokString || l.toks[0].kind == tokQuoted || !strings.EqualFold(l.text(), word) {
		return false
	}
	l.toks = l.toks[1:]
	return true
}

// variable moves over the next token and names it, if it is a user variable.
func (l *tokenList) variable() (name, text string) {
	if len(l.toks) == 0 || l.toks[0].kind != tokUserVar {
		return "", ""
	}
	text = l.text()
	l.toks = l.toks[1:]
	return strings.ToLower(userVarName(text)[1:]), text
}

func (l *tokenList) tokenColumn() (c TokenColumn, ok bool) {
	name, text := l.variable()
	if name != HintToken && name != TokenGTIDs {
		return c, false
	}
	c = TokenColumn{Plain: name == TokenGTIDs, Name: text}
	as := l.take("as")
	if len(l.toks) == 0 {
		return c, !as
	}
	switch alias := l.text(); l.toks[0].kind {
	case tokWord:
		if lower := strings.ToLower(alias); lower == "from" || lower == "limit" {
			return c, !as
		}
		c.Name = alias
	case tokQuoted, tokString:
		c.Name = unquote(alias)
	default:
		return c, !as
	}
	l.toks = l.toks[1:]
	return c, true
}

// TokenSet is what a SET hands in as @causeway_token.
type TokenSet struct {
	Values []string // the literals, without NULL
	Param  bool     // the one value is the one parameter of a prepared statement
	Alone  bool     // nothing else is set
	Names  bool     // an expression names the token, or @causeway_gtids is set
}

// ReadTokenSet reads a SET that assigns @causeway_token. ok is false where its
// value is not in the text: it must be a literal, or the only parameter of a
// statement that sets nothing else.
func ReadTokenSet(sql []byte, m Mode) (s TokenSet, ok bool) {
	l, ok := listOf(sql, m, "set")
	if n := len(l.toks); n > 0 && l.toks[n-1].kind == tokSemi {
		l.toks = l.toks[:n-1]
	}
	items := cutItems(sql, l.toks)
	s.Alone, s.Names = true, namedElsewhere(sql, items)
	for _, toks := range items {
		item := tokenList{sql, toks}
		name, _ := item.variable()
		if name != HintToken {
			s.Alone = false
			continue
		}
		value, param, readable := item.tokenValue(m)
		if !readable || param && len(items) > 1 {
			return s, false
		}
		s.Param = param
		if value != "" {
			s.Values = append(s.Values, value)
		}
	}
	return s, ok && len(items) > 0 && !s.Names
}

// tokenValue reads := or = and a value behind it.
func (l *tokenList) tokenValue(m Mode) (value string, param, ok bool) {
	if !l.take("=") && !l.take(":=") || len(l.toks) != 1 {
		return "", false, false
	}
	switch text := l.text(); l.toks[0].kind {
	case tokParam:
		return "", true, true
	case tokString:
		value, ok = stringValue(text, m)
		return value, false, ok
	case tokWord:
		return "", false, strings.EqualFold(text, "null")
	}
	return "", false, false
}

// namedElsewhere: the value of something else uses the token, which no server knows.
func namedElsewhere(sql []byte, items [][]token) bool {
	for _, toks := range items {
		for _, t := range toks[1:] {
			if t.kind != tokUserVar {
				continue
			}
			switch strings.ToLower(userVarName(string(sql[t.start:t.end]))[1:]) {
			case HintToken, TokenGTIDs:
				return true
			}
		}
		if first := toks[0]; first.kind == tokUserVar && strings.EqualFold(userVarName(string(sql[first.start:first.end]))[1:], TokenGTIDs) {
			return true // it is for reading only
		}
	}
	return false
}

// escapes are what a backslash makes of a letter in a string; of others it makes
// the letter itself. Manual: String Literals.
var escapes = map[byte]byte{'0': 0, 'b': '\b', 'n': '\n', 'r': '\r', 't': '\t', 'Z': 26}

// stringValue is the value of '..' or "..", with its quotes.
func stringValue(text string, m Mode) (string, bool) {
	if len(text) < 2 || text[0] != '\'' && text[0] != '"' || text[len(text)-1] != text[0] {
		return "", false
	}
	quote, inner := text[0], text[1:len(text)-1]
	out := make([]byte, 0, len(inner))
	for i := 0; i < len(inner); i++ {
		c := inner[i]
		switch {
		case c == quote:
			i++ // it is doubled
		case c == '\\' && !m.NoBackslashEscapes && i+1 < len(inner):
			i++
			c = inner[i]
			if c == '%' || c == '_' { // LIKE wants to see these
				out = append(out, '\\')
			}
			if e, ok := escapes[c]; ok {
				c = e
			}
		}
		out = append(out, c)
	}
	return string(out), true
}
