package server

import (
	"bytes"
	"context"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"causeway/wire"
)

// loginTimeout is long: no test but those about it may depend on time.
const loginTimeout = 30 * time.Second

type accountMap map[string]string

func (m accountMap) Lookup(user string) (string, bool) {
	p, ok := m[user]
	return p, ok
}

var testAccounts = accountMap{
	"app":   "app_pw",
	"empty": "",
	"long":  string(bytes.Repeat([]byte("x"), 150)),
	"utf8":  "пароль",
}

var loginKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := newLoginKey()
	if err != nil {
		panic(err)
	}
	return key
})

var loginTLS = sync.OnceValue(func() *tls.Config {
	cfg, err := TLSConfig("", "")
	if err != nil {
		panic(err)
	}
	return cfg
})

func testOptions(withTLS bool) handshakeOptions {
	o := handshakeOptions{
		Accounts: testAccounts,
		Key:      loginKey(),
		Version:  func() string { return "8.4.0-test" },
		Charset:  func() uint16 { return 255 },
		Timeout:  loginTimeout,
	}
	if withTLS {
		o.TLS = loginTLS()
	}
	return o
}

func testHandshaker(t testing.TB, withTLS bool) *handshaker {
	t.Helper()
	h, err := newHandshaker(testOptions(withTLS))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// loginServer logs clients in on a port of its own and then answers every
// command with OK, COM_CHANGE_USER with another login.
type loginServer struct {
	addr   string
	logins chan *Login // of each successful login, if somebody reads
}

func startLoginServer(t testing.TB, h *handshaker) *loginServer {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) }) // runs last
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &loginServer{addr: l.Addr().String(), logins: make(chan *Login, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for id := uint32(1); ; id++ {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			stop := context.AfterFunc(ctx, func() { nc.Close() })
			wg.Go(func() {
				defer stop()
				defer nc.Close()
				s.session(ctx, h, wire.NewConn(nc), id)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		cancel()
		wg.Wait()
	})
	return s
}

func (s *loginServer) session(ctx context.Context, h *handshaker, c *wire.Conn, id uint32) {
	login, err := h.Handshake(ctx, c, id)
	if err != nil {
		return
	}
	s.accepted(c, login)
	for {
		c.ResetSequence()
		payload, err := c.ReadPacket()
		if err != nil || len(payload) == 0 || wire.Command(payload[0]) == wire.ComQuit {
			return
		}
		if wire.Command(payload[0]) == wire.ComChangeUser {
			if login, err = h.ChangeUser(ctx, c, payload, login); err != nil {
				return
			}
			s.accepted(c, login)
			continue
		}
		c.WritePacket(wire.OK{}.Append(nil, login.Caps))
		c.Flush()
	}
}

func (s *loginServer) accepted(c *wire.Conn, login *Login) {
	select {
	case s.logins <- login:
	default:
	}
	c.WritePacket(wire.OK{Status: wire.StatusAutocommit}.Append(nil, login.Caps))
	c.Flush()
}

// testClient is a client that can be told to do everything in its own way.
type testClient struct {
	user, password string
	firstPlugin    string          // named in the response
	firstAnswer    func() []byte   // nil: the right one for firstPlugin and firstPassword
	firstPassword  *string         // for the first scramble only; nil: password
	caps           wire.Capability // 0: like a modern client
	tls            bool
	coalesce       bool // SSLRequest and TLS hello in one segment
	zstdLevel      byte
	proxyHeader    string            // sent first
	attrs          map[string]string // nil: k = v

	c      *wire.Conn
	nonce  []byte
	plugin string
	trace  []string // what the server asked: "switch x", "fast", "full", "key"
}

func (k *testClient) attributes() map[string]string {
	if k.attrs == nil {
		return map[string]string{"k": "v"}
	}
	return k.attrs
}

const clientCaps = wire.CapProtocol41 | wire.CapSecureConnection | wire.CapPluginAuth |
	wire.CapPluginAuthLenEnc | wire.CapConnectAttrs | wire.CapConnectWithDB | wire.CapLongPassword |
	wire.CapTransactions | wire.CapSessionTrack

// login runs a whole login; the error is what the server answered.
func (k *testClient) login(addr string) error {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	nc.SetDeadline(time.Now().Add(loginTimeout))
	if _, err := nc.Write([]byte(k.proxyHeader)); err != nil {
		return err
	}
	k.c = wire.NewConn(nc)
	payload, err := k.c.ReadPacket()
	if err != nil {
		return err
	}
	hello, err := wire.ParseHandshakeV10(payload)
	if err != nil {
		return err
	}
	if k.caps == 0 {
		k.caps = clientCaps
	}
	if k.tls {
		if err := k.startTLS(nc); err != nil {
			return err
		}
	}
	k.nonce, k.plugin = hello.AuthData, k.firstPlugin
	r := wire.HandshakeResponse{
		Caps: k.caps, MaxPacket: 1 << 24, Collation: 45, User: k.user, Database: "db",
		AuthPlugin: k.firstPlugin, Auth: k.first(), Attrs: k.attributes(),
		ZstdLevel: k.zstdLevel,
	}
	if err := k.send(r.Append(nil)); err != nil {
		return err
	}
	return k.follow()
}

func (k *testClient) first() []byte {
	switch {
	case k.firstAnswer != nil:
		return k.firstAnswer()
	case k.firstPassword != nil:
		return k.scramble(*k.firstPassword)
	}
	return k.scramble(k.password)
}

func (k *testClient) scramble(password string) []byte {
	if k.plugin == wire.PluginNative {
		return wire.NativePassword(password, k.nonce)
	}
	return wire.CachingSHA2(password, k.nonce)
}

// startTLS asks for TLS; with coalesce the request goes out with the hello.
func (k *testClient) startTLS(nc net.Conn) error {
	request := wire.AppendSSLRequest(nil, k.caps, 1<<24, 45)
	k.caps |= wire.CapSSL
	under := nc
	if k.coalesce {
		under = &prefixWriter{Conn: nc, prefix: append(wire.AppendHeader(nil, len(request), 1), request...)}
		k.c.SetSequence(2)
	} else if err := k.send(request); err != nil {
		return err
	}
	tc := tls.Client(under, &tls.Config{InsecureSkipVerify: true})
	if err := tc.Handshake(); err != nil {
		return err
	}
	k.c.Upgrade(tc)
	return nil
}

type prefixWriter struct {
	net.Conn
	prefix []byte
}

func (p *prefixWriter) Write(b []byte) (int, error) {
	if len(p.prefix) > 0 {
		n := len(p.prefix)
		m, err := p.Conn.Write(append(p.prefix, b...))
		p.prefix = nil
		return max(0, m-n), err
	}
	return p.Conn.Write(b)
}

func (k *testClient) send(payload []byte) error {
	if err := k.c.WritePacket(payload); err != nil {
		return err
	}
	return k.c.Flush()
}

// follow answers the server until its OK or ERR.
func (k *testClient) follow() error {
	for {
		payload, err := k.c.ReadPacket()
		if err != nil {
			return err
		}
		switch payload[0] {
		case wire.HeaderOK:
			_, err := wire.ParseOK(payload, k.caps)
			return err
		case wire.HeaderERR:
			e, err := wire.ParseError(payload)
			if err != nil {
				return err
			}
			return e
		}
		if err := k.step(payload); err != nil {
			return err
		}
	}
}

func (k *testClient) step(payload []byte) error {
	if payload[0] == wire.HeaderEOF {
		plugin, nonce, err := wire.ParseAuthSwitch(payload)
		if err != nil {
			return err
		}
		k.plugin, k.nonce = plugin, bytes.Clone(nonce)
		k.trace = append(k.trace, "switch "+plugin)
		return k.send(k.scramble(k.password))
	}
	data, err := wire.ParseAuthMoreData(payload)
	if err != nil {
		return err
	}
	switch {
	case data[0] == wire.SHA2FastAuthOK:
		k.trace = append(k.trace, "fast")
		return nil
	case data[0] == wire.SHA2FullAuth && k.tls:
		k.trace = append(k.trace, "full")
		return k.send(append([]byte(k.password), 0))
	case data[0] == wire.SHA2FullAuth:
		k.trace = append(k.trace, "full")
		return k.send([]byte{wire.SHA2RequestPublicKey})
	}
	k.trace = append(k.trace, "key")
	return k.sendEncrypted(data)
}

func (k *testClient) sendEncrypted(key []byte) error {
	block, _ := pem.Decode(key)
	if block == nil {
		return fmt.Errorf("no PEM: %q", key)
	}
	pub, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return err
	}
	cipher, err := wire.EncryptRSA(k.password, k.nonce, pub.(*rsa.PublicKey))
	if err != nil {
		return err
	}
	return k.send(cipher)
}

func (k *testClient) close() {
	if k.c != nil {
		k.c.Close()
	}
}

// wantCode fails unless err is MySQL's error code (0: no error).
func wantCode(t *testing.T, err error, code uint16) {
	t.Helper()
	var e *wire.Error
	switch {
	case code == 0 && err != nil:
		t.Errorf("got %v, want no error", err)
	case code != 0 && (!errors.As(err, &e) || e.Code != code):
		t.Errorf("got %v, want error %d", err, code)
	}
}
