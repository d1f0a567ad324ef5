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
	probes atomic.Pointer[[]*probes] // of the nodes that there are, in no order
	queue  waitQueue
	locks  lockProbe
	count  counters

	mu    sync.Mutex // guards state and the order of publications
	state state
	live  []*backend.Live // in the order of the state's nodes
	news  news
	run   running
	// removed are the addresses that an operator took out, with the server_uuid:
	// discovery leaves them alone.
	removed   map[string]string
	discovery string // how it goes, in words; "": it is off
}

// probes are the handles of one node's goroutines. A node that was taken out and
// put back has new ones.
type probes struct {
	addr     string
	named    bool               // addr has a name, which is resolved for each new connection
	i        int                // its number in the state, -1: it was taken out; guarded by Monitor.mu
	stop     context.CancelFunc // guarded by Monitor.mu; nil before they run
	position chan struct{}      // asks for a position probe now
	status   chan struct{}      // asks for a status probe now
	watch    chan struct{}      // somebody waits, or may be watched for again
	fresh    *freshCalls        // positions that somebody asks for
	redial   atomic.Bool        // the next position probe uses a new connection
}

// New makes a monitor of o.Servers. Nothing is asked before Run.
func New(o Options, log zerolog.Logger, reg prometheus.Registerer) (*Monitor, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	m := newMonitor(o, log, dialMySQL(o))
	if err := m.openRecord(); err != nil {
		return nil, err
	}
	if reg != nil {
		if err := reg.Register(collector{m}); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func newMonitor(o Options, log zerolog.Logger, dial dialer) *Monitor {
	m := &Monitor{opts: o, log: log, dial: dial, state: newState(o), removed: map[string]string{}}
	list := make([]*probes, len(o.Servers))
	for i, addr := range o.Servers {
		m.live = append(m.live, &backend.Live{})
		list[i] = newProbes(i, addr)
	}
	m.probes.Store(&list)
	m.queue.limit = o.MaxWaiters
	m.view.Store(buildView(&m.state, &m.state, nil, m.live))
	return m
}

// View returns the current picture; never nil.
func (m *Monitor) View() *backend.View { return m.view.Load() }

// Run probes until ctx is done and returns when every goroutine it started has
// ended. Those who wait then are let go, not covered. Call it once.
func (m *Monitor) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	m.startProbes(ctx, &wg)
	if m.opts.Discover {
		wg.Go(func() { m.runDiscovery(ctx) })
	}
	<-ctx.Done()
	m.endProbes()
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
	if p := m.probesOf(addr); p != nil {
		m.count.reports.Add(1)
		p.redial.Store(true)
		kick(p.position)
	}
	m.log.Debug().Str("node", addr).Str("why", why).Msg("a session reports a node; probing it")
}

// apply takes an event in and publishes what follows from it. It is short: the
// watch calls it up to a thousand times a second.
// What a probe of a node says that was taken out meanwhile is no news.
func (m *Monitor) apply(p *probes, e event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.i >= 0 {
		m.publish(m.state, m.view.Load(), e.numbered(p.i))
	}
}

// publish makes old, of which prev is the picture, what it is after e. Both have
// the same nodes as m.live.
func (m *Monitor) publish(old state, prev *backend.View, e event) {
	m.state = old.next(e)
	if m.state.record != old.record {
		m.save()
	}
	v := buildView(&m.state, &old, prev, m.live)
	v.Discovery = m.discovery
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
	if old.sourceUp() && !m.state.sourceUp() {
		m.kickStatuses() // who takes its place is to be seen at once
	}
	for _, p := range *m.probes.Load() {
		n, was := m.state.nodes[p.i], old.nodes[p.i]
		if n == was {
			continue
		}
		if n.gen != was.gen || n.readOnly != was.readOnly || n.up && !was.up || was.joining && !n.joining {
			kick(p.status)
		}
		if n.viewID() != was.viewID() {
			m.kickStatuses() // what one member has noticed concerns all
		}
		if n.exclude != was.exclude && n.exclude == "" {
			kick(p.watch)
		}
	}
}

func (m *Monitor) kickStatuses() {
	for _, p := range *m.probes.Load() {
		kick(p.status)
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
