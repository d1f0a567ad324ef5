package wire

import (
	"bytes"
	"errors"
	"testing"
)

// columnGolden is the manual's column of SELECT @@version_comment.
const columnGolden = `03 64 65 66 00 00 00 11 40 40 76 65 72 73 69 6f 6e 5f 63 6f 6d 6d 65 6e 74 00
	0c 08 00 1c 00 00 00 fd 00 00 1f 00 00`

func TestAppendColumnGolden(t *testing.T) {
	got := AppendColumn(nil, Column{Name: "@@version_comment", Type: TypeVarString, Charset: 8, Length: 28})
	if !bytes.Equal(got, unhex(t, columnGolden)) {
		t.Errorf("%x", got)
	}
	n := AppendColumn(nil, Column{Name: "n", Type: TypeLongLong, Charset: CollationBinary, Flags: 0x81, Length: 21})
	if want := unhex(t, "03 64 65 66 00 00 00 01 6e 00 0c 3f 00 15 00 00 00 08 81 00 00 00 00"); !bytes.Equal(n, want) {
		t.Errorf("%x", n)
	}
}

func TestAppendRows(t *testing.T) {
	if got := AppendColumnCount(nil, 300); !bytes.Equal(got, unhex(t, "fc 2c 01")) {
		t.Errorf("column count %x", got)
	}
	got := AppendTextRow(nil, [][]byte{[]byte("ab"), nil, {}})
	if !bytes.Equal(got, unhex(t, "02 61 62 fb 00")) {
		t.Errorf("row %x", got)
	}
	if got := AppendTextRowStrings(nil, "ab", ""); !bytes.Equal(got, unhex(t, "02 61 62 00")) {
		t.Errorf("row of strings %x", got)
	}
}

const prepareGolden = "00 01 00 00 00 01 00 02 00 00 03 00"

func TestPrepareOKGolden(t *testing.T) {
	id, columns, params, warnings, err := ParsePrepareOK(unhex(t, prepareGolden))
	if err != nil || id != 1 || columns != 1 || params != 2 || warnings != 3 {
		t.Errorf("%d %d %d %d %v", id, columns, params, warnings, err)
	}
	// With OPTIONAL_RESULTSET_METADATA one byte follows.
	if _, _, _, _, err := ParsePrepareOK(unhex(t, prepareGolden+"01")); err != nil {
		t.Error(err)
	}
	golden := unhex(t, prepareGolden)
	for i := range len(golden) {
		if _, _, _, _, err := ParsePrepareOK(golden[:i]); !errors.Is(err, ErrMalformed) {
			t.Errorf("cut at %d: %v", i, err)
		}
	}
}

func TestStatementID(t *testing.T) {
	b := unhex(t, prepareGolden)
	if !SetStatementID(b, 0x04030201) || !bytes.Equal(b[:6], []byte{0, 1, 2, 3, 4, 1}) {
		t.Errorf("%x", b)
	}
	if id, ok := StatementID(b); id != 0x04030201 || !ok {
		t.Errorf("%x, %v", id, ok)
	}
	if SetStatementID(b[:4], 9) || b[1] != 1 {
		t.Error("wrote into a packet too short")
	}
	if _, ok := StatementID(b[:4]); ok {
		t.Error("read from a packet too short")
	}
}

func FuzzParsePrepareOK(f *testing.F) {
	addPrefixes(f, unhex(f, prepareGolden))
	f.Fuzz(func(t *testing.T, payload []byte) {
		id, _, _, _, err := ParsePrepareOK(payload)
		if err != nil {
			return
		}
		if got, ok := StatementID(payload); got != id || !ok {
			t.Fatalf("%d, %d", id, got)
		}
	})
}

func TestNames(t *testing.T) {
	if got := (CapProtocol41 | CapSSL | CapDeprecateEOF).String(); got != "PROTOCOL_41|SSL|DEPRECATE_EOF" {
		t.Errorf("capabilities %s", got)
	}
	if got := Capability(0xffffffff).String(); bytes.Contains([]byte(got), []byte("||")) {
		t.Errorf("a capability without a name: %s", got)
	}
	for c, want := range map[Command]string{
		ComQuery: "COM_QUERY", ComBinlogDumpGTID: "COM_BINLOG_DUMP_GTID",
		ComSubscribeGroup: "COM_SUBSCRIBE_GROUP_REPLICATION_STREAM", 0xee: "COM_0xee",
	} {
		if c.String() != want {
			t.Errorf("%d: %s", byte(c), c)
		}
	}
	for c := range Command(len(commandNames)) {
		if c.String() == "" {
			t.Errorf("command %d has no name", byte(c))
		}
	}
}
