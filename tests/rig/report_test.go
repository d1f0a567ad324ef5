package rig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want float64
	}{
		{nil, 0},
		{[]float64{3}, 3},
		{[]float64{9, 1, 5}, 5},
		{[]float64{4, 1, 2, 9}, 3},
	} {
		if got := Median(c.in); got != c.want {
			t.Errorf("Median(%v) = %v, want %v", c.in, got, c.want)
		}
	}
}

func TestQuantile(t *testing.T) {
	sorted := []time.Duration{1, 2, 3, 4}
	for q, want := range map[float64]time.Duration{0: 1, .5: 3, .99: 4, 1: 4} {
		if got := Quantile(sorted, q); got != want {
			t.Errorf("%v: %v, want %v", q, got, want)
		}
	}
	if got := Quantile(nil, .5); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestTable(t *testing.T) {
	var b strings.Builder
	table := NewTable(&b, "mode", "reads")
	table.Row("token", 12)
	table.Row("sticky window", time.Second)
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	const want = "| mode          | reads |\n|---            |---    |\n| token         | 12    |\n| sticky window | 1s    |\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestWriteCSV(t *testing.T) {
	file := filepath.Join(t.TempDir(), "data.csv")
	rows := func(write func(...string)) {
		write("lag", "reads")
		write("a, b", "1")
	}
	if err := WriteCSV(file, rows); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "lag,reads\n\"a, b\",1\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := WriteCSV(filepath.Join(file, "no folder"), rows); err == nil {
		t.Error("a file that cannot be made is no error")
	}
}
