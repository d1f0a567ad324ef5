package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

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
			{"native none given", testClient{user: "app", firstPlugin: native}, "", 1045},
			{"native none needed", testClient{user: "empty", firstPlugin: native}, "", 0},
			{"native none needed but given", testClient{user: "empty", password: "x", firstPlugin: native}, "", 1045},
			{"native unknown user, none given", testClient{user: "nobody", firstPlugin: native}, "", 1045},
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

func TestChangeUser(t *testing.T) {
	s := startLoginServer(t, testHandshaker(t, true))
	for _, c := range []struct {
		name, user, password, plugin, trace string
		code                                uint16
	}{
		{"sha2", "long", testAccounts["long"], wire.PluginCachingSHA2, "switch caching_sha2_password,fast", 0},
		{"sha2 wrong", "long", "no", wire.PluginCachingSHA2, "switch caching_sha2_password,full,key", 1045},
		{"native", "app", "app_pw", wire.PluginNative, "switch mysql_native_password", 0},
		{"native wrong", "app", "no", wire.PluginNative, "switch mysql_native_password", 1045},
		{"unknown plugin", "app", "app_pw", "dialog", "switch caching_sha2_password,fast", 0},
		{"empty", "empty", "", wire.PluginCachingSHA2, "switch caching_sha2_password", 0},
		{"unknown user", "nobody", "x", wire.PluginNative, "switch mysql_native_password", 1045},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := &testClient{user: "app", password: "app_pw", firstPlugin: wire.PluginCachingSHA2}
			defer k.close()
			if err := k.login(s.addr); err != nil {
				t.Fatal(err)
			}
			first := <-s.logins
			k.user, k.password, k.trace = c.user, c.password, nil
			u := wire.ChangeUser{User: c.user, Auth: []byte("old"), Database: "d2", Collation: 305, AuthPlugin: c.plugin}
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

func TestBadHandshakes(t *testing.T) {
	packet := func(seq byte, payload string) []byte {
		return append(wire.AppendHeader(nil, len(payload), seq), payload...)
	}
	for _, c := range []struct {
		name string
		in   []byte
		code uint16 // 0: closed without a word
	}{
		{"garbage", packet(1, "no handshake at all"), wire.ErrBadHandshake},
		{"empty packet", packet(1, ""), wire.ErrBadHandshake},
		{"before 4.1", packet(1, "\x05\xa4\x00\x00\x01root\x00abcdefgh\x00 and some more to be long enough"), wire.ErrBadHandshake},
		{"wrong number", packet(7, "x"), wire.ErrPacketsOutOfOrder},
		{"a length that lies", []byte("\xff\xff\xff\x01"), wire.ErrNetPacketTooLarge},
		{"an HTTP request", []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), wire.ErrPacketsOutOfOrder},
		{"nothing", nil, 0},
		{"half a header", []byte{5, 0}, 0},
		{"half a packet", []byte{50, 0, 0, 1, 'x'}, 0},
		{"TLS asked for, garbage sent", append(packet(1, string(wire.AppendSSLRequest(nil, clientCaps, 0, 0))), "garbage garbage garbage"...), 0},
		{"TLS asked for twice in clear", append(packet(1, string(wire.AppendSSLRequest(nil, clientCaps, 0, 0))),
			packet(2, string(wire.AppendSSLRequest(nil, clientCaps, 0, 0)))...), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			server, client := net.Pipe()
			got := make(chan error, 1)
			go func() {
				k := wire.NewConn(client)
				k.ReadPacket()
				client.Write(c.in)
				if c.code == 0 {
					client.Close()
					got <- nil
					return
				}
				k.SetSequence(sequenceAfter(c.code))
				payload, err := k.ReadPacket()
				if err == nil {
					e, perr := wire.ParseError(payload)
					got <- errors.Join(e, perr)
				} else {
					got <- err
				}
			}()
			login, err := testHandshaker(t, true).Handshake(context.Background(), wire.NewConn(server), 1)
			server.Close()
			if login != nil || err == nil {
				t.Errorf("login %+v, %v", login, err)
			}
			if c.code != 0 {
				wantCode(t, err, c.code)
				wantCode(t, <-got, c.code)
			} else {
				<-got
			}
			client.Close()
		})
	}
}

// sequenceAfter: a packet with a wrong number was not counted.
func sequenceAfter(code uint16) uint8 {
	if code == wire.ErrPacketsOutOfOrder {
		return 1
	}
	return 2
}

func TestLoginTimeout(t *testing.T) {
	o := testOptions(true)
	o.Timeout = time.Millisecond
	h, err := newHandshaker(o)
	if err != nil {
		t.Fatal(err)
	}
	server, client := net.Pipe()
	defer client.Close()
	defer server.Close()
	if _, err := h.Handshake(context.Background(), wire.NewConn(server), 1); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestLoginCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	server, client := net.Pipe()
	defer client.Close()
	defer server.Close()
	go func() {
		wire.NewConn(client).ReadPacket()
		cancel()
	}()
	if _, err := testHandshaker(t, true).Handshake(ctx, wire.NewConn(server), 1); err == nil {
		t.Error("a login after its context ended")
	}
}

// TestDeadlineIsTakenOff: what bounds the login must not bound the session.
func TestDeadlineIsTakenOff(t *testing.T) {
	for _, withTLS := range []bool{false, true} {
		rec := &deadlineRecorder{}
		h := testHandshaker(t, withTLS)
		_, release := h.bind(context.Background(), rec)
		if rec.last.IsZero() {
			t.Error("no deadline during the login")
		}
		if err := release(); err != nil || !rec.last.IsZero() {
			t.Errorf("deadline %v after the login, %v", rec.last, err)
		}
		rec.last = time.Unix(5, 0)
		if release(); !rec.last.Equal(time.Unix(5, 0)) {
			t.Error("a second release touched the deadline")
		}
	}
}

type deadlineRecorder struct {
	net.Conn
	last time.Time
}

func (r *deadlineRecorder) SetDeadline(t time.Time) error {
	r.last = t
	return nil
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
