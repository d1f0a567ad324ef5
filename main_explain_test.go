package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// TestExplainExample runs causeway explain with the example configuration. What
// it shows of a real cluster is for tests/classes.
func TestExplainExample(t *testing.T) {
	out := runExplain(t, "explain", "--config", "conf/causeway.toml", "--schema", "reports", "SELECT * FROM orders")
	for _, want := range []string{"Statement  ", "Kind       ", "read\n", "Rule       ", "reports: class=F2\n", "Class      ", "F2\n", "Choice     "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
}

func runExplain(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(context.Background(), append([]string{"causeway"}, args...), &out, &out, func(string) string { return "" }); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestExplainMistakes(t *testing.T) {
	for _, args := range [][]string{
		{"explain", "--config", "conf/causeway.toml"},
		{"explain", "--config", "conf/causeway.toml", "SELECT", "1"},
		{"explain", "--config", "conf/causeway.toml", "--user", "nobody", "SELECT 1"},
		{"explain", "SELECT 1"},
	} {
		var out bytes.Buffer
		if err := run(context.Background(), append([]string{"causeway"}, args...), &out, &out, func(string) string { return "" }); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
