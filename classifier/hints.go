package classifier

import (
	"bytes"
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// Hints are what a statement asks of Causeway for itself, in a comment or in
// query attributes: "" where it asks nothing.
type Hints struct {
	Class        string // causeway_class
	MaxStaleness string // causeway_max_staleness
	Key          string // causeway_key
	Token        string // causeway_token: one, or several with tokenEnd between them
	NoToken      bool   // an empty token was given: the work of somebody who has none
	Unread       string // the name of one that was given in a way that is not understood
}

// The names of the hints, which are those of the user variables too.
const (
	HintClass        = "causeway_class"
	HintMaxStaleness = "causeway_max_staleness"
	HintKey          = "causeway_key"
	HintToken        = "causeway_token"
)

// tokenEnd ends each token but the last of a statement that hands in several. No
// token has it in it.
const tokenEnd = "\x00"

// Tokens are the tokens that a statement hands in, each once.
func (h *Hints) Tokens() []string {
	if h.Token == "" {
		return nil
	}
	return strings.Split(h.Token, tokenEnd)
}

var hintPrefix = []byte("causeway_")

// CommentHints reads the tags in the comments of a text, written as sqlcommenter
// does it: /*key='value',other='value'*/, both URL-encoded. A text that has
// none, which is nearly every one, costs one search. What stands in a string is
// no comment: whoever may choose a value must not choose the class.
// Specification: https://google.github.io/sqlcommenter/spec/.
func CommentHints(sql []byte, m Mode) Hints {
	var h Hints
	if !mayHint(sql) {
		return h
	}
	if m.UnsafeCharset && mayHide(sql) { // nobody can tell where its strings end
		h.unreadIn(sql)
		return h
	}
	lx := lexer{src: sql, mode: m}
	for end := 0; ; {
		t := lx.next()
		if t.comment {
			h.gap(sql[end:t.start])
		}
		if t.kind == tokEOF {
			break
		}
		end = t.end
	}
	if lx.notes&noteBad != 0 {
		return Hints{Unread: h.binding()}
	}
	return h
}

// binding is the name of a hint that must not be passed over: without it reads could
// miss writes.
func (h *Hints) binding() string {
	switch {
	case h.Unread == HintKey || h.Unread == HintToken:
		return h.Unread
	case h.Key != "":
		return HintKey
	case h.Token != "":
		return HintToken
	}
	return ""
}

var commentStart, commentEnd = []byte("/*"), []byte("*/")

// mayHint tells whether a comment may name a hint. It knows no strings, and looks at
// nothing but what may be a comment.
func mayHint(text []byte) bool {
	for {
		start := bytes.Index(text, commentStart)
		if start < 0 {
			return false
		}
		text = text[start:]
		end := bytes.Index(text[2:], commentEnd) + 2
		if end < 2 {
			return false // it is not closed
		}
		if hasHintPrefix(text[2:end]) {
			return true
		}
		text = text[end-1:] // this one may have begun in a string, and the next by the slash before: /*/
	}
}

// hasHintPrefix tells whether the names of hints may stand in a text, in any case.
func hasHintPrefix(text []byte) bool { return nextHint(text, 0) >= 0 }

// nextHint is where the next "causeway_" from i on begins, -1 if there is none.
func nextHint(text []byte, i int) int {
	for {
		n := bytes.IndexByte(text[i:], '_')
		if n < 0 {
			return -1
		}
		i += n + 1
		if start := i - len(hintPrefix); start >= 0 && text[i-2]|0x20 == 'y' && bytes.EqualFold(text[start:i], hintPrefix) {
			return start
		}
	}
}

// gap looks for block comments in what stands between two tokens.
func (h *Hints) gap(text []byte) {
	for len(text) > 1 {
		switch {
		case text[0] == '#', text[0] == '-' && text[1] == '-':
			i := bytes.IndexByte(text, '\n')
			if i < 0 {
				return
			}
			text = text[i+1:]
		case text[0] == '/' && text[1] == '*' && len(text) > 2 && text[2] == '!':
			text = text[3:] // code begins here
		case text[0] == '/' && text[1] == '*':
			end := bytes.Index(text[2:], []byte("*/"))
			if end < 0 {
				return
			}
			h.tags(text[2 : 2+end])
			text = text[2+end+2:]
		default:
			text = text[1:]
		}
	}
}

// tags reads key='value' pairs, with blanks around the = or not; the first of a key
// counts.
func (h *Hints) tags(comment []byte) {
	if !hasHintPrefix(comment) {
		return
	}
	var read, unread hintSet
	unscanned := comment // what stands outside the values that were read
	for rest := comment; len(rest) > 0; {
		key, behind, ok := bytes.Cut(rest, []byte("="))
		if !ok {
			break
		}
		key = bytes.TrimRight(key, blanks)
		if i := bytes.LastIndexAny(key, "*+,"+blanks); i >= 0 {
			key = key[i+1:]
		}
		value, after, ok := tagValue(behind)
		if name := decoded(key); ok && h.Set(name, decoded(value)) {
			read[hintNumber(name)] = true
		}
		if ok {
			quote := len(unscanned) - len(bytes.TrimLeft(behind, blanks))
			unread.scan(unscanned[:quote+1], beginsTag)
			unscanned = after
		}
		rest = after
	}
	unread.scan(unscanned, beginsTag)
	h.markUnread(unread, read)
}

// blanks may stand around the = of a tag.
const blanks = " \t\r\n"

var hintNames = [...]string{HintKey, HintToken, HintClass, HintMaxStaleness}

// hintNumber is a name's place among them, -1 if it is no hint.
func hintNumber(name string) int {
	return slices.IndexFunc(hintNames[:], func(n string) bool { return strings.EqualFold(n, name) })
}

func (h *Hints) unreadIn(text []byte) {
	var unread hintSet
	unread.scan(text, func([]byte, []byte) bool { return true })
	h.markUnread(unread, hintSet{})
}

func (h *Hints) markUnread(unread, read hintSet) {
	for n, name := range hintNames {
		if unread[n] && !read[n] {
			h.MarkUnread(name)
		}
	}
}

// hintSet is a set of hintNames, by their numbers.
type hintSet [len(hintNames)]bool

// scan adds the hints whose names stand in a text with = behind them, if meant says so of
// what is before the name and behind the =.
func (x *hintSet) scan(text []byte, meant func(before, value []byte) bool) {
	for i := nextHint(text, 0); i >= 0; i = nextHint(text, i+len(hintPrefix)) {
		if i > 0 && (isIdent(text[i-1]) || text[i-1] == '-' || text[i-1] == '.') {
			continue // the end of a longer name
		}
		end := i
		for end < len(text) && isIdent(text[end]) {
			end++
		}
		rest := bytes.TrimLeft(text[end:], blanks)
		if n := hintNumber(string(text[i:end])); n >= 0 && len(rest) > 0 && rest[0] == '=' && meant(text[:i], rest[1:]) {
			x[n] = true
		}
	}
}

// beginsTag tells a tag that is not understood from prose that speaks of one: it stands
// where tags do, at the begin, behind another or behind a comma, or has a quoted value.
func beginsTag(before, value []byte) bool {
	if value = bytes.TrimLeft(value, blanks); len(value) > 0 && (value[0] == '\'' || value[0] == '"') {
		return true
	}
	before = bytes.TrimRight(before, "*+"+blanks)
	return len(before) == 0 || before[len(before)-1] == ',' || before[len(before)-1] == ';'
}

// MarkUnread notes that a hint was given in a way that is not understood.
func (h *Hints) MarkUnread(name string) {
	if n := hintNumber(name); n >= 0 && h.Unread != HintKey && h.Unread != HintToken {
		h.Unread = hintNames[n]
	}
}

// tagValue takes 'value' off the front, a \' in it being a quote. What follows it
// must be the end, or something between tags.
func tagValue(text []byte) (value, rest []byte, ok bool) {
	text = bytes.TrimLeft(text, blanks)
	if len(text) == 0 || text[0] != '\'' {
		return nil, text, false
	}
	escaped := false
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
			escaped = true
		case '\'':
			value, rest = text[1:i], text[i+1:]
			if escaped {
				value = bytes.ReplaceAll(value, []byte(`\'`), []byte("'"))
			}
			return value, rest, len(rest) == 0 || strings.IndexByte(afterValue, rest[0]) >= 0
		}
	}
	return nil, nil, false
}

