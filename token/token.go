package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"causeway/gtid"
)

// Limits of a token's text and of a secret.
const (
	MaxBytes  = 16 << 10 // a token's text
	MinSecret = 16       // bytes of a secret
)

// prefix begins a signed token and names its form.
const prefix = "cw1."

// Codec writes and reads tokens. The zero Codec, and nil, know no secret.
type Codec struct {
	secrets [][]byte
}

// New returns a Codec that signs by the first secret and takes what any of them
// signed, so that secrets can be changed one Causeway after the other. Without
// secrets nothing is signed.
func New(secrets []string) (*Codec, error) {
	c := &Codec{}
	for _, s := range secrets {
		if len(s) < MinSecret {
			return nil, fmt.Errorf("token: a secret of %d bytes, the least is %d", len(s), MinSecret)
		}
		c.secrets = append(c.secrets, []byte(s))
	}
	return c, nil
}

// Signs tells whether tokens are signed; raw sets are refused then.
func (c *Codec) Signs() bool { return c != nil && len(c.secrets) > 0 }

// Text writes a token, issued now. An empty set is "" in either form: it asks for
// nothing. ok is false if the text would be longer than MaxBytes.
func (c *Codec) Text(set gtid.Set, now time.Time) (text string, ok bool) {
	text = set.Line()
	if c.Signs() && text != "" {
		body := prefix + encode([]byte(strconv.FormatInt(now.Unix(), 10)+";"+text))
		text = body + "." + encode(sign(c.secrets[0], body))
	}
	return text, len(text) <= MaxBytes
}

// Errors that a caller can tell apart; each says what to do.
var (
	errUnsigned = errors.New("it is not signed, and [token] secret wants that; hand in what SELECT @causeway_token gave")
	errSigned   = errors.New("it is signed, and this Causeway has no [token] secret to check that by; give all of them the same")
	errForged   = errors.New("its signature is wrong: it was changed on the way, or made with another [token] secret")
	errCut      = errors.New("it is cut: a signed token is cw1.TEXT.SIGNATURE")
)

// Read reads a token. issued is when a signed one was written, in seconds; zero
// for a raw set. Nothing but blanks is the empty set.
func (c *Codec) Read(text string) (set gtid.Set, issued time.Time, err error) {
	text = strings.TrimSpace(text)
	switch signed := strings.HasPrefix(text, prefix); {
	case text == "":
		return gtid.Set{}, time.Time{}, nil
	case len(text) > MaxBytes:
		return gtid.Set{}, time.Time{}, fmt.Errorf("it is longer than the limit of %d bytes", MaxBytes)
	case signed && !c.Signs():
		return gtid.Set{}, time.Time{}, errSigned
	case !signed && c.Signs():
		return gtid.Set{}, time.Time{}, errUnsigned
	case signed:
		return c.readSigned(text)
	}
	set, err = gtid.Parse(text)
	return set, time.Time{}, err
}

func (c *Codec) readSigned(text string) (set gtid.Set, issued time.Time, err error) {
	dot := strings.LastIndexByte(text, '.')
	if dot < len(prefix) {
		return set, issued, errCut
	}
	mac, err := base64.RawURLEncoding.DecodeString(text[dot+1:])
	if err != nil || len(mac) != sha256.Size {
		return set, issued, errCut
	}
	if encode(mac) != text[dot+1:] { // the last character has bits that say nothing, and the decoder skips line breaks
		return set, issued, errForged
	}
	if !c.signed(text[:dot], mac) {
		return set, issued, errForged
	}
	return readBody(text[len(prefix):dot])
}

// readBody reads what was signed.
func readBody(body string) (set gtid.Set, issued time.Time, err error) {
	inner, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		return set, issued, errCut
	}
	seconds, list, ok := strings.Cut(string(inner), ";")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if !ok || err != nil {
		return set, issued, errCut
	}
	if set, err = gtid.Parse(list); err != nil {
		return gtid.Set{}, issued, err
	}
	return set, time.Unix(unix, 0), nil
}

// signed tells whether one of the secrets made mac of the text.
func (c *Codec) signed(text string, mac []byte) bool {
	for _, secret := range c.secrets {
		if hmac.Equal(sign(secret, text), mac) {
			return true
		}
	}
	return false
}

func sign(secret []byte, text string) []byte {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
