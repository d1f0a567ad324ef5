package server

import (
	"strings"
	"testing"

	"causeway/wire"
)

func TestChangeUser(t *testing.T) {
	s := startLoginServer(t, testHandshaker(t, true))
	for _, c := range []struct {
		name, user, password, plugin, trace string
		code                                uint16
	}{
		{"sha2", "long", testAccounts["long"], wire.PluginCachingSHA2, "switch caching_sha2_password,fast", 0},
		{"sha2 wrong", "long", "no", wire.PluginCachingSHA2, "switch caching_sha2_password,full,key", 1045},
		{"native", "app", "app_pw", wire.PluginNative, "", 0},
		{"native, another nonce", "app", "app_pw", wire.PluginNative, "switch caching_sha2_password,fast", 0},
		{"native wrong", "app", "no", wire.PluginNative, "switch caching_sha2_password,full,key", 1045},
		{"native empty", "empty", "", wire.PluginNative, "", 0},
		{"unknown plugin", "app", "app_pw", "dialog", "switch caching_sha2_password,fast", 0},
		{"empty", "empty", "", wire.PluginCachingSHA2, "switch caching_sha2_password", 0},
		{"unknown user", "nobody", "x", wire.PluginNative, "switch caching_sha2_password,full,key", 1045},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := &testClient{user: "app", password: "app_pw", firstPlugin: wire.PluginCachingSHA2}
			defer k.close()
			if err := k.login(s.addr); err != nil {
				t.Fatal(err)
			}
			first := <-s.logins
			k.user, k.password, k.trace = c.user, c.password, nil
			auth := wire.NativePassword(c.password, k.nonce)
			if c.name == "native, another nonce" {
				auth = []byte("old")
			}
			u := wire.ChangeUser{User: c.user, Auth: auth, Database: "d2", Collation: 305, AuthPlugin: c.plugin}
			k.c.ResetSequence()
			if err := k.send(u.Append(nil, k.caps)); err != nil {
				t.Fatal(err)
			}
			wantCode(t, k.follow(), c.code)
			if got := strings.Join(k.trace, ","); got != c.trace {
				t.Errorf("the server asked %q, want %q", got, c.trace)
			}
			if c.code != 0 {
				return
			}
			got := <-s.logins
			if got.User != c.user || got.Database != "d2" || got.Collation != 305 || got.Caps != first.Caps ||
				got.Host != first.Host || first.User != "app" {
				t.Errorf("%+v after %+v", got, first)
			}
		})
	}
}

func TestChangeUserMalformed(t *testing.T) {
	s := startLoginServer(t, testHandshaker(t, true))
	k := &testClient{user: "app", password: "app_pw", firstPlugin: wire.PluginCachingSHA2}
	defer k.close()
	if err := k.login(s.addr); err != nil {
		t.Fatal(err)
	}
	k.c.ResetSequence()
	k.send([]byte("\x11no end"))
	wantCode(t, k.follow(), wire.ErrUnknownCommand)
}

// TestChangeUserWithoutPluginAuth: such a client answers the greeting's nonce.
func TestChangeUserWithoutPluginAuth(t *testing.T) {
	s := startLoginServer(t, testHandshaker(t, true))
	for _, password := range []string{"app_pw", "no"} {
		k := &testClient{user: "app", password: "app_pw", firstPlugin: wire.PluginNative,
			caps: wire.CapProtocol41 | wire.CapSecureConnection}
		if err := k.login(s.addr); err != nil {
			t.Fatal(err)
		}
		u := wire.ChangeUser{User: "app", Auth: wire.NativePassword(password, k.nonce)}
		k.c.ResetSequence()
		k.send(u.Append(nil, k.caps))
		if password == "no" {
			wantCode(t, k.follow(), 1045)
		} else {
			wantCode(t, k.follow(), 0)
		}
		k.close()
	}
}
