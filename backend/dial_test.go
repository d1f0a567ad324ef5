package backend

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"causeway/wire"
)

const offeredCaps = alwaysCaps | choosableCaps | wire.CapConnectWithDB

var nonceA, nonceB = []byte("abcdefghijklmnopqrst"), []byte("tsrqponmlkjihgfedcba")

func greetingWith(caps wire.Capability, plugin string) wire.HandshakeV10 {
	return wire.HandshakeV10{
		ServerVersion: "8.4.0", ConnectionID: 42, AuthData: nonceA, Caps: caps,
		Charset: 255, Status: wire.StatusAutocommit, AuthPlugin: plugin,
	}
}

// fakeServer runs script for one connection and returns its address.
func fakeServer(t *testing.T, script func(s *scripted)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		defer nc.Close()
		nc.SetDeadline(time.Now().Add(30 * time.Second))
		script(&scripted{t: t, nc: nc, c: wire.NewConn(nc)})
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	return l.Addr().String()
}

// scripted is the server's side of one connection.
type scripted struct {
	t  *testing.T
	nc net.Conn
	c  *wire.Conn
}

func (s *scripted) send(payload []byte) {
	s.c.WritePacket(payload)
	s.c.Flush()
}

// read returns a copy of what the client sent, nil if it left.
func (s *scripted) read() []byte {
	p, err := s.c.ReadPacket()
	if err != nil {
		return nil
	}
	return append([]byte{}, p...)
}

// response greets and reads the client's answer.
func (s *scripted) response(h wire.HandshakeV10) *wire.HandshakeResponse {
	s.send(h.Append(nil))
	r, err := wire.ParseHandshakeResponse(s.read())
	if err != nil {
		s.t.Errorf("response: %v", err)
		return &wire.HandshakeResponse{}
	}
	return r
}

func (s *scripted) ok() {
	s.send(wire.OK{Status: wire.StatusAutocommit}.Append(nil, offeredCaps))
}

func (s *scripted) wantAnswer(what string, got, want []byte) {
	if string(got) != string(want) {
		s.t.Errorf("%s: the client answered %x, want %x", what, got, want)
	}
}

