package classifier

import "strings"

// KillTarget returns the expression by which KILL names a connection, without
// the blanks around it; ok is false for a text that holds more than one KILL.
func KillTarget(sql []byte, m Mode) (expr string, ok bool) {
	lx := lexer{src: sql, mode: m}
	var toks []token
	for {
		t := lx.next()
		if t.kind == tokEOF || t.kind == tokSemi {
			break
		}
		toks = append(toks, *t)
	}
	word := func(i int) string {
		if i >= len(toks) || toks[i].kind != tokWord {
			return ""
		}
		return strings.ToLower(string(sql[toks[i].start:toks[i].end]))
	}
	first := 1
	if w := word(1); w == "query" || w == "connection" {
		first = 2
	}
	if lx.notes != 0 || word(0) != "kill" || first >= len(toks) || lx.next().kind != tokEOF {
		return "", false
	}
	return string(sql[toks[first].start:toks[len(toks)-1].end]), true
}
