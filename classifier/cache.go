package classifier

import (
	"hash/maphash"
	"sync"
)

// The bounds of the cache. An application has hundreds of digests, seldom
// thousands; a hostile one has as many as it likes.
const (
	shards       = 16
	maxKey       = 16 << 10 // longer digests are not cached
	bytesAnEntry = 1 << 10  // the cache's memory is bounded by entries x this
	minBytes     = 1 << 20
	maxLearned   = 1024
)

// cache holds classes by key (mode byte and digest). Each shard has two
// generations: when the young one is full it becomes the old one, and what is
// not asked for again until the next change is forgotten. So a flood of texts
// seen once cannot push out what is in use.
type cache struct {
	seed    maphash.Seed
	entries int // a shard's generation may have
	bytes   int
	shard   [shards]shard

	mu      sync.Mutex
	learned map[string]Kind // digests found to write, by key
}

type shard struct {
	mu    sync.RWMutex
	young map[string]*Class
	old   map[string]*Class
	bytes int      // keys of the young generation
	_     [64]byte // keeps neighbours off this cache line
}

func newCache(entries int) *cache {
	c := &cache{
		seed:    maphash.MakeSeed(),
		entries: max(1, entries/shards/2),
		bytes:   max(minBytes, entries*bytesAnEntry) / shards / 2,
		learned: map[string]Kind{},
	}
	for i := range c.shard {
		c.shard[i].young = map[string]*Class{}
	}
	return c
}

func (c *cache) shardOf(key []byte) *shard {
	return &c.shard[maphash.Bytes(c.seed, key)%shards]
}

// get finds a class without allocating.
func (c *cache) get(key []byte) *Class {
	s := c.shardOf(key)
	s.mu.RLock()
	class, ok := s.young[string(key)]
	if !ok {
		class = s.old[string(key)]
	}
	s.mu.RUnlock()
	if class != nil && !ok {
		c.put(class.key, class)
	}
	return class
}

// put stores a class.
func (c *cache) put(key string, class *Class) {
	s := c.shardOf([]byte(key))
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.young[key]; !ok {
		if len(s.young) >= c.entries || s.bytes+len(key) > c.bytes {
			s.old, s.young, s.bytes = s.young, map[string]*Class{}, 0
		}
		s.bytes += len(key)
	}
	s.young[key] = class
}

// learn remembers that a digest writes. Memory is bounded: with very many
// learned digests an arbitrary one is forgotten, to be learned again.
func (c *cache) learn(key string, k Kind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.learned) >= maxLearned {
		for old := range c.learned {
			delete(c.learned, old)
			break
		}
	}
	c.learned[key] = k
}

func (c *cache) learnedKind(key string) (Kind, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.learned[key]
	return k, ok
}
