package backend

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"causeway/wire"
)

// TLS modes of a connection to a node, with MySQL's own meaning of the words.
const (
	TLSDisabled  = "disabled"  // never
	TLSPreferred = "preferred" // if the server offers it and is on another host; its certificate is not checked
	TLSRequired  = "required"  // or no connection, the certificate is not checked
	TLSVerify    = "verify"    // or no connection, certificate and host name are checked
)

// DialConfig says where and how Dial connects.
type DialConfig struct {
	Addr     string // host:port, or the path of a socket, which starts with "/"
	User     string
	Password string
	Database string
	// Collation of the connection; 0 is utf8mb4_0900_ai_ci.
	Collation uint16
	// Caps are the client's wishes that change what statements mean; any other
	// flag in it is ignored, see choosableCaps.
	Caps      wire.Capability
	TLSMode   string      // "" is TLSPreferred
	TLSConfig *tls.Config // for TLSVerify: roots and perhaps ServerName; may be nil
	Attrs     map[string]string
	ClientTLS bool // the client came by TLS: TLSPreferred then takes it on the same host too
}

// Greeting is what the server said when the connection was made.
type Greeting struct {
	ConnectionID uint32
	Version      string
	Caps         wire.Capability // negotiated: wanted by us, offered by the server
	Status       wire.Status
	OK           wire.OK // that ended the login; shares no memory with the connection
	Plugin       string  // the authentication method that the account uses
	TLS          bool
	// NeedSetNames: the collation asked for does not fit into the handshake's one
	// byte. The connection has utf8mb4's default collation until a SET NAMES.
	NeedSetNames bool
}

// requiredCaps are those without which a node is of no use: GTIDs come only in
// an OK with SESSION_TRACK, and for results only with DEPRECATE_EOF.
const requiredCaps = wire.CapProtocol41 | wire.CapSecureConnection | wire.CapPluginAuth |
	wire.CapSessionTrack | wire.CapDeprecateEOF

// alwaysCaps are asked for whatever the client asked for.
const alwaysCaps = requiredCaps | wire.CapLongPassword | wire.CapLongFlag | wire.CapTransactions |
	wire.CapMultiResults | wire.CapPSMultiResults | wire.CapPluginAuthLenEnc | wire.CapConnectAttrs

// choosableCaps change what a statement means or may do, so they are the
// client's to choose. MULTI_STATEMENTS is among them: it is a barrier against
// injected statements for those who do not ask for it.
const choosableCaps = wire.CapFoundRows | wire.CapNoSchema | wire.CapLocalFiles |
	wire.CapIgnoreSpace | wire.CapInteractive | wire.CapMultiStatements |
	wire.CapExpiredPasswords | wire.CapQueryAttributes

const (
	defaultCollation = wire.CollationUTF8MB4
	maxPacketWish    = 1 << 30
	// maxDialPacket bounds what is read before the login is done, so that what
	// answers there, if it is no MySQL, cannot make us read much.
	maxDialPacket = 64 << 10
)

// Dial connects to a server and logs in. The deadline of ctx, or its end, bounds
// the whole of it; the connection returned has no deadline. What the server
// answers in an ERR packet is a *wire.Error in the chain of the error.
//
// The server's public key, where the password must be sent encrypted without
// TLS, is asked for and trusted; where that matters, use TLSVerify.
func Dial(ctx context.Context, cfg DialConfig) (*wire.Conn, *Greeting, error) {
	nc, err := dialNet(ctx, cfg.Addr)
	if err != nil {
		return nil, nil, fmt.Errorf("dial %s: %w", cfg.Addr, err)
	}
	release := bindDeadline(ctx, nc)
	c, greeting, err := login(ctx, nc, cfg)
	if rerr := release(); rerr != nil {
		err = errors.Join(rerr, err)
	}
	if err != nil {
		nc.Close()
		return nil, nil, fmt.Errorf("dial %s: %w", cfg.Addr, err)
	}
	return c, greeting, nil
}

// Reason says in an operator's words why a connection could not be opened.
func Reason(err error) string {
	var timeout net.Error
	switch {
	case errors.Is(err, ErrIncarnation):
		return ErrIncarnation.Error()
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "no answer within [backend] connect_timeout"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "no route to it"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection broken"
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}

func dialNet(ctx context.Context, addr string) (net.Conn, error) {
	// TCP_NODELAY is Go's default. Dead peers are found within a minute.
	d := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3,
	}}
	if strings.HasPrefix(addr, "/") {
		return d.DialContext(ctx, "unix", addr)
	}
	return d.DialContext(ctx, "tcp", addr)
}

