package gtid

import (
	"math/bits"
	"strconv"
	"testing"
)

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", ",", "U1:1", "U1:1-5:7:tag:1-3,\nU2:9", "U1:5-3", "U1:0", "U1:_:1", " U1 : 1 - 5 ",
		"U1:9223372036854775806", "U1:9223372036854775807", "0-1-123", "UA:a:1:A:2",
	} {
		f.Add([]byte(expand(s)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseBytes(text)
		if err != nil {
			if !s.IsEmpty() {
				t.Fatalf("a set beside the error %v", err)
			}
			return
		}
		checkNormal(t, s)
		for _, printed := range []string{s.String(), s.Line()} {
			again, err := Parse(printed)
			if err != nil {
				t.Fatalf("own text %q refused: %v", printed, err)
			}
			if !again.Equal(s) || again.String() != s.String() {
				t.Fatalf("%q came back as %q", printed, again)
			}
		}
		if s.Intervals() > len(text) {
			t.Fatalf("%d intervals of %d bytes", s.Intervals(), len(text))
		}
	})
}

// model is the naive set that the fuzz target holds against the real one: six
// origins of 64 numbers each.
type model [6]uint64

var origins = [6]string{u1 + ":", u1 + ":a:", u1 + ":b:", u2 + ":", u2 + ":a:", uA + ":"}

// set writes each number out on its own: merging is what is tested.
func (m model) set() Set {
	var text []byte
	for o, b := range m {
		prefix := origins[o]
		for ; b != 0; b &= b - 1 {
			text = append(text, prefix...)
			text = strconv.AppendInt(text, int64(bits.TrailingZeros64(b))+1, 10)
			prefix = ":"
		}
		text = append(text, ',')
	}
	s, err := ParseBytes(text)
	if err != nil {
		panic(err)
	}
	return s
}

// models cuts the fuzzer's bytes into as many models as wanted. Runs of bits
// come from whole bytes, so gaps and runs both are likely.
func models(data []byte, want int) []model {
	out := make([]model, want)
	for i, b := range data {
		slot := i / 8 % 6
		m := i / 48
		if m >= want {
			break
		}
		out[m][slot] |= uint64(b) << (8 * (i % 8))
	}
	return out
}

func FuzzAlgebra(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0xff, 0, 1, 2, 3, 0xf0, 0x0f, 0x55})
	seed := make([]byte, 144)
	for i := range seed {
		seed[i] = byte(i * 37)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		ms := models(data, 3)
		checkAgainstModel(t, ms[0], ms[1])
		checkLaws(t, ms[0].set(), ms[1].set(), ms[2].set())
	})
}

func checkAgainstModel(t *testing.T, ma, mb model) {
	a, b := ma.set(), mb.set()
	var union, minus, both model
	subset, equal := true, ma == mb
	var count uint64
	for i := range ma {
		union[i], minus[i], both[i] = ma[i]|mb[i], ma[i]&^mb[i], ma[i]&mb[i]
		subset = subset && mb[i]&^ma[i] == 0
		for x := ma[i]; x != 0; x &= x - 1 {
			count++
		}
	}
	for _, c := range []struct {
		name      string
		got, want Set
	}{
		{"Union", a.Union(b), union.set()},
		{"Subtract", a.Subtract(b), minus.set()},
		{"Intersect", a.Intersect(b), both.set()},
	} {
		checkNormal(t, c.got)
		if !c.got.Equal(c.want) || c.got.String() != c.want.String() {
			t.Fatalf("%s of %q and %q: got %q, want %q", c.name, a, b, c.got, c.want)
		}
	}
	if a.Contains(b) != subset || a.Equal(b) != equal || a.Count() != count {
		t.Fatalf("%q and %q: Contains %v, Equal %v, Count %d", a, b, a.Contains(b), a.Equal(b), a.Count())
	}
}

func checkLaws(t *testing.T, a, b, c Set) {
	for name, ok := range map[string]bool{
		"union commutes":          a.Union(b).Equal(b.Union(a)),
		"union associates":        a.Union(b).Union(c).Equal(a.Union(b.Union(c))),
		"intersection commutes":   a.Intersect(b).Equal(b.Intersect(a)),
		"intersection associates": a.Intersect(b).Intersect(c).Equal(a.Intersect(b.Intersect(c))),
		"distributes":             a.Intersect(b.Union(c)).Equal(a.Intersect(b).Union(a.Intersect(c))),
		"parts make the whole":    a.Subtract(b).Union(a.Intersect(b)).Equal(a),
		"parts are apart":         a.Subtract(b).Intersect(b).IsEmpty(),
		"union contains both":     a.Union(b).Contains(a) && a.Union(b).Contains(b),
		"contains is subtract":    a.Contains(b) == b.Subtract(a).IsEmpty(),
		"widen contains":          a.Widen(b, 2).Contains(a),
		"widen stays within":      a.Union(b).Contains(a.Widen(b, 2)),
		"widen is no larger":      a.Widen(b, 2).Intervals() <= max(2, a.Intervals()),
	} {
		if !ok {
			t.Fatalf("%s fails for\na %q\nb %q\nc %q", name, a, b, c)
		}
	}
}
