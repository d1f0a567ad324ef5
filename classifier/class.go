package classifier

import "sync/atomic"

// Mode is the part of a session that changes what a text means. Texts of
// different modes never share a Class.
type Mode struct {
	ANSIQuotes         bool // sql_mode ANSI_QUOTES: "x" is an identifier
	NoBackslashEscapes bool // sql_mode NO_BACKSLASH_ESCAPES: \ is an ordinary byte
	PipesAsConcat      bool // sql_mode PIPES_AS_CONCAT: || is concatenation
	IgnoreSpace        bool // sql_mode IGNORE_SPACE: blanks before ( of a built-in function

	// UnsafeCharset: character_set_client is one whose second bytes look like
	// ASCII (gbk, gb18030, big5, sjis, cp932), so bytes may hide backslashes and
	// backticks. A text where one may be hidden so is Unknown.
	UnsafeCharset bool
}

// The bits of a mode in a cache key. execBit is not part of Mode: it keeps
// texts with executable comments apart, whose flags differ.
const (
	modeANSIQuotes = 1 << iota
	modeNoBackslash
	modePipes
	modeIgnoreSpace
	modeUnsafe
	execBit
)

func (m Mode) key() byte {
	var k byte
	if m.ANSIQuotes {
		k |= modeANSIQuotes
	}
	if m.NoBackslashEscapes {
		k |= modeNoBackslash
	}
	if m.PipesAsConcat {
		k |= modePipes
	}
	if m.IgnoreSpace {
		k |= modeIgnoreSpace
	}
	if m.UnsafeCharset {
		k |= modeUnsafe
	}
	return k
}

// Trx holds the characteristics that BEGIN, START TRANSACTION and SET
// TRANSACTION give.
type Trx struct {
	ReadOnly  bool
	ReadWrite bool
	Snapshot  bool   // WITH CONSISTENT SNAPSHOT
	Isolation string // "READ-COMMITTED" and so on, as transaction_isolation spells it; "" if not given
}

// Class is what a statement was found to be. It is immutable and shared.
type Class struct {
	Kind  Kind
	Flags Flags
	Trx   Trx

	// Statements is the number of statements in the text, 0 for Empty.
	Statements int

	// Names holds, for Causeway, the statement's words in lower case; for Set
	// and SetTransaction the session variables assigned, in lower case: system
	// variables by their bare name, user variables as "@name". GLOBAL and
	// PERSIST assignments are not in it (SetsGlobal tells). For TextPrepare it
	// holds "prepare", "execute" or "deallocate" and the statement's name; for
	// Handler "open", "read" or "close" and the name that it goes by.
	Names []string

	// KillID is the connection that KILL names, 0 if it is not a number.
	KillID    uint64
	KillQuery bool

	// Digest is the normalised text, its literals as ?. It may be cut for very
	// long statements. DigestHash is its FNV-1a hash, the same in every process.
	Digest     string
	DigestHash uint64

	// Usage counts what became of the reads of this digest; it is the one part
	// that changes, and nothing here looks at it. nil: nobody counts.
	Usage *Usage

	key string // in the cache; "" if it was not cached
}

// Usage is how often a digest was read.
type Usage struct {
	Reads     atomic.Uint64 // plain reads that replicas could have served
	Fallbacks atomic.Uint64 // those of them that the source did
}

// Is reports whether the class has all of the flags.
func (c *Class) Is(f Flags) bool { return c.Flags.Has(f) }
