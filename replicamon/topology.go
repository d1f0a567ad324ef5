package replicamon

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"causeway/backend"
)

// running is what a node's goroutines need that comes while others run.
type running struct {
	ctx context.Context // nil: not running, or not any more
	wg  *sync.WaitGroup
}

func newProbes(i int, addr string) *probes {
	return &probes{i: i, addr: addr, named: hasName(addr), fresh: newFreshCalls(),
		position: make(chan struct{}, 1), status: make(chan struct{}, 1), watch: make(chan struct{}, 1)}
}

// probesOf returns those of a node, nil if there is no such node.
func (m *Monitor) probesOf(addr string) *probes {
	for _, p := range *m.probes.Load() {
		if p.addr == addr {
			return p
		}
	}
	return nil
}

func (m *Monitor) startProbes(ctx context.Context, wg *sync.WaitGroup) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.run = running{ctx, wg}
	for _, p := range *m.probes.Load() {
		m.probe(p)
	}
}

// endProbes lets no more of them start.
func (m *Monitor) endProbes() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.run = running{}
}

// probe starts the goroutines of a node, if the monitor runs. The caller holds m.mu.
func (m *Monitor) probe(p *probes) {
	if m.run.ctx == nil {
		return
	}
	ctx, stop := context.WithCancel(m.run.ctx)
	p.stop = stop
	m.run.wg.Go(func() { m.runPosition(ctx, p) })
	m.run.wg.Go(func() { m.runStatus(ctx, p) })
	m.run.wg.Go(func() { m.runWatch(ctx, p) })
	m.run.wg.Go(func() { m.runFresh(ctx, p) })
}

// AddServer makes the server at addr a node by an operator's word, of that weight
// and zone; weight below 0: as the options say, or 1. It serves as soon as it is
// known to be of this cluster and covers the source's position. One that was
// discovered is the operator's from now on.
func (m *Monitor) AddServer(addr string, weight int, zone string) error {
	if !isAddress(addr) {
		return fmt.Errorf("%q is no address; write 'host:port'", addr)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	i, at := m.state.byAddr(addr), m.opts.siteOf(addr)
	switch {
	case i >= 0 && m.state.nodes[i].origin != backend.FromDiscovery:
		return fmt.Errorf("%s is a server of this cluster already", m.state.nodes[i].addr)
	case i >= 0:
		at = m.state.nodes[i].site
	}
	at.origin = backend.FromStatement
	if weight >= 0 {
		at.weight = weight
	}
	if zone != "" {
		at.zone, at.far = zone, m.opts.isFar(zone)
	}
	if i >= 0 {
		m.adopt(i, at, weight >= 0)
		return nil
	}
	at.added = time.Now()
	if slices.Contains(m.opts.Servers, addr) {
		at.origin = backend.FromConfig // taken out before, and now put back
	}
	delete(m.removed, strings.ToLower(addr))
	m.join(at)
	return nil
}

// adopt makes a discovered node the operator's. The caller holds m.mu.
func (m *Monitor) adopt(i int, at site, weighted bool) {
	old := m.state
	m.state.nodes = slices.Clone(old.nodes)
	n := *old.nodes[i]
	n.site = at
	m.state.nodes[i] = &n
	if weighted {
		m.live[i].SetWeight(at.weight)
	}
	prev := *m.view.Load()
	prev.Nodes = slices.Clone(prev.Nodes)
	prev.Nodes[i] = n.picture(m.live[i])
	m.log.Warn().Str("node", n.addr).Msg("a discovered server was added by CAUSEWAY ADD SERVER: it stays until it is removed or Causeway restarts")
	m.publish(m.state, &prev, changed{})
}

// join adds a node. The caller holds m.mu.
func (m *Monitor) join(at site) {
	n, p, live := newNode(at, m.state.rules.lag), newProbes(len(m.state.nodes), at.addr), &backend.Live{}
	old := m.state
	old.nodes = append(slices.Clip(old.nodes), n)
	m.live = append(m.live, live)
	prev := *m.view.Load()
	prev.Nodes = append(slices.Clip(prev.Nodes), n.picture(live))
	list := append(slices.Clip(*m.probes.Load()), p)
	m.probes.Store(&list)
	m.log.Warn().Str("node", at.addr).Stringer("by", at.origin).Int("weight", at.weight).Str("zone", at.zone).Msg("node added")
	m.publish(old, &prev, changed{})
	m.probe(p)
}

// RemoveServer takes a node out by an operator's word: nothing new goes there.
// The source cannot be removed, and not the only node.
func (m *Monitor) RemoveServer(addr string) error {
	if err := m.remove(addr); err != nil {
		return err
	}
	m.locks.forget(addr)
	return nil
}

func (m *Monitor) remove(addr string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.state.byAddr(addr)
	if i < 0 {
		return fmt.Errorf("%s is no server of this cluster; SHOW CAUSEWAY SERVERS lists them", addr)
	}
	n := m.state.nodes[i]
	switch {
	case i == m.state.source:
		return fmt.Errorf("%s is the source: promote another server first", n.addr)
	case m.state.source < 0 && n.addr == m.state.sourceAddr && sameUUID(n.uuid, m.state.sourceUUID) && !m.state.fenced(i):
		return fmt.Errorf("%s was the source last, and no other is the source yet", n.addr)
	case len(m.state.nodes) == 1:
		return fmt.Errorf("%s is the only server", n.addr)
	}
	m.removed[strings.ToLower(n.addr)] = n.uuid
	why := "by CAUSEWAY REMOVE SERVER"
	if n.origin == backend.FromConfig {
		why += ": the configuration names it, so it is back after a restart"
	}
	m.leave(i, why)
	return nil
}

// leave takes node i out. The caller holds m.mu.
func (m *Monitor) leave(i int, why string) {
	old := m.state.without(i)
	m.live = slices.Delete(slices.Clone(m.live), i, i+1)
	prev := *m.view.Load()
	prev.Nodes = slices.Delete(slices.Clone(prev.Nodes), i, i+1)
	addr := m.state.nodes[i].addr
	list := slices.Clone(*m.probes.Load())
	list = slices.DeleteFunc(list, func(p *probes) bool {
		gone := p.i == i
		switch {
		case gone:
			p.i = -1
			if p.stop != nil {
				p.stop()
			}
		case p.i > i:
			p.i--
		}
		return gone
	})
	m.probes.Store(&list)
	m.log.Warn().Str("node", addr).Str("why", why).Msg("node removed: running statements and transactions there may finish, nothing new goes there")
	m.publish(old, &prev, changed{})
}

// without returns the state as it is without node i, not judged.
func (s state) without(i int) state {
	s.nodes = slices.Delete(slices.Clone(s.nodes), i, i+1)
	switch {
	case s.source == i:
		s.source = -1
	case s.source > i:
		s.source--
	}
	return s
}

func (s *state) byAddr(addr string) int {
	return slices.IndexFunc(s.nodes, func(n *node) bool { return strings.EqualFold(n.addr, addr) })
}

// hasName tells whether an address has a host's name, not its number.
func hasName(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && net.ParseIP(host) == nil
}

// isAddress tells whether s is a host and a port that can be connected to.
func isAddress(s string) bool {
	host, port, err := net.SplitHostPort(s)
	if err != nil || host == "" || strings.ContainsAny(host, " \t\n/@'\"") {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}
