package store

import (
	"testing"

	"causeway/share"
)

func TestReadSight(t *testing.T) {
	s, err := readSight([]any{"life", "1000", []any{"a", "1400 life proc list"}, "500 5000 life x:1-9", []any{"3 900 x:1-20,\ny:1"}, []any{}}, []string{"k", "other"})
	if err != nil {
		t.Fatal(err)
	}
	if s.Life != "life" || s.Now != 1000 || s.Leases["a"] != (share.Lease{Life: "life", Proc: "proc", List: "list", End: 1400}) ||
		s.Floor != (share.Floor{Life: "life", Begun: 500, Until: 5000, Set: "x:1-9"}) || len(s.Entries) != 1 || s.Entries["k"][0] != "x:1-20,\ny:1" {
		t.Errorf("%+v", s)
	}
}

// TestUnreadable: what is not as it should be is an error, never half of an answer.
func TestUnreadable(t *testing.T) {
	for name, answer := range map[string][]any{
		"short":               {"life", "1000", []any{}},
		"too few names":       {"life", "1000", []any{}, ""},
		"no time":             {"life", "soon", []any{}, "", []any{}},
		"a number for a life": {int64(1), "1000", []any{}, "", []any{}},
		"a lease without end": {"life", "1000", []any{"a", "life proc list"}, "", []any{}},
		"an odd lease":        {"life", "1000", []any{"a"}, "", []any{}},
		"half a floor":        {"life", "1000", []any{}, "500 5000", []any{}},
		"half an entry":       {"life", "1000", []any{}, "", []any{"3 900"}},
		"an entry of null":    {"life", "1000", []any{}, "", []any{nil}},
		"a floor of letters":  {"life", "1000", []any{}, "a b life x:1", []any{}},
		"a lease of letters":  {"life", "1000", []any{"a", "x life proc list"}, "", []any{}},
	} {
		if _, err := readSight(answer, []string{"k"}); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}
