package clients

import (
	"slices"
	"testing"
)

func TestParseSeen(t *testing.T) {
	s, err := parseSeen([]byte("{\"name\":\"a\",\"value\":{\"y\":1, \"x\":12345678901234567890}}\n\n{\"name\":\"end\",\"value\":1}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"x":12345678901234567890,"y":1}`; len(s) != 1 || s["a"] != want {
		t.Errorf("got %v, want a = %s", s, want)
	}
}

func TestParseSeenRefuses(t *testing.T) {
	const end = "{\"name\":\"end\"}\n"
	for name, out := range map[string]string{
		"nothing":   "",
		"cut short": "{\"name\":\"a\",\"value\":1}\n",
		"no check":  end,
		"twice":     "{\"name\":\"a\",\"value\":1}\n{\"name\":\"a\",\"value\":1}\n" + end,
		"no JSON":   "Traceback\n" + end,
		"no name":   "{\"value\":1}\n" + end,
	} {
		if _, err := parseSeen([]byte(out)); err == nil {
			t.Errorf("%s passed", name)
		}
	}
}

func TestCompare(t *testing.T) {
	direct := seen{"same": "1", "other": "1", "lost": "1"}
	through := seen{"same": "1", "other": "2", "more": "1"}
	want := []difference{{"lost", "1", "not checked"}, {"more", "not checked", "1"}, {"other", "1", "2"}}
	if got := compare(direct, through); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestBroken(t *testing.T) {
	s := seen{"good": `{"errno":1064}`, "bad": `{"broken":"TypeError"}`}
	if got := s.broken(); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

func TestAllowed(t *testing.T) {
	list := []allowance{{check: "*/connection id", reason: "r"}, {check: "go/exact", reason: "r"}}
	for name, want := range map[string]bool{
		"go/connection id": true, "java/connectorj/connection id": true, "go/exact": true, "go/exactly": false, "php/exact": false,
	} {
		if got := allowed(list, name) != nil; got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
