package classifier

import (
	"bytes"
	"strings"
)

// isHintVariable tells of the user variables that hold hints, by their name in
// any case without the @. A backslash in a quoted name is an escape, or not: no name is
// taken to be another because of it.
func isHintVariable(name string) bool {
	if len(name) < len(HintKey) {
		return false
	}
	switch strings.ToLower(strings.ReplaceAll(name, `\`, "")) {
	case HintKey, HintClass, HintMaxStaleness:
		return true
	}
	return false
}

// assigns notes what is assigned by := or INTO. name has its @.
func (f *facts) assigns(name string) {
	if isHintVariable(name[1:]) {
		f.flags |= HidesHint
	}
}

// setsHint tells what an item of a SET list does to the variables that hold hints.
func (s statement) setsHint() (flags Flags) {
	if s.at(0).kind == tokUserVar && isHintVariable(userVarName(s.at(0).text)[1:]) {
		flags |= SetsHint
	}
	return flags | s.from(1).look().flags&HidesHint
}

// namesHint is for statements that assign the variables they name without :=.
func (s statement) namesHint() Flags {
	for _, t := range s.toks {
		if t.kind == tokUserVar && isHintVariable(userVarName(t.text)[1:]) {
			return HidesHint
		}
	}
	return 0
}

// unreadHint is the flag of a text that is not looked at token by token.
func unreadHint(text string) Flags {
	if namesHintVariable([]byte(text)) {
		return HidesHint
	}
	return 0
}

// namesHintVariable tells whether a text may name one of them, or the token.
func namesHintVariable(text []byte) bool {
	for {
		i := bytes.IndexByte(text, '@')
		if i < 0 {
			return false
		}
		text = text[i+1:]
		name := bytes.TrimLeft(text[:min(len(text), 64)], "`'\"")
		if len(name) >= len(hintPrefix) && bytes.EqualFold(name[:len(hintPrefix)], hintPrefix) {
			return true
		}
	}
}

// HintVars returns what a SET assigns to the variables that hold hints: names in
// lower case without the @, and the value that each has on MySQL, "" for NULL. ok is
// false if that is not in the text.
func HintVars(sql []byte, m Mode) (names, values []string, ok bool) {
	all, literals, ok := UserVars(sql, m)
	if !ok {
		return nil, nil, false
	}
	for i, name := range all {
		if !isHintVariable(name) {
			continue
		}
		value, ok := LiteralValue(literals[i], m)
		if !ok {
			return nil, nil, false
		}
		names, values = append(names, name), append(values, value)
	}
	return names, values, true
}

// LiteralValue is the value of a literal of UserVars, read as a string.
func LiteralValue(literal string, m Mode) (string, bool) {
	switch strings.ToLower(literal) {
	case "null":
		return "", true
	case "true":
		return "1", true
	case "false":
		return "0", true
	}
	if literal[0] == '\'' || literal[0] == '"' {
		return stringValue(literal, m)
	}
	return literal, isPlainNumber(literal)
}

// isPlainNumber tells of numbers that MySQL shows as they are written: 5, 0.5, not
// 05, .5, 5e1, -0, 0x5.
func isPlainNumber(text string) bool {
	whole, fraction, dot := strings.Cut(text, ".")
	digits := func(s string) bool { return s != "" && len(s) <= 18 && strings.Trim(s, "0123456789") == "" }
	return digits(whole) && (whole == "0" || whole[0] != '0') && (!dot || digits(fraction))
}

// PreparedTexts are the texts of PREPARE ... FROM '...' in a text, as MySQL reads
// them. What stands in a variable is not among them.
func PreparedTexts(sql []byte, m Mode) (texts []string) {
	lx := lexer{src: sql, mode: m}
	for from := false; ; {
		t := lx.next()
		switch t.kind {
		case tokEOF:
			return texts
		case tokString:
			if text, ok := stringValue(string(sql[t.start:t.end]), m); from && ok {
				texts = append(texts, text)
			}
		}
		from = t.kind == tokWord && bytes.EqualFold(sql[t.start:t.end], []byte("from"))
	}
}
