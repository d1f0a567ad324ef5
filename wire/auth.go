package wire

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
)

// Names of the authentication plugins.
const (
	PluginNative      = "mysql_native_password"
	PluginCachingSHA2 = "caching_sha2_password"
)

// NewNonce makes the random challenge of one handshake: 20 bytes from 1 to 127,
// no '$' among them, as the server's generate_user_salt does ('$' separates the
// fields of a stored hash).
func NewNonce() []byte {
	nonce := make([]byte, 0, NonceLen)
	var buf [2 * NonceLen]byte
	for len(nonce) < NonceLen {
		rand.Read(buf[:]) // never fails, see its documentation
		for _, c := range buf {
			if c &= 0x7f; c != 0 && c != '$' && len(nonce) < NonceLen {
				nonce = append(nonce, c)
			}
		}
	}
	return nonce
}

// NativePassword is the answer of mysql_native_password to nonce:
// SHA1(password) XOR SHA1(nonce + SHA1(SHA1(password))); nil for no password.
func NativePassword(password string, nonce []byte) []byte {
	if password == "" {
		return nil
	}
	stage1 := sha1.Sum([]byte(password))
	stage2 := sha1.Sum(stage1[:])
	h := sha1.New()
	h.Write(nonce)
	h.Write(stage2[:])
	out := h.Sum(nil)
	subtle.XORBytes(out, out, stage1[:])
	return out
}

// CachingSHA2 is the answer of caching_sha2_password to nonce:
// SHA256(password) XOR SHA256(SHA256(SHA256(password)) + nonce); nil for no
// password. (The order differs from mysql_native_password's.)
func CachingSHA2(password string, nonce []byte) []byte {
	if password == "" {
		return nil
	}
	stage1 := sha256.Sum256([]byte(password))
	stage2 := sha256.Sum256(stage1[:])
	h := sha256.New()
	h.Write(stage2[:])
	h.Write(nonce)
	out := h.Sum(nil)
	subtle.XORBytes(out, out, stage1[:])
	return out
}

// CheckNative reports whether response answers nonce for password. It takes the
// same time for a wrong answer as for a right one.
func CheckNative(password string, nonce, response []byte) bool {
	return subtle.ConstantTimeCompare(NativePassword(password, nonce), response) == 1
}

// CheckCachingSHA2 is CheckNative for caching_sha2_password.
func CheckCachingSHA2(password string, nonce, response []byte) bool {
	return subtle.ConstantTimeCompare(CachingSHA2(password, nonce), response) == 1
}

// XOR returns data with each byte combined with nonce, repeated as needed.
func XOR(data, nonce []byte) []byte {
	out := make([]byte, len(data))
	for i, c := range data {
		out[i] = c ^ nonce[i%len(nonce)]
	}
	return out
}

// EncryptRSA encrypts password for the full authentication without TLS: the
// password and a NUL, XORed with nonce, in RSA-OAEP with SHA-1.
func EncryptRSA(password string, nonce []byte, pub *rsa.PublicKey) ([]byte, error) {
	if len(nonce) == 0 {
		return nil, malformed("empty nonce")
	}
	masked := XOR(append([]byte(password), 0), nonce)
	out, err := rsa.EncryptOAEP(sha1.New(), rand.Reader, pub, masked, nil)
	if err != nil {
		return nil, fmt.Errorf("encrypt password: %w", err)
	}
	return out, nil
}

// DecryptRSA is the other side of EncryptRSA.
func DecryptRSA(cipher, nonce []byte, key *rsa.PrivateKey) (password string, err error) {
	if len(nonce) == 0 {
		return "", malformed("empty nonce")
	}
	masked, err := rsa.DecryptOAEP(sha1.New(), nil, key, cipher, nil)
	if err != nil {
		return "", fmt.Errorf("decrypt password: %w", err)
	}
	return CleartextPassword(XOR(masked, nonce))
}

// CleartextPassword reads the password of a full authentication over TLS: the
// bytes and a closing NUL.
func CleartextPassword(b []byte) (string, error) {
	if len(b) == 0 || b[len(b)-1] != 0 {
		return "", malformed("cleartext password")
	}
	return string(b[:len(b)-1]), nil
}
