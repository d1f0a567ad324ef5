package token

import (
	"strings"
	"testing"

	"causeway/gtid"
)

// A signed token has one text: any other, be it in bits of the last character that
// mean nothing, is refused.
func TestOneText(t *testing.T) {
	c := codec(t, secret)
	text, _ := c.Text(gtid.MustParse(u1+":1-5"), at)
	last := text[len(text)-1]
	for _, other := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
		changed := text[:len(text)-1] + string(other)
		if _, _, err := c.Read(changed); (err == nil) != (byte(other) == last) {
			t.Errorf("%c instead of %c: %v", other, last, err)
		}
	}
	dot := strings.LastIndexByte(text, '.')
	for _, changed := range []string{text[:dot+5] + "\n" + text[dot+5:], text[:dot+5] + "\r" + text[dot+5:], text[:dot-3] + "\n" + text[dot-3:], text + "="} {
		if _, _, err := c.Read(changed); err == nil {
			t.Errorf("%q was taken", changed)
		}
	}
}
