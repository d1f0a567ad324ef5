package wire

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"net"
	"strings"
	"testing"
)

// v2 makes a header of version 2; block is what comes behind its length.
func v2(versionCommand, family byte, block []byte) []byte {
	b := append([]byte(proxyV2Start), versionCommand, family)
	return append(binary.BigEndian.AppendUint16(b, uint16(len(block))), block...)
}

func tlv(kind byte, value []byte) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{kind}, uint16(len(value))), value...)
}

// withCRC adds the checksum to a header of version 2, off by some.
func withCRC(header []byte, off uint32) []byte {
	b := append(append([]byte(nil), header...), tlv(proxyTLVCRC32C, make([]byte, 4))...)
	binary.BigEndian.PutUint16(b[14:], uint16(len(b)-proxyV2Fixed))
	sum := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
	binary.BigEndian.PutUint32(b[len(b)-4:], sum+off)
	return b
}

var (
	v4Block  = []byte("\xc0\x00\x02\x07\x0a\x00\x00\x01\xdc\x04\x0c\xea")
	v6Block  = append(append(net.ParseIP("2001:db8::7").To16(), net.ParseIP("2001:db8::1").To16()...), 0xdc, 0x04, 0x0c, 0xea)
	mapBlock = append(append(net.ParseIP("192.0.2.7").To16(), net.ParseIP("192.0.2.1").To16()...), 0xdc, 0x04, 0x0c, 0xea)
)

// proxyHeaders: from is the address, "" if the socket's holds, "!" for an error.
var proxyHeaders = []struct{ name, header, from string }{
	{"v1 TCP4", "PROXY TCP4 192.0.2.7 10.0.0.1 56324 3306\r\n", "192.0.2.7:56324"},
	{"v1 TCP6", "PROXY TCP6 2001:db8::7 2001:db8::1 56324 3306\r\n", "[2001:db8::7]:56324"},
	{"v1 TCP6 mapped", "PROXY TCP6 ::ffff:192.0.2.7 ::1 1 2\r\n", "192.0.2.7:1"},
	{"v1 UNKNOWN", "PROXY UNKNOWN\r\n", ""},
	{"v1 UNKNOWN, longest", "PROXY UNKNOWN " + strings.Repeat("f", proxyV1Max-16) + "\r\n", ""},
	{"v1 too long", "PROXY UNKNOWN " + strings.Repeat("f", proxyV1Max-15) + "\r\n", "!"},
	{"v1 no end", "PROXY TCP4 192.0.2.7 " + strings.Repeat(" ", 100), "!"},
	{"v1 lower case", "proxy TCP4 192.0.2.7 10.0.0.1 56324 3306\r\n", "!"},
	{"v1 UDP", "PROXY UDP4 192.0.2.7 10.0.0.1 56324 3306\r\n", "!"},
	{"v1 wrong family", "PROXY TCP4 2001:db8::7 2001:db8::1 56324 3306\r\n", "!"},
	{"v1 wrong family 6", "PROXY TCP6 192.0.2.7 10.0.0.1 56324 3306\r\n", "!"},
	{"v1 port", "PROXY TCP4 192.0.2.7 10.0.0.1 65536 3306\r\n", "!"},
	{"v1 no port", "PROXY TCP4 192.0.2.7 10.0.0.1 56324\r\n", "!"},
	{"v1 name", "PROXY TCP4 localhost 10.0.0.1 56324 3306\r\n", "!"},
	{"v1 zone", "PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n", "!"},
	{"v1 two blanks", "PROXY TCP4  192.0.2.7 10.0.0.1 56324 3306\r\n", "!"},
	{"v2 TCP4", string(v2(0x21, 0x11, v4Block)), "192.0.2.7:56324"},
	{"v2 UDP4", string(v2(0x21, 0x12, v4Block)), "192.0.2.7:56324"},
	{"v2 TCP6", string(v2(0x21, 0x21, v6Block)), "[2001:db8::7]:56324"},
	{"v2 TCP6 mapped", string(v2(0x21, 0x21, mapBlock)), "192.0.2.7:56324"},
	{"v2 LOCAL", string(v2(0x20, 0x00, nil)), ""},
	{"v2 LOCAL with a block", string(v2(0x20, 0x11, v4Block)), ""},
	{"v2 LOCAL with garbage", string(v2(0x20, 0x11, []byte{1})), ""},
	{"v2 unspecified", string(v2(0x21, 0x00, nil)), ""},
	{"v2 unspecified with a value", string(v2(0x21, 0x00, tlv(0x04, []byte("x")))), ""},
	{"v2 Unix", string(v2(0x21, 0x31, make([]byte, 216))), ""},
	{"v2 unknown family", string(v2(0x21, 0x71, []byte("what is this"))), ""},
	{"v2 values", string(v2(0x21, 0x11, append(v4Block[:12:12], append(tlv(0x01, []byte("h2")), tlv(0x20, make([]byte, 300))...)...))), "192.0.2.7:56324"},
	{"v2 checksum", string(withCRC(v2(0x21, 0x11, append(v4Block[:12:12], tlv(0x01, []byte("h2"))...)), 0)), "192.0.2.7:56324"},
	{"v2 wrong checksum", string(withCRC(v2(0x21, 0x11, v4Block), 1)), "!"},
	{"v2 short checksum", string(v2(0x21, 0x11, append(v4Block[:12:12], tlv(0x03, []byte("12"))...))), "!"},
	{"v2 value too long", string(v2(0x21, 0x11, append(v4Block[:12:12], 0x01, 0x00, 0x05, 'x'))), "!"},
	{"v2 value cut short", string(v2(0x21, 0x11, append(v4Block[:12:12], 0x01))), "!"},
	{"v2 block too short", string(v2(0x21, 0x11, v4Block[:11])), "!"},
	{"v2 command", string(v2(0x22, 0x11, v4Block)), "!"},
	{"v2 version", string(v2(0x11, 0x11, v4Block)), "!"},
	{"a login", string(packets(nil, make([]byte, 40))[4:]), "!"},
	{"HTTP", "GET / HTTP/1.1\r\n\r\n", "!"},
}

