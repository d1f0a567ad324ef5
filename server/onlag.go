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
	near               balance.Reason
}

// after is how long it waited, "" if it did not.
func (l *lagging) after() string {
	if l.waited == 0 {
		return ""
	}
	return " after " + l.waited.Round(time.Millisecond).String()
}

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
	l.near = s.nearest(need, tried)
	return nil, s.lagError(&l)
}

// nearest is what the replica that comes nearest now does not meet: a wait may have
// changed that.
func (s *session) nearest(need balance.Need, tried []string) balance.Reason {
	need.Now = time.Now()
	_, near := balance.Pick(s.srv.opts.Policy, without(s.view().Replicas, tried), need, 0)
	s.route.near = near
	return near
}

// mayFallBack asks for the source.
func (s *session) mayFallBack(p plan, l *lagging) bool {
	switch {
	case !s.view().Source.Usable():
		l.noSource = true
		return false
	case p.begin:
		s.route.reason = reasonTransaction
		s.countFallback() // but the budget is not asked for transactions
		return true
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
	s.stats().used.Inc()
	s.countFallback()
}

// countFallback counts it in the ratios of its class and digest.
func (s *session) countFallback() {
	s.stats().fallbacks.Add(1)
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
	switch {
	case len(v.Replicas) == 0:
		return nil, nil
	case p.begin:
		s.countFallback()
		return nil, nil
	}
	share := s.contract.withoutReplicas()
	if share == 0 {
		return nil, s.lagError(&lagging{near: balance.NoReplica})
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
	what := s.unqualified(l)
	switch {
	case s.refusal != nil:
		return s.refusal
	case l.noSource && s.contract.token:
		return wire.NewError(wire.ErrServerIsntAvailable, "Causeway: %s, and no source can be reached; see SHOW CAUSEWAY SERVERS", what)
	case l.noSource:
		return wire.NewError(wire.ErrServerIsntAvailable, "Causeway: %s, and %s; see SHOW CAUSEWAY SERVERS", what, sourceUnreachable)
	case l.noBudget:
		return s.budgetError(what)
	}
	return wire.NewError(wire.ErrServerIsntAvailable,
		"Causeway: %s, and class %s asks for nothing else (its on_lag); see EXPLAIN CAUSEWAY and SHOW CAUSEWAY SERVERS", what, s.contract.class.Name)
}

// unqualified tells what the replica that came nearest did not meet.
func (s *session) unqualified(l *lagging) string {
	switch l.near {
	case balance.Eligible:
		return "no replica that qualifies could be connected to"
	case balance.NotCovered:
		return s.uncovered(l)
	case balance.NotFresh:
		return "no replica is fresh enough: none " + s.havingText() + "is provably within the bound of " + s.contract.bound.String() + l.after()
	case balance.OverLimit:
		return "no replica is fresh enough: each " + s.havingText() + "is over the lag limit of class " + s.contract.class.Name + l.after()
	}
	return "no replica is usable"
}

// havingText narrows replicas to those that have what the read must see.
func (s *session) havingText() string {
	switch what := s.contract.neededText(&s.demanded); {
	case what == "":
		return ""
	case s.contract.token && !s.contract.global && !s.demanded.stands && s.demanded.seen.IsEmpty():
		return "that has this session's writes "
	default:
		return "that has " + what + " "
	}
}

// uncovered tells what no replica has.
func (s *session) uncovered(l *lagging) string {
	c := &s.contract
	switch {
	case c.global:
		return "no replica has all that the source had executed when the read arrived" + l.after()
	case c.token && s.demanded.stands:
		return "of this key or scope nothing is remembered, and no replica has what may have been written under it" + l.after()
	case !c.token || !s.demanded.seen.IsEmpty():
		return "no replica has " + c.neededText(&s.demanded) + l.after()
	case l.waited > 0:
		return "no replica has this session's writes" + l.after()
	case c.has(StepWait):
		return "no replica that may serve has this session's writes, and none would by a wait"
	}
	return "no replica that may serve has this session's writes"
}

func (s *session) budgetError(why string) error {
	if s.refusal != nil {
		return s.refusal
	}
	return wire.NewError(wire.ErrServerIsntAvailable,
		"Causeway: %s, and the fallback budget of the source is used up for class %s ([fallback] %s); try again, or raise it", why, s.choice.class.Name, s.srv.opts.BudgetText)
}
