package seq

import (
	"slices"
	"testing"
)

func TestSixtyKindsAtLeast(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Kinds {
		if seen[k.Name] {
			t.Errorf("two kinds are called %q", k.Name)
		}
		seen[k.Name] = true
	}
	if len(seen) < 60 {
		t.Errorf("%d kinds", len(seen))
	}
	if n := len(Forgettable()); n < 25 {
		t.Errorf("%d variables", n)
	}
	t.Logf("%d kinds, %d variables", len(seen), len(Forgettable()))
}

// TestEveryKindComes: weights and pending steps starve no kind.
func TestEveryKindComes(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(4000) {
		for _, step := range Generate(seed, Options{Polite: seed%2 == 0}).Steps {
			seen[step.Kind] = true
		}
	}
	for _, k := range Kinds {
		if !seen[k.Name] {
			t.Errorf("4000 sequences have no %q", k.Name)
		}
	}
}

func TestSeedGivesTheScript(t *testing.T) {
	for seed := range uint64(50) {
		a, b := Generate(seed, Options{}), Generate(seed, Options{})
		if a.String() != b.String() {
			t.Fatalf("seed %d gives two scripts:\n%s\n%s", seed, a, b)
		}
		if a.String() == Generate(seed+1, Options{}).String() {
			t.Errorf("seeds %d and %d give one script", seed, seed+1)
		}
	}
}

func TestPoliteScriptsArePolite(t *testing.T) {
	left, rude := 0, 0
	for seed := range uint64(500) {
		s := Generate(seed, Options{Polite: true})
		if !s.Valid() {
			t.Errorf("seed %d leaves a pinned session:\n%s", seed, s)
		}
		for i := 1; i < len(s.Steps); i++ {
			if s.Steps[i].On != s.Steps[i-1].On {
				left++
			}
		}
		other := Generate(seed, Options{})
		other.Polite = true
		if !other.Valid() {
			rude++
		}
	}
	if left < 1000 {
		t.Errorf("polite scripts go from session to session %d times in all", left)
	}
	if rude < 100 {
		t.Errorf("of 500 scripts that need not be polite %d are not", rude)
	}
}

// TestOwedIsLeftOut: what Owed shows does not come by itself, and is recognised.
func TestOwedIsLeftOut(t *testing.T) {
	for seed := range uint64(500) {
		if s := Generate(seed, Options{}); s.meetsOwed() {
			t.Fatalf("seed %d has what is owed:\n%s", seed, s)
		}
	}
	for _, o := range OwedNow {
		if !o.Script().meetsOwed() {
			t.Errorf("its own script does not show it: %s", o.Why)
		}
	}
}

func TestPins(t *testing.T) {
	off, on := Step{auto: -1}, Step{auto: 1}
	for _, c := range []struct {
		name  string
		steps []Step
		want  Pin
	}{
		{"nothing", nil, 0},
		{"a transaction", []Step{begin, write}, PinTrx},
		{"a transaction that ended", []Step{begin, write, commit}, 0},
		{"autocommit off pins nothing yet", []Step{off}, 0},
		{"the first statement then does", []Step{off, read}, PinTrx},
		{"and its end ends it", []Step{off, read, commit}, 0},
		{"or what comes after it in one text begins the next", []Step{off, read, q("ROLLBACK; SELECT COUNT(*) FROM $1.t").onTable().free(PinTrx)}, PinTrx},
		{"autocommit on commits", []Step{off, read, on}, 0},
		{"autocommit on again commits nothing", []Step{begin, on}, PinTrx},
		{"a chain", []Step{q("SET completion_type = 1").pin(PinChain), begin, commit}, PinTrx | PinChain},
		{"SET TRANSACTION until a transaction begins or ends: a statement that fails does not use it up", []Step{q("").pin(PinNext), read}, PinNext},
		{"COMMIT uses up SET TRANSACTION", []Step{q("").pin(PinNext), read, commit}, 0},
		{"XA ROLLBACK before XA END", []Step{{pins: PinXA | PinXAActive}, xaRollback}, PinXA | PinXAActive},
		{"XA ROLLBACK after XA END", []Step{{pins: PinXA | PinXAActive}, xaEnd, xaRollback}, 0},
		{"autocommit on is refused in an XA transaction, and goes on being off", []Step{{pins: PinXA | PinXAActive}, xaEnd, off, on, xaRollback, write}, PinTrx},
		{"a prepared ROLLBACK that is gone ends nothing", []Step{begin, write, exec("s1").free(PinTrx)}, PinTrx},
		{"a reset ends all", []Step{begin, q("").pin(PinTemp | PinLock), resetStep}, 0},
	} {
		var st state
		for _, s := range c.steps {
			st = st.after(s)
		}
		if st.pins != c.want {
			t.Errorf("%s: pins %b, wanted %b", c.name, st.pins, c.want)
		}
	}
}

func TestReleasesRelease(t *testing.T) {
	for _, r := range releases {
		st := state{pins: r.pin &^ r.step.unless}.after(r.step)
		if st.pins&r.pin != 0 {
			t.Errorf("%s leaves %b of %b", r.step, st.pins, r.pin)
		}
	}
}

func TestShrink(t *testing.T) {
	s := Generate(11, Options{})
	bad := []int{len(s.Steps) / 3, len(s.Steps) - 1} // fails while both are there
	tries := 0
	short := Shrink(s, 500, func(c Script) bool {
		tries++
		return !slices.ContainsFunc(bad, func(i int) bool {
			return !slices.ContainsFunc(c.Steps, func(step Step) bool { return step.String() == s.Steps[i].String() })
		})
	})
	if len(short.Steps) > 2 {
		t.Errorf("%d steps are left after %d tries:\n%s", len(short.Steps), tries, short)
	}
	if same := Shrink(s, 500, func(Script) bool { return false }); len(same.Steps) != len(s.Steps) {
		t.Error("a script that cannot be shortened was")
	}
	tries = 0
	Shrink(s, 7, func(Script) bool { tries++; return false })
	if tries != 7 {
		t.Errorf("%d tries, wanted 7", tries)
	}
}

// TestShrinkStaysPolite: leaving out a COMMIT would leave the session pinned.
func TestShrinkStaysPolite(t *testing.T) {
	for seed := range uint64(60) {
		Shrink(Generate(seed, Options{Polite: true}), 100, func(c Script) bool {
			if !c.Valid() {
				t.Errorf("seed %d: tried a script that is not polite:\n%s", seed, c)
			}
			return len(c.Steps)%2 == 0
		})
	}
}
