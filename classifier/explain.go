package classifier

import "strings"

// ExplainTarget returns the statement that EXPLAIN CAUSEWAY names, with the
// comments before it, in which it may have hints; ok is false for all other
// texts.
func ExplainTarget(sql []byte, m Mode) (target []byte, ok bool) {
	lx := lexer{src: sql, mode: m}
	for i, want := range []string{"explain", "causeway"} {
		t := lx.next()
		word := strings.ToLower(string(sql[t.start:t.end]))
		if t.kind != tokWord || word != want && !(i == 0 && (word == "describe" || word == "desc")) {
			return nil, false
		}
	}
	target = sql[lx.pos:]
	return target, lx.next().kind != tokEOF
}
