package classifier_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"causeway/classifier"
	"causeway/classifier/cases"
)

// modeOf spreads the bits of a byte over a mode.
func modeOf(b byte) classifier.Mode {
	return classifier.Mode{
		ANSIQuotes: b&1 != 0, NoBackslashEscapes: b&2 != 0, PipesAsConcat: b&4 != 0,
		IgnoreSpace: b&8 != 0, UnsafeCharset: b&16 != 0,
	}
}

func seed(f *testing.F) {
	for _, tc := range cases.All() {
		f.Add([]byte(tc.SQL), byte(0))
	}
	f.Add([]byte(`SELECT "a\", 'b'`), byte(3))
	f.Add([]byte("SELECT '\xbf\\' FOR UPDATE"), byte(16))
}

// FuzzClassify: no text makes it panic, and the cache answers what a first
// look answers.
func FuzzClassify(f *testing.F) {
	seed(f)
	warm := classifier.New(classifier.Options{CacheEntries: 1000})
	f.Fuzz(func(t *testing.T, sql []byte, bits byte) {
		m := modeOf(bits)
		before := bytes.Clone(sql)
		hit := warm.Classify(sql, m)
		fresh := classifier.New(classifier.Options{CacheEntries: 1}).Classify(sql, m)
		if !bytes.Equal(sql, before) {
			t.Fatal("the text was changed")
		}
		if !same(hit, fresh) {
			t.Fatalf("%q in %+v\nwarm  %s %s %q\nfresh %s %s %q",
				sql, m, hit.Kind, hit.Flags, hit.Digest, fresh.Kind, fresh.Flags, fresh.Digest)
		}
	})
}

// same compares two classes but for what only one of them keeps.
func same(a, b *classifier.Class) bool {
	return a.Kind == b.Kind && a.Flags == b.Flags && a.Trx == b.Trx && a.Digest == b.Digest &&
		a.Statements == b.Statements && a.KillID == b.KillID && a.KillQuery == b.KillQuery &&
		reflect.DeepEqual(a.Names, b.Names)
}

// FuzzSpelling: comments, blanks and the case of letters change nothing.
func FuzzSpelling(f *testing.F) {
	for _, tc := range cases.All() {
		f.Add(tc.SQL, byte(0))
		f.Add(tc.SQL, byte(13))
	}
	c := classifier.New(classifier.Options{})
	f.Fuzz(func(t *testing.T, sql string, how byte) {
		if strings.ContainsAny(sql, "'\"`@#$\\\x00") || strings.Contains(sql, "--") ||
			strings.Contains(sql, "/*") || strings.Contains(sql, "*/") || !ascii(sql) {
			return // these decide themselves where a blank may stand
		}
		spelled := respell(sql, how)
		a, b := c.Classify([]byte(sql), classifier.Mode{}), c.Classify([]byte(spelled), classifier.Mode{})
		if a.Kind != b.Kind || a.Flags != b.Flags || a.Statements != b.Statements {
			t.Fatalf("%q\n%q\n%s %s %q\n%s %s %q", sql, spelled, a.Kind, a.Flags, a.Digest, b.Kind, b.Flags, b.Digest)
		}
	})
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 || s[i] < ' ' {
			return false
		}
	}
	return true
}

// respell puts other blanks for each blank, and other letters for some.
func respell(sql string, how byte) string {
	blanks := []string{" ", "\n", "\t ", "/* x */", " -- y;'\n", "# \"z\n", "/**/\r\n"}
	var b strings.Builder
	b.WriteString(blanks[how%7])
	for i := range len(sql) {
		switch c := sql[i]; {
		case c == ' ':
			b.WriteString(blanks[(int(how)+i)%len(blanks)])
		case c >= 'a' && c <= 'z' && (i+int(how))%3 == 0 && !literal(sql, i):
			b.WriteByte(c - 'a' + 'A')
		default:
			b.WriteByte(c)
		}
	}
	b.WriteString(blanks[how/7%7])
	return b.String()
}

// literal reports whether the letter may belong to a number (0x1f) or to the
// prefix of a string, where its case counts.
func literal(sql string, i int) bool {
	return i > 0 && sql[i-1] >= '0' && sql[i-1] <= '9' || sql[i] == 'x' || sql[i] == 'b'
}

// FuzzInject: what is written into a string or a comment changes nothing.
func FuzzInject(f *testing.F) {
	for _, s := range []string{"FOR UPDATE", "; DELETE FROM t", "@x", "f(1)", "/*!", "INTO @x", "\\", "-- "} {
		f.Add(s)
	}
	c := classifier.New(classifier.Options{})
	want := c.Classify([]byte("SELECT 'a' FROM t"), classifier.Mode{})
	f.Fuzz(func(t *testing.T, s string) {
		quoted := strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), "'", "''")
		if got := c.Classify([]byte("SELECT '"+quoted+"' FROM t"), classifier.Mode{}); got != want {
			t.Fatalf("string %q: %s %s", s, got.Kind, got.Flags)
		}
		if strings.Contains(s, "*/") || strings.HasPrefix(s, "!") || strings.HasSuffix(s, "*") {
			return
		}
		if got := c.Classify([]byte("SELECT 'a' /*"+s+"*/ FROM t"), classifier.Mode{}); got != want && len(s) < 1000 {
			t.Fatalf("comment %q: %s %s", s, got.Kind, got.Flags)
		}
	})
}

// FuzzParserAgrees: what the token check calls a plain read, the parser does
// too, if it can parse it. So the check can be trusted where it cannot.
func FuzzParserAgrees(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, sql []byte, bits byte) {
		if bytes.Contains(bytes.ToLower(sql), []byte("value")) {
			return // NEXT VALUE FOR is the parser's own dialect
		}
		m := modeOf(bits &^ 16)
		if alone := classifier.TokensAlone(sql, m); alone == classifier.Read {
			if both := classifier.ParserToo(sql, m); both != alone {
				t.Fatalf("%q in %+v: %s by its tokens, %s to the parser", sql, m, alone, both)
			}
		}
	})
}
