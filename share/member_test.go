package share

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"causeway/gtid"
)

// bench is one server of the store, with members that a test starts.
type bench struct {
	t      *testing.T
	server *fakeServer
	ctx    context.Context
	all    sync.WaitGroup

	committed atomic.Int64 // 0: what the source has from its beginning
}

// onBench runs a test in virtual time.
func onBench(t *testing.T, test func(b *bench)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(context.Background())
		b := &bench{t: t, server: newFakeServer(0), ctx: ctx}
		test(b)
		stop()
		b.all.Wait()
		time.Sleep(time.Second)
	})
}

func (b *bench) start(name string) (*Member, *link) {
	return b.startOver(name, func(l *link) Store { return l })
}

// startOver has the member ask what is laid over its way to the store.
func (b *bench) startOver(name string, over func(*link) Store) (*Member, *link) {
	l := &link{to: b.server, random: rand.New(rand.NewPCG(1, 2))}
	m := New(Options{Store: over(l), Name: name, Members: []string{"a", "b"}, Lease: 300 * time.Millisecond, TTL: time.Minute, Timeout: 100 * time.Millisecond,
		Source: func(context.Context) (gtid.Set, error) { return upTo(max(b.committed.Load(), 1)), nil }})
	b.all.Go(func() { m.Run(b.ctx) })
	return m, l
}

func (b *bench) publish(m *Member) Outcome {
	ctx, cancel := context.WithTimeout(b.ctx, simWait)
	defer cancel()
	outcome, err := m.Publish(ctx, []Item{{"k", func() gtid.Set { return only(7) }}})
	if (outcome == Neither) != (err != nil) {
		b.t.Errorf("%s: %v", outcome, err)
	}
	return outcome
}

// TestTwoOfOneName: nobody misses the lease of the second, so it acknowledges nothing.
func TestTwoOfOneName(t *testing.T) {
	onBench(t, func(b *bench) {
		first, cable := b.start("a")
		time.Sleep(time.Second)
		second, _ := b.start("a")
		time.Sleep(time.Second)
		if one, two := b.publish(first), b.publish(second); one != InStore || two != Neither {
			t.Errorf("the first: %s, the second: %s", one, two)
		}
		cable.mu.Lock()
		cable.cut = true
		cable.mu.Unlock()
		time.Sleep(2 * time.Second)
		if got := b.publish(second); got != InStore {
			t.Errorf("the second, when the first has gone: %s", got)
		}
	})
}

// TestNewProcessWaits: a process of that name may have ended a moment ago.
func TestNewProcessWaits(t *testing.T) {
	onBench(t, func(b *bench) {
		m, cable := b.start("a")
		cable.mu.Lock()
		cable.cut = true
		cable.mu.Unlock()
		began := time.Now()
		if got := b.publish(m); got != Without || time.Since(began) < 300*time.Millisecond {
			t.Errorf("%s after %v", got, time.Since(began))
		}
	})
}

// TestBothAreThere: what one published, the other reads, and a third name needs the floor.
func TestBothAreThere(t *testing.T) {
	onBench(t, func(b *bench) {
		m, _ := b.start("a")
		if _, why := m.Read(b.ctx, []string{"k"}); why != NotJoined {
			t.Errorf("before it joins: %q", why)
		}
		time.Sleep(time.Second)
		if _, why := m.Read(b.ctx, []string{"k"}); why != Leaseless {
			t.Errorf("alone: %q", why)
		}
		other, _ := b.start("b")
		time.Sleep(time.Second)
		if got := b.publish(m); got != InStore {
			t.Errorf("published: %s", got)
		}
		need, why := other.Read(b.ctx, []string{"k"})
		if why != Trusted || !need.Written || !need.Set.Contains(only(7)) {
			t.Errorf("the other needs %s (%q)", need.Set.Line(), why)
		}
		if need, why = other.Read(b.ctx, []string{"x"}); why != Trusted || need.Written || !need.Set.Equal(upTo(1)) {
			t.Errorf("another name needs %s (%q)", need.Set.Line(), why)
		}
		if st := m.State(); st.Phase != Joined || !st.Leases["a"] || !st.Leases["b"] {
			t.Errorf("%+v", st)
		}
	})
}

// late is a store before which something happens when an order with a floor arrives, once.
type late struct {
	Store
	first atomic.Pointer[func()]
}

func (l *late) Lease(ctx context.Context, o LeaseOrder) (Sight, Verdict, error) {
	if o.Floor.Set != "" {
		if first := l.first.Swap(nil); first != nil {
			(*first)()
		}
	}
	return l.Store.Lease(ctx, o)
}

// TestEmptied: the store is emptied when a new floor is under way to it. What was
// published after the source was asked for that is in neither, so it counts for nothing.
func TestEmptied(t *testing.T) {
	onBench(t, func(b *bench) {
		other, _ := b.start("a")
		time.Sleep(5 * time.Second) // it renews its own floor at another time
		store := &late{}
		m, _ := b.startOver("b", func(l *link) Store { store.Store = l; return store })
		time.Sleep(time.Second)
		done := false
		empty := func() {
			b.committed.Store(7)
			if got := b.publish(other); got != InStore {
				t.Errorf("published: %s", got)
			}
			b.server.mu.Lock()
			b.server.data, done = newData(), true
			b.server.mu.Unlock()
		}
		store.first.Store(&empty)
		trusted := 0
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			b.server.mu.Lock()
			after := done
			b.server.mu.Unlock()
			need, why := m.Read(b.ctx, []string{"k"})
			if !after || why != Trusted {
				continue
			}
			if trusted++; !need.Set.Contains(only(7)) {
				t.Errorf("a read needs %s, and 7 was acknowledged", need.Set.Line())
				break
			}
		}
		if trusted == 0 {
			t.Error("the store was of no use afterwards")
		}
	})
}
