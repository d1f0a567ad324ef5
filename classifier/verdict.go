package classifier

import (
	"hash/fnv"
	"strings"
)

// reads reports whether the kind says that a statement changes nothing.
func (k Kind) reads() bool {
	return k == Read || k == ReadSource || k == Diagnostics || k == LockingRead
}

// judgeAll joins the verdicts of all statements of a text. Statements of one
// kind stay that kind; reads and writes together are the strongest of them; any
// other mixture is Unknown, with the flags of all.
func judgeAll(all []statement) verdict {
	if len(all) == 0 {
		return verdict{kind: Empty}
	}
	v := all[0].judgeOne()
	if len(all) == 1 {
		return v
	}
	for _, s := range all[1:] {
		w := s.judgeOne()
		v = join(v, w)
	}
	v.flags |= MultiStatement
	if v.kind != Read {
		v.flags |= MayChangeState
		v.flags &^= NoTable
	}
	return v
}

func (s statement) judgeOne() verdict {
	if len(s.toks) == 0 { // a lone ; before a statement
		return verdict{kind: Unknown, flags: opaqueFlags}
	}
	return s.judge()
}

// strength orders the kinds that may be mixed.
var strength = map[Kind]int{Read: 1, ReadSource: 2, Diagnostics: 3, LockingRead: 4, Write: 5}

func join(v, w verdict) verdict {
	noTable := v.flags & w.flags & NoTable
	j := verdict{kind: v.kind, flags: v.flags | w.flags, names: append(v.names, w.names...)}
	j.flags = j.flags&^NoTable | noTable
	a, b := strength[v.kind], strength[w.kind]
	switch {
	case v.kind == Causeway || w.kind == Causeway:
		j.kind = Unknown
	case v.kind == w.kind:
	case a > 0 && b > 0:
		if b > a {
			j.kind = w.kind
		}
	default:
		j.kind = Unknown
	}
	if j.kind == Unknown {
		j.flags |= unknownFlags
	}
	return j
}

// either joins two readings of one statement, of which one is right.
func either(v, w verdict) verdict {
	if v.kind == w.kind {
		v.flags |= w.flags
		if len(w.names) > len(v.names) {
			v.names = w.names
		}
		return v
	}
	j := join(v, w)
	if strength[v.kind] == 0 || strength[w.kind] == 0 {
		j.kind = Unknown
	}
	return j
}

// newClass makes the class of a verdict. The digest's memory is shared with
// the caller's.
func newClass(v verdict, statements int, digest string) *Class {
	if v.kind == Unknown {
		v.flags &^= NoTable
	}
	h := fnv.New64a()
	h.Write([]byte(digest))
	return &Class{
		Kind: v.kind, Flags: v.flags, Trx: v.trx, Statements: statements, Names: v.names,
		KillID: v.killID, KillQuery: v.killQuery, Digest: digest, DigestHash: h.Sum64(), Usage: &Usage{},
	}
}

// cut bounds the memory that an uncached class holds.
func (c *Class) cut() {
	if len(c.Digest) > CutDigest {
		c.Digest = strings.Clone(c.Digest[:CutDigest])
	}
}

// learned is the class as it is once its digest was seen to write.
func (c *Class) learned(k Kind) *Class {
	l := *c
	l.Kind = k
	l.Flags = c.Flags&^NoTable | opaqueFlags
	return &l
}
