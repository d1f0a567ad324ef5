package server

import (
	"context"
	"crypto/rsa"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"causeway/wire"
)

// serverCaps is what Causeway offers to its clients; CapSSL comes on top if
// there is a certificate, and compression as configured. Left out on purpose:
// optional metadata and multi-factor authentication.
const serverCaps = wire.CapLongPassword | wire.CapFoundRows | wire.CapLongFlag |
	wire.CapConnectWithDB | wire.CapNoSchema | wire.CapLocalFiles | wire.CapIgnoreSpace |
	wire.CapProtocol41 | wire.CapInteractive | wire.CapTransactions | wire.CapSecureConnection |
	wire.CapMultiStatements | wire.CapMultiResults | wire.CapPSMultiResults | wire.CapPluginAuth |
	wire.CapConnectAttrs | wire.CapPluginAuthLenEnc | wire.CapExpiredPasswords |
	wire.CapSessionTrack | wire.CapDeprecateEOF | wire.CapQueryAttributes

// maxLoginPacket bounds a packet of somebody who has not logged in: MySQL takes
// 64 KB of connection attributes, and the rest of a response is small.
const maxLoginPacket = 80 << 10

// Login is who a client turned out to be and what it asked for.
type Login struct {
	User      string
	Database  string          // schema to start in, "" for none; not checked here
	Caps      wire.Capability // negotiated: offered by us, wanted by the client
	Collation uint16
	Attrs     map[string]string
	MaxPacket uint32
	TLS       bool
	Host      string // the client's address as it stands in MySQL's messages
	ZstdLevel int    // of compression that the client wishes, 0: it did not say

	nonce []byte // the last that the client was given, see ChangeUser
}

// Accounts knows the users that may log in. It is asked by many sessions at once.
type Accounts interface {
	Lookup(user string) (password string, ok bool)
}

// handshakeOptions is what a handshaker needs.
type handshakeOptions struct {
	Accounts    Accounts
	TLS         *tls.Config // nil: TLS is not offered
	TLSRequired bool
	Key         *rsa.PrivateKey // for passwords without TLS; nil: one is made
	Version     func() string   // server version to show
	Charset     func() uint16   // default collation to show
	Timeout     time.Duration   // for a whole login, the PROXY header included

	Compression []wire.Compression // that clients may choose
	Proxies     []netip.Prefix     // whose connections begin with a PROXY header
}

// handshaker logs clients in as MySQL 8 and 9 do. It is used by all sessions at
// once; what belongs to one login is in an exchange.
type handshaker struct {
	handshakeOptions
	publicKey []byte // PEM
	decoy     string // the password of users who do not exist
}

func newHandshaker(o handshakeOptions) (*handshaker, error) {
	if o.Key == nil {
		key, err := newLoginKey()
		if err != nil {
			return nil, err
		}
		o.Key = key
	}
	pub, err := publicKeyPEM(&o.Key.PublicKey)
	if err != nil {
		return nil, err
	}
	return &handshaker{handshakeOptions: o, publicKey: pub, decoy: string(wire.NewNonce())}, nil
}

// caps is what is offered to a client.
func (h *handshaker) caps() wire.Capability {
	caps := serverCaps
	if h.TLS != nil {
		caps |= wire.CapSSL
	}
	for _, m := range h.Compression {
		caps |= m.Capability()
	}
	return caps
}

// compressionMethods reads the configuration's names.
func compressionMethods(names []string) ([]wire.Compression, error) {
	var list []wire.Compression
	for _, name := range names {
		m, ok := wire.CompressionNamed(name)
		if !ok {
			return nil, fmt.Errorf("compression: %q is not known", name)
		}
		list = append(list, m)
	}
	return list, nil
}

// Handshake greets the client and logs it in. When it returns a Login, the
// client waits for an OK (which may not be flushed alone: what precedes it is
// still queued in c); the caller checks the schema and sends it, and sets the
// limits for packets and time that hold from now on. An error that the client
// could be told has been sent and is a *wire.Error; after any error the caller
// closes c.
//
// A user who does not exist gets the same packets and the same error, after the
// same work, as one who gives a wrong password.
func (h *handshaker) Handshake(ctx context.Context, c *wire.Conn, connID uint32) (*Login, error) {
	ctx, release := h.bind(ctx, c.NetConn())
	defer release()
	c.SetMaxPacket(maxLoginPacket)
	x := &exchange{h: h, c: c, login: &Login{}}
	if err := h.introduce(c); err != nil {
		return x.finish(release, err)
	}
	x.login.Host = clientHost(c)
	return x.finish(release, x.greetAndLogIn(ctx, connID))
}

