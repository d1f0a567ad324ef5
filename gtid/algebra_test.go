package gtid

import "testing"

func TestAlgebra(t *testing.T) {
	for _, tc := range []struct{ a, b, union, minus, both string }{
		{"", "", "", "", ""},
		{"U1:1-5", "", "U1:1-5", "U1:1-5", ""},
		{"", "U1:1-5", "U1:1-5", "", ""},
		{"U1:1-5", "U1:6", "U1:1-6", "U1:1-5", ""},
		{"U1:6", "U1:1-5", "U1:1-6", "U1:6", ""},
		{"U1:1-5", "U1:7", "U1:1-5:7", "U1:1-5", ""},
		{"U1:1-5:7", "U1:6", "U1:1-7", "U1:1-5:7", ""},
		{"U1:1-10", "U1:3-4:6", "U1:1-10", "U1:1-2:5:7-10", "U1:3-4:6"},
		{"U1:1-10:20-30", "U1:5-25", "U1:1-30", "U1:1-4:26-30", "U1:5-10:20-25"},
		{"U1:1-10:20-30:40", "U1:5-25:28:41", "U1:1-30:40-41", "U1:1-4:26-27:29-30:40", "U1:5-10:20-25:28"},
		{"U1:1-5", "U2:1-5", "U1:1-5,U2:1-5", "U1:1-5", ""},
		{"U1:1-5,U2:3", "U2:1-5,UA:9", "U1:1-5,U2:1-5,UA:9", "U1:1-5", "U2:3"},
		{"U1:1-5:tag:1-3", "U1:tag:2", "U1:1-5:tag:1-3", "U1:1-5:tag:1:3", "U1:tag:2"},
		{"U1:1-5", "U1:tag:1-5", "U1:1-5:tag:1-5", "U1:1-5", ""},
		{"U1:a:1,U2:1", "U1:b:1", "U1:a:1:b:1,U2:1", "U1:a:1,U2:1", ""},
		{"U1:9223372036854775806", "U1:1-9223372036854775805", "U1:1-9223372036854775806", "U1:9223372036854775806", ""},
		{"U1:1-9223372036854775806", "U1:9223372036854775806", "U1:1-9223372036854775806", "U1:1-9223372036854775805", "U1:9223372036854775806"},
	} {
		a, b := set(tc.a), set(tc.b)
		for _, op := range []struct {
			name      string
			got, want Set
		}{
			{"Union", a.Union(b), set(tc.union)},
			{"Union turned", b.Union(a), set(tc.union)},
			{"Subtract", a.Subtract(b), set(tc.minus)},
			{"Intersect", a.Intersect(b), set(tc.both)},
			{"Intersect turned", b.Intersect(a), set(tc.both)},
		} {
			if !op.got.Equal(op.want) {
				t.Errorf("%s of %q and %q: got %q, want %q", op.name, tc.a, tc.b, op.got, op.want)
			}
			checkNormal(t, op.got)
		}
		if !a.Equal(set(tc.a)) || !b.Equal(set(tc.b)) {
			t.Errorf("an operand changed: %q %q", a, b)
		}
	}
}

func TestContains(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"", "", true},
		{"U1:1", "", true},
		{"", "U1:1", false},
		{"U1:1-5:6-10", "U1:1-10", true}, // fails where intervals are not merged
		{"U1:1-10", "U1:1-10", true},
		{"U1:1-10", "U1:11", false},
		{"U1:1-10", "U1:10-11", false},
		{"U1:2-10", "U1:1-3", false},
		{"U1:1-3:5-8:10-12:20", "U1:2:6-7:11-12:20", true},
		{"U1:1-3:5-8:10-12:20", "U1:2:6-9", false},
		{"U1:1-3:5-8:10-12:20", "U1:4", false},
		{"U1:1-3:5-8:10-12:20", "U1:21", false},
		{"U1:1-3,U2:1-3", "U2:2", true},
		{"U1:1-3,U2:1-3", "U1:1,U2:3", true},
		{"U1:1-3,U2:1-3", "U1:1,UA:1", false},
		{"U2:1-3", "U1:1", false},
		{"U1:1-5", "U1:tag:1", false},
		{"U1:tag:1-5", "U1:1", false},
		{"U1:1-5:tag:1-5", "U1:tag:5", true},
		{"U1:1-5:tag:1-5", "U1:tagx:5", false},
		// An errant GTID does not make up for a missing one, however many.
		{"U1:1-9,U2:1-100", "U1:10", false},
	} {
		if got := set(tc.a).Contains(set(tc.b)); got != tc.want {
			t.Errorf("%q contains %q: got %v", tc.a, tc.b, got)
		}
	}
}

func TestEqualDiffers(t *testing.T) {
	for _, tc := range [][2]string{
		{"", "U1:1"}, {"U1:1", "U1:2"}, {"U1:1", "U2:1"}, {"U1:1", "U1:t:1"},
		{"U1:1:3", "U1:1,U2:3"}, {"U1:1", "U1:1,U2:1"},
	} {
		if set(tc[0]).Equal(set(tc[1])) || set(tc[1]).Equal(set(tc[0])) {
			t.Errorf("%q equals %q", tc[0], tc[1])
		}
	}
}

