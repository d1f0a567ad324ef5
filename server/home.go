package server

import (
	"errors"
	"fmt"
	"time"

	"causeway/backend"
	"causeway/wire"
)

var noDeadline time.Time

// sessionGone ends a session whose state was lost with a connection: MySQL
// would have closed it as well.
type sessionGone struct{ why string }

func (e *sessionGone) Error() string {
	return "the connection to the source is gone (" + e.why + ") and with it session state that cannot be restored; connect again"
}

// homeConn returns the session's connection to the source, in whatever state it
// is. free: the statement means the same in any schema.
func (s *session) homeConn(now time.Time, free bool) (*backend.Conn, error) {
	if s.home != nil {
		v, err := s.clearSource(s.view())
		if err != nil {
			return nil, err
		}
		why := s.unfit(s.home, v.Source, now)
		if why == "" {
			if err := s.homeAnswers(v, now); err != nil {
				return nil, err
			}
			return s.home, nil
		}
		if err := s.dropHome(errors.New(why)); err != nil {
			return nil, err
		}
	}
	c, err := s.sourceConn(free)
	if err != nil {
		return nil, err
	}
	s.home = c
	s.homeID.Store(c.ThreadID)
	return c, nil
}

// homeAnswers keeps what must run on the session's own connection from a source
// that hangs: it might wait for ever. Nothing is sent, so nothing is lost.
func (s *session) homeAnswers(v *backend.View, now time.Time) error {
	n := v.Node(s.home.Node.Addr)
	if n == nil || !hung(n, now) {
		return nil
	}
	err := s.srv.pools.Reach(s.ctx, s.want(n, true))
	if err == nil {
		return nil
	}
	return s.unreachable(n.Addr, err)
}

// unfit tells why a connection must not be used any more, "" if it may.
func (s *session) unfit(c *backend.Conn, now *backend.Node, at time.Time) string {
	switch {
	case c.Broken:
		return "its answer was lost"
	case now != nil && now.Addr != c.Node.Addr:
		return "the source is another server now"
	case now != nil && now.Incarnation.Generation != c.Node.Incarnation.Generation:
		return "the server was restarted or replaced"
	case c.Closed(at):
		return "the server closed it"
	}
	return ""
}

// dropHome closes the connection to the source. It fails if the session had
// state there that no other connection can be given.
func (s *session) dropHome(why error) error {
	c := s.home
	if c == nil {
		return nil
	}
	s.home, s.trxWrote, s.trxRows = nil, false, trxRows{}
	s.homeID.Store(0)
	inTrx := c.Status.Has(wire.StatusInTrans)
	s.lostKind, s.ownLevel = s.homeKind(c), false
	s.discard(c)
	if s.sharing.failed == nil { // else it is not the server's fault
		s.srv.opts.Monitor.Report(c.Node.Addr, c.Node.Incarnation.Generation, why.Error())
	}
	why = plainly(why)
	if s.sticky.any() {
		return &sessionGone{why.Error()}
	}
	if inTrx {
		s.abort(why.Error(), s.lostKind)
		return wire.NewError(wire.ErrServerIsntAvailable, errTrxLost, why)
	}
	return nil
}

// plainly leaves out of what a client is told how the network said it.
func plainly(why error) error {
	var lost *backendError
	if errors.As(why, &lost) {
		return errors.New("the connection to the source broke")
	}
	return why
}

// unreachable tells the client about a source that takes no connection.
func (s *session) unreachable(addr string, err error) error {
	n := s.view().Node(addr)
	if n == nil || n.Up {
		return fmt.Errorf("the source %s takes no connection: %s; see SHOW CAUSEWAY SERVERS", addr, backend.Reason(err))
	}
	last := "it never answered"
	if !n.LastAnswer.IsZero() {
		last = fmt.Sprintf("its last answer was %v ago", time.Since(n.LastAnswer).Round(time.Second))
	}
	return fmt.Errorf("the source %s is %s; %s, and no other server has taken its place: see SHOW CAUSEWAY SERVERS", addr, n.Exclude, last)
}

// pause waits, unless the session ends meanwhile.
func (s *session) pause(d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

// refusal is what warnRefused tells once a minute.
type refusal struct {
	addr, user string
	code       uint16
}

// warnRefused logs, once a minute for each node, account and error, that a
// server does not take an account that logged in here: its reads go elsewhere.
func (s *Server) warnRefused(addr, user string, e *wire.Error) {
	key := refusal{addr, user, e.Code}
	now := time.Now()
	if last, ok := s.refusals.Load(key); ok && now.Sub(last.(time.Time)) < time.Minute {
		return
	}
	s.refusals.Store(key, now)
	s.log.Warn().Str("node", addr).Str("user", user).Uint16("errno", e.Code).Str("error", e.Message).
		Msg("a server refuses a connection for a client")
}
