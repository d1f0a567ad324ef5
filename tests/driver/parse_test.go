package driver

import (
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
	through := &outcome{passed: set("A", "E"), failed: set("B"), skipped: set("C"), output: map[string]string{}}
	got := lost(direct, through)
	want := map[string]string{"B": "fails", "C": "is skipped", "D": "did not run"}
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for name, words := range want {
		if !strings.HasPrefix(got[name], words) {
			t.Errorf("%s %q, want %q", name, got[name], words)
		}
	}
	through.take(&outcome{passed: set("B", "C", "D")})
	if got := lost(direct, through); len(got) != 0 {
		t.Errorf("after a later run: %q", got)
	}
}

func TestPatternOf(t *testing.T) {
	got := patternOf(map[string]string{"TestB/text": "", "TestA": "", "TestB/binary#01": ""})
	if got != "^(TestA|TestB)$" {
		t.Errorf("got %s", got)
	}
}
