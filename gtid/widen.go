package gtid

// Widen bounds the size of a token by making it need more, never less. If s has
// more than maxIntervals intervals, each of its origins becomes 1-N, N being the
// last number it holds, limited to what executed (the source's gtid_executed)
// has: a token that needed a GTID which nobody ever executed would never be met.
//
// The result always contains s. Where executed itself has gaps the result has
// them too, so it can have more than maxIntervals intervals; it never has more
// than s.
func (s Set) Widen(executed Set, maxIntervals int) Set {
	if s.Intervals() <= maxIntervals {
		return s
	}
	full := make([]entry, 0, len(s.entries()))
	for _, e := range s.entries() {
		last := e.iv[len(e.iv)-1].last
		full = append(full, entry{e.key, []interval{{1, last}}})
	}
	wide := fromEntries(full).Intersect(executed).Union(s)
	if wide.Intervals() >= s.Intervals() {
		return s // nothing gained: executed is as full of gaps as s
	}
	return wide
}
