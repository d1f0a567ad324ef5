package server

import (
	"context"
	"time"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
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
// off and sent elsewhere.
func (s *Server) watch(ctx context.Context) {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	var own rateWindow
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			v := s.opts.Monitor.View()
			if rate, ok := own.sample(s.ownReads.Load(), now); ok {
				s.opts.Budget.SetSourceRate(rate, now)
			}
			limit := int64(now.Sub(s.started) - watchAfter)
			s.eachSession(func(x *session) {
				if since := x.busySince.Load(); since != 0 && since < limit {
					s.look(x, v)
				}
				s.lookIdle(x, v, now)
			})
		}
	}
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

func (s *Server) look(x *session, v *backend.View) {
	c := x.busyOn.Load()
	if c == nil || !x.plainRead.Load() {
		return
	}
	if x.client.PeerClosed() {
		if x.killed.CompareAndSwap(false, true) {
			s.metrics.abandoned.Inc()
			s.wg.Add(1)
			go func() {
				defer s.wg.Done()
				defer s.recovered(x.id)
				s.cutOff(x, c, true)
			}()
		}
		return
	}
	n := v.Node(c.Node.Addr)
	if n == nil {
		return
	}
	hung := !n.Up && time.Since(n.PositionAt) > cutAfter
	if hung || n.Incarnation.Generation != c.Node.Incarnation.Generation {
		x.cut.begin()
		defer x.cut.end()
		if x.busyOn.Load() == c {
			c.Close()
		}
	}
}

// cutOff stops what a session is doing on a connection, if it still is, and
// closes it.
func (s *Server) cutOff(x *session, c *backend.Conn, closeIt bool) {
	x.cut.begin()
	defer x.cut.end()
	if x.busyOn.Load() != c {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.opts.Backend.ConnectTimeout)
	defer cancel()
	err := backend.KillQuery(ctx, s.opts.Backend, c.Node, c.Account(), c.ThreadID)
	if err != nil {
		s.log.Debug().Err(err).Str("node", c.Node.Addr).Msg("cannot kill a query")
	}
	if closeIt {
		c.Close()
	}
}

// kill serves KILL with an id that Causeway gave out. false: the id is a
// server's own, the source must answer.
func (s *session) kill(class *classifier.Class) (bool, error) {
	if class.KillID > 1<<32-1 || class.Is(classifier.MultiStatement) {
		return false, nil
	}
	id := uint32(class.KillID)
	target := s.srv.sessionOf(id)
	if target == nil && id < firstConnectionID {
		return false, nil
	}
	s.noteLocal(reasonLocal)
	switch {
	case target == nil:
		return true, s.fail(wire.NewError(wire.ErrNoSuchThread, "Unknown thread id: %d", id))
	case s.srv.loginOf(target).User != s.login.User:
		return true, s.fail(wire.NewError(errKillDenied, "You are not owner of thread %d", id))
	}
	c := target.busyOn.Load()
	if target == s {
		if err := s.fail(wire.NewError(wire.ErrQueryInterrupted, "Query execution was interrupted")); err != nil || class.KillQuery {
			return true, err
		}
		return true, errQuit
	}
	if c != nil {
		s.srv.cutOff(target, c, false)
	}
	if !class.KillQuery {
		target.killed.Store(true)
		target.cancel()
		target.client.Close()
	}
	return true, s.sendOK()
}

// sessionOf finds a session by the id that its client was greeted with, or by
// what CONNECTION_ID() inside an expression shows to it while it holds a connection.
func (s *Server) sessionOf(id uint32) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id >= firstConnectionID || id == 0 {
		return s.sessions[id]
	}
	for _, x := range s.sessions {
		if x.homeID.Load() == id {
			return x
		}
	}
	return nil
}

// loginOf is who a session is logged in as; COM_CHANGE_USER may be changing it.
func (s *Server) loginOf(x *session) *Login {
	s.mu.Lock()
	defer s.mu.Unlock()
	return x.login
}

// errKillDenied is MySQL's ER_KILL_DENIED_ERROR.
const errKillDenied = 1095