// afterValue may follow the quote that ends a value.
const afterValue = ",;*" + blanks

// longestHint is the length up to which a value is looked at: one that is longer is
// refused for its length, which its first bytes show as well.
const longestHint = 64 << 10

func decoded(text []byte) string {
	text = text[:min(len(text), longestHint)]
	if bytes.IndexByte(text, '%') < 0 && bytes.IndexByte(text, '+') < 0 {
		return string(text)
	}
	if plain, err := url.QueryUnescape(string(text)); err == nil {
		return plain
	}
	return string(text)
}

// Set takes a hint by its name, if it is not given yet. Tokens are taken all. It is
// false for what is no hint.
func (h *Hints) Set(name, value string) bool {
	switch n := hintNumber(name); {
	case n < 0:
		return false
	case hintNames[n] == HintClass && h.Class == "":
		h.Class = value
	case hintNames[n] == HintMaxStaleness && h.MaxStaleness == "":
		h.MaxStaleness = value
	case hintNames[n] == HintKey && h.Key == "":
		h.Key = value
	case hintNames[n] == HintToken:
		h.addToken(value)
	}
	return true
}

// Assign sets a hint that a session keeps, whatever it was; tokens are none of these.
func (h *Hints) Assign(name, value string) {
	switch name {
	case HintClass:
		h.Class = value
	case HintMaxStaleness:
		h.MaxStaleness = value
	case HintKey:
		h.Key = value
	}
}

// addToken takes one more token: they all hold.
func (h *Hints) addToken(value string) {
	switch {
	case value == "":
		h.NoToken = true
	case h.Token == "":
		h.Token = value
	case !slices.Contains(h.Tokens(), value):
		h.Token += tokenEnd + value
	}
}

// Fill takes what is not given yet from others.
func (h *Hints) Fill(others Hints) {
	h.Class = cmp.Or(h.Class, others.Class)
	h.MaxStaleness = cmp.Or(h.MaxStaleness, others.MaxStaleness)
	h.Key = cmp.Or(h.Key, others.Key)
	for _, t := range others.Tokens() {
		h.addToken(t)
	}
	h.NoToken = h.NoToken || others.NoToken
	if others.Unread != "" {
		h.MarkUnread(others.Unread)
	}
}
