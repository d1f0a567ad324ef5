package replicamon

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"causeway/backend"
)

// maxDiscovered bounds how many nodes discovery adds: anybody who may replicate
// from the source can report any address.
const maxDiscovered = 32

// hint is what the source says of one that replicates from it: no more than where
// to look. Whether it is of this cluster its own answers tell; see known.go.
type hint struct {
	uuid string
	addr string // "": it reports no host
}

// readHints reads SHOW REPLICAS. Host is the replica's report_host, which is
// empty unless somebody set it.
func readHints(rows []row) []hint {
	var out []hint
	for _, r := range rows {
		h := hint{uuid: r["Replica_UUID"]}
		if r["Host"] != "" {
			h.addr = net.JoinHostPort(r["Host"], r["Port"])
		}
		out = append(out, h)
	}
	return out
}

// discoveryProbe is the state of the goroutine that asks the source.
type discoveryProbe struct {
	m    *Monitor
	s    session
	addr string
	gen  uint64
}

func (m *Monitor) runDiscovery(ctx context.Context) {
	probe := discoveryProbe{m: m}
	defer probe.drop()
	for ctx.Err() == nil {
		if src := m.View().Source; src.Usable() {
			hints, err := probe.ask(ctx, src)
			if ctx.Err() == nil {
				m.discovered(src, hints, err)
			}
		}
		pause(ctx, m.opts.DiscoverInterval, nil)
	}
}

func (q *discoveryProbe) ask(ctx context.Context, src *backend.Node) (hints []hint, err error) {
	if q.addr != src.Addr || q.gen != src.Incarnation.Generation {
		q.drop()
		q.addr, q.gen = src.Addr, src.Incarnation.Generation
	}
	ctx, cancel := context.WithTimeout(ctx, q.m.opts.Timeout)
	defer cancel()
	if q.s == nil {
		if q.s, err = q.m.dial(ctx, q.addr); err != nil {
			q.s = nil
			return nil, err
		}
	}
	if hints, err = q.s.replicas(ctx); err != nil {
		q.drop()
	}
	return hints, err
}

func (q *discoveryProbe) drop() {
	if q.s != nil {
		q.s.close()
	}
	q.s = nil
}

// discovered takes in what the source said.
func (m *Monitor) discovered(src *backend.Node, hints []hint, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := m.state.source; i < 0 || m.state.nodes[i].addr != src.Addr || m.state.nodes[i].gen != src.Incarnation.Generation {
		return // of another source
	}
	m.sayDiscovery(hints, err)
	if err != nil {
		return // what it did not say does not mean that anybody is gone
	}
	add, drop := m.state.discover(hints, m.removed, time.Now(), m.opts.ForgetAfter)
	for _, i := range drop {
		m.leave(i, "it was discovered, and is gone")
	}
	for _, addr := range add {
		at := m.opts.siteOf(addr)
		at.origin, at.added = backend.FromDiscovery, time.Now()
		m.join(at)
	}
}

// sayDiscovery keeps how it goes, and tells each change once.
func (m *Monitor) sayDiscovery(hints []hint, err error) {
	text := "on"
	nameless := 0
	for _, h := range hints {
		if h.addr == "" {
			nameless++
		}
	}
	switch {
	case kindOf(err) == errDenied && err != nil:
		text = "not possible: GRANT REPLICATION SLAVE ON *.* to the monitor's account: " + err.Error()
	case err != nil:
		text = "failed: " + err.Error()
	case nameless > 0:
		text = fmt.Sprintf("on, but of %d replicas the source knows no host: set report_host there", nameless)
	}
	if text == m.discovery {
		return
	}
	m.discovery = text
	if text != "on" {
		m.log.Warn().Str("why", text).Msg("replicas cannot be discovered")
	}
	m.publish(m.state, m.view.Load(), changed{})
}

// discover decides which of the replicas that the source names are new, and which
// nodes that were found this way are gone: the source knows nothing of them, and
// they have not answered for long or never turned out to be of this cluster. drop
// has the greatest number first. A replica is known by its server_uuid too: it
// may be listed by another name.
func (s *state) discover(hints []hint, removed map[string]string, now time.Time, forgetAfter time.Duration) (add []string, drop []int) {
	named, found := map[string]bool{}, 0
	hints = append(slices.Clip(hints), s.membersOf(s.source)...)
	for _, h := range hints {
		named[strings.ToLower(h.addr)] = true
	}
	for i, n := range slices.Backward(s.nodes) {
		if n.origin != backend.FromDiscovery {
			continue
		}
		if i != s.source && !named[strings.ToLower(n.addr)] && now.Sub(n.lastSign(s.counts(i))) >= forgetAfter {
			drop = append(drop, i)
			continue
		}
		found++
	}
	for _, h := range hints {
		if !isAddress(h.addr) || isRemoved(h, removed) || s.byAddr(h.addr) >= 0 || s.byUUID(h.uuid) >= 0 || slices.Contains(add, h.addr) || found >= maxDiscovered {
			continue
		}
		add = append(add, h.addr)
		found++
	}
	return add, drop
}

// isRemoved: an operator may have known the replica by another name.
func isRemoved(h hint, removed map[string]string) bool {
	if _, ok := removed[strings.ToLower(h.addr)]; ok {
		return true
	}
	for _, uuid := range removed {
		if h.uuid != "" && sameUUID(uuid, h.uuid) {
			return true
		}
	}
	return false
}

// lastSign is since when nothing speaks for a discovered node any more.
func (n *node) lastSign(counts bool) time.Time {
	if n.contact.After(n.added) && counts {
		return n.contact
	}
	return n.added
}

// membersOf are the other members of the group that node i is in.
func (s *state) membersOf(i int) []hint {
	if i < 0 || s.nodes[i].status == nil || s.nodes[i].status.group == nil {
		return nil
	}
	var out []hint
	for _, m := range s.nodes[i].status.group.members {
		if m.state == memberOnline || m.state == memberRecovering {
			out = append(out, hint{m.uuid, m.addr})
		}
	}
	return out
}
