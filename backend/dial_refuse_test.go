package backend

import (
	"errors"
	"strings"
	"testing"

	"causeway/wire"
)

// afterResponse sends one packet after the client's response and hangs up.
func afterResponse(payload string) func(s *scripted) {
	return func(s *scripted) {
		s.response(greetingWith(offeredCaps, wire.PluginCachingSHA2))
		s.send([]byte(payload))
		s.read()
	}
}

func TestDialRefuses(t *testing.T) {
	badKey := "\x01-----BEGIN PUBLIC KEY-----\nMTIz\n-----END PUBLIC KEY-----\n"
	for _, c := range []struct {
		name   string
		script func(s *scripted)
		want   string // in the error's text
		mode   string
	}{
		{"no session tracking", func(s *scripted) {
			s.send(greetingWith(offeredCaps&^wire.CapSessionTrack, wire.PluginNative).Append(nil))
		}, "lacks the capabilities SESSION_TRACK", ""},
		{"no DEPRECATE_EOF", func(s *scripted) {
			s.send(greetingWith(offeredCaps&^wire.CapDeprecateEOF, wire.PluginNative).Append(nil))
		}, "lacks the capabilities DEPRECATE_EOF", ""},
		{"an old server", func(s *scripted) {
			s.send(greetingWith(wire.CapLongPassword|wire.CapProtocol41|wire.CapSecureConnection, "").Append(nil))
		}, "PLUGIN_AUTH|SESSION_TRACK|DEPRECATE_EOF", ""},
		{"an HTTP server", func(s *scripted) { s.nc.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }, "out of order", ""},
		{"an SSH server", func(s *scripted) { s.send([]byte("SSH-2.0-OpenSSH_9.2")) }, "protocol 10", ""},
		{"nobody", func(s *scripted) {}, "greeting: read: EOF", ""},
		{"gone after the response", func(s *scripted) {
			s.response(greetingWith(offeredCaps, wire.PluginNative))
		}, "login: read: EOF", ""},
		{"empty packet", afterResponse(""), "malformed", ""},
		{"unknown packet", afterResponse("\x33"), "0x33", ""},
		{"OK cut", afterResponse("\x00\x00"), "malformed", ""},
		{"ERR cut", afterResponse("\xff"), "malformed", ""},
		{"old password asked", afterResponse("\xfe"), "malformed", ""},
		{"unknown plugin", afterResponse("\xfemysql_clear_password\x00" + string(nonceB) + "\x00"), "the account uses mysql_clear_password", ""},
		{"short nonce", afterResponse("\xfemysql_native_password\x00abc\x00"), "nonce of 3 bytes", ""},
		{"no nonce", afterResponse("\xfecaching_sha2_password\x00"), "nonce of 0 bytes", ""},
		{"a key that is none", afterResponse("\x01nonsense"), "no PEM", ""},
		{"a key that is no key", afterResponse(badKey), "public key", ""},
		{"data for native", func(s *scripted) {
			s.response(greetingWith(offeredCaps, wire.PluginNative))
			s.send([]byte("\x01\x04"))
		}, "more data for mysql_native_password", ""},
		{"switches for ever", func(s *scripted) {
			s.response(greetingWith(offeredCaps, wire.PluginNative))
			for s.c.WritePacket(wire.AppendAuthSwitch(nil, wire.PluginNative, nonceB)) == nil && s.c.Flush() == nil && s.read() != nil {
			}
		}, "asked twice", ""},
		{"fast for ever", func(s *scripted) {
			s.response(greetingWith(offeredCaps, wire.PluginCachingSHA2))
			for range 2 * maxAuthSteps {
				s.send([]byte{1, wire.SHA2FastAuthOK})
			}
			s.read()
		}, "does not come to an end", ""},
		{"TLS required, not offered", func(s *scripted) {
			s.send(greetingWith(offeredCaps, wire.PluginNative).Append(nil))
		}, "offers no TLS", TLSRequired},
		{"TLS offered, garbage", func(s *scripted) {
			s.send(greetingWith(offeredCaps|wire.CapSSL, wire.PluginNative).Append(nil))
			s.read()
			s.nc.Write([]byte("garbage garbage garbage"))
		}, "TLS:", TLSRequired},
		{"bytes before TLS", func(s *scripted) {
			hello := greetingWith(offeredCaps|wire.CapSSL, wire.PluginNative).Append(nil)
			s.c.WritePacket(hello)
			s.c.WritePacket([]byte("injected"))
			s.c.Flush()
			s.read()
		}, "before the TLS handshake", TLSRequired},
	} {
		t.Run(c.name, func(t *testing.T) {
			addr := fakeServer(t, c.script)
			conn, _, err := dialTest(t, addr, func(cfg *DialConfig) {
				if c.mode != "" {
					cfg.TLSMode = c.mode
				}
			})
			if conn != nil || err == nil || !strings.Contains(err.Error(), c.want) ||
				!strings.HasPrefix(err.Error(), "dial "+addr+": ") {
				t.Errorf("%v, want %q in it", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "pw") {
				t.Errorf("a password in %q", err)
			}
		})
	}
}

func TestDialServerErrors(t *testing.T) {
	for state, script := range map[string]func(s *scripted){
		"": func(s *scripted) {
			s.send(wire.NewError(wire.ErrTooManyConnections, "Too many connections").Append(nil, 0))
		},
		"08004": afterResponse("\xff\x10\x04#08004Too many connections"),
	} {
		_, _, err := dialTest(t, fakeServer(t, script), nil)
		var e *wire.Error
		if !errors.As(err, &e) || *e != (wire.Error{Code: 1040, State: state, Message: "Too many connections"}) {
			t.Errorf("state %q: %v", state, err)
		}
	}
}
