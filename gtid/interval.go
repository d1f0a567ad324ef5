package gtid

// maxNumber is the largest transaction number MySQL hands out: GNO_END - 1,
// where GNO_END is 2^63 - 1 (sql/rpl_gtid.h).
const maxNumber = 1<<63 - 2

// interval is a run of transaction numbers, both ends included,
// 1 <= first <= last <= maxNumber.
//
// A normalised slice of intervals is sorted and its members neither overlap
// nor touch: between two of them at least one number is missing. The functions
// of this file expect and return normalised slices, and never change one.
type interval struct{ first, last uint64 }

// searchIntervals returns the index of the first interval that ends at or after n.
func searchIntervals(a []interval, n uint64) int {
	last := len(a) - 1
	// Tokens ask about the newest transactions: look at the end first.
	if last < 0 || a[last].last < n {
		return len(a)
	}
	if a[last].first <= n {
		return last
	}
	lo, hi := 0, last
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if a[mid].last < n {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// coversIntervals tells whether every number of b is in a. As a is normalised,
// each interval of b must lie within a single one of a.
func coversIntervals(a, b []interval) bool {
	for _, want := range b {
		i := searchIntervals(a, want.first)
		if i == len(a) || a[i].first > want.first || a[i].last < want.last {
			return false
		}
		a = a[i:]
	}
	return true
}

// appendMerged adds next to a, where no interval of a begins after next does.
func appendMerged(a []interval, next interval) []interval {
	if n := len(a); n > 0 && next.first <= a[n-1].last+1 {
		a[n-1].last = max(a[n-1].last, next.last)
		return a
	}
	return append(a, next)
}

func uniteIntervals(a, b []interval) []interval {
	if coversIntervals(a, b) {
		return a
	}
	if coversIntervals(b, a) {
		return b
	}
	out := make([]interval, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0].first <= b[0].first {
			out, a = appendMerged(out, a[0]), a[1:]
		} else {
			out, b = appendMerged(out, b[0]), b[1:]
		}
	}
	for _, iv := range a {
		out = appendMerged(out, iv)
	}
	for _, iv := range b {
		out = appendMerged(out, iv)
	}
	return out
}

func subtractIntervals(a, b []interval) []interval {
	var out []interval
	for _, iv := range a {
		b = b[searchIntervals(b, iv.first):]
		for len(b) > 0 && b[0].first <= iv.last {
			if b[0].first > iv.first {
				out = append(out, interval{iv.first, b[0].first - 1})
			}
			iv.first = b[0].last + 1
			if iv.first > iv.last {
				break // b[0] may reach into the next interval of a: keep it
			}
			b = b[1:]
		}
		if iv.first <= iv.last {
			out = append(out, iv)
		}
	}
	return out
}

func intersectIntervals(a, b []interval) []interval {
	if coversIntervals(a, b) {
		return b
	}
	if coversIntervals(b, a) {
		return a
	}
	var out []interval
	for len(a) > 0 && len(b) > 0 {
		first, last := max(a[0].first, b[0].first), min(a[0].last, b[0].last)
		if first <= last {
			out = append(out, interval{first, last})
		}
		if a[0].last < b[0].last {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return out
}
