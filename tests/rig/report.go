package rig

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Say tells on the standard error how far a program is.
func Say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// Median is the middle value, the mean of the two middle ones for an even number
// of values, 0 for none.
func Median[T time.Duration | float64](v []T) T {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// Quantile is the value that so much of a sorted list is within, 0 for none.
func Quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// Table is a table in Markdown, in even columns.
type Table struct{ w *tabwriter.Writer }

// NewTable begins a table with the names of its columns.
func NewTable(w io.Writer, columns ...string) *Table {
	t := &Table{tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)}
	t.line("| ", columns)
	t.line("|", slices.Repeat([]string{"---"}, len(columns)))
	return t
}

// Row adds a row: a value for each column.
func (t *Table) Row(values ...any) {
	cells := make([]string, len(values))
	for i, v := range values {
		cells[i] = fmt.Sprint(v)
	}
	t.line("| ", cells)
}

func (t *Table) line(edge string, cells []string) {
	fmt.Fprintln(t.w, edge+strings.Join(cells, "\t"+edge)+"\t|")
}

// Flush writes the table; the error is the first of all.
func (t *Table) Flush() error { return t.w.Flush() }

// WriteCSV writes a file of comma-separated values; rows calls write for each
// row, the columns' names first.
func WriteCSV(file string, rows func(write func(fields ...string))) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	rows(func(fields ...string) { _ = w.Write(fields) })
	w.Flush()
	return errors.Join(w.Error(), f.Close()) // Error has those of Write too
}
