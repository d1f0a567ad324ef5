package server

import (
	"bytes"
	"testing"

	"causeway/wire"
)

func TestBinaryValueSize(t *testing.T) {
	for _, c := range []struct {
		name string
		t    byte
		in   []byte
		want int
		ok   bool
	}{
		{"NULL", 0x06, nil, 0, true},
		{"TINY", 0x01, []byte{1}, 1, true},
		{"SHORT", 0x02, []byte{1, 0}, 2, true},
		{"YEAR", 0x0d, []byte{1, 0}, 2, true},
		{"LONG", 0x03, make([]byte, 4), 4, true},
		{"INT24", 0x09, make([]byte, 4), 4, true},
		{"FLOAT", 0x04, make([]byte, 4), 4, true},
		{"LONGLONG", 0x08, make([]byte, 8), 8, true},
		{"DOUBLE", 0x05, make([]byte, 8), 8, true},
		{"DATE zero", 0x0a, []byte{0}, 1, true},
		{"DATE", 0x0a, []byte{4, 1, 2, 3, 4}, 5, true},
		{"DATETIME", 0x0c, []byte{7, 1, 2, 3, 4, 5, 6, 7}, 8, true},
		{"TIMESTAMP with microseconds", 0x07, make([]byte, 12), 1, true},
		{"TIME", 0x0b, []byte{12}, 13, true},
		{"DATE without its length", 0x0a, nil, 0, false},
		{"VARCHAR", 0x0f, []byte("\x03abc"), 4, true},
		{"VAR_STRING empty", 0xfd, []byte{0}, 1, true},
		{"BLOB of 300", 0xfc, append([]byte{0xfc, 44, 1}, make([]byte, 300)...), 303, true},
		{"NEWDECIMAL", 0xf6, []byte("\x041.50"), 5, true},
		{"JSON", 0xf5, []byte("\x02{}"), 3, true},
		{"STRING cut short", 0xfe, []byte("\x05ab"), 0, false},
		{"STRING without a length", 0xfe, nil, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, ok := binaryValueSize(c.t, c.in)
			if ok != c.ok || ok && n != c.want {
				t.Errorf("got %d, %v, want %d, %v", n, ok, c.want, c.ok)
			}
		})
	}
}

// attrs are two query attributes, traceparent "ab" and n = 7, as a client
// sends them before the statement.
var attrs = []byte("\x00\x01" + // null bitmap, new_params_bind_flag
	"\xfe\x00\x0btraceparent" + "\x08\x00\x01n" +
	"\x02ab" + "\x07\x00\x00\x00\x00\x00\x00\x00")

func TestSkipAttributes(t *testing.T) {
	nullFirst := []byte("\x01\x01\xfe\x00\x0btraceparent\x08\x00\x01n\x07\x00\x00\x00\x00\x00\x00\x00")
	nine := []byte("\x00\x01\x01" + "\x01\x00\x00\x01\x00\x00\x01\x00\x00\x01\x00\x00\x01\x00\x00\x01\x00\x00\x01\x00\x00\x01\x00\x00\x01\x00\x00" + "12345678") // the ninth is NULL
	for _, c := range []struct {
		name  string
		count uint64
		in    []byte
		ok    bool
	}{
		{"two", 2, attrs, true},
		{"one NULL", 2, nullFirst, true},
		{"nine, a bitmap of two bytes", 9, nine, true},
		{"no bind flag", 2, append([]byte("\x00\x00"), attrs[2:]...), false},
		{"more than there are bytes", 1 << 40, attrs, false},
		{"as many as can be counted", 1<<64 - 1, attrs, false},
		{"nothing", 1, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			rest, ok := skipAttributes(append(bytes.Clone(c.in), "SELECT 1"...), c.count)
			if ok != c.ok || ok && string(rest) != "SELECT 1" {
				t.Errorf("got %q, %v, want %v", rest, ok, c.ok)
			}
		})
	}
	for i := range attrs {
		if rest, ok := skipAttributes(attrs[:i:i], 2); ok {
			t.Errorf("attributes cut after %d bytes were taken, with %q left", i, rest)
		}
	}
}

func TestQueryText(t *testing.T) {
	const with = wire.CapProtocol41 | wire.CapQueryAttributes
	for _, c := range []struct {
		name string
		in   string
		caps wire.Capability
		want string
		ok   bool
	}{
		{"without attributes", "\x03SELECT 1", wire.CapProtocol41, "SELECT 1", true},
		{"empty", "\x03", wire.CapProtocol41, "", true},
		{"no attributes given", "\x03\x00\x01SELECT 1", with, "SELECT 1", true},
		{"two attributes", "\x03\x02\x01" + string(attrs) + "SELECT 1", with, "SELECT 1", true},
		{"nothing at all", "\x03", with, "", false},
		{"no number of sets", "\x03\x00", with, "", false},
		{"a count cut short", "\x03\xfc\x01", with, "", false},
		{"attributes cut short", "\x03\x02\x01\x00\x01", with, "", false},
		{"a count that lies", "\x03\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01SELECT 1", with, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := queryText([]byte(c.in), c.caps)
			if ok != c.ok || ok && string(got) != c.want {
				t.Errorf("got %q, %v, want %q, %v", got, ok, c.want, c.ok)
			}
		})
	}
}

// executeHead is a COM_STMT_EXECUTE up to its iteration count.
func executeHead(flags byte) string {
	return "\x17\x05\x00\x00\x00" + string(flags) + "\x01\x00\x00\x00"
}

