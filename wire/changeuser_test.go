package wire

import (
	"bytes"
	"errors"
	"maps"
	"testing"
)

func sameChangeUser(a, b *ChangeUser) bool {
	return a.User == b.User && a.Database == b.Database && a.Collation == b.Collation &&
		a.AuthPlugin == b.AuthPlugin && bytes.Equal(a.Auth, b.Auth) && maps.Equal(a.Attrs, b.Attrs)
}

func TestChangeUserGolden(t *testing.T) {
	u := &ChangeUser{
		User: "app", Auth: []byte{1, 2}, Database: "d", Collation: 305,
		AuthPlugin: "p", Attrs: map[string]string{"a": "b"},
	}
	golden := unhex(t, "11 61 70 70 00 02 01 02 64 00 31 01 70 00 04 01 61 01 62")
	if got := u.Append(nil, modernCaps); !bytes.Equal(got, golden) {
		t.Errorf("Append = %x", got)
	}
	got, err := ParseChangeUser(golden, modernCaps)
	if err != nil || !sameChangeUser(got, u) {
		t.Errorf("ParseChangeUser = %+v, %v", got, err)
	}
}

func TestChangeUserShortForms(t *testing.T) {
	for name, c := range map[string]struct {
		payload string
		caps    Capability
		want    ChangeUser
	}{
		"ends with the schema":   {"11 75 00 00 64 00", modernCaps, ChangeUser{User: "u", Database: "d"}},
		"schema without NUL":     {"11 75 00 00 64", modernCaps, ChangeUser{User: "u", Database: "d"}},
		"nothing after answer":   {"11 75 00 00", modernCaps, ChangeUser{User: "u"}},
		"collation alone":        {"11 75 00 00 00 08 00", modernCaps, ChangeUser{User: "u", Collation: 8}},
		"answer as string<NUL>":  {"11 75 00 78 00 64 00", CapProtocol41, ChangeUser{User: "u", Auth: []byte("x"), Database: "d"}},
		"no plugin without caps": {"11 75 00 00 00 08 00 70 00", CapProtocol41 | CapSecureConnection, ChangeUser{User: "u", Collation: 8}},
	} {
		got, err := ParseChangeUser(unhex(t, c.payload), c.caps)
		if err != nil || !sameChangeUser(got, &c.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestChangeUserRefuses(t *testing.T) {
	for _, s := range []string{
		"", "11", "12 75 00 00", "11 75", "11 75 00", "11 75 00 05 61",
		"11 75 00 00 00 08 00 70 00 05 61", "11 75 00 00 00 08 00 70 00 02 01 61",
	} {
		if got, err := ParseChangeUser(unhex(t, s), modernCaps); !errors.Is(err, ErrMalformed) {
			t.Errorf("ParseChangeUser(%s) = %+v, %v", s, got, err)
		}
	}
}

func FuzzParseChangeUser(f *testing.F) {
	addPrefixes(f, unhex(f, "11 61 70 70 00 02 01 02 64 00 31 01 70 00 04 01 61 01 62"), uint32(modernCaps))
	f.Fuzz(func(t *testing.T, payload []byte, capBits uint32) {
		caps := Capability(capBits)
		u, err := ParseChangeUser(payload, caps)
		if err != nil {
			return
		}
		caps |= CapSecureConnection
		u.Auth = u.Auth[:min(len(u.Auth), 255)]
		again, err := ParseChangeUser(u.Append(nil, caps), caps)
		if err != nil || !sameChangeUser(u, again) {
			t.Fatalf("%+v came back as %+v, %v", u, again, err)
		}
	})
}
