package gtid

import "strconv"

// String returns the set in the server's own text, byte for byte what
// @@global.gtid_executed shows: lower case, sorted by UUID and tag, a number
// alone where an interval has one member, a comma and a line break between
// UUIDs, and each UUID once with its tags behind it (uuid:1-5:7:tag:1-3).
// The empty set is "".
func (s Set) String() string { return string(s.AppendText(nil, ",\n")) }

// Line returns the text of String on one line, for logs and tables. Servers
// and Parse read both.
func (s Set) Line() string { return string(s.AppendText(nil, ",")) }

// AppendText appends the set's text to b with sep between UUIDs.
func (s Set) AppendText(b []byte, sep string) []byte {
	es := s.entries()
	for i, e := range es {
		if i == 0 || !e.key.sameUUID(es[i-1].key) {
			if i > 0 {
				b = append(b, sep...)
			}
			b = appendUUID(b, e.key)
		}
		if e.key.tag != "" {
			b = append(append(b, ':'), e.key.tag...)
		}
		b = appendIntervals(b, e.iv)
	}
	return b
}

func appendIntervals(b []byte, ivs []interval) []byte {
	for _, iv := range ivs {
		b = strconv.AppendUint(append(b, ':'), iv.first, 10)
		if iv.last > iv.first {
			b = strconv.AppendUint(append(b, '-'), iv.last, 10)
		}
	}
	return b
}

// appendUUID writes the 8-4-4-4-12 form of RFC 9562 in lower case.
func appendUUID(b []byte, k key) []byte {
	const hex = "0123456789abcdef"
	for i := range 32 {
		switch i {
		case 8, 12, 16, 20:
			b = append(b, '-')
		}
		word := k.hi
		if i >= 16 {
			word = k.lo
		}
		b = append(b, hex[word>>(60-4*(i%16))&15])
	}
	return b
}
