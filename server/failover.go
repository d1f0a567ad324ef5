package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"causeway/backend"
	"causeway/gtid"
	"causeway/wire"
)

// standByStep is how long one who waits for the source waits between two looks.
const standByStep = 10 * time.Millisecond

// standBy is pause for waits that may be long: it ends with an error when the
// statement is killed or its client leaves.
func (s *session) standBy(d time.Duration) error {
	if err := s.pause(d); err != nil {
		return err
	}
	if s.interrupted.Load() {
		return wire.NewError(wire.ErrQueryInterrupted, errInterrupted)
	}
	if s.client.PeerClosed() {
		return &clientError{errors.New("it left while its statement waited")}
	}
	return nil
}

// homeFor is homeConn for a statement: it may have to wait until writes go on,
// and after a change of the source until it is known what was lost.
func (s *session) homeFor(j *job) (*backend.Conn, error) {
	if err := s.admitWrite(j); err != nil {
		return nil, err
	}
	c, err := s.homeConn(j.start, schemaFree(j))
	if err != nil {
		return nil, err
	}
	return c, s.knowLost()
}

// sourceConn leases a connection to the source. One that has just died is
// waited for until it answers again or another server has taken its place.
func (s *session) sourceConn(free bool) (*backend.Conn, error) {
	began := time.Now()
	for {
		src, err := s.waitSource(s.view(), began)
		if err != nil {
			return nil, err
		}
		c, err := s.lease(src, s.homeLast, free, !s.mayStandIn)
		if err == nil {
			return c, nil
		}
		if s.mayStandIn && backend.Full(err) {
			return nil, errSourceFull
		}
		if s.mayStandIn && !errors.As(err, new(*wire.Error)) {
			return nil, errStandIn
		}
		if !s.worthWaiting(src.Addr, err) || time.Since(began) > s.srv.opts.FailoverWait {
			if errors.As(err, new(*wire.Error)) {
				return nil, err
			}
			return nil, s.unreachable(src.Addr, err)
		}
		if err := s.standBy(standByStep); err != nil {
			return nil, err
		}
	}
}

// worthWaiting tells whether the source took no connection because it has just
// gone, or is about to.
func (s *session) worthWaiting(addr string, err error) bool {
	var refused *wire.Error
	if errors.As(err, &refused) {
		return refused.Code == wire.ErrServerShutdown
	}
	n := s.view().Node(addr)
	return s.ctx.Err() == nil && n != nil && time.Since(n.LastAnswer) <= s.srv.opts.FailoverWait
}

// waitSource waits for a source that can be used, from began on. One that is down
// is waited for from its last answer on, and one that is not known from when that
// was so: not anew by each statement.
func (s *session) waitSource(v *backend.View, began time.Time) (*backend.Node, error) {
	limit := s.srv.opts.FailoverWait
	deadline := began.Add(limit)
	if end := s.srv.noSourceUntil(); v.Source == nil && !end.IsZero() && end.Before(deadline) {
		deadline = end
	}
	for !v.Source.Usable() {
		if s.mayStandIn {
			return nil, errStandIn
		}
		now := time.Now()
		down := v.Source != nil && !v.Source.Up
		if down && now.Sub(v.Source.LastAnswer) > limit {
			return v.Source, nil // it may only be slow: the attempt tells
		}
		if now.After(deadline) {
			switch {
			case v.Source == nil:
				return nil, s.noSource(v, now.Sub(began))
			case down:
				return v.Source, nil
			}
			return nil, fmt.Errorf("the source %s does not serve: %s; see SHOW CAUSEWAY SERVERS", v.Source.Addr, v.Source.Exclude)
		}
		if err := s.standBy(standByStep); err != nil {
			return nil, err
		}
		v = s.view()
	}
	return v.Source, nil
}

// noSource tells the client that there is none, and how long it waited for one in
// truth: little, where the source was lost long ago.
func (s *session) noSource(v *backend.View, waited time.Duration) error {
	return fmt.Errorf("no source is known (%s): the statement waited %v for one and was not sent (cluster.failover_wait is %v, from the loss of the source on); see SHOW CAUSEWAY SERVERS",
		whyNoSource(v), waited.Round(time.Millisecond), s.srv.opts.FailoverWait)
}

// noSourceUntil is up to when what needs a source waits, while none is known; zero:
// that is not noticed yet.
func (s *Server) noSourceUntil() time.Time {
	since := s.noSourceSince.Load()
	if since == 0 {
		return time.Time{}
	}
	return s.started.Add(time.Duration(since) + s.opts.FailoverWait)
}

func whyNoSource(v *backend.View) string {
	if v.NoSource == "" {
		return "no server is writable and replicated from"
	}
	return v.NoSource
}

// clearSource waits, before anything is sent on a connection that the session
// holds, until it is clear which server is the source.
func (s *session) clearSource(v *backend.View) (*backend.View, error) {
	if v.Source != nil {
		return v, nil
	}
	if _, err := s.waitSource(v, time.Now()); err != nil {
		return nil, err
	}
	return s.view(), nil
}

// settledByPromotion ends a doubt about a statement on a server that is not the
// source any more: what it may commit there is nowhere else and is never read.
// What it did commit in time the new source has, once it is settled.
func (s *Server) settledByPromotion(ctx context.Context, d *doubt, v *backend.View) (gtid.Set, bool) {
	if v.Promotion.Seq == 0 || !v.Promotion.Settled || !v.Source.Usable() || v.Source.Addr == d.addr {
		return gtid.Set{}, false
	}
	set, _, err := s.opts.Monitor.FreshSource(ctx)
	return set, err == nil && sameSource(v, s.opts.Monitor.View())
}
