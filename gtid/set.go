package gtid

import (
	"cmp"
	"slices"
)

// Set is a set of GTIDs. The zero value is the empty set. A Set is one pointer
// to data that never changes: copy it freely, share it between goroutines, and
// compare with Equal (== compares only the pointers).
type Set struct{ d *setData }

type setData struct {
	entries   []entry // sorted by key, none without intervals
	intervals int     // of all entries together
}

// entry holds the transactions of one origin.
type entry struct {
	key key
	iv  []interval
}

// key names an origin: a server's UUID and, since MySQL 8.3, an optional tag.
// Two words instead of 16 bytes make the comparison two machine instructions.
type key struct {
	hi, lo uint64 // the UUID, big endian, so the order is that of its text
	tag    string // lower case, "" for none
}

func (k key) compare(o key) int {
	if k.hi != o.hi {
		return cmp.Compare(k.hi, o.hi)
	}
	if k.lo != o.lo {
		return cmp.Compare(k.lo, o.lo)
	}
	return cmp.Compare(k.tag, o.tag)
}

// sameUUID tells whether both keys name the same server, whatever the tag.
func (k key) sameUUID(o key) bool { return k.hi == o.hi && k.lo == o.lo }

// newSingle makes a set of one interval in a single allocation: what an OK
// packet brings and what most tokens are.
func newSingle(k key, iv interval) Set {
	one := &struct {
		data    setData
		entries [1]entry
		iv      [1]interval
	}{}
	one.iv[0] = iv
	one.entries[0] = entry{key: k, iv: one.iv[:]}
	one.data = setData{entries: one.entries[:], intervals: 1}
	return Set{&one.data}
}

// fromEntries takes over entries, which are sorted and may hold empty ones.
func fromEntries(entries []entry) Set {
	entries = slices.DeleteFunc(entries, func(e entry) bool { return len(e.iv) == 0 })
	if len(entries) == 0 {
		return Set{}
	}
	d := &setData{entries: entries}
	for _, e := range entries {
		d.intervals += len(e.iv)
	}
	return Set{d}
}

func (s Set) entries() []entry {
	if s.d == nil {
		return nil
	}
	return s.d.entries
}

// IsEmpty tells whether the set has no member. Every set contains the empty one.
func (s Set) IsEmpty() bool { return s.d == nil }

// Intervals returns the number of intervals, the measure of the set's size in memory.
func (s Set) Intervals() int {
	if s.d == nil {
		return 0
	}
	return s.d.intervals
}

// Count returns the number of GTIDs in the set. Should a hostile set have more
// than 2^64-1, that number is returned.
func (s Set) Count() uint64 {
	var n uint64
	for _, e := range s.entries() {
		for _, iv := range e.iv {
			sum := n + (iv.last - iv.first + 1)
			if sum < n {
				return 1<<64 - 1
			}
			n = sum
		}
	}
	return n
}

// UUIDs returns the servers' UUIDs in the set, each once, in order, lower case.
func (s Set) UUIDs() []string {
	var out []string
	es := s.entries()
	for i, e := range es {
		if i == 0 || !e.key.sameUUID(es[i-1].key) {
			out = append(out, string(appendUUID(nil, e.key)))
		}
	}
	return out
}

// Equal tells whether both sets have the same members.
func (s Set) Equal(o Set) bool {
	if s.d == o.d {
		return true
	}
	a, b := s.entries(), o.entries()
	if len(a) != len(b) || s.Intervals() != o.Intervals() {
		return false
	}
	for i := range a {
		if a[i].key != b[i].key || !slices.Equal(a[i].iv, b[i].iv) {
			return false
		}
	}
	return true
}

// Contains tells whether every GTID of o is in s, as the server's
// GTID_SUBSET(o, s) does. It allocates nothing.
func (s Set) Contains(o Set) bool {
	if s.d == o.d || o.d == nil {
		return true
	}
	have := s.entries()
	for i := range o.d.entries {
		want := &o.d.entries[i]
		// Sets have few origins, and both are sorted: walk on, never back.
		for len(have) > 0 && have[0].key.compare(want.key) < 0 {
			have = have[1:]
		}
		if len(have) == 0 || have[0].key != want.key || !coversIntervals(have[0].iv, want.iv) {
			return false
		}
	}
	return true
}