// ChangeUser answers COM_CHANGE_USER, of which payload is the packet, on a
// connection that is logged in as old. What Handshake says of the OK and of
// errors holds here too. The client's first answer is to the last nonce that it
// was given. If that is right by mysql_native_password it is let in, else it is
// asked again with a new one: libmariadb names that plugin whatever the account
// has, and goes on answering the old nonce by it.
func (h *handshaker) ChangeUser(ctx context.Context, c *wire.Conn, payload []byte, old *Login) (*Login, error) {
	_, release := h.bind(ctx, c.NetConn())
	defer release()
	login := *old
	x := &exchange{h: h, c: c, login: &login, caps: old.Caps, nonce: old.nonce}
	return x.finish(release, x.changeUser(payload))
}

// bind bounds the login: by the timeout and by ctx. Deadlines go to the socket
// below TLS, so that they hold for the TLS handshake too. release can be called
// twice; its error is that of ctx, if that ended before.
func (h *handshaker) bind(ctx context.Context, nc net.Conn) (context.Context, func() error) {
	if tc, ok := nc.(*tls.Conn); ok {
		nc = tc.NetConn()
	}
	nc.SetDeadline(time.Now().Add(h.Timeout))
	bounded, cancel := context.WithTimeout(ctx, h.Timeout)
	stop := context.AfterFunc(ctx, func() { nc.SetDeadline(time.Unix(1, 0)) })
	released := false
	return bounded, func() error {
		if released {
			return nil
		}
		released = true
		cancel()
		if !stop() {
			return context.Cause(ctx)
		}
		return nc.SetDeadline(time.Time{})
	}
}

// finish ends a login one way or the other.
func (x *exchange) finish(release func() error, err error) (*Login, error) {
	if err != nil {
		return nil, x.refuse(err)
	}
	if err := release(); err != nil {
		return nil, fmt.Errorf("login: %w", err)
	}
	return x.login, nil
}

// refuse tells the client about err, if it can be told.
func (x *exchange) refuse(err error) error {
	e := loginError(err)
	if e == nil {
		return fmt.Errorf("login: %w", err)
	}
	if errors.Is(err, wire.ErrPacketTooLarge) {
		// Its header was seen, not consumed: the answer has the next number.
		x.c.SetSequence(x.c.Sequence() + 1)
	}
	if x.c.WritePacket(e.Append(nil, x.caps)) == nil {
		_ = x.c.Flush() // the client may be gone; e is the reason either way
	}
	if errors.Is(err, errNoProxyHeader) || errors.Is(err, errProxyHeader) {
		return fmt.Errorf("%w: %w", e, err)
	}
	return e
}

// loginError is what MySQL answers to err; nil if there is nobody to tell.
func loginError(err error) *wire.Error {
	var e *wire.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, errNoProxyHeader):
		return wire.NewError(wire.ErrBadHandshake, "Bad handshake: Causeway expects a PROXY protocol header from this address")
	case errors.Is(err, errProxyHeader):
		return wire.NewError(wire.ErrBadHandshake, "Bad handshake: Causeway takes no PROXY protocol header from this address")
	case errors.Is(err, wire.ErrMalformed):
		return wire.NewError(wire.ErrBadHandshake, "Bad handshake")
	case errors.Is(err, wire.ErrSequence):
		return wire.NewError(wire.ErrPacketsOutOfOrder, "Got packets out of order")
	case errors.Is(err, wire.ErrPacketTooLarge):
		return wire.NewError(wire.ErrNetPacketTooLarge, "Got a packet bigger than 'max_allowed_packet' bytes")
	}
	return nil
}

// clientHost is the client's address in MySQL's messages. Names are not looked
// up, as with skip_name_resolve.
func clientHost(c *wire.Conn) string {
	if a, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return a.IP.String()
	}
	return "localhost"
}
