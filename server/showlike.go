package server

import (
	"regexp"
	"slices"
	"strings"
)

// likeForm is the pattern at the end of a SHOW CAUSEWAY.
var likeForm = regexp.MustCompile(`(?is)\slike\s+('(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")\s*;?\s*$`)

// takeLike takes LIKE and its pattern off the words of a statement. match is
// nil if there is none; ok is false if it is none that can be read.
func takeLike(words []string, text []byte) (rest []string, match *regexp.Regexp, ok bool) {
	if len(words) < 4 || words[3] != "like" {
		return words, nil, true
	}
	m := likeForm.FindSubmatch(text)
	if m == nil || len(words) != 5 {
		return words, nil, false
	}
	quote := string(m[1][:1])
	return words[:3], likeExpression(strings.ReplaceAll(string(m[1][1:len(m[1])-1]), quote+quote, quote)), true
}

// likeExpression makes a pattern of LIKE an expression, without regard to case as
// MySQL's own SHOW has it.
func likeExpression(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`(?is)^`)
	escaped := false
	for _, r := range pattern {
		switch {
		case escaped:
			escaped = false
			b.WriteString(regexp.QuoteMeta(string(r)))
		case r == '\\':
			escaped = true
		case r == '%':
			b.WriteString(`.*`)
		case r == '_':
			b.WriteString(`.`)
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	b.WriteString(`$`)
	return regexp.MustCompile(b.String())
}

// liked are the rows whose first value matches, all if match is nil.
func liked(rows [][]string, match *regexp.Regexp) [][]string {
	if match == nil {
		return rows
	}
	return slices.DeleteFunc(rows, func(row []string) bool { return !match.MatchString(row[0]) })
}
