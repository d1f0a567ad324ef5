package token

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"causeway/gtid"
)

const (
	u1     = "11111111-1111-1111-1111-111111111111"
	u2     = "22222222-2222-2222-2222-222222222222"
	secret = "a secret of some length"
	newer  = "a newer secret of some length"
)

var at = time.Unix(1700000000, 0)

func codec(t *testing.T, secrets ...string) *Codec {
	t.Helper()
	c, err := New(secrets)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What one wrote another reads, if both have the secret, or none.
func TestThereAndBack(t *testing.T) {
	for _, list := range []string{"", u1 + ":1", u1 + ":1-5:7:tag:1-3," + u2 + ":9"} {
		set := gtid.MustParse(list)
		for name, c := range map[string]*Codec{"nil": nil, "raw": codec(t), "signed": codec(t, secret)} {
			text, ok := c.Text(set, at)
			if !ok || !c.Signs() && text != list || c.Signs() && list != "" && strings.Trim(text[len(prefix):], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" {
				t.Errorf("%s: %q is written as %q", name, list, text)
			}
			back, issued, err := c.Read(" " + text + "\n")
			if err != nil || !back.Equal(set) || c.Signs() && list != "" && !issued.Equal(at) || !c.Signs() && !issued.IsZero() {
				t.Errorf("%s: %q came back as %q of %v, %v", name, text, back, issued, err)
			}
		}
	}
}

func TestRotation(t *testing.T) {
	set := gtid.MustParse(u1 + ":1-5")
	old, both, last := codec(t, secret), codec(t, newer, secret), codec(t, newer)
	was, _ := old.Text(set, at)
	is, _ := both.Text(set, at)
	for _, tc := range []struct {
		name string
		c    *Codec
		text string
		ok   bool
	}{
		{"old at both", both, was, true}, {"new at both", both, is, true}, {"new at the last", last, is, true},
		{"old at the last", last, was, false}, {"new at the old", old, is, false},
	} {
		if _, _, err := tc.c.Read(tc.text); (err == nil) != tc.ok {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	if _, err := New([]string{"too short"}); err == nil {
		t.Error("a short secret was taken")
	}
}

func TestRefused(t *testing.T) {
	raw, signed := codec(t), codec(t, secret)
	good, _ := signed.Text(gtid.MustParse(u1+":1-5"), at)
	body, mac := good[:strings.LastIndexByte(good, '.')], good[strings.LastIndexByte(good, '.'):]
	for _, tc := range []struct {
		c          *Codec
		text, want string
	}{
		{raw, "nonsense", "want a UUID"},
		{raw, u1, "without an interval"},
		{raw, u1 + ":5-3", "ends before"},
		{raw, strings.Repeat(u1+":1,", 1000), "the limit of 16384 bytes"},
		{raw, good, "no [token] secret"},
		{signed, u1 + ":1-5", "not signed"},
		{signed, "nonsense", "not signed"},
		{signed, good[:len(good)-1], "cut"},
		{signed, "cw1.", "cut"},
		{signed, "cw1.abc", "cut"},
		{signed, body, "cut"},
		{signed, strings.Replace(body, "MTc", "MTg", 1) + mac, "signature is wrong"},
		{signed, "cw1." + encode([]byte("x;"+u1+":1")) + mac, "signature is wrong"},
		{signed, resign("no time"), "cut"},
		{signed, resign("1;" + u1), "without an interval"},
	} {
		set, _, err := tc.c.Read(tc.text)
		if err == nil || !strings.Contains(err.Error(), tc.want) || !set.IsEmpty() {
			t.Errorf("%.60q: %q, %v; want %q", tc.text, set, err, tc.want)
		}
	}
}

// resign signs any body.
func resign(inner string) string {
	body := prefix + encode([]byte(inner))
	return body + "." + encode(sign([]byte(secret), body))
}

func TestTooLong(t *testing.T) {
	var sb strings.Builder
	sb.WriteString(u1)
	for n := 100001; sb.Len() <= MaxBytes; n += 2 {
		sb.WriteString(":" + strconv.Itoa(n))
	}
	if _, ok := codec(t).Text(gtid.MustParse(sb.String()), at); ok {
		t.Error("a text beyond the limit was written")
	}
}

func FuzzRead(f *testing.F) {
	raw, signed := &Codec{}, &Codec{secrets: [][]byte{[]byte(secret)}}
	good, _ := signed.Text(gtid.MustParse(u1+":1-5:tag:3"), at)
	for _, s := range []string{"", u1 + ":1-5", good, good[:20], "cw1..", "cw1.MTsx." + strings.Repeat("A", 43), resign("5;" + u1 + ":1")} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range []*Codec{raw, signed} {
			set, issued, err := c.Read(text)
			if err != nil {
				if !set.IsEmpty() {
					t.Fatalf("a set beside the error %v", err)
				}
				continue
			}
			if c.Signs() && !set.IsEmpty() && !strings.HasPrefix(strings.TrimSpace(text), prefix) {
				t.Fatalf("%q was taken without a signature", text)
			}
			again, ok := c.Text(set, issued)
			if !ok {
				continue
			}
			if back, _, err := c.Read(again); err != nil || !back.Equal(set) {
				t.Fatalf("%q came back as %q, %v", again, back, err)
			}
		}
	})
}
