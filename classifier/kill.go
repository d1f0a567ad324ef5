package classifier

import "strings"

// KillTarget returns the expression by which KILL names a connection, without
// the blanks around it; ok is false for a text that is not one KILL of something
// that may be an expression.
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
	expr = string(sql[toks[first].start:toks[len(toks)-1].end])
	return expr, closed(sql, toks[first:])
}

// closed reports whether each parenthesis is closed behind it.
func closed(sql []byte, toks []token) bool {
	depth := 0
	for _, t := range toks {
		if t.kind != tokOp {
			continue
		}
		switch sql[t.start] {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}
