package driver

import (
	"slices"
	"strings"
	"testing"
)

const stream = `{"Action":"start"}
{"Action":"run","Test":"TestA"}
{"Action":"output","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"run","Test":"TestA/text"}
{"Action":"pass","Test":"TestA/text"}
{"Action":"pass","Test":"TestA"}
{"Action":"output","Test":"TestB","Output":"wrong value\n"}
{"Action":"fail","Test":"TestB"}
{"Action":"skip","Test":"TestC"}
{"Action":"fail"}
`

func TestParse(t *testing.T) {
	o, err := parse([]byte(stream))
	if err != nil {
		t.Fatal(err)
	}
	if len(o.passed) != 2 || !o.passed["TestA/text"] || !o.failed["TestB"] || !o.skipped["TestC"] {
		t.Errorf("got %+v", o)
	}
	if o.output["TestB"] != "wrong value\n" {
		t.Errorf("output of TestB: %q", o.output["TestB"])
	}
}

func TestParseRefusesHalfAStream(t *testing.T) {
	for _, s := range []string{"", strings.TrimSuffix(stream, "{\"Action\":\"fail\"}\n"), "panic: no JSON\n"} {
		if _, err := parse([]byte(s)); err == nil {
			t.Errorf("%q passed", s)
		}
	}
}

func TestLost(t *testing.T) {
	set := func(names ...string) map[string]bool {
		m := map[string]bool{}
		for _, n := range names {
			m[n] = true
		}
		return m
	}
	direct := &outcome{passed: set("A", "B", "C", "D")}
	through := &outcome{passed: set("A", "E"), failed: set("B"), skipped: set("C")}
	got := lost(direct, through)
	slices.Sort(got)
	want := []string{"B fails", "C is skipped", "D did not run"}
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
}
