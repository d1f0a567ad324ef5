package replicamon

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"causeway/backend"
)

// Monitor watches the nodes of one cluster.
type Monitor struct {
	opts   Options
	log    zerolog.Logger
	dial   dialer
	view   atomic.Pointer[backend.View]
	probes []*probes
	queue  waitQueue
	fresh  freshCalls
	locks  lockProbe
	count  counters

	mu    sync.Mutex // guards state and the order of publications
	state state
	live  []*backend.Live
	news  news
}

// probes are the handles of one node's goroutines.
type probes struct {
	i        int
	addr     string
	position chan struct{} // asks for a position probe now
	status   chan struct{} // asks for a status probe now
	watch    chan struct{} // somebody waits, or may be watched for again
	redial   atomic.Bool   // the next position probe uses a new connection
}

// New makes a monitor of o.Servers. Nothing is asked before Run.
func New(o Options, log zerolog.Logger, reg prometheus.Registerer) (*Monitor, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	m := newMonitor(o, log, dialMySQL(o))
	if reg != nil {
		if err := reg.Register(collector{m}); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func newMonitor(o Options, log zerolog.Logger, dial dialer) *Monitor {
	m := &Monitor{opts: o, log: log, dial: dial, state: newState(o)}
	for i, addr := range o.Servers {
		m.live = append(m.live, &backend.Live{})
		m.probes = append(m.probes, &probes{i: i, addr: addr,
			position: make(chan struct{}, 1), status: make(chan struct{}, 1), watch: make(chan struct{}, 1)})
	}
	m.queue.limit = o.MaxWaiters
	m.fresh.init()
	m.view.Store(buildView(&m.state, &m.state, nil, m.live))
	return m
}

// View returns the current picture; never nil.
func (m *Monitor) View() *backend.View { return m.view.Load() }

// Run probes until ctx is done and returns when every goroutine it started has
// ended. Those who wait then are let go, not covered. Call it once.
func (m *Monitor) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	for _, p := range m.probes {
		wg.Go(func() { m.runPosition(ctx, p) })
		wg.Go(func() { m.runStatus(ctx, p) })
		wg.Go(func() { m.runWatch(ctx, p) })
	}
	wg.Go(func() { m.runFresh(ctx) })
	wg.Wait()
	m.queue.close()
	m.locks.close()
	return context.Cause(ctx)
}

// Report says that a session saw something at addr that does not fit what the
// monitor publishes: a dead connection, another server_uuid, a position that
// is missing. The node is probed at once over a new connection; reports about
// an earlier generation are old news.
func (m *Monitor) Report(addr string, generation uint64, why string) {
	n := m.View().Node(addr)
	if n == nil || n.Incarnation.Generation != generation {
		return
	}
	for _, p := range m.probes {
		if p.addr == addr {
			m.count.reports.Add(1)
			p.redial.Store(true)
			kick(p.position)
		}
	}
	m.log.Debug().Str("node", addr).Str("why", why).Msg("a session reports a node; probing it")
}

// apply takes an event in and publishes what follows from it. It is short: the
// watch calls it up to a thousand times a second.
func (m *Monitor) apply(e event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.state
	m.state = old.next(e)
	v := buildView(&m.state, &old, m.view.Load(), m.live)
	m.view.Store(v)
	m.news.tell(m.log, &m.state, &old)
	m.react(&old)
	if m.state.epoch != old.epoch {
		// What they wait for may soon name other transactions.
		m.queue.letGo()
	}
	m.queue.wake(v, m.movedNodes(&old, v))
}

// react asks for the probes that a change calls for.
func (m *Monitor) react(old *state) {
	for i, n := range m.state.nodes {
		was := old.nodes[i]
		if n == was {
			continue
		}
		if n.gen != was.gen || n.readOnly != was.readOnly || n.up && !was.up {
			kick(m.probes[i].status)
		}
		if n.exclude != was.exclude && n.exclude == "" {
			kick(m.probes[i].watch)
		}
	}
}

// movedNodes lists the usable nodes that may cover more than before.
func (m *Monitor) movedNodes(old *state, v *backend.View) []*backend.Node {
	var moved []*backend.Node
	for i, n := range m.state.nodes {
		was := old.nodes[i]
		if n == was || n.role != backend.RoleReplica || !v.Nodes[i].Usable() {
			continue
		}
		if was.exclude != "" || was.role != n.role || n.pos != was.pos {
			moved = append(moved, v.Nodes[i])
		}
	}
	return moved
}

func (m *Monitor) generation(i int) uint64 {
	return m.View().Nodes[i].Incarnation.Generation
}

// kick asks the reader of ch to act now; asking twice is asking once.
func kick(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// pause waits until d has passed, ch is kicked, or ctx is done.
func pause(ctx context.Context, d time.Duration, ch <-chan struct{}) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	case <-ch:
	}
}

func (m *Monitor) index(addr string) int {
	for _, p := range m.probes {
		if p.addr == addr {
			return p.i
		}
	}
	panic("BUG: a node of the view is not among the servers: " + addr)
}
