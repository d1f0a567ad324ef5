package classifier

// tok is a token of a normalised text.
type tok struct {
	kind     tokenKind
	text     string
	gap      bool
	afterDot bool
}

// statement is the tokens of one statement, without its semicolon.
type statement struct {
	toks []tok
	c    *Classifier
}

// tokenise reads a normalised text into tokens.
func tokenise(text string, m Mode) []tok {
	lx := lexer{src: []byte(text), mode: m}
	toks := make([]tok, 0, len(text)/5+4)
	for {
		t := lx.next()
		if t.kind == tokEOF {
			return toks
		}
		toks = append(toks, tok{t.kind, text[t.start:t.end], t.gap, t.afterDot})
	}
}

// at is the token at i, the zero token outside.
func (s statement) at(i int) tok {
	if i < 0 || i >= len(s.toks) {
		return tok{}
	}
	return s.toks[i]
}

// word is the keyword or unquoted identifier at i, "" if there is none.
func (s statement) word(i int) string {
	if t := s.at(i); t.kind == tokWord && !t.afterDot {
		return t.text
	}
	return ""
}

// op is the operator at i, "" if there is none.
func (s statement) op(i int) string {
	if t := s.at(i); t.kind == tokOp {
		return t.text
	}
	return ""
}

// name is the identifier at i, its quotes taken off, "" if there is none.
func (s statement) name(i int) string {
	switch t := s.at(i); t.kind {
	case tokWord:
		return t.text
	case tokQuoted:
		return unquote(t.text)
	}
	return ""
}

// unquote takes the quotes off an identifier. Doubled quotes in it stay: no
// name that matters has them.
func unquote(q string) string {
	if len(q) >= 2 && (q[0] == '`' || q[0] == '"' || q[0] == '\'') {
		return q[1 : len(q)-1]
	}
	return q
}

// is reports whether the words at i are those given.
func (s statement) is(i int, words ...string) bool {
	for n, w := range words {
		if s.word(i+n) != w {
			return false
		}
	}
	return true
}

// has reports whether the word stands anywhere from i on.
func (s statement) has(i int, w string) bool { return s.index(i, w) >= 0 }

// index is the first position from i on of one of the words, -1 for none.
func (s statement) index(i int, words ...string) int {
	for ; i < len(s.toks); i++ {
		have := s.word(i)
		if have == "" {
			continue
		}
		for _, w := range words {
			if have == w {
				return i
			}
		}
	}
	return -1
}

// from is the statement without its first n tokens.
func (s statement) from(n int) statement {
	return statement{s.toks[min(n, len(s.toks)):], s.c}
}

// closing is the position of the parenthesis that closes the one at i, -1 if
// it is not closed.
func (s statement) closing(i int) int {
	for depth := 0; i < len(s.toks); i++ {
		switch s.op(i) {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// balanced reports whether every parenthesis has its partner.
func (s statement) balanced() bool {
	depth := 0
	for i := range s.toks {
		switch s.op(i) {
		case "(":
			depth++
		case ")":
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}

// verdict is what was found out about one statement.
type verdict struct {
	kind      Kind
	flags     Flags
	trx       Trx
	names     []string
	killID    uint64
	killQuery bool
}

// maxPrograms bounds the stored programs in a text: for each of them all of the
// text after it is searched.
const maxPrograms = 16

// split cuts a text into its statements. The body of a stored program belongs
// to the statement that creates it. It is false for a text with very many.
func split(toks []tok, c *Classifier) (all []statement, ok bool) {
	programs := 0
	for len(toks) > 0 {
		s := statement{toks, c}
		end := 0
		if createsProgram(s) {
			if programs++; programs > maxPrograms {
				return all, false
			}
			end = programEnd(s)
		} else {
			end = s.semicolon()
		}
		all = append(all, statement{toks[:end], c})
		toks = toks[min(end+1, len(toks)):]
	}
	return all, true
}

// semicolon is the position of the first one, or the end.
func (s statement) semicolon() int {
	for i, t := range s.toks {
		if t.kind == tokSemi {
			return i
		}
	}
	return len(s.toks)
}

// createsProgram reports whether the statement creates or alters a routine,
// trigger or event, whose body may hold semicolons.
func createsProgram(s statement) bool {
	if w := s.word(0); w != "create" && w != "alter" {
		return false
	}
	for i := 1; i < len(s.toks) && s.at(i).kind != tokSemi; i++ {
		switch s.word(i) {
		case "procedure", "function", "trigger", "event":
			return true
		case "table", "view", "index", "database", "schema", "user", "role":
			return false
		}
	}
	return false
}

// programEnd finds the semicolon after a stored program. BEGIN and CASE nest up
// to their END; a segment that starts with a word which starts no statement
// (END IF, ELSE, UNTIL ...) shows that all before it was body.
func programEnd(s statement) int {
	end, depth, found := len(s.toks), 0, false
	for i := 0; i < len(s.toks); i++ {
		switch s.word(i) {
		case "begin", "case":
			depth++
		case "end":
			switch s.word(i + 1) {
			case "if", "loop", "while", "repeat":
			case "case":
				i++
				depth--
			default:
				depth--
			}
		}
		if s.at(i).kind != tokSemi || depth > 0 {
			continue
		}
		switch s.word(i + 1) {
		case "end", "else", "elseif", "until", "when":
			found = false
			end = len(s.toks)
		default:
			if !found {
				end, found = i, true
			}
		}
	}
	return end
}
