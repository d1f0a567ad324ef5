package classifier

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func TestHitDoesNotAllocate(t *testing.T) {
	c := New(Options{})
	for _, sql := range []string{
		"SELECT c FROM sbtest1 WHERE id=1234",
		"/* app */ SELECT a, b FROM t WHERE id IN (1,2,3,4,5) AND c = 'x'",
		"INSERT INTO t (a, b) VALUES (1, 'x'), (2, 'y')",
		"SET autocommit=0",
		"/*!40101 SET NAMES utf8mb4 */",
		"COMMIT",
		"",
	} {
		text := []byte(sql)
		c.Classify(text, Mode{})
		if n := testing.AllocsPerRun(100, func() { c.Classify(text, Mode{ANSIQuotes: true}) }); n != 0 {
			t.Errorf("%s: %v allocations on a hit", sql, n)
		}
	}
}

func TestHitIsShared(t *testing.T) {
	c := New(Options{})
	a := c.Classify([]byte("SELECT a FROM t WHERE id = 1"), Mode{})
	b := c.Classify([]byte("select A from T where ID=/* c */2;"), Mode{})
	if a != b {
		t.Errorf("%q and %q are two classes", a.Digest, b.Digest)
	}
	if a.DigestHash == 0 || a.DigestHash != b.DigestHash {
		t.Error("hash of the digest")
	}
}

// TestCacheIsBounded: neither many texts nor long ones fill the memory.
func TestCacheIsBounded(t *testing.T) {
	c := New(Options{CacheEntries: 320})
	for i := range 2000 {
		c.Classify(fmt.Appendf(nil, "SELECT c%d FROM t", i), Mode{})
	}
	entries, _ := c.cache.size()
	if entries > 320+2*shards {
		t.Errorf("%d entries for a bound of 320", entries)
	}
	pad := strings.Repeat("x", 12<<10)
	for i := range 200 {
		c.Classify(fmt.Appendf(nil, "SELECT %s%d FROM t", pad, i), Mode{})
	}
	if _, size := c.cache.size(); size > minBytes+2*shards*maxKey {
		t.Errorf("%d bytes of keys for a bound of %d", size, minBytes)
	}
}

// size counts what is held.
func (c *cache) size() (entries, bytes int) {
	for i := range c.shard {
		s := &c.shard[i]
		s.mu.Lock()
		for _, m := range []map[string]*Class{s.young, s.old} {
			for k := range m {
				entries++
				bytes += len(k)
			}
		}
		s.mu.Unlock()
	}
	return entries, bytes
}

// TestCacheKeepsWhatIsUsed: a flood of texts seen once does not push out a
// digest that is asked for all the time.
func TestCacheKeepsWhatIsUsed(t *testing.T) {
	c := New(Options{CacheEntries: 640})
	hot := []byte("SELECT hot FROM t WHERE id = 1")
	first := c.Classify(hot, Mode{})
	for i := range 3000 {
		c.Classify(fmt.Appendf(nil, "SELECT cold%d FROM t", i), Mode{})
		if got := c.Classify(hot, Mode{}); got != first {
			t.Fatalf("forgotten after %d others", i)
		}
	}
}

func TestNotCached(t *testing.T) {
	c := New(Options{})
	for _, sql := range []string{
		"SELECT 'unterminated", "KILL 5", "CAUSEWAY x", "SELECT /*!99999 1, */ 2",
		"SELECT '" + strings.Repeat("x", maxCached) + "'",
	} {
		c.Classify([]byte(sql), Mode{})
		if entries, _ := c.cache.size(); entries != 0 {
			t.Errorf("%.40s: cached", sql)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	c := New(Options{CacheEntries: 64})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 500 {
				class := c.Classify(fmt.Appendf(nil, "SELECT c%d FROM t WHERE id = %d", i%100, g), Mode{})
				if class.Kind != Read && class.Kind != Write {
					t.Errorf("%s", class.Kind)
				}
				if i%50 == 0 {
					c.Learn(class, Write)
				}
			}
		}()
	}
	wg.Wait()
}

// TestHostileTexts: what is large or deep is judged for the worst, in bounded
// memory, and crashes nothing.
func TestHostileTexts(t *testing.T) {
	c := New(Options{})
	deep := 100_000
	for name, tc := range map[string]struct {
		sql  string
		want Kind
	}{
		"parentheses":        {"SELECT " + strings.Repeat("(", deep) + "1" + strings.Repeat(")", deep), Unknown},
		"open parentheses":   {"SELECT " + strings.Repeat("(", deep), Unknown},
		"leading":            {strings.Repeat("(", deep) + "SELECT 1" + strings.Repeat(")", deep), Unknown},
		"deep, but not much": {"SELECT " + strings.Repeat("(", 100) + "1" + strings.Repeat(")", 100), Read},
		"functions":          {"SELECT " + strings.Repeat("abs(", deep) + "1" + strings.Repeat(")", deep), Unknown},
		"unknown functions":  {"SELECT " + strings.Repeat("f(", deep) + "1" + strings.Repeat(")", deep), Unknown},
		"flat functions":     {"SELECT " + strings.Repeat("f(1),", 20_000) + "1", Write},
		"programs":           {strings.Repeat("create procedure;", 30_000), Unknown},
		"dollars":            {"SELECT " + dollars(200_000), Unknown},
		"statements":         {strings.Repeat("SELECT a FROM t;", 20_000), Read},
		"aliases":            {"SELECT " + strings.Repeat("a(1) as (", 200) + strings.Repeat("a(1),", 20_000), Unknown},
		"not":                {"SELECT " + strings.Repeat("NOT ", 3000) + "1", Read},
		"minus":              {"SELECT " + strings.Repeat("- ", 7000) + "1", Read},
		"sum":                {"SELECT 1" + strings.Repeat("+1", 7000), Read},
		"comments":           {strings.Repeat("/**/", deep), Empty},
		"semicolons":         {strings.Repeat(";", deep) + "SELECT 1", Unknown},
		"cases":              {"SELECT " + strings.Repeat("CASE WHEN ", 1000) + "1", Read},
		"large insert":       {"INSERT INTO t VALUES ('" + strings.Repeat("x", 17<<20) + "')", Write},
		"large select":       {"SELECT '" + strings.Repeat("x", 17<<20) + "'", Unknown},
		"large enough":       {"SELECT '" + strings.Repeat("x", 2<<20) + "'", Read},
		"large lock":         {"SELECT a FROM t WHERE c IN (" + strings.Repeat("'x',", 1<<17) + "'y') FOR UPDATE", LockingRead},
		"long digest":        {"UPDATE t SET a = CASE " + strings.Repeat("WHEN id = 1 THEN 2 ", 1<<16) + "END", Write},
	} {
		class := c.Classify([]byte(tc.sql), Mode{})
		if class.Kind != tc.want {
			t.Errorf("%s: %s, want %s", name, class.Kind, tc.want)
		}
		if len(class.Digest) > maxKey {
			t.Errorf("%s: digest of %d bytes", name, len(class.Digest))
		}
		if class.Kind == Write && !class.Is(MayCommit) {
			t.Errorf("%s: %s", name, class.Flags)
		}
	}
}

// dollars is n words in dollars, all different and none closed.
func dollars(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "$%d$ ", i)
	}
	return b.String()
}

// TestScratchIsReturned: a large text does not leave its buffer in the pool.
func TestScratchIsReturned(t *testing.T) {
	c := New(Options{})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	text := []byte("SELECT a" + strings.Repeat(",abc", 1<<16))
	for range 10 {
		c.Classify(text, Mode{})
	}
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 1<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	runtime.KeepAlive(text)
}
