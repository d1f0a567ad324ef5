package wire

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"strings"
	"sync"
	"testing"
)

var countingNonce = []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}

var testKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// The answers were computed once with another implementation of SHA.
func TestScramblesGolden(t *testing.T) {
	if got := NativePassword("app_pw", countingNonce); !bytes.Equal(got, unhex(t, "8bb2dd0d2a7411fea31ad816d01e681069f63a43")) {
		t.Errorf("native: %x", got)
	}
	want := unhex(t, "cf98a6d7b6fd67e9f6e4a5d82c104022ff9c3a394a884e5adcb2c37d2c3be94b")
	if got := CachingSHA2("app_pw", countingNonce); !bytes.Equal(got, want) {
		t.Errorf("caching_sha2: %x", got)
	}
	if NativePassword("", countingNonce) != nil || CachingSHA2("", countingNonce) != nil {
		t.Error("no password has an empty answer")
	}
}

func TestCheck(t *testing.T) {
	type method struct {
		answer func(string, []byte) []byte
		check  func(string, []byte, []byte) bool
	}
	for name, m := range map[string]method{
		"native": {NativePassword, CheckNative}, "sha2": {CachingSHA2, CheckCachingSHA2},
	} {
		right := m.answer("pw", countingNonce)
		flipped := bytes.Clone(right)
		flipped[5] ^= 1
		for _, c := range []struct {
			what, password string
			response       []byte
			want           bool
		}{
			{"right", "pw", right, true},
			{"one bit", "pw", flipped, false},
			{"cut", "pw", right[:10], false},
			{"longer", "pw", append(bytes.Clone(right), 0), false},
			{"empty answer", "pw", nil, false},
			{"other password", "pw2", right, false},
			{"answer to no password", "", right, false},
			{"no password", "", nil, true},
			{"no password, empty answer", "", []byte{}, true},
		} {
			if got := m.check(c.password, countingNonce, c.response); got != c.want {
				t.Errorf("%s, %s: %v", name, c.what, got)
			}
		}
		if m.check("pw", NewNonce(), right) {
			t.Errorf("%s: an old answer fits a new nonce", name)
		}
	}
}

func TestNewNonce(t *testing.T) {
	seen := map[string]bool{}
	for range 2000 {
		n := NewNonce()
		if len(n) != NonceLen {
			t.Fatalf("%d bytes", len(n))
		}
		for _, c := range n {
			if c == 0 || c == '$' || c > 127 {
				t.Fatalf("byte %#x in %x", c, n)
			}
		}
		seen[string(n)] = true
	}
	if len(seen) != 2000 {
		t.Errorf("%d different nonces of 2000", len(seen))
	}
}

func TestRSA(t *testing.T) {
	for _, password := range []string{"", "app_pw", "with \x00 inside", "пароль", strings.Repeat("x", 200)} {
		cipher, err := EncryptRSA(password, countingNonce, &testKey().PublicKey)
		if err != nil {
			t.Fatalf("%q: %v", password, err)
		}
		got, err := DecryptRSA(cipher, countingNonce, testKey())
		if err != nil || got != password {
			t.Errorf("%q came back as %q, %v", password, got, err)
		}
		if got, err := DecryptRSA(cipher, NewNonce(), testKey()); err == nil && got == password && password != "" {
			t.Errorf("%q decrypted with another nonce", password)
		}
	}
	if _, err := EncryptRSA(strings.Repeat("x", 300), countingNonce, &testKey().PublicKey); err == nil {
		t.Error("a password longer than the key has room for")
	}
	if _, err := EncryptRSA("p", nil, &testKey().PublicKey); !errors.Is(err, ErrMalformed) {
		t.Errorf("without a nonce: %v", err)
	}
	if _, err := DecryptRSA(nil, nil, testKey()); !errors.Is(err, ErrMalformed) {
		t.Errorf("without a nonce: %v", err)
	}
	if _, err := DecryptRSA(make([]byte, 256), countingNonce, testKey()); err == nil {
		t.Error("decrypted garbage")
	}
}

func TestCleartextPassword(t *testing.T) {
	if got, err := CleartextPassword([]byte("abc\x00")); got != "abc" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, b := range []string{"", "abc"} {
		if _, err := CleartextPassword([]byte(b)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %v", b, err)
		}
	}
}

func TestXOR(t *testing.T) {
	in := []byte("longer than the nonce is, by some bytes")
	if got := XOR(XOR(in, countingNonce), countingNonce); !bytes.Equal(got, in) {
		t.Errorf("twice: %q", got)
	}
	if got := XOR([]byte{1, 1, 1}, []byte{1, 2}); !bytes.Equal(got, []byte{0, 3, 0}) {
		t.Errorf("%x", got)
	}
}

func TestAuthSwitch(t *testing.T) {
	b := AppendAuthSwitch(nil, PluginNative, countingNonce)
	want := append([]byte("\xfemysql_native_password\x00"), countingNonce...)
	if !bytes.Equal(b, append(want, 0)) {
		t.Errorf("AppendAuthSwitch = %x", b)
	}
	plugin, data, err := ParseAuthSwitch(b)
	if err != nil || plugin != PluginNative || !bytes.Equal(data, countingNonce) {
		t.Errorf("%q, %x, %v", plugin, data, err)
	}
	for _, s := range []string{"", "fe", "00 61 00", "fe 61 62"} {
		if _, _, err := ParseAuthSwitch(unhex(t, s)); !errors.Is(err, ErrMalformed) {
			t.Errorf("ParseAuthSwitch(%s): %v", s, err)
		}
	}
}

func TestAuthMoreData(t *testing.T) {
	b := AppendAuthMoreData(nil, []byte{SHA2FullAuth})
	if !bytes.Equal(b, []byte{1, 4}) {
		t.Errorf("%x", b)
	}
	if data, err := ParseAuthMoreData(b); err != nil || !bytes.Equal(data, []byte{4}) {
		t.Errorf("%x, %v", data, err)
	}
	for _, s := range []string{"", "01", "00 04"} {
		if _, err := ParseAuthMoreData(unhex(t, s)); !errors.Is(err, ErrMalformed) {
			t.Errorf("ParseAuthMoreData(%s): %v", s, err)
		}
	}
}

func FuzzAuthPackets(f *testing.F) {
	addPrefixes(f, AppendAuthSwitch(nil, PluginNative, countingNonce))
	addPrefixes(f, AppendAuthMoreData(nil, []byte{SHA2FastAuthOK}))
	f.Fuzz(func(t *testing.T, payload []byte) {
		if plugin, data, err := ParseAuthSwitch(payload); err == nil {
			p2, d2, err := ParseAuthSwitch(AppendAuthSwitch(nil, plugin, data))
			if err != nil || p2 != plugin || !bytes.Equal(d2, data) {
				t.Fatalf("%q %x came back as %q %x, %v", plugin, data, p2, d2, err)
			}
		}
		if data, err := ParseAuthMoreData(payload); err == nil && !bytes.Equal(AppendAuthMoreData(nil, data), payload) {
			t.Fatalf("%x", data)
		}
		CleartextPassword(payload)
	})
}
