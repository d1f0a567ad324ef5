package share

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"causeway/gtid"
)

const (
	simMembers = 3
	simNames   = 3
	simWait    = 1200 * time.Millisecond // max_wait
	lookBack   = 40                      // so many of the last writes are looked for
	simTTL     = 3 * time.Second         // so short that names do expire
)

// simulation is some members before a store that fails in every way, and a source
// that never does.
type simulation struct {
	fault  fault
	random *rand.Rand
	nodes  [2]*fakeServer
	places [simMembers]*place

	mu        sync.Mutex
	committed int64
	acked     [simNames][]gtid.Set

	reads, trusted, writes, without, refused, stale, hung atomic.Int64
	first                                                 atomic.Pointer[string]
}

// place is where one member after the other runs.
type place struct {
	link *link

	mu     sync.Mutex
	member *Member
	book   map[string]gtid.Set
	stop   func()
}

const simUUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"

func upTo(n int64) gtid.Set { return gtid.MustParse(fmt.Sprintf("%s:1-%d", simUUID, n)) }
func only(n int64) gtid.Set { return gtid.MustParse(fmt.Sprintf("%s:%d", simUUID, n)) }

func (s *simulation) source(ctx context.Context) (gtid.Set, error) {
	time.Sleep(time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	return upTo(max(s.committed, 1)), ctx.Err()
}

// start begins a process at a place; it knows nothing of the one before.
func (s *simulation) start(ctx context.Context, i int, all *sync.WaitGroup) {
	p := s.places[i]
	names := []string{"a", "b", "c"}
	m := New(Options{Store: p.link, Name: names[i], Members: names, Lease: 300 * time.Millisecond, TTL: simTTL,
		Timeout: 100 * time.Millisecond, Source: s.source, fault: s.fault})
	ctx, stop := context.WithCancel(ctx)
	p.mu.Lock()
	p.member, p.book, p.stop = m, map[string]gtid.Set{}, stop
	p.mu.Unlock()
	all.Go(func() { m.Run(ctx) })
	for range 2 {
		all.Go(func() { s.write(ctx, p, m) })
		all.Go(func() { s.read(ctx, m) })
	}
}

func (s *simulation) write(ctx context.Context, p *place, m *Member) {
	for ctx.Err() == nil {
		time.Sleep(s.upTo(40 * time.Millisecond))
		n := int(s.upTo(simNames))
		name := fmt.Sprint("k", n)
		s.mu.Lock()
		s.committed++
		id := s.committed
		s.mu.Unlock()
		p.mu.Lock()
		if p.member == m {
			p.book[name] = p.book[name].Union(only(id))
			if p.book[name].Intervals() > 64 { // as the server bounds it
				p.book[name] = p.book[name].Widen(upTo(id), 64)
			}
		}
		book := p.book
		p.mu.Unlock()
		wait, cancel := context.WithTimeout(ctx, simWait)
		began := time.Now()
		outcome, _ := m.Publish(wait, []Item{{name, func() gtid.Set { p.mu.Lock(); defer p.mu.Unlock(); return book[name] }}})
		cancel()
		if time.Since(began) > simWait+200*time.Millisecond {
			s.hung.Add(1)
		}
		if ctx.Err() != nil {
			return // the process died with its answer
		}
		s.note(n, id, outcome)
	}
}

func (s *simulation) note(n int, id int64, outcome Outcome) {
	s.writes.Add(1)
	switch outcome {
	case Neither:
		s.refused.Add(1)
		return
	case Without:
		s.without.Add(1)
	}
	s.mu.Lock()
	s.acked[n] = append(s.acked[n], only(id))
	s.mu.Unlock()
}

func (s *simulation) read(ctx context.Context, m *Member) {
	for ctx.Err() == nil {
		time.Sleep(s.upTo(20 * time.Millisecond))
		n := int(s.upTo(simNames))
		s.mu.Lock()
		acked := s.acked[n]
		s.mu.Unlock()
		need, why := m.Read(ctx, []string{fmt.Sprint("k", n)})
		s.reads.Add(1)
		if why != Trusted {
			continue
		}
		s.trusted.Add(1)
		for _, one := range acked[max(0, len(acked)-lookBack):] {
			if !need.Set.Contains(one) {
				s.stale.Add(1)
				text := fmt.Sprintf("%s at %s: needs %s, which lacks the acknowledged %s", m.o.Name, time.Now().Format("05.000"), need.Set.Line(), one.Line())
				s.first.CompareAndSwap(nil, &text)
				return
			}
		}
	}
}

// upTo is a random duration below d.
func (s *simulation) upTo(d time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Duration(s.random.Int64N(int64(d)))
}

// trouble makes one thing happen.
func (s *simulation) trouble(ctx context.Context, all *sync.WaitGroup) {
	i, f := int(s.upTo(simMembers)), s.nodes[s.upTo(2)]
	l := s.places[i].link
	switch s.upTo(9) {
	case 0: // a member is cut off
		l.mu.Lock()
		l.cut = true
		l.mu.Unlock()
	case 1, 2: // all is well again
		for _, p := range s.places {
			p.link.mu.Lock()
			p.link.cut, p.link.slow = false, 0
			p.link.mu.Unlock()
		}
	case 3: // a way to the store takes long
		l.mu.Lock()
		l.slow = 700 * time.Millisecond
		l.mu.Unlock()
	case 4: // a server stands still
		f.mu.Lock()
		if f.frozen == nil {
			f.frozen = make(chan struct{})
			all.Go(func() { s.thaw(f) })
		}
		f.mu.Unlock()
	case 5: // a server is emptied, or restarted, empty or with what it had some time ago
		f.mu.Lock()
		f.data = newData()
		switch s.upTo(3) {
		case 0:
			f.data = f.copied.clone()
			fallthrough
		case 1:
			f.life = newLife()
		}
		f.mu.Unlock()
	case 6: // the other server takes over; not all hear of it at once
		s.failOver(i)
	case 7: // what the replica has is brought up to date
		for _, f := range s.nodes {
			f.mu.Lock()
			f.copied = f.data.clone()
			f.mu.Unlock()
		}
	case 8: // a process dies, and another takes its place
		s.places[i].stop()
		s.start(ctx, i, all)
	}
}

func (s *simulation) thaw(f *fakeServer) {
	time.Sleep(s.upTo(1500 * time.Millisecond))
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.frozen)
	f.frozen = nil
}