func dialTest(t *testing.T, addr string, change func(*DialConfig)) (*wire.Conn, *Greeting, error) {
	t.Helper()
	cfg := DialConfig{Addr: addr, User: "app", Password: "pw", TLSMode: TLSDisabled, Attrs: map[string]string{"program_name": "causeway"}}
	if change != nil {
		change(&cfg)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, g, err := Dial(ctx, cfg)
	if c != nil {
		t.Cleanup(func() { c.Close() })
	}
	return c, g, err
}

func TestDialNegotiates(t *testing.T) {
	const wanted = wire.CapFoundRows | wire.CapMultiStatements | wire.CapCompress | wire.CapZstd | wire.CapSSL
	addr := fakeServer(t, func(s *scripted) {
		r := s.response(greetingWith(offeredCaps&^wire.CapMultiStatements|wire.CapCompress, wire.PluginCachingSHA2))
		want := alwaysCaps | wire.CapFoundRows | wire.CapConnectWithDB
		if r.Caps != want {
			t.Errorf("asked for %s, want %s", r.Caps, want)
		}
		if r.User != "app" || r.Database != "d" || r.Collation != 46 || r.MaxPacket != 1<<30 ||
			r.AuthPlugin != wire.PluginCachingSHA2 || r.Attrs["program_name"] != "causeway" {
			t.Errorf("%+v", r)
		}
		s.wantAnswer("scramble", r.Auth, wire.CachingSHA2("pw", nonceA))
		s.send(wire.AppendAuthMoreData(nil, []byte{wire.SHA2FastAuthOK}))
		track := wire.AppendTrackSchema(nil, "d")
		s.send(wire.OK{Status: wire.StatusAutocommit, Info: []byte("hi"), Track: track}.Append(nil, offeredCaps))
		s.c.ResetSequence()
		s.wantAnswer("the next command", s.read(), []byte{byte(wire.ComPing)})
		s.ok()
	})
	c, g, err := dialTest(t, addr, func(cfg *DialConfig) {
		cfg.Caps, cfg.Database, cfg.Collation = wanted, "d", 46
	})
	if err != nil {
		t.Fatal(err)
	}
	if g.ConnectionID != 42 || g.Version != "8.4.0" || g.Status != wire.StatusAutocommit|wire.StatusSessionStateChanged ||
		g.NeedSetNames || g.TLS || g.Plugin != wire.PluginCachingSHA2 ||
		g.Caps != alwaysCaps|wire.CapFoundRows|wire.CapConnectWithDB {
		t.Errorf("%+v", g)
	}
	if string(g.OK.Info) != "hi" || string(g.OK.Track) != "\x01\x02\x01d" {
		t.Errorf("%+v", g.OK)
	}
	c.WritePacket([]byte{byte(wire.ComPing)})
	c.Flush()
	if p, err := c.ReadPacket(); err != nil || p[0] != wire.HeaderOK {
		t.Errorf("%x, %v", p, err)
	}
	if string(g.OK.Info) != "hi" {
		t.Error("the OK shares memory with the connection")
	}
}

func TestDialCollations(t *testing.T) {
	for _, c := range []struct {
		collation, sent uint16
		needSetNames    bool
	}{{0, 255, false}, {8, 8, false}, {255, 255, false}, {256, 255, true}, {305, 255, true}} {
		addr := fakeServer(t, func(s *scripted) {
			if r := s.response(greetingWith(offeredCaps, wire.PluginNative)); r.Collation != c.sent {
				t.Errorf("%d: sent %d", c.collation, r.Collation)
			}
			s.ok()
		})
		_, g, err := dialTest(t, addr, func(cfg *DialConfig) { cfg.Collation = c.collation })
		if err != nil || g.NeedSetNames != c.needSetNames {
			t.Errorf("%d: %+v, %v", c.collation, g, err)
		}
	}
}

func TestDialMethods(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	const sha2, native = wire.PluginCachingSHA2, wire.PluginNative
	for _, c := range []struct {
		name, password string
		script         func(s *scripted)
	}{
		{"native greeting", "pw", func(s *scripted) {
			r := s.response(greetingWith(offeredCaps, native))
			if r.AuthPlugin != native {
				t.Errorf("named %s", r.AuthPlugin)
			}
			s.wantAnswer("native", r.Auth, wire.NativePassword("pw", nonceA))
		}},
		{"native, no password", "", func(s *scripted) {
			s.wantAnswer("native", s.response(greetingWith(offeredCaps, native)).Auth, nil)
		}},
		{"sha2, no password", "", func(s *scripted) {
			s.wantAnswer("sha2", s.response(greetingWith(offeredCaps, sha2)).Auth, []byte{0})
		}},
		{"switch to native", "pw", func(s *scripted) {
			s.response(greetingWith(offeredCaps, sha2))
			s.send(wire.AppendAuthSwitch(nil, native, nonceB))
			s.wantAnswer("native", s.read(), wire.NativePassword("pw", nonceB))
		}},
		{"switch to native, no password", "", func(s *scripted) {
			s.response(greetingWith(offeredCaps, sha2))
			s.send(wire.AppendAuthSwitch(nil, native, nonceB))
			s.wantAnswer("native", s.read(), []byte{})
		}},
		{"switch to sha2", "pw", func(s *scripted) {
			s.response(greetingWith(offeredCaps, native))
			s.send(wire.AppendAuthSwitch(nil, sha2, nonceB))
			s.wantAnswer("sha2", s.read(), wire.CachingSHA2("pw", nonceB))
			s.send(wire.AppendAuthMoreData(nil, []byte{wire.SHA2FastAuthOK}))
		}},
		{"default plugin unknown", "pw", func(s *scripted) {
			if r := s.response(greetingWith(offeredCaps, "authentication_ldap_sasl")); r.AuthPlugin != sha2 {
				t.Errorf("named %s", r.AuthPlugin)
			}
			s.send(wire.AppendAuthSwitch(nil, sha2, nonceB))
			s.wantAnswer("sha2", s.read(), wire.CachingSHA2("pw", nonceB))
		}},
		{"full by RSA", "pw", func(s *scripted) {
			s.response(greetingWith(offeredCaps, sha2))
			s.send(wire.AppendAuthMoreData(nil, []byte{wire.SHA2FullAuth}))
			s.wantAnswer("key request", s.read(), []byte{wire.SHA2RequestPublicKey})
			s.send(wire.AppendAuthMoreData(nil, keyPEM))
			if got, err := wire.DecryptRSA(s.read(), nonceA, key); err != nil || got != "pw" {
				t.Errorf("password %q, %v", got, err)
			}
		}},
		{"full by RSA after a switch", "pw", func(s *scripted) {
			s.response(greetingWith(offeredCaps, native))
			s.send(wire.AppendAuthSwitch(nil, sha2, nonceB))
			s.read()
			s.send(wire.AppendAuthMoreData(nil, []byte{wire.SHA2FullAuth}))
			s.read()
			s.send(wire.AppendAuthMoreData(nil, keyPEM))
			if got, err := wire.DecryptRSA(s.read(), nonceB, key); err != nil || got != "pw" {
				t.Errorf("password %q, %v", got, err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			addr := fakeServer(t, func(s *scripted) {
				c.script(s)
				s.ok()
			})
			if _, _, err := dialTest(t, addr, func(cfg *DialConfig) { cfg.Password = c.password }); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDialPreferredWithoutOffer(t *testing.T) {
	addr := fakeServer(t, func(s *scripted) {
		if r := s.response(greetingWith(offeredCaps, wire.PluginNative)); r.Caps.Has(wire.CapSSL) {
			t.Error("named SSL without TLS")
		}
		s.ok()
	})
	if _, g, err := dialTest(t, addr, func(cfg *DialConfig) { cfg.TLSMode = "" }); err != nil || g.TLS {
		t.Errorf("%+v, %v", g, err)
	}
}

func TestDialDeadline(t *testing.T) {
	silent := fakeServer(t, func(s *scripted) { s.read() })
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_, _, err := Dial(ctx, DialConfig{Addr: silent, User: "app"})
	if !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestDialCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	addr := fakeServer(t, func(s *scripted) {
		s.response(greetingWith(offeredCaps, wire.PluginNative))
		cancel()
		s.read()
	})
	if _, _, err := Dial(ctx, DialConfig{Addr: addr, User: "app"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestDialLeavesNoDeadline: the deadline of the context ends with the dial.
func TestDialLeavesNoDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	release := make(chan struct{})
	addr := fakeServer(t, func(s *scripted) {
		s.response(greetingWith(offeredCaps, wire.PluginNative))
		s.ok()
		<-release
		s.c.ResetSequence()
		s.send([]byte("late"))
	})
	c, _, err := Dial(ctx, DialConfig{Addr: addr, User: "app", TLSMode: TLSDisabled})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	cancel()
	close(release)
	if p, err := c.ReadPacket(); err != nil || string(p) != "late" {
		t.Errorf("%q, %v", p, err)
	}
}

func TestDialNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	var op *net.OpError
	if _, _, err := dialTest(t, addr, nil); !errors.As(err, &op) || op.Op != "dial" {
		t.Errorf("%v", err)
	}
	if _, _, err := dialTest(t, t.TempDir()+"/none.sock", nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestClientTLS(t *testing.T) {
	base := &tls.Config{InsecureSkipVerify: true, ServerName: "named"}
	for _, c := range []struct {
		base       *tls.Config
		mode, addr string
		skip       bool
		name       string
	}{
		{nil, TLSVerify, "db1:3306", false, "db1"},
		{nil, TLSVerify, "[::1]:3306", false, "::1"},
		{nil, TLSRequired, "db1:3306", true, "db1"},
		{base, TLSVerify, "db1:3306", false, "named"},
		{&tls.Config{}, TLSPreferred, "/socket", true, ""},
	} {
		got := clientTLS(c.base, c.mode, c.addr)
		if got.InsecureSkipVerify != c.skip || got.ServerName != c.name || got.MinVersion != tls.VersionTLS12 {
			t.Errorf("%s %s: %+v", c.mode, c.addr, got)
		}
	}
	if !base.InsecureSkipVerify || base.MinVersion != 0 {
		t.Error("the shared configuration was changed")
	}
}

// FuzzDial answers a login with any bytes: it fails or succeeds, and ends.
func FuzzDial(f *testing.F) {
	packet := func(seq byte, payload []byte) []byte {
		return append(wire.AppendHeader(nil, len(payload), seq), payload...)
	}
	hello := packet(0, greetingWith(offeredCaps, wire.PluginCachingSHA2).Append(nil))
	with := func(packets ...[]byte) []byte {
		out := append([]byte(nil), hello...)
		for _, p := range packets {
			out = append(out, p...)
		}
		return out
	}
	f.Add(hello)
	f.Add(with(packet(2, []byte("\x01\x03")), packet(3, wire.OK{}.Append(nil, 0))))
	f.Add(with(packet(2, []byte("\x01\x04")), packet(4, []byte("\x01key"))))
	f.Add(with(packet(2, wire.AppendAuthSwitch(nil, wire.PluginNative, nonceB)), packet(4, wire.OK{}.Append(nil, 0))))
	f.Add(packet(0, greetingWith(offeredCaps|wire.CapSSL, "x").Append(nil)))
	f.Add(packet(0, wire.NewError(1040, "x").Append(nil, 0)))
	f.Fuzz(func(t *testing.T, in []byte) {
		server, client := net.Pipe()
		var wg sync.WaitGroup
		wg.Go(func() {
			buf := make([]byte, 4096)
			for {
				if _, err := server.Read(buf); err != nil {
					return
				}
			}
		})
		wg.Go(func() {
			server.Write(in)
			server.Close()
		})
		c, g, err := login(context.Background(), client, DialConfig{User: "app", Password: "pw"})
		client.Close()
		wg.Wait()
		if (err == nil) != (c != nil) || (err == nil) != (g != nil) {
			t.Fatalf("%v, %v, %v", c, g, err)
		}
	})
}
