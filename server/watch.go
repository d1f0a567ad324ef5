package server

import (
	"context"
	"time"

	"causeway/backend"
	"causeway/classifier"
)

const (
	watchInterval = 200 * time.Millisecond
	// watchAfter is how long a command must have run to be looked at.
	watchAfter = 300 * time.Millisecond
	// cutAfter is how long a node must have answered nothing before the reads
	// that run there are cut off: a missed probe or two only mean that it is slow.
	cutAfter = 3 * time.Second
)

const writeKind = classifier.Write

// watch looks at commands that take long, so that the fast ones need no timer:
// a plain read whose client has gone is killed, one whose node is down is cut
// off and sent elsewhere, and what waits for a source that was replaced is given up.
func (s *Server) watch(ctx context.Context) {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	var own rateWindow
	looked := time.Now()
	s.ratios(looked)
	gone := goneNodes{down: map[string]*backend.Node{}}
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			v := s.opts.Monitor.View()
			if rate, ok := own.sample(s.ownReads.Load(), now); ok {
				s.opts.Budget.SetSourceRate(rate, now)
			}
			if now.Sub(looked) >= time.Second {
				looked = now
				s.ratios(now)
				s.forgetNodes(v)
			}
			s.noteSource(v, now)
			gone.follow(v)
			s.lookAtPressure(v, now)
			limit := int64(now.Sub(s.started) - watchAfter)
			s.eachSession(func(x *session) {
				if since := x.busySince.Load(); since != 0 && since < limit {
					s.look(x, v, &gone)
				}
				s.lookIdle(x, v, now)
			})
		}
	}
}

// noteSource keeps since when no source is known.
func (s *Server) noteSource(v *backend.View, now time.Time) {
	if v.Source != nil {
		s.noSourceSince.Store(0)
		return
	}
	s.noSourceSince.CompareAndSwap(0, max(1, int64(now.Sub(s.started))))
}

// rateWindow measures the rate of a counter over the last ten seconds.
type rateWindow struct {
	at   [10]time.Time
	n    [10]uint64
	next int
}

// sample takes the counter once a second; false in between and at first.
func (w *rateWindow) sample(n uint64, now time.Time) (perSecond float64, ok bool) {
	last := (w.next + len(w.at) - 1) % len(w.at)
	if now.Sub(w.at[last]) < time.Second {
		return 0, false
	}
	oldest, base := w.at[w.next], w.n[w.next]
	w.at[w.next], w.n[w.next] = now, n
	w.next = (w.next + 1) % len(w.at)
	if oldest.IsZero() {
		return 0, false
	}
	return float64(n-base) / now.Sub(oldest).Seconds(), true
}

func (s *Server) look(x *session, v *backend.View, gone *goneNodes) {
	c := x.busyOn.Load()
	if c == nil {
		return
	}
	plain, left := x.plainRead.Load(), x.client.PeerClosed()
	if plain && left {
		if x.killed.CompareAndSwap(false, true) {
			s.metrics.abandoned.Inc()
			s.wg.Add(1)
			go func() {
				defer s.wg.Done()
				defer s.recovered(x.id)
				s.cutOff(x, c)
			}()
		}
		return
	}
	if mustCut(c.Node, gone.node(v, c.Node.Addr), plain, left, v, time.Now()) {
		x.cut.begin()
		defer x.cut.end()
		if x.busyOn.Load() == c {
			c.Close()
		}
	}
}

// mustCut tells whether nobody may wait any longer for what runs on a connection
// to a node: a plain read can be sent elsewhere as soon as the node hangs or is
// another server, anything else only fails once another node has become the source.
// left: its client has gone, so that nobody waits for the answer of a node that hangs;
// one that lives finishes what it was asked to do.
func mustCut(on, n *backend.Node, plain, left bool, v *backend.View, now time.Time) bool {
	if n == nil {
		return false
	}
	hangs := hung(n, now)
	if plain {
		return hangs || n.Incarnation.Generation != on.Incarnation.Generation
	}
	return hangs && (left || v.Source.Usable() && v.Source.Addr != on.Addr)
}

// hung tells whether a node has given no sign of life for long.
func hung(n *backend.Node, now time.Time) bool {
	return !n.Up && now.Sub(n.PositionAt) > cutAfter
}

// cutOff stops what a session is doing on a connection, if it still is, and
// closes it.
func (s *Server) cutOff(x *session, c *backend.Conn) {
	if err := s.interrupt(x, c, true); err != nil {
		s.log.Debug().Err(err).Str("node", c.Node.Addr).Msg("cannot kill a query")
	}
}

// interrupt stops what a session is doing on a connection, if it still is.
func (s *Server) interrupt(x *session, c *backend.Conn, closeIt bool) error {
	x.cut.begin()
	defer x.cut.end()
	if x.busyOn.Load() != c {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.opts.Backend.ConnectTimeout)
	defer cancel()
	err := backend.KillQuery(ctx, s.opts.Backend, c.Node, c.Account(), c.ThreadID)
	if closeIt {
		c.Close()
	}
	return err
}
