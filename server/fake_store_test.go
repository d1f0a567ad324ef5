package server

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"causeway/share"
)

// fakeStore is a share.Store in memory that tests break.
type fakeStore struct {
	mu      sync.Mutex
	began   time.Time
	leases  map[string]share.Lease
	floor   share.Floor
	names   map[string]map[string]string // sets, by name and process
	away    bool                         // nothing is answered
	deaf    bool                         // nothing can be published
	looked  int                          // calls for names
	alone   bool                         // b has no lease
	usurped bool                         // another process holds the lease of a
	leftOut bool                         // b goes by another list
}

func newFakeStore() *fakeStore {
	return &fakeStore{began: time.Now(), leases: map[string]share.Lease{}, names: map[string]map[string]string{}}
}

var errAway = errors.New("away")

const fakeLife = "life"

// sight is called with mu held. Member b is there whenever a is, with the same list.
func (f *fakeStore) sight(names []string) share.Sight {
	s := share.Sight{Life: fakeLife, Now: share.Millis(1 + time.Since(f.began).Milliseconds()), Leases: maps.Clone(f.leases), Floor: f.floor, Entries: map[string][]string{}}
	if a, ok := s.Leases["a"]; ok && !f.alone {
		b := share.Lease{Life: a.Life, Proc: "b", List: a.List, End: a.End}
		if f.leftOut {
			b.List = "other"
		}
		s.Leases["b"] = b
	}
	if f.usurped {
		s.Leases["a"] = share.Lease{Life: fakeLife, Proc: "usurper", List: "other", End: s.Now + 1000}
	}
	for _, name := range names {
		for _, set := range f.names[name] {
			s.Entries[name] = append(s.Entries[name], set)
		}
	}
	return s
}

func (f *fakeStore) Look(_ context.Context, names []string) (share.Sight, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away {
		return share.Sight{}, errAway
	}
	if len(names) > 0 {
		f.looked++
	}
	return f.sight(names), nil
}

func (f *fakeStore) Lease(_ context.Context, o share.LeaseOrder) (share.Sight, share.Verdict, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away {
		return share.Sight{}, "", errAway
	}
	s := f.sight(nil)
	verdict := share.AllowLease(&s, &o)
	if verdict == share.Done {
		f.leases[o.Name] = o.Lease
		if o.Floor.Set != "" {
			f.floor = o.Floor
		}
	}
	return f.sight(nil), verdict, nil
}

func (f *fakeStore) Publish(_ context.Context, o share.PublishOrder) (share.Verdict, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away || f.deaf {
		return "", errAway
	}
	s := f.sight(nil)
	verdict := share.AllowPublish(&s, &o)
	for _, item := range o.Items {
		f.put(item.Name, o.Proc, item.Set)
	}
	return verdict, nil
}

// put is called with mu held.
func (f *fakeStore) put(name, proc, set string) {
	if f.names[name] == nil {
		f.names[name] = map[string]string{}
	}
	f.names[name][proc] = set
}

// byB is what member b publishes.
func (f *fakeStore) byB(name, set string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.put(name, "b", set)
}

func (f *fakeStore) has(name string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sight([]string{name}).Entries[name]
}

// set changes how the store behaves.
func (f *fakeStore) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *fakeStore) asked() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.looked
}
