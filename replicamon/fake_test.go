package replicamon

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"causeway/backend"
	"causeway/gtid"
)

// fakeServer is a server of the tests: a scripted node behind the session
// interface. Its executed set is changed with apply, which wakes the waits.
type fakeServer struct {
	mu       sync.Mutex
	uuid     string
	version  string
	born     time.Time
	conns    uint32
	executed gtid.Set
	st       status
	vars     map[string]string
	dead     bool          // refuses connections, breaks the old ones
	hung     bool          // takes connections and questions, answers nothing
	changed  chan struct{} // closed at each change
	asked    map[string]int
	clockOff time.Duration // of its clock
	needs    []string      // of each await
	hints    []hint        // its replicas, as it tells
}

func newFake(uuid int, set string, change func(*status)) *fakeServer {
	f := &fakeServer{uuid: u(uuid), version: "8.0.36", born: time.Now().Add(-time.Hour), executed: gs(set),
		changed: make(chan struct{}), asked: map[string]int{}}
	f.st = status{uuid: f.uuid, version: f.version, gtidMode: "ON", enforceGTID: "ON"}
	change(&f.st)
	return f
}

// set changes the server under its lock and wakes all who wait on it.
func (f *fakeServer) set(change func(*fakeServer)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *fakeServer) apply(set string) {
	f.set(func(f *fakeServer) { f.executed = f.executed.Union(gs(set)) })
}

func (f *fakeServer) count(what string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[what]
}

// answer waits until the server would answer a question of that name.
func (f *fakeServer) answer(ctx context.Context, born time.Time, what string) error {
	f.mu.Lock()
	f.asked[what]++
	for {
		dead, hung, changed := f.dead || f.born != born, f.hung, f.changed
		if dead {
			f.mu.Unlock()
			return &probeError{kind: errGone, text: "connection broken", err: io.EOF}
		}
		if !hung {
			f.mu.Unlock()
			return nil
		}
		f.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return &probeError{kind: errSilent, text: "no answer in time", err: ctx.Err()}
		}
		f.mu.Lock()
	}
}

func (f *fakeServer) dial(ctx context.Context) (session, error) {
	f.mu.Lock()
	born, dead := f.born, f.dead
	f.conns++
	id := f.conns
	f.mu.Unlock()
	if dead {
		return nil, &probeError{kind: errGone, text: "connection refused", err: errors.New("refused")}
	}
	if err := f.answer(ctx, born, "dial"); err != nil {
		return nil, err
	}
	return &fakeSession{f: f, born: born, id: id}, nil
}

type fakeSession struct {
	f    *fakeServer
	born time.Time
	id   uint32
}

func (s *fakeSession) life(ctx context.Context) (life, error) {
	err := s.f.answer(ctx, s.born, "life")
	return life{version: s.f.version, connID: s.id, uptime: time.Since(s.born).Truncate(time.Second)}, err
}

func (s *fakeSession) position(ctx context.Context) (position, error) {
	asked := time.Now()
	if err := s.f.answer(ctx, s.born, "position"); err != nil {
		return position{}, err
	}
	return s.f.snapshot(asked), nil
}

func (f *fakeServer) snapshot(asked time.Time) position {
	f.mu.Lock()
	defer f.mu.Unlock()
	return position{asked: asked, answered: time.Now(), uuid: f.uuid, executed: f.executed, readOnly: f.st.readOnly, clock: time.Now().Add(f.clockOff)}
}

func (s *fakeSession) await(ctx context.Context, need gtid.Set, limit time.Duration) (position, error) {
	asked := time.Now()
	s.f.mu.Lock()
	s.f.needs = append(s.f.needs, need.Line())
	s.f.mu.Unlock()
	if err := s.f.answer(ctx, s.born, "await"); err != nil {
		return position{}, err
	}
	t := time.NewTimer(limit)
	defer t.Stop()
	for {
		s.f.mu.Lock()
		met, changed := s.f.executed.Contains(need), s.f.changed
		dead := s.f.dead || s.f.born != s.born
		s.f.mu.Unlock()
		if dead {
			return position{}, &probeError{kind: errGone, text: "connection broken", err: io.EOF}
		}
		if met {
			return s.f.snapshot(asked), nil
		}
		select {
		case <-changed:
		case <-t.C:
			return s.f.snapshot(asked), nil
		case <-ctx.Done():
			return position{}, &probeError{kind: errSilent, text: "no answer in time", err: ctx.Err()}
		}
	}
}

func (s *fakeSession) status(ctx context.Context) (status, error) {
	asked := time.Now()
	err := s.f.answer(ctx, s.born, "status")
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	st := s.f.st
	st.asked, st.answered = asked, time.Now()
	return st, err
}

func (s *fakeSession) defaults(ctx context.Context, _ []string) (map[string]string, error) {
	err := s.f.answer(ctx, s.born, "defaults")
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	return s.f.vars, err
}

func (s *fakeSession) held(ctx context.Context, connID uint32) (backend.Held, error) {
	return backend.Held{UserLocks: connID == 7}, s.f.answer(ctx, s.born, "held")
}

func (s *fakeSession) replicas(ctx context.Context) ([]hint, error) {
	err := s.f.answer(ctx, s.born, "replicas")
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	return s.f.hints, err
}

func (s *fakeSession) close() {}

// fakeCluster runs a monitor over fake servers inside a synctest bubble.
type fakeCluster struct {
	*Monitor
	servers map[string]*fakeServer
	mu      sync.Mutex
}

// bubble runs test with a monitor over a source a and replicas b and c, all
// joined, in a bubble of its own where time is not real.
func bubble(t *testing.T, o Options, test func(t *testing.T, c *fakeCluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &fakeCluster{servers: map[string]*fakeServer{
			"a": newFake(1, "1:1-10", writable),
			"b": newFake(2, "1:1-10", replicaOf(1)),
			"c": newFake(3, "1:1-10", replicaOf(1)),
		}}
		o.Servers = []string{"a", "b", "c"}
		c.Monitor = newMonitor(o.withDefaults(), zerolog.Nop(), func(ctx context.Context, addr string) (session, error) {
			return c.server(addr).dial(ctx)
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- c.Run(ctx) }()
		c.until(t, func(v *backend.View) bool {
			return v.Source.Usable() && len(v.Replicas) == 2 && v.Replicas[0].Usable() && v.Replicas[1].Usable()
		})
		test(t, c)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v", err)
		}
	})
}

func (c *fakeCluster) server(addr string) *fakeServer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.servers[addr]
}

// replace puts another server behind an address; the old connections break.
func (c *fakeCluster) replace(addr string, f *fakeServer) {
	c.reroute(addr, f).set(func(f *fakeServer) { f.dead = true })
}

// reroute sends new connections elsewhere; the old ones go on as they are.
func (c *fakeCluster) reroute(addr string, f *fakeServer) (old *fakeServer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old = c.servers[addr]
	c.servers[addr] = f
	return old
}

// until waits, in the bubble's time, for a view that fits.
func (c *fakeCluster) until(t *testing.T, fits func(*backend.View) bool) *backend.View {
	t.Helper()
	for range 3000 {
		if v := c.View(); fits(v) {
			return v
		}
		time.Sleep(10 * time.Millisecond)
	}
	for _, n := range c.View().Nodes {
		t.Logf("%s %v up=%v exclude=%q %v", n.Addr, n.Role, n.Up, n.Exclude, n.Position)
	}
	t.Fatal("no such view within 30 s")
	return nil
}
