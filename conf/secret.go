package conf

import (
	"fmt"
	"io"
)

// hidden is what every formatting of a Secret shows.
const hidden = "[secret]"

// Secret holds a password. No formatting, JSON or text encoding shows it; only
// Reveal does. The text sits behind a pointer because fmt does not call the
// methods of a value in an unexported field: there it prints the pointer's
// address instead of a password. The zero value is the empty secret.
type Secret struct {
	text *string
}

// NewSecret wraps a password.
func NewSecret(text string) Secret { return Secret{&text} }

// Reveal returns the password itself, for the authentication code alone.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Equal tells whether two secrets hold the same text. It is for comparing two
// configurations and takes no constant time.
func (s Secret) Equal(o Secret) bool { return s.Reveal() == o.Reveal() }

// String returns "[secret]".
func (s Secret) String() string { return hidden }

// Format writes "[secret]" for every verb and flag.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// MarshalJSON returns "[secret]" as a JSON text.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }

// MarshalText returns "[secret]".
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
