package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"causeway/wire"
)

func ptr[T any](v T) *T { return &v }

func garbage() []byte { return []byte("01234567890123456789012345678901") }

// TestLoginMatrix: every plugin a client may name, with and without TLS, with
// the right password, a wrong one and none.
func TestLoginMatrix(t *testing.T) {
	const sha2, native = wire.PluginCachingSHA2, wire.PluginNative
	full := func(tls bool) string {
		if tls {
			return "full"
		}
		return "full,key"
	}
	for _, withTLS := range []bool{false, true} {
		s := startLoginServer(t, testHandshaker(t, true))
		for _, c := range []struct {
			name   string
			client testClient
			trace  string
			code   uint16
		}{
			{"sha2", testClient{user: "app", password: "app_pw", firstPlugin: sha2}, "fast", 0},
			{"sha2 wrong", testClient{user: "app", password: "no", firstPlugin: sha2}, full(withTLS), 1045},
			{"sha2 unknown user", testClient{user: "nobody", password: "no", firstPlugin: sha2}, full(withTLS), 1045},
			{"sha2 none given", testClient{user: "app", firstPlugin: sha2}, "", 1045},
			{"sha2 none needed", testClient{user: "empty", firstPlugin: sha2}, "", 0},
			{"sha2 none needed, as a zero byte", testClient{user: "empty", firstPlugin: sha2,
				firstAnswer: func() []byte { return []byte{0} }}, "", 0},
			{"sha2 unknown user, none given", testClient{user: "nobody", firstPlugin: sha2}, "", 1045},
			{"sha2 none needed but given", testClient{user: "empty", password: "x", firstPlugin: sha2}, full(withTLS), 1045},
			{"sha2 scramble wrong, password right", testClient{user: "app", password: "app_pw", firstPlugin: sha2,
				firstPassword: ptr("old")}, full(withTLS), 0},
			{"sha2 garbage, password right", testClient{user: "app", password: "app_pw", firstPlugin: sha2,
				firstAnswer: garbage}, full(withTLS), 0},
			{"sha2 garbage, long password", testClient{user: "long", password: testAccounts["long"], firstPlugin: sha2,
				firstAnswer: garbage}, full(withTLS), 0},
			{"sha2 utf8", testClient{user: "utf8", password: "пароль", firstPlugin: sha2}, "fast", 0},
			{"native", testClient{user: "app", password: "app_pw", firstPlugin: native}, "", 0},
			{"native wrong", testClient{user: "app", password: "no", firstPlugin: native}, "", 1045},
			{"native unknown user", testClient{user: "nobody", password: "no", firstPlugin: native}, "", 1045},
			{"native none given", testClient{user: "app", firstPlugin: native}, "switch " + native, 1045},
			{"native none needed", testClient{user: "empty", firstPlugin: native}, "switch " + native, 0},
			{"native none needed but given", testClient{user: "empty", password: "x", firstPlugin: native}, "", 1045},
			{"native unknown user, none given", testClient{user: "nobody", firstPlugin: native}, "switch " + native, 1045},
			{"native, answered when asked", testClient{user: "app", password: "app_pw", firstPlugin: native,
				firstAnswer: func() []byte { return nil }}, "switch " + native, 0},
			{"native, answered wrong when asked", testClient{user: "app", password: "no", firstPlugin: native,
				firstAnswer: func() []byte { return nil }}, "switch " + native, 1045},
			{"native garbage", testClient{user: "app", password: "app_pw", firstPlugin: native, firstAnswer: garbage}, "", 1045},
			{"no plugin named", testClient{user: "app", password: "app_pw"}, "switch " + sha2 + ",fast", 0},
			{"unknown plugin", testClient{user: "app", password: "app_pw", firstPlugin: "dialog"}, "switch " + sha2 + ",fast", 0},
			{"sha256_password", testClient{user: "app", password: "app_pw", firstPlugin: "sha256_password"}, "switch " + sha2 + ",fast", 0},
			{"clear text before asked", testClient{user: "app", password: "app_pw", firstPlugin: "mysql_clear_password",
				firstAnswer: func() []byte { return []byte("app_pw\x00") }}, "switch " + sha2 + ",fast", 0},
			{"unknown plugin, wrong", testClient{user: "app", password: "no", firstPlugin: "dialog"}, "switch " + sha2 + "," + full(withTLS), 1045},
			{"no PLUGIN_AUTH", testClient{user: "app", password: "app_pw", firstPlugin: native,
				caps: wire.CapProtocol41 | wire.CapSecureConnection}, "", 0},
			{"no SECURE_CONNECTION", testClient{user: "app", password: "app_pw", firstPlugin: native,
				caps: wire.CapProtocol41, firstAnswer: func() []byte { return nil }}, "", 1251},
		} {
			t.Run(fmt.Sprintf("TLS=%v/%s", withTLS, c.name), func(t *testing.T) {
				k := c.client
				k.tls = withTLS
				defer k.close()
				wantCode(t, k.login(s.addr), c.code)
				if got := strings.Join(k.trace, ","); got != c.trace {
					t.Errorf("the server asked %q, want %q", got, c.trace)
				}
			})
		}
	}
}