// bindDeadline makes ctx bound the reads and writes of nc. release takes the
// bound off again; its error is that of ctx, if that ended before.
func bindDeadline(ctx context.Context, nc net.Conn) (release func() error) {
	if t, ok := ctx.Deadline(); ok {
		nc.SetDeadline(t)
	}
	stop := context.AfterFunc(ctx, func() { nc.SetDeadline(time.Unix(1, 0)) })
	return func() error {
		if !stop() {
			return context.Cause(ctx)
		}
		return nc.SetDeadline(time.Time{})
	}
}

// dialer is one login under way.
type dialer struct {
	cfg    DialConfig
	c      *wire.Conn
	caps   wire.Capability
	plugin string
	nonce  []byte
	secure bool // TLS or a local socket: the password may be sent as it is
	tls    bool
}

func login(ctx context.Context, nc net.Conn, cfg DialConfig) (*wire.Conn, *Greeting, error) {
	d := &dialer{cfg: cfg, c: wire.NewConn(nc)}
	if d.cfg.Collation == 0 {
		d.cfg.Collation = defaultCollation
	}
	_, d.secure = nc.(*net.UnixConn)
	d.c.SetMaxPacket(maxDialPacket)
	hello, err := d.readGreeting()
	if err != nil {
		return nil, nil, err
	}
	if err := d.negotiate(hello); err != nil {
		return nil, nil, err
	}
	if err := d.upgrade(ctx, hello.Caps); err != nil {
		return nil, nil, err
	}
	if err := d.respond(hello); err != nil {
		return nil, nil, err
	}
	ok, err := d.authenticate()
	if err != nil {
		return nil, nil, fmt.Errorf("login: %w", err)
	}
	d.c.ResetSequence()
	d.c.SetMaxPacket(maxPacketWish)
	return d.c, &Greeting{
		ConnectionID: hello.ConnectionID, Version: hello.ServerVersion, Caps: d.caps,
		Status: ok.Status, OK: ok, Plugin: d.plugin, TLS: d.tls,
		NeedSetNames: d.cfg.Collation > 255,
	}, nil
}

func (d *dialer) readGreeting() (*wire.HandshakeV10, error) {
	payload, err := d.c.ReadPacket()
	if err != nil {
		return nil, fmt.Errorf("greeting: %w", err)
	}
	hello, err := wire.ParseHandshakeV10(payload)
	if err != nil {
		return nil, fmt.Errorf("greeting: %w", err)
	}
	return hello, nil
}

// negotiate settles the capabilities.
func (d *dialer) negotiate(hello *wire.HandshakeV10) error {
	if missing := requiredCaps &^ hello.Caps; missing != 0 {
		return fmt.Errorf("server %s lacks the capabilities %s, which Causeway needs: is it MySQL 8.0.22 or later?",
			hello.ServerVersion, missing)
	}
	want := alwaysCaps | d.cfg.Caps&choosableCaps
	if d.cfg.Database != "" {
		want |= wire.CapConnectWithDB
	}
	d.caps = want & hello.Caps
	return nil
}

// respond sends the answer to the greeting. If the server's default plugin is
// one that we do not speak, it will ask for the account's own one later.
func (d *dialer) respond(hello *wire.HandshakeV10) error {
	d.plugin, d.nonce = hello.AuthPlugin, hello.AuthData
	if d.plugin != wire.PluginNative {
		d.plugin = wire.PluginCachingSHA2
	}
	answer, err := d.scramble()
	if err != nil {
		return err
	}
	r := wire.HandshakeResponse{
		Caps: d.caps, MaxPacket: maxPacketWish, Collation: d.cfg.Collation,
		User: d.cfg.User, Database: d.cfg.Database,
		AuthPlugin: d.plugin, Auth: answer, Attrs: d.cfg.Attrs,
	}
	return d.send(r.Append(nil))
}

func (d *dialer) send(payload []byte) error {
	if err := d.c.WritePacket(payload); err != nil {
		return err
	}
	return d.c.Flush()
}

// cloneOK detaches an OK from the connection's buffer.
func cloneOK(ok wire.OK) wire.OK {
	ok.Info, ok.Track = bytes.Clone(ok.Info), bytes.Clone(ok.Track)
	return ok
}
