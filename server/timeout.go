package server

import (
	"errors"
	"time"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// timeLimit is the clock of one read whose class or rule has a timeout.
type timeLimit struct {
	timer *time.Timer
	done  chan struct{} // the kill has been sent
}

// timeout is how long a statement may run; 0: as long as it likes. Only what
// reads is killed, as with a server's max_execution_time: by its rule wherever it
// runs, by its class if it has one.
func (s *session) timeout(j *job) time.Duration {
	reads := j.class.Kind == classifier.Read || j.class.Kind == classifier.ReadSource
	switch {
	case !reads || j.want != expectResult:
		return 0
	case s.rule != nil && s.rule.Timeout > 0:
		return s.rule.Timeout
	case s.choice.class != nil:
		return s.choice.class.Timeout
	}
	return 0
}

// startTimeout starts the clock, nil if there is none. Waits and other tries
// before this one count: the client waited for them too.
func (s *session) startTimeout(c *backend.Conn, j *job) *timeLimit {
	limit := s.timeout(j)
	if limit == 0 {
		return nil
	}
	t := &timeLimit{done: make(chan struct{})}
	t.timer = time.AfterFunc(max(time.Until(j.start.Add(limit)), time.Millisecond), func() {
		defer close(t.done)
		defer s.srv.recovered(s.id)
		if err := s.srv.interrupt(s, c, false); err != nil {
			s.log.Debug().Err(err).Str("node", c.Node.Addr).Msg("cannot kill a read that ran too long; its connection is closed")
			s.cut.begin()
			defer s.cut.end()
			if s.busyOn.Load() == c {
				c.Close()
			}
		}
	})
	return t
}

// stop ends the clock and tells whether the time was up.
func (t *timeLimit) stop() bool {
	if t == nil || t.timer.Stop() {
		return false
	}
	<-t.done
	return true
}

// timedOut turns what a killed read ended with into the error that a server gives
// for max_execution_time. A read that was done before the kill came is answered.
func (s *session) timedOut(c *backend.Conn, err error) error {
	r := &s.relay
	killed := r.err != nil && r.err.Code == wire.ErrQueryInterrupted
	if s.sharing.failed != nil || !killed && (r.started || !errors.As(err, new(*backendError))) { // what was not published is told of as that
		return err
	}
	s.srv.metrics.timeouts.Inc()
	c.Broken = c.Broken || err != nil
	r.err, r.ours = wire.NewError(wire.ErrQueryTimeout, "Query execution was interrupted, maximum statement execution time exceeded"), true
	return nil
}
