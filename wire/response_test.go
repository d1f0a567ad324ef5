package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"strings"
	"testing"
)

// responseNative is the manual's example with PLUGIN_AUTH (5.5.8).
const responseNative = `
	8d a6 0f 00 00 00 00 01 08 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
	70 61 6d 00 14 ab 09 ee f6 bc b1 32 3e 61 14 38 65 c0 99 1d 95 7d 75 d4 47
	74 65 73 74 00 6d 79 73 71 6c 5f 6e 61 74 69 76 65 5f 70 61 73 73 77 6f 72 64 00`

const modernCaps = CapProtocol41 | CapSecureConnection | CapConnectWithDB | CapPluginAuth |
	CapPluginAuthLenEnc | CapConnectAttrs

func TestResponseGolden(t *testing.T) {
	golden := unhex(t, responseNative)
	got, err := ParseHandshakeResponse(golden)
	if err != nil {
		t.Fatal(err)
	}
	want := HandshakeResponse{
		Caps: 0xfa68d, MaxPacket: 1 << 24, Collation: 8, User: "pam", Database: "test",
		AuthPlugin: PluginNative, Auth: golden[37:57],
	}
	if !sameResponse(got, &want) {
		t.Errorf("got %+v", got)
	}
	if out := got.Append(nil); !bytes.Equal(out, golden) {
		t.Errorf("Append\n%x\n%x", out, golden)
	}
}

func sameResponse(a, b *HandshakeResponse) bool {
	return a.Caps == b.Caps && a.MaxPacket == b.MaxPacket && a.Collation == b.Collation &&
		a.User == b.User && a.Database == b.Database && a.AuthPlugin == b.AuthPlugin &&
		bytes.Equal(a.Auth, b.Auth) && maps.Equal(a.Attrs, b.Attrs) && a.ZstdLevel == b.ZstdLevel
}

func TestResponseRoundTrip(t *testing.T) {
	attrs := map[string]string{"_client_name": "libmysql", "program_name": "causeway", "empty": ""}
	for name, r := range map[string]*HandshakeResponse{
		"everything": {
			Caps: modernCaps | CapZstd, MaxPacket: 1 << 30, Collation: 45, User: "app", Database: "d",
			AuthPlugin: PluginCachingSHA2, Auth: bytes.Repeat([]byte{7}, 32), Attrs: attrs, ZstdLevel: 3,
		},
		"no password": {Caps: modernCaps, User: "app", AuthPlugin: PluginNative},
		"nobody":      {Caps: modernCaps},
		"old":         {Caps: CapProtocol41 | CapSecureConnection, User: "u", Auth: []byte("x")},
		"long answer": {Caps: modernCaps, User: "u", Auth: bytes.Repeat([]byte{1}, 300)},
		"many attributes": {Caps: modernCaps, Attrs: map[string]string{
			"a": strings.Repeat("v", 300), strings.Repeat("n", 70000): "b"}},
	} {
		got, err := ParseHandshakeResponse(r.Append(nil))
		if err != nil || !sameResponse(got, r) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestResponseLargeCollation(t *testing.T) {
	r := HandshakeResponse{Caps: modernCaps, Collation: 305}
	got, err := ParseHandshakeResponse(r.Append(nil))
	if err != nil || got.Collation != 255 {
		t.Errorf("collation %d, %v", got.Collation, err)
	}
}

func TestResponseLeftOutEnds(t *testing.T) {
	r := &HandshakeResponse{Caps: modernCaps, User: "u", Database: "db", AuthPlugin: "p"}
	whole := r.Append(nil)
	for name, cut := range map[string]int{
		"no attributes":           1,
		"plugin without NUL":      2,
		"no plugin at all":        3,
		"schema without NUL":      4,
		"schema missing entirely": 6,
	} {
		if got, err := ParseHandshakeResponse(whole[:len(whole)-cut]); err != nil || got.User != "u" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestResponseAnswerForms(t *testing.T) {
	head := func(caps Capability) []byte {
		return append(appendResponseHeader(nil, caps, 0, 0), "u\x00"...)
	}
	for name, c := range map[string]struct {
		payload []byte
		want    string
	}{
		"lenenc":   {append(head(CapProtocol41|CapSecureConnection|CapPluginAuthLenEnc), "\xfc\x02\x00ab"...), "ab"},
		"one byte": {append(head(CapProtocol41|CapSecureConnection), "\x02ab"...), "ab"},
		"NUL":      {append(head(CapProtocol41), "ab\x00"...), "ab"},
	} {
		got, err := ParseHandshakeResponse(c.payload)
		if err != nil || string(got.Auth) != c.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestResponseRefuses(t *testing.T) {
	head := appendResponseHeader(nil, modernCaps, 0, 0)
	with := func(s string) []byte { return append(bytes.Clone(head), s...) }
	old := appendResponseHeader(nil, CapLongPassword, 0, 0)
	for name, payload := range map[string][]byte{
		"nothing":                  nil,
		"31 bytes":                 head[:31],
		"header alone":             head,
		"user without NUL":         with("root"),
		"no answer":                with("root\x00"),
		"answer cut":               with("root\x00\x05ab"),
		"answer of 16 EB":          with("root\x00\xfe\xff\xff\xff\xff\xff\xff\xff\xff"),
		"attributes cut":           with("r\x00\x00d\x00p\x00\x09ab"),
		"attribute name cut":       with("r\x00\x00d\x00p\x00\x02\x05a"),
		"attribute without value":  with("r\x00\x00d\x00p\x00\x02\x01a"),
		"before 4.1":               append(old, "r\x00\x00"...),
		"before 4.1, as it was":    []byte("\x05\xa4\x00\x00\x01root\x00abcdefgh"),
		"an HTTP request":          []byte("GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: x\r\n\r\n"),
		"a TLS hello with no asks": []byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
	} {
		if got, err := ParseHandshakeResponse(payload); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestSSLRequest(t *testing.T) {
	b := AppendSSLRequest(nil, CapProtocol41|CapSecureConnection, 1<<24, 45)
	if len(b) != 32 || !IsSSLRequest(b) || b[8] != 45 {
		t.Errorf("AppendSSLRequest = %x", b)
	}
	if Capability(binary.LittleEndian.Uint32(b)) != CapProtocol41|CapSecureConnection|CapSSL {
		t.Errorf("capabilities %x", b[:4])
	}
	if IsSSLRequest(append(b, 0)) || IsSSLRequest(b[:31]) || IsSSLRequest(nil) {
		t.Error("an SSLRequest has 32 bytes")
	}
	if IsSSLRequest(appendResponseHeader(nil, CapProtocol41, 0, 0)) {
		t.Error("no SSL flag, no SSLRequest")
	}
}

func FuzzParseHandshakeResponse(f *testing.F) {
	addPrefixes(f, unhex(f, responseNative))
	addPrefixes(f, (&HandshakeResponse{
		Caps: modernCaps | CapZstd, User: "u", Attrs: map[string]string{"a": "b"},
	}).Append(nil))
	f.Fuzz(func(t *testing.T, payload []byte) {
		IsSSLRequest(payload)
		r, err := ParseHandshakeResponse(payload)
		if err != nil {
			return
		}
		// What Append writes has one byte or lenenc for the answer.
		r.Caps |= CapSecureConnection
		if !r.Caps.Has(CapPluginAuthLenEnc) && len(r.Auth) > 255 {
			r.Auth = r.Auth[:255]
		}
		again, err := ParseHandshakeResponse(r.Append(nil))
		if err != nil || !sameResponse(r, again) {
			t.Fatalf("%+v came back as %+v, %v", r, again, err)
		}
	})
}