func TestParseExecute(t *testing.T) {
	const plain, named = wire.CapProtocol41, wire.CapProtocol41 | wire.CapQueryAttributes
	for _, c := range []struct {
		name   string
		in     string
		params int
		caps   wire.Capability
		want   execution
		ok     bool
	}{
		{"no parameters", executeHead(0), 0, plain, execution{}, true},
		{"no parameters, a cursor", executeHead(1), 0, plain, execution{flags: 1}, true},
		{"types sent", executeHead(0) + "\x00\x01\x08\x00\x01\x00\x00\x00\x00\x00\x00\x00", 1, plain, execution{boundFlag: 11, typesEnd: 14}, true},
		{"types known", executeHead(0) + "\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00", 1, plain, execution{boundFlag: 11, typesEnd: 12}, true},
		{"nine parameters", executeHead(0) + "\xff\x01\x01" + "\x06\x00\x06\x00\x06\x00\x06\x00\x06\x00\x06\x00\x06\x00\x06\x00\x06\x00", 9, plain, execution{boundFlag: 12, typesEnd: 31}, true},
		{"attributes allowed, none given", executeHead(8) + "\x00", 0, named, execution{flags: 8}, true},
		{"attributes not allowed, flag set", executeHead(8), 0, plain, execution{flags: 8}, true},
		{"a parameter and an attribute", executeHead(8) + "\x02\x00\x01\x08\x00\x00\xfe\x00\x01k", 1, named, execution{flags: 8, boundFlag: 12, typesEnd: 20}, true},
		{"a count without its flag", executeHead(0) + "\x01\x00\x01\x08\x00\x01p", 1, named, execution{boundFlag: 12, typesEnd: 17}, true},
		// As Connector/Python sends (1, NULL).
		{"a count without its flag, a NULL", executeHead(0) + "\x02\x02\x01\x01\x80\x00\x06\x00\x00\x01", 2, named, execution{boundFlag: 12, typesEnd: 19}, true},
		{"too short", executeHead(0)[:9], 0, plain, execution{}, false},
		{"no bind flag", executeHead(0) + "\x00", 1, plain, execution{}, false},
		{"types cut short", executeHead(0) + "\x00\x01\x08", 1, plain, execution{}, false},
		{"a name cut short", executeHead(8) + "\x01\x00\x01\x08\x00\x05ab", 0, named, execution{}, false},
		{"a count that lies", executeHead(8) + "\xfe\xff\xff\xff\xff\xff\xff\xff\x7f", 0, named, execution{}, false},
		{"a count that is missing", executeHead(8), 1, named, execution{}, false},
		{"more parameters than bytes", executeHead(0) + "\x00\x01", 60000, plain, execution{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := parseExecute([]byte(c.in), c.params, c.caps)
			if ok != c.ok || ok && got != c.want {
				t.Errorf("got %+v, %v, want %+v, %v", got, ok, c.want, c.ok)
			}
		})
	}
}

func TestExecutionWithTypes(t *testing.T) {
	in := []byte(executeHead(0) + "\x00\x00VALUE")
	e, ok := parseExecute(in, 1, wire.CapProtocol41)
	if !ok {
		t.Fatal("not parsed")
	}
	got := e.withTypes(in, "\x08\x00")
	if want := executeHead(0) + "\x00\x01\x08\x00VALUE"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	again, ok := parseExecute(got, 1, wire.CapProtocol41)
	if !ok || string(got[again.typesEnd:]) != "VALUE" {
		t.Errorf("read back %+v, %v", again, ok)
	}
}

func TestStmtID(t *testing.T) {
	if got := stmtID([]byte{0x17, 4, 3, 2, 1, 9}); got != 0x01020304 {
		t.Errorf("got %#x", got)
	}
	if got := stmtID([]byte{0x17, 4, 3, 2}); got != 0 {
		t.Errorf("a packet cut short has id %d", got)
	}
}

func FuzzQueryAttributes(f *testing.F) {
	f.Add([]byte("\x03\x00\x01SELECT 1"))
	f.Add([]byte("\x03\x02\x01" + string(attrs) + "SELECT 1"))
	f.Add([]byte("\x03\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01SELECT 1"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) == 0 {
			return
		}
		text, ok := queryText(in, wire.CapQueryAttributes)
		if ok && !bytes.HasSuffix(in, text) {
			t.Fatalf("%q is not the end of %q", text, in)
		}
	})
}

func FuzzExecutePacket(f *testing.F) {
	f.Add([]byte(executeHead(0)+"\x00\x01\x08\x00\x01\x00\x00\x00\x00\x00\x00\x00"), uint16(1), false)
	f.Add([]byte(executeHead(8)+"\x02\x00\x01\x08\x00\x00\xfe\x00\x01k"), uint16(1), true)
	f.Add([]byte(executeHead(8)+"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f"), uint16(0), true)
	f.Fuzz(func(t *testing.T, in []byte, params uint16, named bool) {
		caps := wire.CapProtocol41
		if named {
			caps |= wire.CapQueryAttributes
		}
		e, ok := parseExecute(in, int(params), caps)
		if !ok || e.boundFlag == 0 {
			return
		}
		if e.boundFlag >= len(in) || e.typesEnd > len(in) || e.typesEnd <= e.boundFlag {
			t.Fatalf("%+v lies outside of %d bytes", e, len(in))
		}
		types := in[e.boundFlag+1 : e.typesEnd]
		if out := e.withTypes(in, string(types)); in[e.boundFlag] == 1 && !bytes.Equal(out, in) {
			t.Fatalf("its own types make %q of %q", out, in)
		}
	})
}
