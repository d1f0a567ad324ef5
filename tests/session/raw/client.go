package raw

import (
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"time"

	"causeway/wire"
)

// Base is what every client here asks for; Options.Caps adds to it.
const Base = wire.CapLongPassword | wire.CapLongFlag | wire.CapProtocol41 | wire.CapTransactions |
	wire.CapSecureConnection | wire.CapPluginAuth | wire.CapMultiResults | wire.CapPSMultiResults

// Modern is what libmysqlclient and Connector/J ask for on top of Base.
const Modern = wire.CapDeprecateEOF | wire.CapSessionTrack | wire.CapConnectAttrs | wire.CapPluginAuthLenEnc

// Options says whom to call and what to ask for.
type Options struct {
	Addr           string
	User, Password string
	DB             string
	Caps           wire.Capability // on top of Base
	Collation      uint16          // 0: utf8mb4_0900_ai_ci
	Attrs          map[string]string
	TLS            bool
	Timeout        time.Duration // of each command; 0: 30 s
	// AllTrackers keeps all entries of session-state blocks, see Client.ok.
	AllTrackers bool
}

// Client is one connection.
type Client struct {
	Greeting *wire.HandshakeV10
	Caps     wire.Capability // what both sides named
	// LocalFile is what LOAD DATA LOCAL is answered with, in packets of
	// LocalChunk bytes (0: one packet).
	LocalFile  []byte
	LocalChunk int

	conn *wire.Conn
	opt  Options
}

// Dial connects and authenticates. A refusal by the server is a *wire.Error.
func Dial(o Options) (*Client, error) {
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Collation == 0 {
		o.Collation = wire.CollationUTF8MB4
	}
	nc, err := net.DialTimeout("tcp", o.Addr, o.Timeout)
	if err != nil {
		return nil, err
	}
	c := &Client{conn: wire.NewConn(nc), opt: o}
	if err := c.handshake(); err != nil {
		nc.Close()
		return nil, err
	}
	return c, nil
}

func (c *Client) deadline() { c.conn.SetDeadline(time.Now().Add(c.opt.Timeout)) }

// handshake runs the connection phase.
func (c *Client) handshake() error {
	c.deadline()
	payload, err := c.conn.ReadPacket()
	if err != nil {
		return err
	}
	if c.Greeting, err = wire.ParseHandshakeV10(payload); err != nil {
		return err
	}
	want := Base | c.opt.Caps
	if c.opt.DB != "" {
		want |= wire.CapConnectWithDB
	}
	if c.opt.TLS {
		want |= wire.CapSSL
	}
	c.Caps = want & c.Greeting.Caps
	if c.opt.TLS {
		if err := c.upgrade(); err != nil {
			return err
		}
	}
	r := wire.HandshakeResponse{
		Caps: c.Caps, MaxPacket: 1 << 30, Collation: c.opt.Collation,
		User: c.opt.User, Database: c.opt.DB, Attrs: c.opt.Attrs, ZstdLevel: zstdLevel,
		AuthPlugin: c.Greeting.AuthPlugin,
		Auth:       scramble(c.Greeting.AuthPlugin, c.opt.Password, c.Greeting.AuthData),
	}
	if err := c.send(r.Append(nil)); err != nil {
		return err
	}
	if err := c.authenticate(r.AuthPlugin, c.opt.Password, c.Greeting.AuthData); err != nil {
		return err
	}
	c.conn.Compress(wire.CompressionOf(c.Caps), zstdLevel)
	return nil
}

// zstdLevel is what MySQL's own clients ask for.
const zstdLevel = 3

func (c *Client) upgrade() error {
	if !c.Caps.Has(wire.CapSSL) {
		return errors.New("raw: the server offers no TLS")
	}
	if err := c.send(wire.AppendSSLRequest(nil, c.Caps, 1<<30, c.opt.Collation)); err != nil {
		return err
	}
	// Tests connect to certificates made at start; nothing secret is sent.
	nc := tls.Client(c.conn.NetConn(), &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12})
	if err := nc.Handshake(); err != nil {
		return err
	}
	c.conn.Upgrade(nc)
	return nil
}

func scramble(plugin, password string, nonce []byte) []byte {
	if plugin == wire.PluginNative {
		return wire.NativePassword(password, nonce)
	}
	return wire.CachingSHA2(password, nonce)
}

// authenticate answers what the server asks until it says OK or ERR.
func (c *Client) authenticate(plugin, password string, nonce []byte) error {
	for {
		payload, err := c.conn.ReadPacket()
		if err != nil {
			return err
		}
		if len(payload) == 0 {
			return wire.ErrMalformed
		}
		switch payload[0] {
		case wire.HeaderOK:
			return nil
		case wire.HeaderERR:
			return serverError(payload)
		case wire.HeaderEOF:
			var data []byte
			if plugin, data, err = wire.ParseAuthSwitch(payload); err != nil {
				return err
			}
			nonce = append([]byte(nil), data...)
			err = c.send(scramble(plugin, password, nonce))
		case wire.HeaderMoreData:
			err = c.moreData(payload, password, nonce)
		default:
			err = fmt.Errorf("raw: unexpected packet %x while authenticating", payload[0])
		}
		if err != nil {
			return err
		}
	}
}

// moreData is the rest of caching_sha2_password.
func (c *Client) moreData(payload []byte, password string, nonce []byte) error {
	data, err := wire.ParseAuthMoreData(payload)
	if err != nil || len(data) == 0 {
		return errors.Join(wire.ErrMalformed, err)
	}
	switch {
	case data[0] == wire.SHA2FastAuthOK:
		return nil
	case data[0] == wire.SHA2FullAuth && c.opt.TLS:
		return c.send(append([]byte(password), 0))
	case data[0] == wire.SHA2FullAuth:
		return c.send([]byte{wire.SHA2RequestPublicKey})
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return errors.New("raw: no public key in the server's answer")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return err
	}
	pub, ok := key.(*rsa.PublicKey)
	if !ok {
		return fmt.Errorf("raw: public key is a %T", key)
	}
	cipher, err := wire.EncryptRSA(password, nonce, pub)
	if err != nil {
		return err
	}
	return c.send(cipher)
}

// serverError turns an ERR packet into an error.
func serverError(payload []byte) error {
	e, err := wire.ParseError(payload)
	if err != nil {
		return err
	}
	return e
}

// send writes one payload with the next sequence number.
func (c *Client) send(payload []byte) error {
	if err := c.conn.WritePacket(payload); err != nil {
		return err
	}
	return c.conn.Flush()
}

// start sends a command with sequence number 0.
func (c *Client) start(cmd wire.Command, payload []byte) error {
	c.deadline()
	c.conn.ResetSequence()
	return c.send(append([]byte{byte(cmd)}, payload...))
}

// Conn returns the packets underneath, for tests that break the rules.
func (c *Client) Conn() *wire.Conn { return c.conn }

// Close closes the socket without a word.
func (c *Client) Close() error { return c.conn.Close() }

// Quit says COM_QUIT and closes.
func (c *Client) Quit() error {
	return errors.Join(c.start(wire.ComQuit, nil), c.conn.Close())
}
