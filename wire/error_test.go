package wire

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

func TestErrorGolden(t *testing.T) {
	golden := unhex(t, "ff 48 04 23 48 59 30 30 30 4e 6f 20 74 61 62 6c 65 73 20 75 73 65 64")
	e, err := ParseError(golden)
	if err != nil || *e != (Error{1096, "HY000", "No tables used"}) {
		t.Fatalf("ParseError = %+v, %v", e, err)
	}
	if got := e.Append(nil, CapProtocol41); !bytes.Equal(got, golden) {
		t.Errorf("Append = %x", got)
	}
	if got := e.Error(); got != "ERROR 1096 (HY000): No tables used" {
		t.Errorf("Error = %q", got)
	}
}

func TestErrorBeforeCapabilities(t *testing.T) {
	e := NewError(ErrTooManyConnections, "Too many connections")
	got := e.Append(nil, 0)
	if !bytes.Equal(got, append(unhex(t, "ff 10 04"), "Too many connections"...)) {
		t.Errorf("Append = %q", got)
	}
	back, err := ParseError(got)
	if err != nil || back.Code != e.Code || back.State != "" || back.Message != e.Message {
		t.Errorf("ParseError = %+v, %v", back, err)
	}
	if again := back.Append(nil, CapProtocol41); !bytes.Equal(again, got) {
		t.Errorf("passed on as %q", again)
	}
	if back.Error() != "ERROR 1040: Too many connections" {
		t.Errorf("Error = %q", back.Error())
	}
}

func TestErrorWithoutValidState(t *testing.T) {
	e := &Error{Code: ErrAccessDenied, State: "1", Message: "m"}
	if got := e.Append(nil, CapProtocol41); string(got[3:]) != "m" {
		t.Errorf("Append = %q", got)
	}
}

func TestParseErrorOdd(t *testing.T) {
	for _, s := range []string{"", "ff", "ff 48", "00 48 04"} {
		if _, err := ParseError(unhex(t, s)); !errors.Is(err, ErrMalformed) {
			t.Errorf("ParseError(%s): %v", s, err)
		}
	}
	// A marker with less than a state behind it is text.
	if e, err := ParseError(unhex(t, "ff 48 04 23 48")); err != nil || e.Message != "#H" {
		t.Errorf("ParseError = %+v, %v", e, err)
	}
}

// TestSQLStates holds what the server's table says, so that a slip in ours shows.
func TestSQLStates(t *testing.T) {
	for code, want := range map[uint16]string{
		1040: "08004", 1043: "08S01", 1044: "42000", 1045: "28000", 1046: "3D000", 1047: "08S01",
		1049: "42000", 1053: "08S01", 1054: "42S22", 1064: "42000", 1065: "42000", 1094: "HY000",
		1105: "HY000", 1146: "42S02", 1153: "08S01", 1156: "08S01", 1157: "08S01", 1158: "08S01",
		1159: "08S01", 1160: "08S01", 1161: "08S01", 1184: "08S01", 1193: "HY000", 1205: "HY000",
		1213: "40001", 1226: "42000", 1227: "42000", 1231: "42000", 1235: "42000", 1243: "HY000",
		1251: "08004", 1290: "HY000", 1295: "HY000", 1305: "42000", 1317: "70100", 1792: "25006",
		1820: "HY000", 1835: "HY000", 1862: "HY000", 2006: "HY000", 2013: "HY000", 3024: "HY000",
		3032: "HY000", 3159: "HY000", 4031: "HY000", 65535: "HY000",
	} {
		if got := NewError(code, "x").State; got != want {
			t.Errorf("%d: %s, want %s", code, got, want)
		}
	}
}

func TestErrorIsFoundThroughWrapping(t *testing.T) {
	err := fmt.Errorf("dial: %w", NewError(ErrAccessDenied, "no %d", 1))
	var e *Error
	if !errors.As(err, &e) || e.Message != "no 1" {
		t.Errorf("errors.As: %+v", e)
	}
}

func FuzzParseError(f *testing.F) {
	addPrefixes(f, unhex(f, "ff 48 04 23 48 59 30 30 30 4e 6f"))
	f.Fuzz(func(t *testing.T, payload []byte) {
		e, err := ParseError(payload)
		if err != nil {
			return
		}
		again, err := ParseError(e.Append(nil, CapProtocol41))
		if err != nil || *e != *again {
			t.Fatalf("%+v came back as %+v, %v", e, again, err)
		}
	})
}
