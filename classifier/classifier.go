package classifier

import (
	"bytes"
	"strings"
)

// Bounds on what is read closely.
const (
	maxCached = 64 << 10  // longer texts are classified each time
	maxLexed  = 16 << 20  // longer texts are judged by their head
	maxDigest = 512 << 10 // so are texts whose digest is longer
	headBytes = 4 << 10
	maxNest   = 256 // deeper parentheses are Unknown
)

// CutDigest is how many bytes are kept of the digest of a text that is not
// cached: one that is as long may not be whole.
const CutDigest = 8 << 10

// Options configures a Classifier.
type Options struct {
	// ReadOnlyFunctions names stored and loadable functions that only read:
	// "schema.name" for calls written so, "name" for any call of that name.
	ReadOnlyFunctions []string

	// CacheEntries bounds the digest cache; 0 means 10000.
	CacheEntries int
}

// Classifier classifies statements. It is safe for concurrent use.
type Classifier struct {
	readOnly map[string]bool
	cache    *cache
	parsers  parserPool
}

// New returns a Classifier.
func New(opts Options) *Classifier {
	if opts.CacheEntries <= 0 {
		opts.CacheEntries = 10000
	}
	c := &Classifier{readOnly: map[string]bool{}, cache: newCache(opts.CacheEntries)}
	for _, name := range opts.ReadOnlyFunctions {
		c.readOnly[strings.ToLower(strings.ReplaceAll(name, "`", ""))] = true
	}
	return c
}

// Classify says what the text is. The class is shared and must not be changed;
// sql is not kept. A digest seen before costs neither parsing nor memory.
func (c *Classifier) Classify(sql []byte, m Mode) *Class {
	if isDollarProbe(sql) {
		return dollarProbe
	}
	if m.UnsafeCharset && mayHide(sql) {
		return unsafeText(sql)
	}
	if len(sql) > maxLexed {
		return c.head(sql, m)
	}
	n := normalisers.Get().(*normaliser)
	defer n.release()
	n.run(sql, m, m.key(), false)
	if n.lx.notes&noteExec != 0 {
		n.out[0] |= execBit
	}
	cacheable := len(sql) <= maxCached && len(n.out) <= maxKey && n.lx.notes&^noteExec == 0 && !n.volatile
	if cacheable {
		if class := c.cache.get(n.out); class != nil {
			return class
		}
	}
	return c.miss(n, sql, m, cacheable)
}

// miss classifies a text that is not in the cache.
func (c *Classifier) miss(n *normaliser, sql []byte, m Mode, cacheable bool) *Class {
	if len(n.out) > maxDigest {
		return c.head(sql, m)
	}
	key := string(n.out)
	v, count := c.judgeText(key[1:], n, m)
	if v.kind == Read && n.lx.notes&noteBad == 0 {
		c.secondOpinion(&v, count, sql, m, n.deep)
	}
	if n.lx.notes&noteUncertain != 0 {
		v = c.without(v, n, sql, m)
	}
	if n.lx.notes&noteExec != 0 {
		v.flags |= ExecutableComment
	}
	class := newClass(v, count, key[1:])
	if !cacheable {
		class.cut()
		return class
	}
	class.key = key
	if k, ok := c.cache.learnedKind(key); ok {
		class = class.learned(k)
	}
	c.cache.put(key, class)
	return class
}

// judgeText classifies a digest. The lexer's notes of the text it came from
// make it Unknown where a token may not be what it seems.
func (c *Classifier) judgeText(digest string, n *normaliser, m Mode) (verdict, int) {
	worst := verdict{kind: Unknown, flags: opaqueFlags | unreadHint(digest)}
	if n.deep > maxNest {
		return worst, 1
	}
	all, ok := split(tokenise(digest, m), c)
	if !ok {
		worst.flags |= MultiStatement
		return worst, len(all)
	}
	v := judgeAll(all)
	exec := n.lx.notes&noteExec != 0
	switch {
	case n.lx.notes&noteBad != 0, exec && len(all) > 1:
		v.kind = Unknown
		v.flags |= opaqueFlags
	case n.lx.notes&(noteOddIdent|noteDollar) != 0 && v.kind.reads():
		v.kind = Unknown
		v.flags |= opaqueFlags
	}
	return v, len(all)
}

// without judges the text as a server does that skips the executable comments
// of newer versions, and joins both verdicts: one of them is right.
func (c *Classifier) without(v verdict, n *normaliser, sql []byte, m Mode) verdict {
	skipped := normalisers.Get().(*normaliser)
	defer skipped.release()
	skipped.run(sql, m, m.key(), true)
	w, count := c.judgeText(string(skipped.out[1:]), skipped, m)
	if w.kind == Read {
		c.secondOpinion(&w, count, sql, m, skipped.deep)
	}
	return either(v, w)
}

// head judges a text too long to read by its first words, for the worst.
func (c *Classifier) head(sql []byte, m Mode) *Class {
	n := normalisers.Get().(*normaliser)
	defer n.release()
	n.run(sql[:min(headBytes, len(sql))], m, m.key(), false)
	v := verdict{kind: Unknown, flags: opaqueFlags | unreadHint(string(n.out[1:]))}
	switch s := (statement{tokenise(string(n.out[1:]), m), c}); s.word(0) {
	case "insert", "replace", "update", "delete":
		v.kind = Write
	}
	class := newClass(v, 1, string(n.out[1:]))
	class.cut()
	return class
}

// unsafeText is the class of a text whose bytes may hide quotes.
func unsafeText(sql []byte) *Class {
	digest := "(text in a multi-byte character set)"
	flags := opaqueFlags
	if namesHintVariable(sql) {
		flags |= HidesHint
	}
	return newClass(verdict{kind: Unknown, flags: flags}, 1, digest)
}

// dollarProbe is the class of what the mysql client sends at each start to see
// whether a server knows dollar quotes: a statement that can only fail.
var dollarProbe = newClass(verdict{kind: Read, flags: NoTable}, 1, "select $$")

func isDollarProbe(sql []byte) bool {
	return len(sql) == len("select $$") && bytes.EqualFold(sql, []byte("select $$"))
}

// Learn makes every later text of the class's digest and mode a statement of
// kind k that may commit, and returns what the class is then. It is for a read that
// turned out to write.
func (c *Classifier) Learn(class *Class, k Kind) *Class {
	learned := class.learned(k)
	if class.key != "" {
		c.cache.learn(class.key, k)
		c.cache.put(class.key, learned)
	}
	return learned
}
