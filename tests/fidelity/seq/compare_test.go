package seq

import (
	"strings"
	"testing"

	"causeway/tests/session/raw"
	"causeway/wire"
)

// answer is one with everything in it, at a side whose names begin with word.
func answer(word string) raw.Answer {
	return raw.Answer{
		{
			Columns: []raw.Column{{Schema: word + "a1", Table: "t", OrgTable: "t", Name: "v", OrgName: "v", Charset: 63, Length: 11, Type: 3, Flags: 1, Decimals: 2}},
			Rows:    []raw.Row{{[]byte("1")}, {nil}},
			Status:  wire.StatusAutocommit | wire.StatusMoreResults, Warnings: 1, Track: []string{"schema:" + word + "a1"},
		},
		{AffectedRows: 2, LastInsertID: 7, Status: wire.StatusAutocommit, Info: "Rows matched: 2"},
		{Err: &wire.Error{Code: 1146, State: "42S02", Message: "Table '" + word + "a1.x' doesn't exist"}},
	}
}

// planted are changes of an answer that Compare must see.
var planted = map[string]func(a raw.Answer) raw.Answer{
	"nothing":              nil,
	"a value":              func(a raw.Answer) raw.Answer { a[0].Rows[0][0] = []byte("2"); return a },
	"NULL for a value":     func(a raw.Answer) raw.Answer { a[0].Rows[0][0] = nil; return a },
	"empty for NULL":       func(a raw.Answer) raw.Answer { a[0].Rows[1][0] = []byte{}; return a },
	"a row less":           func(a raw.Answer) raw.Answer { a[0].Rows = a[0].Rows[:1]; return a },
	"rows in other order":  func(a raw.Answer) raw.Answer { r := a[0].Rows; r[0], r[1] = r[1], r[0]; return a },
	"another schema":       func(a raw.Answer) raw.Answer { a[0].Columns[0].Schema = "fp0b1"; return a },
	"a table's alias":      func(a raw.Answer) raw.Answer { a[0].Columns[0].Table = "u"; return a },
	"a table":              func(a raw.Answer) raw.Answer { a[0].Columns[0].OrgTable = "u"; return a },
	"a column's name":      func(a raw.Answer) raw.Answer { a[0].Columns[0].Name = "w"; return a },
	"a column":             func(a raw.Answer) raw.Answer { a[0].Columns[0].OrgName = "w"; return a },
	"a column's charset":   func(a raw.Answer) raw.Answer { a[0].Columns[0].Charset = 255; return a },
	"a column's length":    func(a raw.Answer) raw.Answer { a[0].Columns[0].Length = 10; return a },
	"a column's type":      func(a raw.Answer) raw.Answer { a[0].Columns[0].Type = 8; return a },
	"a column's flags":     func(a raw.Answer) raw.Answer { a[0].Columns[0].Flags = 0; return a },
	"a column's decimals":  func(a raw.Answer) raw.Answer { a[0].Columns[0].Decimals = 0; return a },
	"in a transaction":     func(a raw.Answer) raw.Answer { a[0].Status |= wire.StatusInTrans; return a },
	"read only":            func(a raw.Answer) raw.Answer { a[0].Status |= wire.StatusInTransReadonly; return a },
	"autocommit off":       func(a raw.Answer) raw.Answer { a[1].Status &^= wire.StatusAutocommit; return a },
	"no backslash escapes": func(a raw.Answer) raw.Answer { a[1].Status |= wire.StatusNoBackslashEscapes; return a },
	"a cursor":             func(a raw.Answer) raw.Answer { a[1].Status |= wire.StatusCursorExists; return a },
	"warnings":             func(a raw.Answer) raw.Answer { a[0].Warnings = 0; return a },
	"affected rows":        func(a raw.Answer) raw.Answer { a[1].AffectedRows = 1; return a },
	"insert id":            func(a raw.Answer) raw.Answer { a[1].LastInsertID = 0; return a },
	"info":                 func(a raw.Answer) raw.Answer { a[1].Info = ""; return a },
	"tracked state":        func(a raw.Answer) raw.Answer { a[0].Track = nil; return a },
	"error code":           func(a raw.Answer) raw.Answer { a[2].Err.Code = 1147; return a },
	"SQLSTATE":             func(a raw.Answer) raw.Answer { a[2].Err.State = "HY000"; return a },
	"error text":           func(a raw.Answer) raw.Answer { a[2].Err.Message += "."; return a },
	"rows before an error": func(a raw.Answer) raw.Answer { a[2].Rows = []raw.Row{{[]byte("1")}}; return a },
	"OK for an error":      func(a raw.Answer) raw.Answer { a[2].Err = nil; return a },
	"a result less":        func(a raw.Answer) raw.Answer { return a[:2] },
	"a result more":        func(a raw.Answer) raw.Answer { return append(a, raw.Result{}) },
	"no answer":            func(raw.Answer) raw.Answer { return nil },
}

func TestCompareSeesWhatWasPlanted(t *testing.T) {
	step := q("SELECT v FROM $1.t")
	want := []Entry{{Step: step, Answer: Render(answer("fd0"))}}
	for name, change := range planted {
		a := answer("fp0")
		if change != nil {
			a = change(a)
		}
		d := Compare(want, []Entry{{Step: step, Answer: Render(a)}}, "fd0", "fp0")
		if (d != nil) != (change != nil) {
			t.Errorf("%s: difference %v", name, d)
		}
		if d != nil && (d.Want == d.Got || !strings.Contains(d.String(), "through Causeway")) {
			t.Errorf("%s: the report is no help: %s", name, d)
		}
	}
}

func TestCompareSeesMissingSteps(t *testing.T) {
	a, b := Entry{Step: q("SELECT 1"), Answer: "x"}, Entry{Step: q("SELECT 2"), Answer: "y"}
	for name, c := range map[string]struct{ want, got []Entry }{
		"less":    {[]Entry{a, b}, []Entry{a}},
		"more":    {[]Entry{a}, []Entry{a, b}},
		"another": {[]Entry{a}, []Entry{{Step: q("SELECT 3"), Answer: "x"}}},
	} {
		if Compare(c.want, c.got, "fd0", "fp0") == nil {
			t.Errorf("%s: no difference", name)
		}
	}
	if d := Compare([]Entry{a, b}, []Entry{a, b}, "fd0", "fp0"); d != nil {
		t.Errorf("equal transcripts differ: %s", d)
	}
}

// TestNamesAreOfOneLength: lengths are in column definitions and binary rows.
func TestNamesAreOfOneLength(t *testing.T) {
	d, p := strings.Join(Schemas("fd0"), ";"), strings.Join(Schemas("fp0"), ";")
	if len(d) != len(p) || strings.ReplaceAll(p, "fp0", "fd0") != d {
		t.Error("the two sides' schemas differ in more than their names")
	}
	if strings.Contains(d, "$") {
		t.Error("a placeholder is left")
	}
}