// failOver sends one member, or all, to the other server, which has what was copied
// to it some time ago. The old one goes on for those who stay.
func (s *simulation) failOver(i int) {
	from, to := s.nodes[0], s.nodes[1]
	if s.upTo(2) == 0 {
		from, to = to, from
	}
	from.mu.Lock()
	copied := from.copied.clone()
	from.mu.Unlock()
	to.mu.Lock()
	to.data, to.life = copied, newLife()
	to.mu.Unlock()
	everybody := s.upTo(3) > 0
	for k, p := range s.places {
		if k == i || everybody {
			p.link.mu.Lock()
			p.link.to = to
			p.link.mu.Unlock()
		}
	}
}

// together brings all members to one server again.
func (s *simulation) together() {
	for _, p := range s.places {
		p.link.mu.Lock()
		p.link.to = s.nodes[0]
		p.link.mu.Unlock()
	}
}

func simulate(t *testing.T, seed uint64, broken fault, length time.Duration) *simulation {
	s := &simulation{fault: broken, random: rand.New(rand.NewPCG(seed, 1))}
	synctest.Test(t, func(*testing.T) {
		s.nodes = [2]*fakeServer{newFakeServer(0), newFakeServer(86_400_000)}
		ctx, stop := context.WithCancel(context.Background())
		var all sync.WaitGroup
		for i := range s.places {
			s.places[i] = &place{link: &link{to: s.nodes[0], random: rand.New(rand.NewPCG(seed, uint64(i+2)))}}
			s.start(ctx, i, &all)
		}
		for end := time.Now().Add(length); time.Now().Before(end) && s.stale.Load() == 0; {
			time.Sleep(s.upTo(400 * time.Millisecond))
			s.trouble(ctx, &all)
			if s.upTo(12) == 0 { // quiet for a while
				s.together()
				time.Sleep(s.upTo(2 * time.Second))
			}
		}
		stop()
		all.Wait()
		time.Sleep(10 * time.Second) // what is still under way
	})
	return s
}

// TestNeverStale: whatever happens to the store, what a trusted answer asks for has all
// that was acknowledged before the read began, and no write waits beyond max_wait.
// CAUSEWAY_SHARE_SEEDS plays more of it.
func TestNeverStale(t *testing.T) {
	seeds := 3
	if n, err := strconv.Atoi(os.Getenv("CAUSEWAY_SHARE_SEEDS")); err == nil {
		seeds = n
	}
	for seed := range uint64(seeds) {
		s := simulate(t, seed, noFault, time.Minute)
		t.Logf("seed %d: %d reads, %d of them trusted; %d writes, %d acknowledged without the store, %d not at all",
			seed, s.reads.Load(), s.trusted.Load(), s.writes.Load(), s.without.Load(), s.refused.Load())
		if s.stale.Load() > 0 {
			t.Errorf("seed %d: %s", seed, *s.first.Load())
		}
		if s.hung.Load() > 0 {
			t.Errorf("seed %d: %d writes waited longer than max_wait", seed, s.hung.Load())
		}
		if s.trusted.Load()*20 < s.reads.Load() || s.without.Load() == 0 || s.refused.Load()*10 > s.writes.Load() {
			t.Errorf("seed %d: the store was of no use", seed)
		}
	}
}

// TestEachRuleIsNeeded: the simulation finds a stale read if any rule is broken.
func TestEachRuleIsNeeded(t *testing.T) {
	for _, broken := range []fault{ackAtOnce, joinNoFloor, trustLeaseless, moveAtOnce, longLease} {
		seed, found := uint64(0), ""
		for ; seed < 30 && found == ""; seed++ {
			if s := simulate(t, seed, broken, time.Minute); s.stale.Load() > 0 {
				found = *s.first.Load()
			}
		}
		t.Logf("fault %d, found by seed %d: %s", broken, seed-1, found)
		if found == "" {
			t.Errorf("fault %d: no stale read was found", broken)
		}
	}
}
