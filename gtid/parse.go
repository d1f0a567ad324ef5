package gtid

import (
	"fmt"
	"slices"
)

// Limits for text from outside. Real servers stay far below: a set this large
// would be megabytes in each SHOW REPLICA STATUS.
const (
	maxTextBytes = 8 << 20
	maxSpans     = 1 << 18
	maxTagLen    = 32
	uuidTextLen  = 36
)

// Parse reads a set in MySQL's text form. It takes white space and line breaks
// between the parts, either case, stray commas (all as the server does),
// intervals in any order, overlapping, and tags. Unlike the server it refuses
// an interval whose end is before its start and a UUID without any interval,
// which the server reads as nothing: from a token, nothing must not be made.
// Text of more than 8 MB or 262,144 intervals is refused.
func Parse(s string) (Set, error) { return ParseBytes([]byte(s)) }

// MustParse is Parse for constants and tests; it panics if s is no set.
func MustParse(s string) Set {
	set, err := Parse(s)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return set
}

// ParseBytes is Parse for bytes such as an OK packet's; it does not keep text.
// A single GTID or interval, what a commit brings, costs one allocation.
func ParseBytes(text []byte) (Set, error) {
	if len(text) > maxTextBytes {
		return Set{}, fmt.Errorf("gtid: a set of %d bytes is too long, the limit is %d", len(text), maxTextBytes)
	}
	p := parser{text: text}
	if err := p.set(); err != nil {
		return Set{}, err
	}
	switch {
	case !p.any:
		return Set{}, nil
	case p.spans == nil:
		return newSingle(p.first.key, p.first.iv), nil
	}
	return fromSpans(p.spans), nil
}

// span is one interval as read, not yet in its place.
type span struct {
	key key
	iv  interval
}

// parser is a recursive descent over the grammar
//
//	set      = [uuidSet] { "," [uuidSet] }
//	uuidSet  = uuid group { group }
//	group    = [ ":" tag ] ":" interval { ":" interval }
//	interval = number [ "-" number ]
//
// with white space allowed before each part.
type parser struct {
	text  []byte
	pos   int
	any   bool
	first span   // the first interval; spans stays nil while it is the only one
	spans []span // all of them from the second on
}

func (p *parser) set() error {
	for {
		for p.take(',') {
		}
		if p.pos == len(p.text) {
			return nil
		}
		if err := p.uuidSet(); err != nil {
			return err
		}
		if c := p.peek(); c != ',' && p.pos < len(p.text) {
			return p.errorf("want ',' or ':' or the end, not %s", p.rest())
		}
	}
}

func (p *parser) uuidSet() error {
	k, err := p.uuid()
	if err != nil {
		return err
	}
	if p.peek() != ':' {
		return p.errorf("UUID without an interval; write uuid:1-5")
	}
	for p.take(':') {
		if c := p.peek(); isTagStart(c) {
			if k.tag, err = p.tag(); err != nil {
				return err
			}
			if !p.take(':') {
				return p.errorf("tag %s without an interval; write uuid:%s:1-5", k.tag, k.tag)
			}
		}
		iv, err := p.interval()
		if err != nil {
			return err
		}
		if err := p.add(span{k, iv}); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) add(s span) error {
	switch {
	case !p.any:
		p.any, p.first = true, s
		return nil
	case p.spans == nil:
		p.spans = append(make([]span, 0, 8), p.first)
	case len(p.spans) == maxSpans:
		return p.errorf("more than %d intervals", maxSpans)
	}
	p.spans = append(p.spans, s)
	return nil
}

func (p *parser) uuid() (key, error) {
	p.skipSpace()
	var k key
	if len(p.text)-p.pos < uuidTextLen {
		return k, p.errorf("want a UUID, not %s", p.rest())
	}
	for i, c := range p.text[p.pos : p.pos+uuidTextLen] {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return k, p.errorf("want a UUID like 3e11fa47-71ca-11e1-9e33-c80aa9429562, not %s", p.rest())
			}
			continue
		}
		d, ok := hexDigit(c)
		if !ok {
			return k, p.errorf("want a UUID like 3e11fa47-71ca-11e1-9e33-c80aa9429562, not %s", p.rest())
		}
		if i < 18 {
			k.hi = k.hi<<4 | d
		} else {
			k.lo = k.lo<<4 | d
		}
	}
	p.pos += uuidTextLen
	return k, nil
}

