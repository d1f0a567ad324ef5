package wire

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
)

// greeting564 is the manual's example of a greeting with PLUGIN_AUTH.
const greeting564 = `
	0a 35 2e 36 2e 34 2d 6d 37 2d 6c 6f 67 00 56 0a 00 00 52 42 33 76 7a 26 47 72 00 ff ff 08
	02 00 0f c0 15 00 00 00 00 00 00 00 00 00 00 2b 79 44 26 2f 5a 5a 33 30 35 5a 47 00 6d 79
	73 71 6c 5f 6e 61 74 69 76 65 5f 70 61 73 73 77 6f 72 64 00`

// greeting552 is the manual's example without PLUGIN_AUTH.
const greeting552 = `
	0a 35 2e 35 2e 32 2d 6d 32 00 0b 00 00 00 64 76 48 40 49 2d 43 4a 00 ff f7 08 02 00 00 00
	00 00 00 00 00 00 00 00 00 00 00 2a 34 64 7c 63 5a 77 6b 34 5e 5d 3a 00`

var greetings = []struct {
	payload string
	want    HandshakeV10
}{
	{greeting564, HandshakeV10{
		ServerVersion: "5.6.4-m7-log", ConnectionID: 2646, AuthData: []byte("RB3vz&Gr+yD&/ZZ305ZG"),
		Caps: 0xc00fffff, Charset: 8, Status: StatusAutocommit, AuthPlugin: PluginNative,
	}},
	{greeting552, HandshakeV10{
		ServerVersion: "5.5.2-m2", ConnectionID: 11, AuthData: []byte("dvH@I-CJ*4d|cZwk4^]:"),
		Caps: 0xf7ff, Charset: 8, Status: StatusAutocommit,
	}},
}

func TestGreetingGolden(t *testing.T) {
	for _, c := range greetings {
		golden := unhex(t, c.payload)
		got, err := ParseHandshakeV10(golden)
		if err != nil || !reflect.DeepEqual(*got, c.want) {
			t.Fatalf("%s: %+v, %v", c.want.ServerVersion, got, err)
		}
		if out := got.Append(nil); !bytes.Equal(out, golden) {
			t.Errorf("%s: Append\n%x\n%x", c.want.ServerVersion, out, golden)
		}
	}
}

func TestGreetingWithoutClosingNul(t *testing.T) {
	golden := unhex(t, greeting564)
	got, err := ParseHandshakeV10(golden[:len(golden)-1])
	if err != nil || got.AuthPlugin != PluginNative {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestGreetingInsteadErr(t *testing.T) {
	_, err := ParseHandshakeV10(NewError(ErrTooManyConnections, "Too many connections").Append(nil, 0))
	var e *Error
	if !errors.As(err, &e) || e.Code != ErrTooManyConnections {
		t.Errorf("%v", err)
	}
}

func TestGreetingRefuses(t *testing.T) {
	golden := unhex(t, greeting552)
	for i := range len(golden) {
		if _, err := ParseHandshakeV10(golden[:i]); !errors.Is(err, ErrMalformed) {
			t.Errorf("cut at %d: %v", i, err)
		}
	}
	golden[0] = 9
	if _, err := ParseHandshakeV10(golden); !errors.Is(err, ErrMalformed) {
		t.Errorf("protocol 9: %v", err)
	}
	lying := unhex(t, greeting564)
	lying[34] = 255 // length of the nonce
	if _, err := ParseHandshakeV10(lying); !errors.Is(err, ErrMalformed) {
		t.Errorf("nonce longer than the packet: %v", err)
	}
}

func FuzzParseHandshakeV10(f *testing.F) {
	addPrefixes(f, unhex(f, greeting564))
	addPrefixes(f, unhex(f, greeting552))
	f.Fuzz(func(t *testing.T, payload []byte) {
		h, err := ParseHandshakeV10(payload)
		if err != nil {
			return
		}
		again, err := ParseHandshakeV10(h.Append(nil))
		if err != nil || !reflect.DeepEqual(h, again) {
			t.Fatalf("%+v came back as %+v, %v", h, again, err)
		}
	})
}