func TestAccessDeniedText(t *testing.T) {
	s := startLoginServer(t, testHandshaker(t, true))
	for _, c := range []struct{ user, password, want string }{
		{"app", "no", "Access denied for user 'app'@'127.0.0.1' (using password: YES)"},
		{"app", "", "Access denied for user 'app'@'127.0.0.1' (using password: NO)"},
		{"who", "no", "Access denied for user 'who'@'127.0.0.1' (using password: YES)"},
		{"who", "", "Access denied for user 'who'@'127.0.0.1' (using password: NO)"},
		{"", "", "Access denied for user ''@'127.0.0.1' (using password: NO)"},
		{strings.Repeat("u", 500), "", "Access denied for user '" + strings.Repeat("u", 96) + "'@'127.0.0.1' (using password: NO)"},
	} {
		for _, plugin := range []string{wire.PluginCachingSHA2, wire.PluginNative, "other"} {
			k := &testClient{user: c.user, password: c.password, firstPlugin: plugin}
			err := k.login(s.addr)
			k.close()
			var e *wire.Error
			if !errors.As(err, &e) || e.Message != c.want || e.State != "28000" || e.Code != 1045 {
				t.Errorf("%.10s/%s by %s: %v", c.user, c.password, plugin, err)
			}
		}
	}
}

func TestLoginTellsTheClient(t *testing.T) {
	s := startLoginServer(t, testHandshaker(t, true))
	for _, withTLS := range []bool{false, true} {
		k := &testClient{user: "app", password: "app_pw", firstPlugin: wire.PluginCachingSHA2, tls: withTLS,
			caps: clientCaps | wire.CapCompress | wire.CapZstd | wire.CapFoundRows | wire.CapMultiFactor}
		if err := k.login(s.addr); err != nil {
			t.Fatal(err)
		}
		k.close()
		got := <-s.logins
		want := clientCaps | wire.CapFoundRows
		if withTLS {
			want |= wire.CapSSL
		}
		if got.Caps != want {
			t.Errorf("capabilities %s, want %s", got.Caps, want)
		}
		if got.User != "app" || got.Database != "db" || got.Collation != 45 || got.MaxPacket != 1<<24 ||
			got.TLS != withTLS || got.Host != "127.0.0.1" || got.Attrs["k"] != "v" {
			t.Errorf("%+v", got)
		}
	}
}

func TestTLSHelloInTheRequestsSegment(t *testing.T) {
	s := startLoginServer(t, testHandshaker(t, true))
	k := &testClient{user: "app", password: "app_pw", firstPlugin: wire.PluginCachingSHA2, tls: true, coalesce: true}
	defer k.close()
	wantCode(t, k.login(s.addr), 0)
}

func TestTLSRequired(t *testing.T) {
	o := testOptions(true)
	o.TLSRequired = true
	h, err := newHandshaker(o)
	if err != nil {
		t.Fatal(err)
	}
	s := startLoginServer(t, h)
	for _, withTLS := range []bool{false, true} {
		k := &testClient{user: "app", password: "app_pw", firstPlugin: wire.PluginCachingSHA2, tls: withTLS}
		err := k.login(s.addr)
		k.close()
		if withTLS {
			wantCode(t, err, 0)
		} else {
			wantCode(t, err, wire.ErrSecureTransport)
		}
	}
}

func TestNoTLSOffered(t *testing.T) {
	h := testHandshaker(t, false)
	x := &exchange{h: h, nonce: wire.NewNonce()}
	hello, err := wire.ParseHandshakeV10(x.greeting(7))
	if err != nil || hello.Caps != serverCaps || hello.ConnectionID != 7 || hello.Charset != 255 ||
		hello.ServerVersion != "8.4.0-test" || hello.AuthPlugin != wire.PluginCachingSHA2 ||
		hello.Status != wire.StatusAutocommit {
		t.Errorf("greeting %+v, %v", hello, err)
	}
	s := startLoginServer(t, h)
	// A request for what was not offered is no login.
	k := &testClient{user: "app", password: "app_pw", tls: true}
	if err := k.login(s.addr); err == nil {
		t.Error("TLS without a certificate")
	}
	k.close()
	// The flag alone means nothing.
	k = &testClient{user: "app", password: "app_pw", firstPlugin: wire.PluginCachingSHA2, caps: clientCaps | wire.CapSSL}
	wantCode(t, k.login(s.addr), 0)
	k.close()
	if got := <-s.logins; got.TLS || got.Caps.Has(wire.CapSSL) {
		t.Errorf("%+v", got)
	}
}

