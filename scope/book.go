package scope

import (
	"container/list"
	"sync"
	"time"

	"causeway/gtid"
)

// Book holds the entries of a scope by name, at most a number of them, and each
// for as long as its last writer is not longer ago than the time to live.
type Book struct {
	max   int
	ttl   time.Duration
	floor Entry

	mu     sync.Mutex
	byName map[string]*list.Element
	recent list.List // of *page, the one written last in front
}

// page is a named entry and when it was last written under.
type page struct {
	name    string
	entry   *Entry
	written time.Time
}

// NewBook makes a book for at most max entries that live for ttl after their
// last write; ttl = 0: for ever.
func NewBook(max int, ttl time.Duration) *Book {
	return &Book{max: max, ttl: ttl, byName: map[string]*list.Element{}}
}

// Floor is what a name needs that is not in the book.
func (b *Book) Floor() *Entry { return &b.floor }

// InDoubt tells whether what a name needs is not known, of which Find said e.
func (b *Book) InDoubt(e *Entry) bool { return e.InDoubt() || b.floor.InDoubt() }

// Len is how many names are in the book.
func (b *Book) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.byName)
}

// Find returns the entry of a name for a reader; nil: the floor holds for it.
func (b *Book) Find(name string) *Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at := b.byName[name]; at != nil {
		return at.Value.(*page).entry
	}
	return nil
}

// Open returns the entry of a name for a writer. A new one begins with the floor
// and what start says: the name may have been forgotten before.
func (b *Book) Open(name string, start gtid.Token, now time.Time) *Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expire(now)
	if at := b.byName[name]; at != nil {
		p := at.Value.(*page)
		p.written = now
		b.recent.MoveToFront(at)
		return p.entry
	}
	if len(b.byName) >= b.max {
		b.forget(b.oldest())
	}
	p := &page{name: name, entry: &Entry{name: name}, written: now}
	p.entry.Raise(start.Set, start.Epoch, nil)
	floor := b.floor.Token()
	p.entry.Raise(floor.Set, floor.Epoch, nil)
	p.entry.Seen.merge(&b.floor.Seen)
	p.entry.stick(b.floor.Stuck())
	b.byName[name] = b.recent.PushFront(p)
	return p.entry
}

// Expire forgets what is past its time to live.
func (b *Book) Expire(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expire(now)
}

func (b *Book) expire(now time.Time) {
	for b.ttl > 0 {
		at := b.oldest()
		if at == nil || now.Sub(at.Value.(*page).written) < b.ttl {
			return
		}
		b.forget(at)
	}
}

// oldest is the entry that goes first. One in doubt stays in the book until it is
// known what it holds, whatever the limits say: a session ties each down.
func (b *Book) oldest() *list.Element {
	for at := b.recent.Back(); at != nil; at = at.Prev() {
		if !at.Value.(*page).entry.InDoubt() {
			return at
		}
	}
	return nil
}

// forget merges an entry into the floor first, so that no reader meets neither.
func (b *Book) forget(at *list.Element) {
	if at == nil {
		return
	}
	p := at.Value.(*page)
	p.entry.leave(b)
	delete(b.byName, p.name)
	b.recent.Remove(at)
}
