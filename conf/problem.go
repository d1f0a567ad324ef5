package conf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one mistake in a configuration.
type Problem struct {
	Line    int    // in the file, 0 if the mistake is something missing
	Key     string // dotted, as in "monitor.password"
	Wrong   string // what is wrong
	Instead string // what to write instead
}

// String returns the problem in one line: "line 3: routing.wait: ...; write ...".
func (p Problem) String() string {
	var b strings.Builder
	if p.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", p.Line)
	}
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	b.WriteString(p.Wrong)
	if p.Instead != "" {
		b.WriteString("; " + p.Instead)
	}
	return b.String()
}

// Problems is the error of a file with mistakes: all of them, in file order.
type Problems struct {
	Path string
	List []Problem
}

// Error returns one line for each problem, each starting with the path.
func (p *Problems) Error() string {
	lines := make([]string, len(p.List))
	for i, one := range p.List {
		lines[i] = p.Path + ": " + one.String()
	}
	return strings.Join(lines, "\n")
}

// sort orders by line, with the missing things at the end.
func (p *Problems) sort() {
	slices.SortStableFunc(p.List, func(a, b Problem) int {
		if (a.Line == 0) != (b.Line == 0) {
			return cmp.Compare(b.Line, a.Line)
		}
		return cmp.Or(cmp.Compare(a.Line, b.Line), strings.Compare(a.Key, b.Key))
	})
}
