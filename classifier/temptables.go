package classifier

import "strings"

// TempTables returns the tables that a text creates or drops, spelled as they are
// there, with their schema if the text has it; nil if they are not to be seen.
func TempTables(sql string, m Mode) (names []string) {
	s := statement{toks: tokenise(sql, m)}
	i := 0
	for !s.isAnyCase(i, "table") && !s.isAnyCase(i, "tables") {
		if i++; i >= len(s.toks) {
			return nil
		}
	}
	for i++; s.isAnyCase(i, "if") || s.isAnyCase(i, "not") || s.isAnyCase(i, "exists"); i++ {
	}
	for {
		name := s.name(i)
		if s.op(i+1) == "." {
			i += 2
			name += "." + s.name(i)
		}
		if name == "" {
			return nil
		}
		names = append(names, name)
		if s.op(i+1) != "," {
			return names
		}
		i += 2
	}
}

// isAnyCase is is for tokens that no digest has brought into lower case.
func (s statement) isAnyCase(i int, word string) bool { return strings.EqualFold(s.word(i), word) }
