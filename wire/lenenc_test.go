package wire

import (
	"bytes"
	"math"
	"testing"
)

func TestLenEncIntGolden(t *testing.T) {
	cases := []struct {
		v    uint64
		want string
	}{
		{0, "00"},
		{1, "01"},
		{250, "fa"},
		{251, "fc fb 00"},
		{255, "fc ff 00"},
		{256, "fc 00 01"},
		{65535, "fc ff ff"},
		{65536, "fd 00 00 01"},
		{1<<24 - 1, "fd ff ff ff"},
		{1 << 24, "fe 00 00 00 01 00 00 00 00"},
		{math.MaxUint32, "fe ff ff ff ff 00 00 00 00"},
		{math.MaxUint64, "fe ff ff ff ff ff ff ff ff"},
	}
	for _, c := range cases {
		want := unhex(t, c.want)
		got := AppendLenEncInt([]byte{0xaa}, c.v)
		if !bytes.Equal(got, append([]byte{0xaa}, want...)) {
			t.Errorf("AppendLenEncInt(%d) = %x", c.v, got)
		}
		v, n, ok := ReadLenEncInt(append(want, 0x55))
		if v != c.v || n != len(want) || !ok {
			t.Errorf("ReadLenEncInt(%x) = %d, %d, %v", want, v, n, ok)
		}
		for i := range want {
			if _, _, ok := ReadLenEncInt(want[:i]); ok {
				t.Errorf("ReadLenEncInt(%x) of a cut packet succeeded", want[:i])
			}
		}
	}
}

func TestLenEncIntTakesLongEncodings(t *testing.T) {
	for _, s := range []string{"fc 05 00", "fd 05 00 00", "fe 05 00 00 00 00 00 00 00"} {
		b := unhex(t, s)
		if v, n, ok := ReadLenEncInt(b); v != 5 || n != len(b) || !ok {
			t.Errorf("ReadLenEncInt(%x) = %d, %d, %v", b, v, n, ok)
		}
	}
}

func TestReadLenEncIntRefuses(t *testing.T) {
	for _, s := range []string{"", "fb", "ff", "fb 00 00", "ff 00 00 00 00 00 00 00 00 00"} {
		if _, _, ok := ReadLenEncInt(unhex(t, s)); ok {
			t.Errorf("ReadLenEncInt(%s) succeeded", s)
		}
	}
}

func TestReadLenEncBytes(t *testing.T) {
	cases := []struct {
		in, want string
		n        int
		ok       bool
	}{
		{"00", "", 1, true},
		{"03 61 62 63", "abc", 4, true},
		{"03 61 62 63 64", "abc", 4, true},
		{"fc 03 00 61 62 63", "abc", 6, true},
		{"03 61 62", "", 0, false},
		{"", "", 0, false},
		{"fb", "", 0, false},
		{"fe ff ff ff ff ff ff ff ff 61", "", 0, false}, // 16 EB
		{"fe ff ff ff ff ff ff ff 7f 61", "", 0, false}, // the largest int
	}
	for _, c := range cases {
		s, n, ok := ReadLenEncBytes(unhex(t, c.in))
		if string(s) != c.want || n != c.n || ok != c.ok {
			t.Errorf("ReadLenEncBytes(%s) = %q, %d, %v", c.in, s, n, ok)
		}
	}
}

func TestReadLenEncBytesCannotGrowIntoItsNeighbour(t *testing.T) {
	b := unhex(t, "02 61 62 63")
	s, _, _ := ReadLenEncBytes(b)
	_ = append(s, 'X')
	if b[3] != 'c' {
		t.Error("append to the result overwrote the byte behind it")
	}
}

func TestReadTextValue(t *testing.T) {
	if s, n, ok := ReadTextValue([]byte{0xfb}); s != nil || n != 1 || !ok {
		t.Errorf("NULL = %v, %d, %v", s, n, ok)
	}
	if s, n, ok := ReadTextValue([]byte{0}); s == nil || len(s) != 0 || n != 1 || !ok {
		t.Errorf("empty string = %v, %d, %v", s, n, ok)
	}
	if s, n, ok := ReadTextValue([]byte{1, 'x'}); string(s) != "x" || n != 2 || !ok {
		t.Errorf("x = %q, %d, %v", s, n, ok)
	}
	if _, _, ok := ReadTextValue(nil); ok {
		t.Error("nothing is no value")
	}
}

func TestAppendNulStopsAtNul(t *testing.T) {
	if got := appendNul(nil, "ab\x00cd"); string(got) != "ab\x00" {
		t.Errorf("appendNul = %q", got)
	}
}

func TestLenEncStringSize(t *testing.T) {
	for _, n := range []int{0, 250, 251, 65535, 65536, 1<<24 - 1, 1 << 24} {
		if got := len(AppendLenEncInt(nil, uint64(n))) + n; lenEncStringSize(n) != got {
			t.Errorf("lenEncStringSize(%d) = %d, want %d", n, lenEncStringSize(n), got)
		}
	}
}

func TestReadLenEncDoesNotAllocate(t *testing.T) {
	b := unhex(t, "fc 03 00 61 62 63")
	noAllocs(t, func() {
		ReadLenEncInt(b)
		ReadLenEncBytes(b)
		ReadTextValue(b)
	})
}

func FuzzLenEnc(f *testing.F) {
	addPrefixes(f, unhex(f, "fe 05 00 00 00 00 00 00 00 61 62"))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, n, ok := ReadLenEncInt(b)
		if ok {
			if v2, _, ok := ReadLenEncInt(AppendLenEncInt(nil, v)); v2 != v || !ok {
				t.Fatalf("%d came back as %d", v, v2)
			}
		}
		s, m, ok := ReadLenEncBytes(b)
		if ok && (m < n || m > len(b) || len(s) != m-n) {
			t.Fatalf("string of %d in %d bytes of %d", len(s), m, len(b))
		}
	})
}
