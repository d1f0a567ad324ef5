package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"causeway/wire"
)

// exchange is one login under way. Its goroutine is the session's.
type exchange struct {
	h     *handshaker
	c     *wire.Conn
	login *Login
	caps  wire.Capability // of the client, 0 while unknown
	nonce []byte

	password string // of the account, or the decoy
	known    bool   // the account exists
}

func (x *exchange) greetAndLogIn(ctx context.Context, connID uint32) error {
	x.nonce = wire.NewNonce()
	x.login.nonce = x.nonce
	if err := x.send(x.greeting(connID)); err != nil {
		return err
	}
	r, err := x.readResponse(ctx)
	if err != nil {
		return err
	}
	x.take(r)
	if x.h.TLSRequired && !x.isSecure() {
		return wire.NewError(wire.ErrSecureTransport,
			"Connections using insecure transport are prohibited while --require_secure_transport=ON.")
	}
	if wire.CompressionOf(x.caps) == wire.Zstd && r.ZstdLevel > wire.MaxZstdLevel {
		return wire.NewError(wire.ErrCompressionLevel, "Invalid zstd compression level for algorithm 'zstd'.")
	}
	return x.authenticate(r.AuthPlugin, r.Auth)
}

func (x *exchange) greeting(connID uint32) []byte {
	return wire.HandshakeV10{
		ServerVersion: x.h.Version(),
		ConnectionID:  connID,
		AuthData:      x.nonce,
		Caps:          x.h.caps(),
		Charset:       byte(min(x.h.Charset(), 255)), // one byte; the others are all of utf8mb4, as 255 is
		Status:        wire.StatusAutocommit,
		AuthPlugin:    wire.PluginCachingSHA2,
	}.Append(nil)
}

// readResponse reads the client's response, through TLS if it asks for that.
func (x *exchange) readResponse(ctx context.Context) (*wire.HandshakeResponse, error) {
	payload, err := x.c.ReadPacket()
	if errors.Is(err, wire.ErrSequence) && wire.HasProxyHeader(x.c.Buffered()) {
		return nil, errProxyHeader
	}
	if err != nil {
		return nil, err
	}
	if x.h.TLS != nil && wire.IsSSLRequest(payload) {
		if err := x.startTLS(ctx); err != nil {
			return nil, err
		}
		if payload, err = x.c.ReadPacket(); err != nil {
			return nil, err
		}
	}
	return wire.ParseHandshakeResponse(payload)
}

// startTLS puts TLS between the connection and its socket. Clients send their
// hello right behind the request, so it may have been read with it: what is
// buffered belongs to TLS.
func (x *exchange) startTLS(ctx context.Context) error {
	early := append([]byte(nil), x.c.Buffered()...)
	x.c.Discard(len(early))
	tc := tls.Server(&prefixConn{Conn: x.c.NetConn(), prefix: early}, x.h.TLS)
	if err := tc.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("TLS: %w", err)
	}
	x.c.Upgrade(tc)
	x.login.TLS = true
	return nil
}

// take notes what the client said about itself.
func (x *exchange) take(r *wire.HandshakeResponse) {
	x.caps = r.Caps & x.h.caps()
	if !x.login.TLS {
		x.caps &^= wire.CapSSL
	}
	x.login.Caps = x.caps
	x.login.User = r.User
	x.login.Database = r.Database
	x.login.Attrs = r.Attrs
	x.login.MaxPacket = r.MaxPacket
	x.login.ZstdLevel = int(r.ZstdLevel)
	x.login.Collation = r.Collation
	if r.Collation == 0 {
		x.login.Collation = x.h.Charset()
	}
	if !r.Caps.Has(wire.CapPluginAuth) {
		r.AuthPlugin = wire.PluginNative // the only one such clients can mean
	}
	x.account(r.User)
}

// account looks the user up. One who does not exist gets a password that nobody
// knows, and is never let in.
func (x *exchange) account(user string) {
	x.password, x.known = x.h.Accounts.Lookup(user)
	if !x.known {
		x.password = x.h.decoy
	}
}

func (x *exchange) changeUser(payload []byte) error {
	u, err := wire.ParseChangeUser(payload, x.caps)
	if err != nil {
		return wire.NewError(wire.ErrUnknownCommand, "Unknown command")
	}
	x.login.User, x.login.Database, x.login.Attrs = u.User, u.Database, u.Attrs
	if u.Collation != 0 {
		x.login.Collation = u.Collation
	}
	x.account(u.User)
	if !x.caps.Has(wire.CapPluginAuth) {
		// Such a client cannot be asked again; it has answered the old nonce.
		return x.native(u.Auth)
	}
	if u.AuthPlugin == wire.PluginNative && wire.CheckNative(x.password, x.nonce, u.Auth) && x.known {
		return nil // as MySQL lets in an account of that plugin
	}
	return x.switchTo(wire.PluginCachingSHA2)
}

// isSecure reports whether a password may come as it is.
func (x *exchange) isSecure() bool {
	_, unix := x.c.NetConn().(*net.UnixConn)
	return x.login.TLS || unix
}

func (x *exchange) send(payload []byte) error {
	if err := x.c.WritePacket(payload); err != nil {
		return err
	}
	return x.c.Flush()
}

// prefixConn is a connection of which some bytes were read already.
type prefixConn struct {
	net.Conn
	prefix []byte
}

// Read returns the bytes read before first.
func (p *prefixConn) Read(b []byte) (int, error) {
	if len(p.prefix) == 0 {
		return p.Conn.Read(b)
	}
	n := copy(b, p.prefix)
	p.prefix = p.prefix[n:]
	return n, nil
}
