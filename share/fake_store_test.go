package share

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"time"
)

// field is what one process published under a name.
type field struct {
	seq uint64
	set string
}

// data is what a server of the store holds.
type data struct {
	born   string // "" until somebody looks: it was emptied
	leases map[string]Lease
	floor  Floor
	names  map[string]map[string]field
	until  map[string]Millis // when names expire
}

func newData() data {
	return data{leases: map[string]Lease{}, names: map[string]map[string]field{}, until: map[string]Millis{}}
}

func (d data) clone() data {
	c := newData()
	maps.Copy(c.leases, d.leases)
	maps.Copy(c.until, d.until)
	c.born, c.floor = d.born, d.floor
	for name, fields := range d.names {
		c.names[name] = maps.Clone(fields)
	}
	return c
}

// fakeServer is one server of the store, with a clock of its own.
type fakeServer struct {
	mu     sync.Mutex
	data   data
	copied data // what its replica has of it
	life   string
	began  time.Time
	ahead  Millis
	frozen chan struct{} // closed when it goes on; nil: it runs
}

var lives = struct {
	sync.Mutex
	n int
}{}

func newLife() string {
	lives.Lock()
	defer lives.Unlock()
	lives.n++
	return fmt.Sprint("life", lives.n)
}

func newFakeServer(ahead Millis) *fakeServer {
	return &fakeServer{data: newData(), copied: newData(), life: newLife(), began: time.Now(), ahead: ahead}
}

// sight is called with mu held.
func (f *fakeServer) sight(names []string) Sight {
	if f.data.born == "" {
		f.data.born = newLife()
	}
	s := Sight{Life: f.life + "." + f.data.born, Now: f.ahead + Millis(time.Since(f.began).Milliseconds()), Leases: maps.Clone(f.data.leases), Floor: f.data.floor, Entries: map[string][]string{}}
	for name, until := range f.data.until {
		if until <= s.Now {
			delete(f.data.names, name)
			delete(f.data.until, name)
		}
	}
	for _, name := range names {
		for _, e := range f.data.names[name] {
			s.Entries[name] = append(s.Entries[name], e.set)
		}
	}
	return s
}

func (f *fakeServer) lease(o LeaseOrder) (Sight, Verdict) {
	s := f.sight(nil)
	verdict := AllowLease(&s, &o)
	if verdict == Done {
		f.data.leases[o.Name] = o.Lease
		if o.Floor.Set != "" && (f.data.floor.Life != s.Life || f.data.floor.Begun < o.Floor.Begun) {
			f.data.floor = o.Floor
		}
	}
	return f.sight(nil), verdict
}

func (f *fakeServer) publish(o PublishOrder) Verdict {
	s := f.sight(nil)
	verdict := AllowPublish(&s, &o)
	for _, p := range o.Items {
		if verdict != Done {
			break
		}
		if f.data.names[p.Name] == nil {
			f.data.names[p.Name] = map[string]field{}
		}
		if f.data.names[p.Name][o.Proc].seq < o.Seq {
			f.data.names[p.Name][o.Proc] = field{o.Seq, p.Set}
		}
		f.data.until[p.Name] = s.Now + Millis(o.TTL.Milliseconds())
	}
	return verdict
}

// link is one member's way to the store. What is under way arrives whatever becomes
// of the caller, and perhaps late.
type link struct {
	mu     sync.Mutex
	to     *fakeServer
	cut    bool
	slow   time.Duration
	random *rand.Rand
}

func (l *link) ask(ctx context.Context, do func(*fakeServer)) error {
	l.mu.Lock()
	to, cut := l.to, l.cut
	there := time.Duration(l.random.Int64N(int64(2*time.Millisecond) + int64(l.slow)))
	back := time.Duration(l.random.Int64N(int64(2 * time.Millisecond)))
	l.mu.Unlock()
	if cut {
		<-ctx.Done()
		return ctx.Err()
	}
	done := make(chan struct{})
	go func() {
		time.Sleep(there)
		for {
			to.mu.Lock()
			frozen := to.frozen
			if frozen == nil {
				break
			}
			to.mu.Unlock()
			<-frozen
		}
		do(to)
		to.mu.Unlock()
		time.Sleep(back)
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		return ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		return errors.New("the answer was lost")
	}
	return nil
}

func (l *link) Look(ctx context.Context, names []string) (Sight, error) {
	var s Sight
	var mu sync.Mutex // a late answer is nobody's
	err := l.ask(ctx, func(f *fakeServer) { mu.Lock(); defer mu.Unlock(); s = f.sight(names) })
	mu.Lock()
	defer mu.Unlock()
	return s, err
}

func (l *link) Lease(ctx context.Context, o LeaseOrder) (Sight, Verdict, error) {
	var s Sight
	var v Verdict
	var mu sync.Mutex
	err := l.ask(ctx, func(f *fakeServer) { mu.Lock(); defer mu.Unlock(); s, v = f.lease(o) })
	mu.Lock()
	defer mu.Unlock()
	return s, v, err
}

func (l *link) Publish(ctx context.Context, o PublishOrder) (Verdict, error) {
	var v Verdict
	var mu sync.Mutex
	err := l.ask(ctx, func(f *fakeServer) { mu.Lock(); defer mu.Unlock(); v = f.publish(o) })
	mu.Lock()
	defer mu.Unlock()
	return v, err
}