// tag reads [a-z_][a-z0-9_]{0,31}, either case, and returns it in lower case.
func (p *parser) tag() (string, error) {
	p.skipSpace()
	var low [maxTagLen]byte
	n := 0
	for p.pos+n < len(p.text) {
		c := p.text[p.pos+n]
		if !isTagStart(c) && (c < '0' || c > '9') {
			break
		}
		if n == maxTagLen {
			return "", p.errorf("tag longer than %d characters", maxTagLen)
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		low[n] = c
		n++
	}
	p.pos += n
	return string(low[:n]), nil
}

func (p *parser) interval() (interval, error) {
	first, err := p.number()
	if err != nil {
		return interval{}, err
	}
	if !p.take('-') {
		return interval{first, first}, nil
	}
	last, err := p.number()
	if err != nil {
		return interval{}, err
	}
	if last < first {
		return interval{}, p.errorf("interval %d-%d ends before it starts", first, last)
	}
	return interval{first, last}, nil
}

func (p *parser) number() (uint64, error) {
	c := p.peek()
	if c < '0' || c > '9' {
		return 0, p.errorf("want a transaction number, not %s", p.rest())
	}
	var n uint64
	for p.pos < len(p.text) && p.text[p.pos] >= '0' && p.text[p.pos] <= '9' {
		d := uint64(p.text[p.pos] - '0')
		if n > (maxNumber-d)/10 { // n*10+d would pass maxNumber
			return 0, p.errorf("transaction number above %d", uint64(maxNumber))
		}
		n = n*10 + d
		p.pos++
	}
	if n == 0 {
		return 0, p.errorf("transaction number 0; they start at 1")
	}
	return n, nil
}

func (p *parser) skipSpace() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\t', '\n', '\v', '\f', '\r':
			p.pos++
		default:
			return
		}
	}
}

// peek skips white space and returns the next byte, 0 at the end.
func (p *parser) peek() byte {
	p.skipSpace()
	if p.pos == len(p.text) {
		return 0
	}
	return p.text[p.pos]
}

// take skips white space and then c, if it is next.
func (p *parser) take(c byte) bool {
	if p.peek() != c || p.pos == len(p.text) {
		return false
	}
	p.pos++
	return true
}

// rest quotes what comes next, cut short: the text may be hostile.
func (p *parser) rest() string {
	if p.pos == len(p.text) {
		return "the end"
	}
	return fmt.Sprintf("%q", p.text[p.pos:min(len(p.text), p.pos+40)])
}

func (p *parser) errorf(format string, args ...any) error {
	return fmt.Errorf("gtid: at byte %d: %s", p.pos, fmt.Sprintf(format, args...))
}

func isTagStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

func hexDigit(c byte) (uint64, bool) {
	switch {
	case c >= '0' && c <= '9':
		return uint64(c - '0'), true
	case c >= 'a' && c <= 'f':
		return uint64(c-'a') + 10, true
	case c >= 'A' && c <= 'F':
		return uint64(c-'A') + 10, true
	}
	return 0, false
}

// fromSpans sorts spans, which it takes over, and merges them into a set. A
// server's text comes sorted; sorting keeps hostile text from costing n^2, and
// merging in place keeps the set from holding more memory than it needs.
func fromSpans(spans []span) Set {
	if !slices.IsSortedFunc(spans, compareSpans) {
		slices.SortFunc(spans, compareSpans)
	}
	merged := spans[:1]
	origins := 1
	for _, s := range spans[1:] {
		last := &merged[len(merged)-1]
		switch {
		case s.key != last.key:
			origins++
			merged = append(merged, s)
		case s.iv.first <= last.iv.last+1:
			last.iv.last = max(last.iv.last, s.iv.last)
		default:
			merged = append(merged, s)
		}
	}
	if len(merged) == 1 {
		return newSingle(merged[0].key, merged[0].iv)
	}
	ivs := make([]interval, len(merged)) // one array for all entries
	entries := make([]entry, 0, origins)
	start := 0
	for i, s := range merged {
		ivs[i] = s.iv
		if i+1 == len(merged) || merged[i+1].key != s.key {
			entries = append(entries, entry{s.key, ivs[start : i+1 : i+1]})
			start = i + 1
		}
	}
	return fromEntries(entries)
}

func compareSpans(a, b span) int {
	if c := a.key.compare(b.key); c != 0 {
		return c
	}
	switch {
	case a.iv.first < b.iv.first:
		return -1
	case a.iv.first > b.iv.first:
		return 1
	}
	return 0
}
