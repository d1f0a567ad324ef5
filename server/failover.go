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
	deadline := time.Now().Add(s.srv.opts.FailoverWait)
	for {
		src, err := s.waitSource(s.view(), deadline)
		if err != nil {
			return nil, err
		}
		c, err := s.lease(src, s.homeLast, free, true)
		if err == nil {
			return c, nil
		}
		if s.mayStandIn && !errors.As(err, new(*wire.Error)) {
			return nil, errStandIn
		}
		if !s.worthWaiting(src.Addr, err) || time.Now().After(deadline) {
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

// waitSource waits for a source that can be used. One that is down is waited
// for from its last answer on, not anew by each statement.
func (s *session) waitSource(v *backend.View, deadline time.Time) (*backend.Node, error) {
	limit := s.srv.opts.FailoverWait
	if since := s.srv.noSourceSince.Load(); since != 0 && v.Source == nil { // not anew by each statement
		if end := s.srv.started.Add(time.Duration(since) + limit); end.Before(deadline) {
			deadline = end
		}
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
				return nil, fmt.Errorf("no source is known (%s): the statement waited for one for %v (cluster.failover_wait) and was not sent; see SHOW CAUSEWAY SERVERS", whyNoSource(v), limit)
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
	if _, err := s.waitSource(v, time.Now().Add(s.srv.opts.FailoverWait)); err != nil {
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
