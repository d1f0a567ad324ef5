package server

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"

	"causeway/wire"
)

// FuzzHandshake sends any bytes as the client's side of a login. Nobody gets in,
// nothing panics, and the login ends when the client does.
func FuzzHandshake(f *testing.F) {
	packet := func(seq byte, payload []byte) []byte {
		return append(wire.AppendHeader(nil, len(payload), seq), payload...)
	}
	response := func(plugin string, answer []byte, caps wire.Capability) []byte {
		return (&wire.HandshakeResponse{
			Caps: caps, User: "app", Database: "d", AuthPlugin: plugin, Auth: answer, Attrs: map[string]string{"a": "b"},
		}).Append(nil)
	}
	full := packet(1, response(wire.PluginCachingSHA2, garbage(), clientCaps))
	f.Add([]byte{})
	f.Add(full)
	f.Add(append(append([]byte(nil), full...), packet(3, []byte("app_p?\x00"))...))
	f.Add(append(append(append([]byte(nil), full...), packet(3, []byte{2})...), packet(5, make([]byte, 256))...))
	f.Add(packet(1, response(wire.PluginNative, garbage()[:20], clientCaps)))
	f.Add(append(packet(1, response("dialog", nil, clientCaps)), packet(3, garbage())...))
	f.Add(packet(1, response("", nil, wire.CapProtocol41)))
	f.Add(append(packet(1, wire.AppendSSLRequest(nil, clientCaps, 0, 0)), "\x16\x03\x01\x00\x05hello"...))
	h := testHandshaker(f, true)
	h.Accounts = accountMap{"app": "a password that no fuzzer finds"}
	f.Fuzz(func(t *testing.T, in []byte) {
		server, client := net.Pipe()
		var wg sync.WaitGroup
		wg.Go(func() { io.Copy(io.Discard, client) })
		wg.Go(func() {
			client.Write(in)
			client.Close()
		})
		login, err := h.Handshake(context.Background(), wire.NewConn(server), 1)
		server.Close()
		wg.Wait()
		if login != nil || err == nil {
			t.Fatalf("%+v got in", login)
		}
	})
}

// FuzzChangeUser does the same for COM_CHANGE_USER and what follows it.
func FuzzChangeUser(f *testing.F) {
	u := wire.ChangeUser{User: "app", AuthPlugin: wire.PluginNative}
	f.Add(u.Append(nil, clientCaps), []byte("\x14\x00\x00\x0201234567890123456789"), uint32(clientCaps))
	f.Add(u.Append(nil, clientCaps), []byte{}, uint32(wire.CapProtocol41))
	f.Add([]byte{}, []byte{}, uint32(0))
	h := testHandshaker(f, true)
	h.Accounts = accountMap{"app": "a password that no fuzzer finds"}
	f.Fuzz(func(t *testing.T, payload, in []byte, caps uint32) {
		server, client := net.Pipe()
		var wg sync.WaitGroup
		wg.Go(func() { io.Copy(io.Discard, client) })
		wg.Go(func() {
			client.Write(in)
			client.Close()
		})
		c := wire.NewConn(server)
		c.SetSequence(1)
		old := &Login{Caps: wire.Capability(caps), nonce: wire.NewNonce()}
		login, err := h.ChangeUser(context.Background(), c, payload, old)
		server.Close()
		wg.Wait()
		if login != nil || err == nil {
			t.Fatalf("%+v got in", login)
		}
	})
}