func TestMeasures(t *testing.T) {
	s := set("U1:1-5:7:t:1-3,UA:9")
	if s.Count() != 10 || s.Intervals() != 4 {
		t.Errorf("Count %d, Intervals %d", s.Count(), s.Intervals())
	}
	if got := s.UUIDs(); len(got) != 2 || got[0] != u1 || got[1] != uA {
		t.Errorf("UUIDs %q", got)
	}
	if e := (Set{}); e.Count() != 0 || e.Intervals() != 0 || e.UUIDs() != nil || !e.IsEmpty() || e.String() != "" {
		t.Error("the zero Set is not empty")
	}
	all := "1-9223372036854775806"
	if n := set("U1:" + all + ":a:" + all + ":b:" + all).Count(); n != 1<<64-1 {
		t.Errorf("Count went round to %d", n)
	}
}

func TestUnionWithSubsetIsTheReceiver(t *testing.T) {
	s := set("U1:1-5:7,U2:t:1-3")
	for _, sub := range []string{"", "U1:2", "U1:7,U2:t:1", "U1:1-5:7,U2:t:1-3"} {
		if got := s.Union(set(sub)); got.d != s.d {
			t.Errorf("union with %q made a new set", sub)
		}
	}
}

func TestHotPathAllocations(t *testing.T) {
	executed := set("U1:1-100000:100002-200000,U2:1-50:t:1-9,UA:1-3")
	token, next := set("U1:150000,U2:t:9"), set("U1:150001")
	own := set("U1:1-154")
	packet := []byte(expand("U1:155"))
	for _, tc := range []struct {
		name string
		want float64
		fn   func()
	}{
		{"Contains", 0, func() { executed.Contains(token) }},
		{"Contains no", 0, func() { token.Contains(executed) }},
		{"Equal", 0, func() { executed.Equal(token) }},
		{"Union with a subset", 0, func() { executed.Union(token) }},
		{"Union with a superset", 0, func() { token.Union(executed) }},
		{"token grows by one", 1, func() { next.Union(set155) }},
		{"ParseBytes of one GTID", 1, func() { _, _ = ParseBytes(packet) }},
		{"Token.Add known", 0, func() { Token{Set: own}.Add(own, 0) }},
	} {
		if got := testing.AllocsPerRun(100, tc.fn); got > tc.want {
			t.Errorf("%s: %v allocations, want %v", tc.name, got, tc.want)
		}
	}
}

var set155 = set("U1:150002")

func TestWiden(t *testing.T) {
	for _, tc := range []struct {
		name, s, executed string
		max               int
		want              string
	}{
		{"small enough", "U1:1:3:5", "U1:1-10", 3, "U1:1:3:5"},
		{"to 1-N", "U1:1:3:5", "U1:1-10", 2, "U1:1-5"},
		{"each origin on its own", "U1:2:4:t:3:5,U2:7:9", "U1:1-10:t:1-10,U2:1-10", 3, "U1:1-4:t:1-5,U2:1-9"},
		{"within executed", "U1:2:4:6:8", "U1:1-4:6-9", 2, "U1:1-4:6-8"},
		{"never dropped, though not executed", "U1:2:4:6,U2:5", "U1:1-6", 2, "U1:1-6,U2:5"},
		{"other origins stay out", "U1:2:4:6", "U1:1-9,U2:1-9", 1, "U1:1-6"},
		{"executed unknown", "U1:2:4:6", "", 1, "U1:2:4:6"},
		{"executed has more gaps", "U1:20:22", "U1:1:3:5:7:9:20:22", 1, "U1:20:22"},
		{"zero", "U1:1:3", "U1:1-3", 0, "U1:1-3"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := set(tc.s)
			got := s.Widen(set(tc.executed), tc.max)
			if !got.Equal(set(tc.want)) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if !got.Contains(s) {
				t.Error("the wide set lost members")
			}
		})
	}
}

func TestToken(t *testing.T) {
	var tok Token
	if tok.Void(7) {
		t.Error("an empty token is void")
	}
	tok, lost := tok.Add(set("U1:5"), 7)
	if lost || tok.Epoch != 7 || tok.Void(7) || !tok.Void(8) {
		t.Errorf("%+v lost %v", tok, lost)
	}
	tok, lost = tok.Add(set("U1:6"), 7)
	if lost || !tok.Set.Equal(set("U1:5-6")) {
		t.Errorf("%+v lost %v", tok, lost)
	}
	// A GTID of the old history that comes late is not mixed in.
	late, lost := tok.Add(set("U1:9"), 6)
	if !lost || !late.Set.Equal(tok.Set) || late.Epoch != 7 {
		t.Errorf("%+v lost %v", late, lost)
	}
	if _, lost := tok.Add(Set{}, 6); lost {
		t.Error("nothing was lost")
	}
	// A new history voids what was held, and says so.
	tok, lost = tok.Add(set("U1:1"), 8)
	if !lost || !tok.Set.Equal(set("U1:1")) || tok.Epoch != 8 {
		t.Errorf("%+v lost %v", tok, lost)
	}
}
