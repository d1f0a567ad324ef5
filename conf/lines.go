package conf

import (
	"fmt"
	"regexp"
	"strings"
)

// lineIndex maps dotted keys to lines, as the TOML library tells positions of
// syntax errors only. It reads the file a line at a time, which is enough to
// point a person at the place; a key that it does not find has line 0.
type lineIndex map[string]int

var (
	headerLine = regexp.MustCompile(`^\s*(\[\[?)\s*([^\[\]]+?)\s*\]`)
	keyLine    = regexp.MustCompile(`^\s*([A-Za-z0-9_\-."']+(?:\s*\.\s*[A-Za-z0-9_\-."']+)*)\s*=`)
	unquoted   = strings.NewReplacer(`"`, "", `'`, "", " ", "", "\t", "")
)

// of returns the line of key, or of the innermost table around it.
func (x lineIndex) of(key string) int {
	for {
		if line, ok := x[key]; ok {
			return line
		}
		i := strings.LastIndexByte(key, '.')
		if i < 0 {
			return 0
		}
		key = key[:i]
	}
}

func indexLines(data string) lineIndex {
	x := lineIndex{}
	arrays := map[string]int{}
	table, inText := "", ""
	for i, line := range strings.Split(data, "\n") {
		if inText != "" { // inside a string of several lines
			if strings.Contains(line, inText) {
				inText = ""
			}
			continue
		}
		if m := headerLine.FindStringSubmatch(line); m != nil {
			name := unquoted.Replace(m[2])
			x.add(name, i+1)
			if m[1] == "[[" {
				arrays[name]++
				name = fmt.Sprintf("%s[%d]", name, arrays[name])
				x.add(name, i+1)
			}
			table = name + "."
			continue
		}
		if m := keyLine.FindStringSubmatch(line); m != nil {
			x.add(table+unquoted.Replace(m[1]), i+1)
		}
		inText = opensText(line)
	}
	return x
}

// add keeps the first line: a later one that looks like the key is inside of
// something else, as TOML allows each key once.
func (x lineIndex) add(key string, line int) {
	if _, ok := x[key]; !ok {
		x[key] = line
	}
}

// opensText returns the quotes of a multi-line string that line leaves open.
func opensText(line string) string {
	for _, quotes := range []string{`"""`, `'''`} {
		if strings.Count(line, quotes)%2 == 1 {
			return quotes
		}
	}
	return ""
}
