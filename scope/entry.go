package scope

import (
	"sync"
	"sync/atomic"

	"causeway/gtid"
)

// Entry is a token that several sessions share. Its methods are safe for
// concurrent use; a nil Entry holds nothing and takes nothing.
type Entry struct {
	mu    sync.Mutex // of those who change token or gone
	token atomic.Pointer[gtid.Token]
	gone  *Book // which has forgotten it: its floor holds what this entry held
	name  string

	// doubts counts the statements of which nobody knows yet whether they have
	// committed: until then only the source has what a reader must see.
	doubts atomic.Int32
	// lostSeen is the version of the lost writes that the token was compared with.
	lostSeen atomic.Uint64

	// stuck is the end of the window after the last commit, see Stick.
	stuck atomic.Int64

	// Seen is how far its readers have seen; use Saw to add to it.
	Seen Seen
}

// NewEntry makes an entry that is in no book.
func NewEntry(name string) *Entry { return &Entry{name: name} }

// Name is by which the entry is known.
func (e *Entry) Name() string { return e.name }

// Token returns what readers need now.
func (e *Entry) Token() gtid.Token {
	if e == nil {
		return gtid.Token{}
	}
	if t := e.token.Load(); t != nil {
		return *t
	}
	return gtid.Token{}
}

// Raise adds GTIDs that were learned in an epoch. narrow bounds the size of the
// result by making it need more, never less; nil: it is not bounded. An entry
// that was forgotten meanwhile raises the floor in its place, and the entry that
// its name may have had since.
func (e *Entry) Raise(set gtid.Set, epoch uint64, narrow func(gtid.Set) gtid.Set) {
	if e == nil || set.IsEmpty() {
		return
	}
	e.mu.Lock()
	forgotBy := e.gone
	e.raise(set, epoch, narrow)
	e.mu.Unlock()
	if forgotBy != nil { // the floor first: whoever opens the name after that begins with it
		forgotBy.floor.Raise(set, epoch, narrow)
		forgotBy.Find(e.name).Raise(set, epoch, narrow)
	}
}

func (e *Entry) raise(set gtid.Set, epoch uint64, narrow func(gtid.Set) gtid.Set) {
	had := e.Token()
	token, _ := had.Add(set, epoch)
	if token == had {
		return
	}
	if narrow != nil {
		token.Set = narrow(token.Set)
	}
	e.token.Store(&token)
}

// Forget takes lost writes out of the token, and all of it if it is of another
// epoch. It tells what was taken out, once for each version of what was lost.
func (e *Entry) Forget(lost gtid.Set, epoch, version uint64) (gtid.Set, bool) {
	if e == nil || e.lostSeen.Load() == version && !e.Token().Void(epoch) {
		return gtid.Set{}, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lostSeen.Store(version)
	had := e.Token()
	if had.Void(epoch) {
		e.token.Store(&gtid.Token{Epoch: epoch})
		return had.Set, true
	}
	out := had.Set.Intersect(lost)
	if out.IsEmpty() {
		return out, false
	}
	e.token.Store(&gtid.Token{Set: had.Set.Subtract(out), Epoch: epoch})
	return out, true
}

// Saw notes a read of the scope. An entry that was forgotten meanwhile gives it to
// the floor.
func (e *Entry) Saw(r Read) {
	if e == nil {
		return
	}
	e.mu.Lock()
	forgotBy := e.gone
	e.Seen.Note(r)
	e.mu.Unlock()
	if forgotBy != nil {
		forgotBy.floor.Seen.Note(r)
		if again := forgotBy.Find(e.name); again != nil {
			again.Saw(r)
		}
	}
}

// Doubt notes a statement whose outcome is not known; the function ends that.
func (e *Entry) Doubt() (settled func()) {
	if e == nil {
		return func() {}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	onFloor := func() {}
	if e.gone != nil {
		onFloor = e.gone.floor.Doubt()
	}
	e.doubts.Add(1)
	return sync.OnceFunc(func() {
		e.doubts.Add(-1)
		onFloor()
	})
}

// InDoubt tells whether the outcome of a statement of the scope is not known.
func (e *Entry) InDoubt() bool { return e != nil && e.doubts.Load() > 0 }

// leave adds what the entry holds to the floor of the book that forgets it.
func (e *Entry) leave(b *Book) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t := e.Token()
	b.floor.Raise(t.Set, t.Epoch, nil)
	b.floor.Seen.merge(&e.Seen)
	b.floor.stick(e.Stuck())
	e.gone = b
}
