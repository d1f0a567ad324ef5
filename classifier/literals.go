package classifier

import (
	"slices"
	"strings"
)

// Assigned is a user variable that a SET assigns.
type Assigned struct {
	Name    string // in lower case, without the @
	Literal string // the text of its value; "" if the server is to be asked for it
}

// UserVars returns the user variables that a SET assigns with the texts of
// their values, names in lower case without the @; ok is false if one of the
// values is not a literal whose meaning is in its text.
func UserVars(sql []byte, m Mode) (names, values []string, ok bool) {
	vars, ok := SetVars(sql, m)
	for _, v := range vars {
		if v.Literal == "" {
			return nil, nil, false
		}
		names, values = append(names, v.Name), append(values, v.Literal)
	}
	return names, values, ok
}

// SetVars returns the user variables that a SET assigns; ok is false if one of the
// values is neither a literal nor a system variable.
func SetVars(sql []byte, m Mode) (vars []Assigned, ok bool) {
	lx := lexer{src: sql, mode: m}
	var toks []token
	for {
		t := lx.next()
		if t.kind == tokEOF || t.kind == tokSemi {
			break
		}
		toks = append(toks, *t)
	}
	if lx.notes&^noteExec != 0 || len(toks) < 4 {
		return nil, false
	}
	for _, item := range cutItems(sql, toks[1:]) {
		if item[0].kind != tokUserVar {
			continue
		}
		value, ok := literalText(sql, item)
		if !ok && !asksServer(sql, item) {
			return nil, false
		}
		name := strings.ToLower(unquote(string(sql[item[0].start+1 : item[0].end])))
		if !plainVarName(name) {
			return nil, false
		}
		if lx.notes != 0 { // code in a comment
			value = ""
		}
		vars = append(vars, Assigned{name, value})
	}
	return vars, true
}

// plainVarName tells of names that are not another's: MySQL takes @e, @é and @`e ` for one
// variable, and a backslash may stand for another character.
func plainVarName(name string) bool {
	return isASCII([]byte(name)) && !strings.Contains(name, `\`) && !strings.HasSuffix(name, " ")
}

// asksServer tells of @x = value where the server tells the value best: that of a system
// variable, and of strings in other character sets.
func asksServer(sql []byte, item []token) bool {
	if len(item) < 3 || !assignsTo(sql, item) {
		return false
	}
	text := func(t token) string { return string(sql[t.start:t.end]) }
	value := item[2:]
	if value[0].kind == tokSysVar {
		for i, t := range value[1:] {
			if i%2 == 0 && text(t) != "." || i%2 == 1 && t.kind != tokWord {
				return false
			}
		}
		return len(value)%2 == 1
	}
	if value[0].kind == tokWord && text(value[0])[0] == '_' {
		value = value[1:]
	}
	if n := len(value); n > 2 && value[n-1].kind == tokWord && strings.EqualFold(text(value[n-2]), "collate") {
		value = value[:n-2]
	}
	return len(value) > 0 && !slices.ContainsFunc(value, func(t token) bool { return t.kind != tokString })
}

// assignsTo tells whether an item assigns to its first token.
func assignsTo(sql []byte, item []token) bool {
	op := string(sql[item[1].start:item[1].end])
	return op == "=" || op == ":="
}

// cutItems cuts a list at its top-level commas.
func cutItems(sql []byte, toks []token) [][]token {
	var items [][]token
	depth, from := 0, 0
	for i, t := range toks {
		if t.kind != tokOp {
			continue
		}
		switch string(sql[t.start:t.end]) {
		case "(":
			depth++
		case ")":
			depth--
		case ",":
			if depth == 0 && i > from {
				items = append(items, toks[from:i])
				from = i + 1
			}
		}
	}
	if from < len(toks) {
		items = append(items, toks[from:])
	}
	return items
}

// literalText is the value of @x = literal, @x := literal, @x = -1.
func literalText(sql []byte, item []token) (string, bool) {
	if len(item) < 3 || len(item) > 4 {
		return "", false
	}
	if !assignsTo(sql, item) {
		return "", false
	}
	value := item[2:]
	sign := ""
	if len(value) == 2 {
		sign = string(sql[value[0].start:value[0].end])
		if sign != "-" && sign != "+" || value[1].kind != tokNumber {
			return "", false
		}
		value = value[1:]
	}
	text := string(sql[value[0].start:value[0].end])
	switch value[0].kind {
	case tokNumber:
		return sign + text, true
	case tokString: // only ASCII is the same in most character sets
		if isASCII([]byte(text)) && (text[0] == '\'' || text[0] == '"') {
			return text, true
		}
	case tokWord:
		switch strings.ToLower(text) {
		case "null", "true", "false":
			return text, true
		}
	}
	return "", false
}

// Autocommit returns what SET autocommit = literal sets; ok is false for all
// other texts.
func Autocommit(sql []byte, m Mode) (on, ok bool) {
	value, ok := setsOnly(sql, m, "autocommit")
	switch value {
	case "1", "on", "true":
		return true, true
	case "0", "off", "false":
		return false, true
	}
	return false, false
}

// Timestamp returns what SET timestamp = literal sets, "" for DEFAULT and 0; ok
// is false for all other texts.
func Timestamp(sql []byte, m Mode) (value string, ok bool) {
	value, ok = setsOnly(sql, m, "timestamp")
	if value == "default" || value == "0" {
		return "", ok
	}
	return value, ok && strings.Trim(value, "0123456789.") == ""
}

// setsOnly returns the value, a word or a literal in lower case, of a text that
// assigns one session variable and nothing else.
func setsOnly(sql []byte, m Mode, name string) (value string, ok bool) {
	lx := lexer{src: sql, mode: m}
	var words []string
	for {
		t := lx.next()
		if t.kind == tokEOF {
			break
		}
		if t.kind != tokSemi {
			words = append(words, strings.ToLower(string(sql[t.start:t.end])))
		}
	}
	if lx.notes != 0 || len(words) < 4 {
		return "", false
	}
	last := len(words) - 1
	switch strings.Join(words[1:last], " ") {
	case name + " =", "session " + name + " =", "local " + name + " =", "@@" + name + " =", "@@session . " + name + " =", "@@local . " + name + " =":
		return words[last], words[0] == "set"
	}
	return "", false
}

// TrimComments returns the text without the comments and blanks before and
// after it. Comments inside it stay: names of columns may have them.
func TrimComments(sql []byte, m Mode) []byte {
	lx := lexer{src: sql, mode: m}
	first, last := -1, 0
	for {
		t := lx.next()
		if t.kind == tokEOF {
			break
		}
		if first < 0 {
			first = t.start
		}
		last = t.end
	}
	if first < 0 || lx.notes != 0 {
		return sql
	}
	return sql[first:last]
}
