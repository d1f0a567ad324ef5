package wire

import (
	"maps"
	"slices"
)

// appendAttrs appends connection attributes: the length of all pairs, then the
// pairs, sorted by name so that equal attributes make equal packets.
func appendAttrs(b []byte, attrs map[string]string) []byte {
	size := 0
	for k, v := range attrs {
		size += lenEncStringSize(len(k)) + lenEncStringSize(len(v))
	}
	b = AppendLenEncInt(b, uint64(size))
	for _, k := range slices.Sorted(maps.Keys(attrs)) {
		b = AppendLenEncString(AppendLenEncString(b, k), attrs[k])
	}
	return b
}

// readAttrs reads connection attributes at the start of b and the number of
// bytes they took. The last of two pairs with the same name wins.
func readAttrs(b []byte) (attrs map[string]string, n int, err error) {
	block, n, ok := ReadLenEncBytes(b)
	if !ok {
		return nil, 0, malformed("connection attributes")
	}
	attrs = make(map[string]string)
	for len(block) > 0 {
		name, i, ok := ReadLenEncBytes(block)
		if !ok {
			return nil, 0, malformed("name of a connection attribute")
		}
		value, j, ok := ReadLenEncBytes(block[i:])
		if !ok {
			return nil, 0, malformed("value of a connection attribute")
		}
		attrs[string(name)] = string(value)
		block = block[i+j:]
	}
	return attrs, n, nil
}
