package gtid

// Union returns the set of all GTIDs that are in s or in o. If s contains o it
// is s itself, so a token that learns nothing new costs nothing.
func (s Set) Union(o Set) Set {
	if s.Contains(o) {
		return s
	}
	if o.Contains(s) {
		return o
	}
	if u, ok := extend(s, o); ok {
		return u
	}
	return combine(s, o, true, true, uniteIntervals)
}

// extend is the union of two single touching intervals of one origin, the way
// a token grows with each commit, in one allocation.
func extend(s, o Set) (Set, bool) {
	if s.d.intervals != 1 || o.d.intervals != 1 {
		return Set{}, false
	}
	a, b := &s.d.entries[0], &o.d.entries[0]
	if a.key != b.key {
		return Set{}, false
	}
	x, y := a.iv[0], b.iv[0]
	if x.first > y.last+1 || y.first > x.last+1 {
		return Set{}, false
	}
	return newSingle(a.key, interval{min(x.first, y.first), max(x.last, y.last)}), true
}

// Subtract returns the GTIDs of s that are not in o, as the server's
// GTID_SUBTRACT(s, o) does.
func (s Set) Subtract(o Set) Set {
	if s.IsEmpty() || o.IsEmpty() {
		return s
	}
	return combine(s, o, true, false, subtractIntervals)
}

// Intersect returns the GTIDs that are in both sets.
func (s Set) Intersect(o Set) Set {
	switch {
	case s.Contains(o):
		return o
	case o.Contains(s):
		return s
	}
	return combine(s, o, false, false, intersectIntervals)
}

// combine walks both sets by origin. both makes the intervals of an origin that
// is in both; keepA and keepB tell whether an origin in only one of them stays.
// Interval slices are shared with the operands where they do not change.
func combine(s, o Set, keepA, keepB bool, both func(a, b []interval) []interval) Set {
	a, b := s.entries(), o.entries()
	out := make([]entry, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch c := a[0].key.compare(b[0].key); {
		case c < 0:
			out, a = appendIf(keepA, out, a[0]), a[1:]
		case c > 0:
			out, b = appendIf(keepB, out, b[0]), b[1:]
		default:
			out = append(out, entry{a[0].key, both(a[0].iv, b[0].iv)})
			a, b = a[1:], b[1:]
		}
	}
	if keepA {
		out = append(out, a...)
	}
	if keepB {
		out = append(out, b...)
	}
	return fromEntries(out)
}

func appendIf(keep bool, out []entry, e entry) []entry {
	if !keep {
		return out
	}
	return append(out, e)
}
