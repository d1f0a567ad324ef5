package main

import (
	"strings"
	"unicode/utf8"
)

// table is text in columns as wide as their widest cell.
type table struct {
	heads []string
	rows  [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// String has a line for the heads, a line of dashes, and a line for each row.
func (t *table) String() string {
	widths := make([]int, len(t.heads))
	dashes := make([]string, len(t.heads))
	for _, row := range append([][]string{t.heads}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for i, w := range widths {
		dashes[i] = strings.Repeat("-", w)
	}
	var b strings.Builder
	for _, row := range append([][]string{t.heads, dashes}, t.rows...) {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
	return b.String()
}
