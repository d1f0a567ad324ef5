package server

import (
	"crypto/sha256"
	"crypto/subtle"

	"causeway/wire"
)

// authenticate checks the client's first answer, which is to the greeting's
// nonce by the plugin that it names. A plugin that Causeway does not speak, or
// none, is answered with the one that it does.
//
// MySQL's client library, told to use mysql_native_password (--default-auth),
// takes the greeting's nonce for another plugin's and answers nothing; it must
// be given one of its own. Older clients answer the greeting's.
func (x *exchange) authenticate(plugin string, answer []byte) error {
	switch {
	case plugin == wire.PluginCachingSHA2:
		return x.cachingSHA2(answer)
	case plugin == wire.PluginNative && len(answer) == 0 && x.caps.Has(wire.CapPluginAuth):
		return x.switchTo(wire.PluginNative)
	case plugin == wire.PluginNative && x.caps.Has(wire.CapSecureConnection):
		return x.native(answer)
	case x.caps.Has(wire.CapPluginAuth):
		return x.switchTo(wire.PluginCachingSHA2)
	}
	return wire.NewError(wire.ErrNotSupportedAuthMode,
		"Client does not support authentication protocol requested by server; consider upgrading MySQL client")
}

// switchTo asks the client to answer a new nonce by plugin.
func (x *exchange) switchTo(plugin string) error {
	x.nonce = wire.NewNonce()
	x.login.nonce = x.nonce
	if err := x.send(wire.AppendAuthSwitch(nil, plugin, x.nonce)); err != nil {
		return err
	}
	answer, err := x.c.ReadPacket()
	if err != nil {
		return err
	}
	if plugin == wire.PluginNative {
		return x.native(answer)
	}
	return x.cachingSHA2(answer)
}

// native checks an answer of mysql_native_password.
func (x *exchange) native(answer []byte) error {
	match := wire.CheckNative(x.password, x.nonce, answer)
	if match && x.known {
		return nil
	}
	return x.denied(len(answer) > 0)
}

// cachingSHA2 checks an answer of caching_sha2_password. An answer that does not
// match leads to the full authentication, as on a MySQL server whose cache does
// not have the account yet, so a client sees no difference.
func (x *exchange) cachingSHA2(answer []byte) error {
	// The client library says "no password" with one zero byte, others with nothing.
	if len(answer) == 0 || len(answer) == 1 && answer[0] == 0 {
		if x.password == "" && x.known {
			return nil
		}
		return x.denied(false)
	}
	match := wire.CheckCachingSHA2(x.password, x.nonce, answer)
	if match && x.known {
		// The OK goes out with it.
		return x.c.WritePacket(wire.AppendAuthMoreData(nil, []byte{wire.SHA2FastAuthOK}))
	}
	return x.fullAuthentication()
}

// fullAuthentication asks for the password itself.
func (x *exchange) fullAuthentication() error {
	if err := x.send(wire.AppendAuthMoreData(nil, []byte{wire.SHA2FullAuth})); err != nil {
		return err
	}
	password, err := x.readPassword()
	if err != nil {
		return err
	}
	match := samePassword(x.password, password)
	if match && x.known {
		return nil
	}
	return x.denied(true)
}

// readPassword reads a password as it is over TLS, else encrypted by RSA, for
// which the client may ask for the public key first. What cannot be read is a
// wrong password.
func (x *exchange) readPassword() (string, error) {
	payload, err := x.c.ReadPacket()
	if err != nil {
		return "", err
	}
	if x.isSecure() {
		password, err := wire.CleartextPassword(payload)
		if err != nil {
			return "", x.denied(true)
		}
		return password, nil
	}
	if len(payload) == 1 && payload[0] == wire.SHA2RequestPublicKey {
		if err := x.send(wire.AppendAuthMoreData(nil, x.h.publicKey)); err != nil {
			return "", err
		}
		if payload, err = x.c.ReadPacket(); err != nil {
			return "", err
		}
	}
	password, err := wire.DecryptRSA(payload, x.nonce, x.h.Key)
	if err != nil {
		return "", x.denied(true)
	}
	return password, nil
}

// samePassword compares in a time that tells nothing about either.
func samePassword(a, b string) bool {
	ha, hb := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(ha[:], hb[:]) == 1
}

// maxShownUser keeps a message within MySQL's 512 bytes.
const maxShownUser = 96

// denied is MySQL's answer to a wrong password and to an unknown user.
func (x *exchange) denied(usingPassword bool) error {
	using := "NO"
	if usingPassword {
		using = "YES"
	}
	user := x.login.User[:min(len(x.login.User), maxShownUser)]
	return wire.NewError(wire.ErrAccessDenied,
		"Access denied for user '%s'@'%s' (using password: %s)", user, x.login.Host, using)
}
