package classifier

import (
	"cmp"
	"strconv"
	"strings"
)

// KeptValues are what MySQL may keep in a variable for a literal of UserVars, read
// as a string: it writes numbers in its own way, large floats in one of two. Nothing
// for a literal that is not known.
func KeptValues(literal string, m Mode) []string {
	if value, ok := LiteralValue(literal, m); ok {
		return []string{value}
	}
	text := strings.ToLower(literal)
	if text[0] == '_' { // with its character set: _latin1 X'61' COLLATE latin1_bin
		if _, digits, ok := strings.Cut(text, " x'"); ok {
			digits, _, _ = strings.Cut(digits, "'")
			return bytesOf(digits, 16, 2)
		}
	}
	if n, ok := strings.CutPrefix(text, "cast("); ok {
		text = strings.TrimSuffix(n, " as unsigned)")
	}
	if digits, ok := strings.CutPrefix(text, "0x"); ok {
		return bytesOf(digits, 16, 2)
	}
	if digits, ok := strings.CutPrefix(text, "0b"); ok {
		return bytesOf(digits, 2, 8)
	}
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return nil
	case strings.Contains(text, "e"):
		long := strings.NewReplacer("e+0", "e", "e+", "e", "e-0", "e-").Replace(strconv.FormatFloat(f, 'e', -1, 64))
		return []string{strconv.FormatFloat(f, 'f', -1, 64), long}
	}
	whole, fraction, _ := strings.Cut(strings.TrimLeft(text, "+-"), ".")
	value := cmp.Or(strings.TrimLeft(whole, "0"), "0")
	if fraction != "" {
		value += "." + fraction
	}
	if f < 0 { // there is no -0
		value = "-" + value
	}
	return []string{value}
}

// bytesOf is the string of a hexadecimal or binary literal: digits of the base, per a byte.
func bytesOf(digits string, base, per int) []string {
	digits = strings.Repeat("0", (per-len(digits)%per)%per) + digits
	var out []byte
	for i := 0; i < len(digits); i += per {
		b, err := strconv.ParseUint(digits[i:i+per], base, 8)
		if err != nil {
			return nil
		}
		out = append(out, byte(b))
	}
	return []string{string(out)}
}