func TestPublicKeyKnownBefore(t *testing.T) {
	h := testHandshaker(t, false)
	s := startLoginServer(t, h)
	k := &testClient{user: "app", password: "app_pw", firstPlugin: wire.PluginCachingSHA2, firstAnswer: garbage}
	nc, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	k.c = wire.NewConn(nc)
	defer k.close()
	hello, err := k.c.ReadPacket()
	if err != nil {
		t.Fatal(err)
	}
	greeting, err := wire.ParseHandshakeV10(hello)
	if err != nil {
		t.Fatal(err)
	}
	k.nonce = greeting.AuthData
	r := wire.HandshakeResponse{Caps: clientCaps, User: "app", AuthPlugin: wire.PluginCachingSHA2, Auth: garbage()}
	if err := k.send(r.Append(nil)); err != nil {
		t.Fatal(err)
	}
	if p, err := k.c.ReadPacket(); err != nil || string(p) != "\x01\x04" {
		t.Fatalf("%x, %v", p, err)
	}
	if err := k.sendEncrypted(h.publicKey); err != nil {
		t.Fatal(err)
	}
	k.caps = clientCaps
	wantCode(t, k.follow(), 0)
}

func TestUnreadablePasswordIsAWrongOne(t *testing.T) {
	s := startLoginServer(t, testHandshaker(t, true))
	for name, payload := range map[string][]byte{
		"nothing": {}, "one byte": {9}, "no cipher": make([]byte, 256), "clear text": []byte("app_pw\x00"),
	} {
		k := &testClient{user: "app", password: "app_pw", firstPlugin: wire.PluginCachingSHA2, firstAnswer: garbage}
		nc, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		k.c, k.caps = wire.NewConn(nc), clientCaps
		k.c.ReadPacket()
		r := wire.HandshakeResponse{Caps: clientCaps, User: "app", AuthPlugin: wire.PluginCachingSHA2, Auth: garbage()}
		k.send(r.Append(nil))
		k.c.ReadPacket()
		k.send(payload)
		t.Run(name, func(t *testing.T) { wantCode(t, k.follow(), 1045) })
		k.close()
	}
}

func TestUnixSocketIsSecure(t *testing.T) {
	path := t.TempDir() + "/s"
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	h := testHandshaker(t, false)
	done := make(chan *Login, 1)
	go func() {
		nc, err := l.Accept()
		if err != nil {
			done <- nil
			return
		}
		defer nc.Close()
		login, _ := h.Handshake(context.Background(), wire.NewConn(nc), 1)
		done <- login
	}()
	nc, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	k := &testClient{c: wire.NewConn(nc)}
	k.c.ReadPacket()
	r := wire.HandshakeResponse{Caps: clientCaps, User: "app", AuthPlugin: wire.PluginCachingSHA2, Auth: garbage()}
	k.send(r.Append(nil))
	k.c.ReadPacket()
	k.send([]byte("app_pw\x00"))
	if login := <-done; login == nil || login.Host != "localhost" || login.TLS {
		t.Errorf("%+v", login)
	}
}

// TestUnknownUserLooksLikeAWrongPassword compares all that the server sends.
func TestUnknownUserLooksLikeAWrongPassword(t *testing.T) {
	s := startLoginServer(t, testHandshaker(t, true))
	for _, plugin := range []string{wire.PluginCachingSHA2, wire.PluginNative, "dialog"} {
		for _, password := range []string{"", "wrong"} {
			for _, withTLS := range []bool{false, true} {
				var said [2]string
				for i, user := range []string{"app", "who"} {
					k := &testClient{user: user, password: password, firstPlugin: plugin, tls: withTLS}
					err := k.login(s.addr)
					k.close()
					said[i] = strings.ReplaceAll(fmt.Sprint(k.trace, err), "'"+user+"'", "'x'")
				}
				if said[0] != said[1] {
					t.Errorf("%s, %q, TLS %v:\nknown   %s\nunknown %s", plugin, password, withTLS, said[0], said[1])
				}
			}
		}
	}
}
