package wire

import (
	"bytes"
	"errors"
	"testing"
)

const track41 = CapProtocol41 | CapSessionTrack

// okGolden are OK packets as servers send them.
var okGolden = []struct {
	name    string
	payload string
	caps    Capability
	want    OK
}{
	{"plain", "00 00 00 02 00 00 00", CapProtocol41, OK{Status: StatusAutocommit}},
	{"rows and id", "00 01 fc 00 01 03 00 02 00", track41, OK{
		AffectedRows: 1, LastInsertID: 256, Status: StatusInTrans | StatusAutocommit, Warnings: 2}},
	{"as EOF", "fe 00 00 22 00 00 00", track41, OK{
		Header: HeaderEOF, Status: StatusAutocommit | StatusNoIndex}},
	{"info without tracking, as the server has it", "00 01 00 02 00 00 00 03 61 62 63",
		CapProtocol41, OK{AffectedRows: 1, Status: StatusAutocommit, Info: []byte("abc")}},
	{"info without tracking, as the manual has it", "00 01 00 02 00 00 00 61 62 63",
		CapProtocol41, OK{AffectedRows: 1, Status: StatusAutocommit, Info: []byte("abc")}},
	{"info with tracking", "00 01 00 02 00 00 00 03 61 62 63", track41,
		OK{AffectedRows: 1, Status: StatusAutocommit, Info: []byte("abc")}},
	{"schema", "00 00 00 02 40 00 00 00 07 01 05 04 74 65 73 74", track41, OK{
		Status: StatusAutocommit | StatusSessionStateChanged,
		Info:   []byte{}, Track: []byte("\x01\x05\x04test")}},
	{"flag without a block", "00 00 00 02 40 00 00", track41, OK{
		Status: StatusAutocommit | StatusSessionStateChanged}},
	{"flag and info without a block", "00 00 00 02 40 00 00 01 61", track41, OK{
		Status: StatusAutocommit | StatusSessionStateChanged, Info: []byte("a")}},
	{"empty block", "00 00 00 02 40 00 00 00 00", track41, OK{
		Status: StatusAutocommit | StatusSessionStateChanged, Track: []byte{}}},
}

func sameOK(a, b OK) bool {
	return a.Header == b.Header && a.AffectedRows == b.AffectedRows &&
		a.LastInsertID == b.LastInsertID && a.Status == b.Status && a.Warnings == b.Warnings &&
		bytes.Equal(a.Info, b.Info) && bytes.Equal(a.Track, b.Track) && (a.Track == nil) == (b.Track == nil)
}

func TestParseOKGolden(t *testing.T) {
	for _, c := range okGolden {
		got, err := ParseOK(unhex(t, c.payload), c.caps)
		if err != nil || !sameOK(got, c.want) {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

func TestParseOKRefuses(t *testing.T) {
	for _, s := range []string{
		"", "01", "ff", "00", "00 00", "00 00 00", "00 00 00 02 00 00", "00 fb 00 02 00 00 00",
		"00 00 ff 02 00 00 00",
		"00 00 00 02 00 00 00 05 61",             // info longer than the packet
		"00 00 00 02 40 00 00 00 07 01",          // block longer than the packet
		"00 00 00 02 40 00 00 00 fe ff ff ff ff", // its length cut
	} {
		if ok, err := ParseOK(unhex(t, s), track41); !errors.Is(err, ErrMalformed) {
			t.Errorf("ParseOK(%s) = %+v, %v", s, ok, err)
		}
	}
}

func TestOKAppend(t *testing.T) {
	full := OK{
		AffectedRows: 1, LastInsertID: 7, Status: StatusAutocommit | StatusSessionStateChanged,
		Warnings: 1, Info: []byte("abc"), Track: []byte("\x01\x02\x01d"),
	}
	noInfo := full
	noInfo.Info = nil
	noTrack := full
	noTrack.Track = nil
	cases := []struct {
		name string
		ok   OK
		caps Capability
		want string
	}{
		{"tracking", full, track41, "00 01 07 02 40 01 00 03 61 62 63 04 01 02 01 64"},
		{"tracking, no info", noInfo, track41, "00 01 07 02 40 01 00 00 04 01 02 01 64"},
		{"flag and block go together", full, CapProtocol41, "00 01 07 02 00 01 00 03 61 62 63"},
		{"nothing left", noInfo, CapProtocol41, "00 01 07 02 00 01 00"},
		{"no flag without a block", noTrack, track41, "00 01 07 02 00 01 00 03 61 62 63"},
	}
	for _, c := range cases {
		if got := c.ok.Append(nil, c.caps); !bytes.Equal(got, unhex(t, c.want)) {
			t.Errorf("%s: %x, want %s", c.name, got, c.want)
		}
	}
}

func TestParseOKDoesNotAllocate(t *testing.T) {
	payload := unhex(t, okGolden[6].payload)
	buf := make([]byte, 0, 64)
	noAllocs(t, func() {
		ok, err := ParseOK(payload, track41)
		if err != nil {
			t.Fatal(err)
		}
		buf = ok.Append(buf[:0], CapProtocol41)
	})
}

func FuzzParseOK(f *testing.F) {
	for _, c := range okGolden {
		addPrefixes(f, unhex(f, c.payload), uint32(c.caps))
	}
	f.Fuzz(func(t *testing.T, payload []byte, capBits uint32) {
		caps := Capability(capBits)
		ok, err := ParseOK(payload, caps)
		if err != nil {
			return
		}
		again, err := ParseOK(ok.Append(nil, caps), caps)
		if ok.Track == nil {
			ok.Status &^= StatusSessionStateChanged
		}
		if err != nil || !sameOK(ok, again) {
			t.Fatalf("%+v came back as %+v, %v", ok, again, err)
		}
	})
}

func TestEOF(t *testing.T) {
	got := AppendEOF(nil, 3, StatusAutocommit|StatusMoreResults|StatusSessionStateChanged)
	if !bytes.Equal(got, unhex(t, "fe 03 00 0a 00")) {
		t.Errorf("AppendEOF = %x", got)
	}
	e, err := ParseEOF(got)
	if err != nil || e.Warnings != 3 || e.Status != StatusAutocommit|StatusMoreResults {
		t.Errorf("ParseEOF = %+v, %v", e, err)
	}
	for _, s := range []string{"", "fe", "fe 00 00 00", "00 00 00 00 00", "fe 00 00 00 00 00 00 00 01"} {
		if _, err := ParseEOF(unhex(t, s)); err == nil {
			t.Errorf("ParseEOF(%s) succeeded", s)
		}
	}
	if IsEOF(make([]byte, 9)) || !IsEOF([]byte{0xfe}) || IsEOF(append([]byte{0xfe}, make([]byte, 8)...)) {
		t.Error("IsEOF: wrong at the borders")
	}
}

func FuzzParseEOF(f *testing.F) {
	addPrefixes(f, unhex(f, "fe 03 00 0a 00"))
	f.Fuzz(func(t *testing.T, payload []byte) {
		e, err := ParseEOF(payload)
		if err != nil {
			return
		}
		again, err := ParseEOF(AppendEOF(nil, e.Warnings, e.Status))
		e.Status &^= StatusSessionStateChanged
		if err != nil || e != again {
			t.Fatalf("%+v came back as %+v, %v", e, again, err)
		}
	})
}