// TestProxyHeader reads each header cut in every place, and what follows it.
func TestProxyHeader(t *testing.T) {
	for _, test := range proxyHeaders {
		for cut := range len(test.header) {
			nc := &memConn{in: [][]byte{[]byte(test.header[:cut]), []byte(test.header[cut:] + "next")}}
			c := NewConn(nc)
			err := c.ReadProxyHeader()
			if test.from == "!" {
				if !errors.Is(err, ErrProxyHeader) {
					t.Fatalf("%s: %v", test.name, err)
				}
				continue
			}
			from := ""
			if c.peer != nil {
				from = c.RemoteAddr().String()
			}
			if err != nil || from != test.from || string(c.Buffered()) != "next" {
				t.Fatalf("%s, cut at %d: from %q, behind it %q, %v", test.name, cut, from, c.Buffered(), err)
			}
		}
	}
}

// TestProxyHeaderCut: a connection that ends in the header ends so.
func TestProxyHeaderCut(t *testing.T) {
	for _, test := range proxyHeaders {
		if test.from == "!" {
			continue
		}
		for _, end := range []int{0, 1, len(test.header) / 2, len(test.header) - 1} {
			c := NewConn(&memConn{in: [][]byte{[]byte(test.header[:end])}})
			if err := c.ReadProxyHeader(); !errors.Is(err, io.EOF) || errors.Is(err, ErrProxyHeader) {
				t.Errorf("%s, end at %d: %v", test.name, end, err)
			}
		}
	}
}

func TestHasProxyHeader(t *testing.T) {
	for s, want := range map[string]bool{
		"PROXY TCP4": true, proxyV2Start + "\x21": true, "PROX": false, "": false, "\x20\x00\x00\x01\x85\xa2": false,
	} {
		if HasProxyHeader([]byte(s)) != want {
			t.Errorf("%q: not %v", s, want)
		}
	}
}

// FuzzProxyHeader: no panic; what is taken has a bounded length, and none of
// its beginnings is taken or refused.
func FuzzProxyHeader(f *testing.F) {
	for _, test := range proxyHeaders {
		f.Add([]byte(test.header))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		from, n, err := parseProxyHeader(b)
		if n < 0 || n > len(b) || n > proxyV2Fixed+1<<16 || err != nil && (n != 0 || from.IsValid()) {
			t.Fatalf("%v, %d of %d bytes, %v", from, n, len(b), err)
		}
		if n == 0 {
			return
		}
		for i := range n {
			if _, m, err := parseProxyHeader(b[:i]); m != 0 || err != nil {
				t.Fatalf("%d of %d bytes: %d, %v", i, n, m, err)
			}
		}
		if again, m, err := parseProxyHeader(b[:n]); again != from || m != n || err != nil {
			t.Fatalf("alone: %v %d %v", again, m, err)
		}
	})
}
