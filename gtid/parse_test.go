package gtid

import (
	"strings"
	"testing"
)

// Three UUIDs in their order, as short names for the tables.
const (
	u1 = "11111111-1111-1111-1111-111111111111"
	u2 = "22222222-2222-2222-2222-222222222222"
	uA = "aabbccdd-eeff-0011-2233-445566778899"
)

// expand writes the short names of the tables out: "1:5" is u1 + ":5".
func expand(s string) string {
	for _, r := range [][2]string{{"U1", u1}, {"U2", u2}, {"UA", uA}} {
		s = strings.ReplaceAll(s, r[0], r[1])
	}
	return s
}

func set(s string) Set { return MustParse(expand(s)) }

func TestParseNormalises(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"only space", " \n\t", ""},
		{"only commas", ",, ,", ""},
		{"one", "U1:5", "U1:5"},
		{"interval", "U1:1-5", "U1:1-5"},
		{"interval of one", "U1:5-5", "U1:5"},
		{"leading zeros", "U1:007", "U1:7"},
		{"largest number", "U1:9223372036854775806", "U1:9223372036854775806"},
		{"everything", "U1:1-9223372036854775806", "U1:1-9223372036854775806"},
		{"several intervals", "U1:1-5:7:9-10", "U1:1-5:7:9-10"},
		{"adjacent merge", "U1:1-5:6-10", "U1:1-10"},
		{"overlap merges", "U1:1-5:3-10", "U1:1-10"},
		{"contained", "U1:1-10:3-4:12", "U1:1-10:12"},
		{"unsorted intervals", "U1:9:1-5:7:6", "U1:1-7:9"},
		{"same interval twice", "U1:3:3", "U1:3"},
		{"uuids sorted", "UA:1,U2:1,U1:1", "U1:1,\nU2:1,\nUA:1"},
		{"same uuid again", "U1:1-3,U2:1,U1:4", "U1:1-4,\nU2:1"},
		{"upper case", strings.ToUpper(uA) + ":1", "UA:1"},
		{"server's line break", "U1:1-5,\nU2:7", "U1:1-5,\nU2:7"},
		{"space everywhere", " U1 : 1 - 5 : 7 ,\r\n U2 : tag : 3 ", "U1:1-5:7,\nU2:tag:3"},
		{"trailing comma", "U1:1,", "U1:1"},
		{"tag only", "U1:tag:1-3", "U1:tag:1-3"},
		{"tag after untagged", "U1:1-5:7:tag:1-3", "U1:1-5:7:tag:1-3"},
		{"two tags", "U1:1:b:1:a:2-4", "U1:1:a:2-4:b:1"},
		{"same tag twice", "U1:tag:1-3:TAG:4", "U1:tag:1-4"},
		{"tag in a part of its own", "U1:b:7,U1:1-5,U1:b:8", "U1:1-5:b:7-8"},
		{"tag and none do not merge", "U1:1-5:tag:6-10", "U1:1-5:tag:6-10"},
		{"underscore tag", "U1:_:1:_x9:2", "U1:_:1:_x9:2"},
		{"longest tag", "U1:" + strings.Repeat("a", 32) + ":1", "U1:" + strings.Repeat("a", 32) + ":1"},
		{"tag before uuid order", "U2:a:1,U1:z:1", "U1:z:1,\nU2:a:1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Parse(expand(tc.in))
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != expand(tc.want) {
				t.Errorf("got %q, want %q", got, expand(tc.want))
			}
			checkNormal(t, got)
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"zero", "U1:0", "start at 1"},
		{"zero start", "U1:0-5", "start at 1"},
		{"negative", "U1:-5", "want a transaction number"},
		{"negative end", "U1:1--5", "want a transaction number"},
		{"end before start", "U1:5-3", "interval 5-3 ends before it starts"},
		{"one too large", "U1:9223372036854775807", "above 9223372036854775806"},
		{"end too large", "U1:1-9223372036854775807", "above"},
		{"2^64", "U1:18446744073709551616", "above"},
		{"very many digits", "U1:" + strings.Repeat("9", 500), "above"},
		{"no interval", "U1", "without an interval"},
		{"no interval before comma", "U1,U2:1", "without an interval"},
		{"colon and nothing", "U1:", "want a transaction number, not the end"},
		{"half an interval", "U1:1-", "not the end"},
		{"two colons", "U1::1", "want a transaction number"},
		{"no comma", "U1:1 U2:1", "want ','"},
		{"short uuid", "11111111-1111-1111-1111-11111111111:1", "want a UUID"},
		{"no dashes", strings.ReplaceAll(u1, "-", "") + ":123456", "want a UUID"},
		{"bad hex", "g1111111-1111-1111-1111-111111111111:1", "want a UUID"},
		{"MariaDB", "0-1-123", "want a UUID"},
		{"tag without interval", "U1:1:tag", "tag tag without an interval"},
		{"tag then tag", "U1:a:b:1", "want a transaction number"},
		{"tag too long", "U1:" + strings.Repeat("a", 33) + ":1", "longer than 32"},
		{"tag with a dash", "U1:a-b:1", "tag a without an interval"},
		{"tag starts with a digit", "U1:1a:1", "want ','"},
		{"tag not ASCII", "U1:\u00e9:1", "want a transaction number"},
		{"NUL", "U1:1\x00", "want ','"},
		{"quote", "U1:1'", "want ','"},
		{"text too long", strings.Repeat(" ", maxTextBytes+1), "too long"},
		{"too many intervals", "U1" + strings.Repeat(":1", maxSpans+1), "more than 262144 intervals"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Parse(expand(tc.in))
			if err == nil {
				t.Fatalf("accepted as %q", got)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %q lacks %q", err, tc.want)
			}
			if len(err.Error()) > 300 {
				t.Errorf("error of %d bytes", len(err.Error()))
			}
			if !got.IsEmpty() {
				t.Errorf("a set beside the error: %q", got)
			}
		})
	}
}

func TestMustParsePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	MustParse("nonsense")
}

func TestParseKeepsNoText(t *testing.T) {
	text := []byte(expand("U1:tag:1-5"))
	s, err := ParseBytes(text)
	if err != nil {
		t.Fatal(err)
	}
	for i := range text {
		text[i] = 'x'
	}
	if s.String() != expand("U1:tag:1-5") {
		t.Errorf("the set changed with the packet: %q", s)
	}
}

// A hostile text must not hold memory after its intervals merged.
func TestHostileTextMergesToLittle(t *testing.T) {
	s := set("U1" + strings.Repeat(":1", maxSpans))
	if s.Intervals() != 1 || cap(s.d.entries[0].iv) != 1 || cap(s.d.entries) != 1 {
		t.Errorf("%d intervals, capacity %d", s.Intervals(), cap(s.d.entries[0].iv))
	}
}

func TestLine(t *testing.T) {
	if got, want := set("U1:1-5,U2:x:1").Line(), expand("U1:1-5,U2:x:1"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// checkNormal checks the invariants that every Set must keep.
func checkNormal(t *testing.T, s Set) {
	t.Helper()
	if s.d == nil {
		return
	}
	n := 0
	for i, e := range s.d.entries {
		if i > 0 && s.d.entries[i-1].key.compare(e.key) >= 0 {
			t.Errorf("origins not sorted in %q", s)
		}
		if len(e.iv) == 0 {
			t.Errorf("origin without intervals in %q", s)
		}
		for j, iv := range e.iv {
			if iv.first < 1 || iv.last < iv.first || iv.last > maxNumber {
				t.Errorf("bad interval %v", iv)
			}
			if j > 0 && e.iv[j-1].last+1 >= iv.first {
				t.Errorf("intervals of %q overlap or touch", s)
			}
		}
		n += len(e.iv)
	}
	if n == 0 || n != s.Intervals() {
		t.Errorf("Intervals() = %d, has %d", s.Intervals(), n)
	}
}
