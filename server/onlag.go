package server

import (
	"slices"
	"time"

	"causeway/backend"
	"causeway/balance"
	"causeway/wire"
)

// Why a read is served stale.
const (
	budgetUsedUp      = "the fallback budget was used up"
	sourceUnreachable = "the source did not answer"
	sourceNotAsked    = "its class does not ask the source"
)

// lagging is what was tried for a read that no replica qualified for.
type lagging struct {
	since              time.Time
	waited             time.Duration // for a replica
	noSource, noBudget bool          // the source was named, and could not be had
}

// text is how long it waited.
func (l *lagging) text() string { return l.waited.Round(time.Millisecond).String() }

// onLag follows the contract's list for a read that no replica qualified for. It
// returns a replica, nil for the source, or why there is neither. barred: replicas
// would qualify, but for the warm-up; it does not wait for them.
func (s *session) onLag(p plan, need balance.Need, tried []string, barred bool) (*backend.Conn, error) {
	l := lagging{since: time.Now()}
	for _, step := range s.contract.steps {
		switch {
		case step.Kind == StepWait && (barred || !balance.WaitHelps(without(s.view().Replicas, tried), need)):
		case step.Kind == StepWait:
			if c := s.waitCovered(need, l.since, step.Wait, tried); c != nil {
				return c, nil
			}
			l.waited = time.Since(l.since)
		case step.Kind == StepSource:
			if s.mayFallBack(p, &l) {
				return nil, nil
			}
		case step.Kind == StepStale && !barred: // a replica that qualifies is not stale
			if c := s.staleReader(tried, l.why()); c != nil {
				return c, nil
			}
		}
	}
	return nil, s.lagError(&l)
}

// mayFallBack asks for the source.
func (s *session) mayFallBack(p plan, l *lagging) bool {
	switch {
	case !s.view().Source.Usable():
		l.noSource = true
		return false
	case p.begin:
		s.route.reason = reasonTransaction
		return true // transactions are not counted against the budget
	}
	l.noBudget = !s.takeBudget(s.contract.share)
	if !l.noBudget {
		s.route.reason = reasonFallback
	}
	return !l.noBudget
}

// takeBudget asks the fallback budget, and counts what it said.
func (s *session) takeBudget(share float64) bool {
	if !s.srv.opts.Budget.Take(share, time.Now()) {
		s.stats().refused.Inc()
		return false
	}
	s.fellBack()
	return true
}

// fellBack counts a read that the source serves for lack of a replica.
func (s *session) fellBack() {
	c := s.stats()
	c.used.Inc()
	c.fallbacks.Add(1)
	s.srv.digests.fellBack(s.runs.Load(), time.Now())
}

// stats are the counters of the read's own class, whatever it was promoted to.
func (s *session) stats() *classStats { return s.srv.classes.stats[s.choice.class.Index] }

// why tells in a warning what kept the source from serving.
func (l *lagging) why() string {
	switch {
	case l.noSource:
		return sourceUnreachable
	case l.noBudget:
		return budgetUsedUp
	}
	return sourceNotAsked
}

// withoutReplicas: the source is all there is. Only a cluster that has
// replicas, and lost them, spends its budget for that.
func (s *session) withoutReplicas(v *backend.View, p plan) (*backend.Conn, error) {
	if len(v.Replicas) == 0 || p.begin {
		return nil, nil
	}
	share := s.contract.withoutReplicas()
	if share == 0 {
		return nil, s.lagError(&lagging{})
	}
	deadline := time.Now().Add(s.srv.opts.MaxWait)
	for !s.srv.opts.Budget.Ask(share, time.Now()) {
		if time.Now().After(deadline) {
			s.srv.opts.Budget.Refuse()
			s.stats().refused.Inc()
			return nil, s.budgetError("no replica is usable")
		}
		if err := s.pause(5 * time.Millisecond); err != nil {
			return nil, err
		}
	}
	s.fellBack()
	return nil, nil
}

// staleReader serves a read from the freshest live replica, nil if there is none
// that its contract allows: one that must see the session's writes is never
// served without them.
func (s *session) staleReader(tried []string, why string) *backend.Conn {
	tried = slices.Clip(tried)
	for {
		n, _ := balance.Freshest(s.coveringFor(&s.contract, &s.demanded, without(s.view().Replicas, tried)), time.Now())
		if n == nil {
			return nil
		}
		c, err := s.replicaConn(n, true)
		if err == nil {
			s.route.reason = reasonStale
			s.stale = newStaleNote(n, why)
			s.stats().stale.Inc()
			return c
		}
		tried = append(tried, n.Addr)
	}
}

// coveringFor leaves the replicas that have what of the need no warning waives:
// the session's writes.
func (s *session) coveringFor(c *contract, d *demand, nodes []*backend.Node) []*backend.Node {
	if c.token && s.view().WithoutGTIDs {
		return nil // nobody knows which has them
	}
	must := d.seen
	if c.token {
		must = must.Union(d.token)
	}
	if must.IsEmpty() || s.srv.opts.SkipTokenCheck {
		return nodes
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(n *backend.Node) bool { return !n.Position.Contains(must) })
}

// lagError tells why a read found no server. One that refused the session's
// account has said more than that.
func (s *session) lagError(l *lagging) error {
	what := "no replica is usable"
	if s.contract.token {
		what = "no replica has this session's writes after " + l.text()
	}
	if s.contract.token && l.waited == 0 {
		what = "no replica that may serve has this session's writes, and none would by a wait"
	}
	if s.contract.token && s.demanded.stands {
		what = "of this key or scope nothing is remembered, and no replica has what may have been written under it"
		if l.waited > 0 {
			what += " after " + l.text()
		}
	}
	if s.contract.global {
		what = "no replica has all that the source had executed when the read arrived after " + l.text()
	}
	switch {
	case s.refusal != nil:
		return s.refusal
	case l.noSource && s.contract.token:
		return wire.NewError(wire.ErrServerIsntAvailable, "Causeway: %s, and no source can be reached; see SHOW CAUSEWAY SERVERS", what)
	case l.noSource:
		return wire.NewError(wire.ErrServerIsntAvailable, "Causeway: %s, and %s; see SHOW CAUSEWAY SERVERS", what, sourceUnreachable)
	case l.noBudget:
		return s.budgetError(what)
	case !s.contract.token:
		what = "no replica is fresh enough"
	}
	return wire.NewError(wire.ErrServerIsntAvailable,
		"Causeway: %s, and class %s asks for nothing else (its on_lag); see EXPLAIN CAUSEWAY and SHOW CAUSEWAY SERVERS", what, s.contract.class.Name)
}

func (s *session) budgetError(why string) error {
	if s.refusal != nil {
		return s.refusal
	}
	return wire.NewError(wire.ErrServerIsntAvailable,
		"Causeway: %s, and the fallback budget of the source is used up for class %s ([fallback] %s); try again, or raise it", why, s.choice.class.Name, s.srv.opts.BudgetText)
}
