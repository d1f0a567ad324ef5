package backend

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"causeway/wire"
)

// maxAuthSteps bounds the packets of one login; the longest that a real server
// needs is a switch, "full authentication", a public key and the OK.
const maxAuthSteps = 8

// authenticate follows the server through the login until its OK.
func (d *dialer) authenticate() (wire.OK, error) {
	switched := false
	for range maxAuthSteps {
		payload, err := d.c.ReadPacket()
		if err != nil {
			return wire.OK{}, err
		}
		if len(payload) == 0 {
			return wire.OK{}, fmt.Errorf("%w: empty", wire.ErrMalformed)
		}
		switch payload[0] {
		case wire.HeaderOK:
			ok, err := wire.ParseOK(payload, d.caps)
			return cloneOK(ok), err
		case wire.HeaderERR:
			return wire.OK{}, asError(payload)
		case wire.HeaderEOF:
			if switched {
				return wire.OK{}, errors.New("the server asked twice for another authentication method")
			}
			switched = true
			err = d.switchPlugin(payload)
		case wire.HeaderMoreData:
			err = d.moreData(payload)
		default:
			err = fmt.Errorf("%w: first byte 0x%02x", wire.ErrMalformed, payload[0])
		}
		if err != nil {
			return wire.OK{}, err
		}
	}
	return wire.OK{}, errors.New("the server does not come to an end")
}

// sha256_password is what a server asks for when an account is old, or does not
// exist: it then takes a plugin by chance, so as not to tell.
const (
	pluginSHA256           = "sha256_password"
	sha256RequestPublicKey = 1
)

// scramble is the answer of the current plugin to the current nonce.
func (d *dialer) scramble() ([]byte, error) {
	switch d.plugin {
	case wire.PluginNative:
		return wire.NativePassword(d.cfg.Password, d.nonce), nil
	case wire.PluginCachingSHA2:
		if d.cfg.Password == "" {
			// The plugin has one zero byte for "no password", as the server's
			// client library sends it, where native has nothing.
			return []byte{0}, nil
		}
		return wire.CachingSHA2(d.cfg.Password, d.nonce), nil
	case pluginSHA256:
		switch {
		case d.cfg.Password == "":
			return []byte{0}, nil
		case d.secure:
			return append([]byte(d.cfg.Password), 0), nil
		}
		return []byte{sha256RequestPublicKey}, nil
	}
	return nil, fmt.Errorf("the account uses %s; Causeway speaks %s and %s",
		d.plugin, wire.PluginCachingSHA2, wire.PluginNative)
}

func (d *dialer) switchPlugin(payload []byte) error {
	plugin, nonce, err := wire.ParseAuthSwitch(payload)
	if err != nil {
		return err
	}
	d.plugin, d.nonce = plugin, append([]byte(nil), nonce...)
	answer, err := d.scramble()
	if err != nil {
		return err
	}
	if len(nonce) != wire.NonceLen {
		return fmt.Errorf("%w: a nonce of %d bytes", wire.ErrMalformed, len(nonce))
	}
	return d.send(answer)
}

// moreData follows caching_sha2_password: the server either has the password's
// hash in its cache, or wants the password itself.
func (d *dialer) moreData(payload []byte) error {
	data, err := wire.ParseAuthMoreData(payload)
	if err != nil {
		return err
	}
	if d.plugin == pluginSHA256 && !d.secure {
		return d.sendEncrypted(data)
	}
	if d.plugin != wire.PluginCachingSHA2 {
		return fmt.Errorf("%w: more data for %s", wire.ErrMalformed, d.plugin)
	}
	switch {
	case len(data) == 1 && data[0] == wire.SHA2FastAuthOK:
		return nil
	case len(data) == 1 && data[0] == wire.SHA2FullAuth && d.secure:
		return d.send(append([]byte(d.cfg.Password), 0))
	case len(data) == 1 && data[0] == wire.SHA2FullAuth:
		return d.send([]byte{wire.SHA2RequestPublicKey})
	case d.secure:
		// A public key was not asked for.
		return fmt.Errorf("%w: unexpected data of %s", wire.ErrMalformed, d.plugin)
	}
	return d.sendEncrypted(data)
}

// sendEncrypted answers the server's public key.
func (d *dialer) sendEncrypted(keyPEM []byte) error {
	pub, err := parsePublicKey(keyPEM)
	if err != nil {
		return err
	}
	answer, err := wire.EncryptRSA(d.cfg.Password, d.nonce, pub)
	if err != nil {
		return err
	}
	return d.send(answer)
}

func parsePublicKey(keyPEM []byte) (*rsa.PublicKey, error) {
	block, _ := pem.Decode(keyPEM)
	if block == nil {
		return nil, fmt.Errorf("%w: the server's public key is no PEM", wire.ErrMalformed)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("the server's public key: %w", err)
	}
	pub, ok := key.(*rsa.PublicKey)
	if !ok {
		return nil, fmt.Errorf("the server's public key is a %T, not RSA", key)
	}
	return pub, nil
}
