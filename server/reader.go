package server

import (
	"errors"
	"fmt"
	"time"

	"causeway/backend"
	"causeway/balance"
	"causeway/gtid"
	"causeway/wire"
)

// runOnReplica runs a plain read, or begins a read-only transaction, on a
// replica that qualifies. A read of which nothing reached the client may be
// tried once more elsewhere.
func (s *session) runOnReplica(j *job, p plan) error {
	var tried []string
	for {
		c, err := s.reader(j, p, tried)
		if err != nil {
			return s.answerError(j, err)
		}
		if c == nil && (s.route.reason == reasonFallback || p.begin) && s.token.Set.IsEmpty() {
			c, err = s.homeOrStale(j, tried)
			if err != nil {
				return s.answerError(j, err)
			}
		}
		if c == nil || c == s.home {
			return s.runOnHome(j)
		}
		again, err := s.tryReplica(c, j, p)
		if !again {
			return err
		}
		tried = append(tried, c.Node.Addr)
		if len(tried) > 1 || s.relay.err != nil {
			return s.resend(j)
		}
	}
}

// homeOrStale makes sure of the source for a read that falls back to it. If it
// cannot be connected to, a read without a token is served as it can be.
func (s *session) homeOrStale(j *job, tried []string) (*backend.Conn, error) {
	_, err := s.homeConn(j.start, schemaFree(j))
	if err == nil || errors.As(err, new(*wire.Error)) || errors.As(err, new(*sessionGone)) {
		return nil, nil // runOnHome tells
	}
	s.log.Debug().Err(err).Msg("a read could not fall back to the source")
	return s.staleReader(tried, sourceUnreachable)
}

// resend runs a read on the source that a replica could not answer.
func (s *session) resend(j *job) error {
	s.route.reason = reasonResent
	s.stale = nil
	return s.runOnHome(j)
}

// tryReplica runs a read on one replica. again: it may be sent once more.
func (s *session) tryReplica(c *backend.Conn, j *job, p plan) (again bool, err error) {
	held, lazy := s.nextTrx, s.lazy
	if p.begin {
		if err := s.startTrx(c, j); err != nil {
			switch {
			case errors.As(err, new(*backend.NoSchema)): // not there yet, or not any more: the source knows
				s.dropReplica(c)
			case errors.As(err, new(*wire.Error)):
				return false, s.answerError(j, err)
			default: // the connection broke, and nothing has run
				if again, err := s.readFailedOn(c, j, err); !again {
					return false, err
				}
			}
			s.nextTrx, s.lazy = held, lazy
			return true, nil
		}
	}
	defer func() {
		if again {
			s.nextTrx, s.lazy = held, lazy
		}
	}()
	err = s.exchange(c, j, !p.begin)
	r := &s.relay
	switch {
	case err != nil:
		return s.readFailedOn(c, j, err)
	case r.err != nil && !r.started && replicaCannot(r.err.Code):
		s.noteResend(c, j)
		s.applyNews(c, j)
		if p.begin {
			s.dropReplica(c) // a transaction may be open there
		}
		s.client.SetSequence(j.seq)
		return true, nil
	}
	if p.begin && s.begunOn(c) {
		s.readTrx, s.readFresh = c, r.err == nil
	}
	s.finish(c, j)
	balance.Observe(c.Node.Live, s.route.took, false, j.start)
	return false, s.respond()
}

// readFailedOn handles a read whose answer did not come.
func (s *session) readFailedOn(c *backend.Conn, j *job, err error) (bool, error) {
	var client *clientError
	s.dropReplica(c)
	if errors.As(err, &client) || s.killed.Load() {
		return false, err
	}
	var refused *stateRefused
	if !errors.As(err, &refused) {
		c.Node.Live.Errors.Add(1)
		balance.Observe(c.Node.Live, time.Since(j.start), true, time.Now())
		s.srv.opts.Monitor.Report(c.Node.Addr, c.Node.Incarnation.Generation, err.Error())
	}
	if s.relay.started {
		s.fail(wire.NewError(wire.ErrNetRead, "Causeway: replica %s was lost in the middle of its answer", c.Node.Addr))
		return false, err
	}
	s.srv.metrics.resends.WithLabelValues("connection").Inc()
	s.relay.err = nil
	s.client.SetSequence(j.seq)
	return true, nil
}

// replicaCannot names the errors after which the source is asked: the read
// would have written, or what it names does not exist on the replica yet.
func replicaCannot(code uint16) bool {
	switch code {
	case wire.ErrReadOnlyTransaction, wire.ErrOptionPreventsStmt,
		wire.ErrNoSuchTable, wire.ErrBadField, wire.ErrBadDB, wire.ErrRoutineNotFound:
		return true
	}
	return false
}

// noteResend counts it, and remembers a digest that turned out to write.
func (s *session) noteResend(c *backend.Conn, j *job) {
	switch code := s.relay.err.Code; code {
	case wire.ErrReadOnlyTransaction, wire.ErrOptionPreventsStmt:
		s.srv.opts.Classifier.Learn(j.class, writeKind)
		s.srv.metrics.resends.WithLabelValues("writes").Inc()
		s.log.Info().Str("digest", j.class.Digest).Str("node", c.Node.Addr).
			Msg("a read turned out to write; from now on it goes to the source")
	default:
		s.srv.metrics.resends.WithLabelValues("missing").Inc()
	}
}

func (s *session) dropReplica(c *backend.Conn) {
	if s.replicas[c.Node.Addr] == c {
		delete(s.replicas, c.Node.Addr)
	}
	if s.readTrx == c {
		s.readTrx = nil
	}
	c.Broken = true
	s.discard(c)
}

// reader returns a connection to a replica that may answer, nil for the source.
// It follows the session's contract: a replica that covers the token, else a
// short wait, else the source within the budget, else a longer wait or, without
// a token, the freshest replica with a warning.
func (s *session) reader(j *job, p plan, tried []string) (*backend.Conn, error) {
	v := s.view()
	s.refusal = nil
	need, err := s.need(v, j.start)
	if err != nil {
		return nil, err
	}
	if c := s.pick(v, need, tried); c != nil {
		return c, nil
	}
	if !anyUsable(v, tried) {
		s.route.reason = reasonNoReplica
		return s.withoutReplicas(v, p)
	}
	if c := s.waitCovered(need, s.srv.opts.Wait, tried); c != nil {
		return c, nil
	}
	if !s.view().Source.Usable() {
		return s.withoutSource(need, tried)
	}
	if p.begin {
		s.route.reason = reasonTransaction
		return nil, nil // transactions are not counted against the budget
	}
	if s.srv.opts.Budget.Take(time.Now()) {
		s.srv.metrics.fallbacks.WithLabelValues("used").Inc()
		s.route.reason = reasonFallback
		return nil, nil
	}
	s.srv.metrics.fallbacks.WithLabelValues("refused").Inc()
	return s.afterBudget(need, tried)
}

// withoutSource: only replicas are left. A read without a token is served as it
// can be; one with a token waits for the replicas to apply what they received.
func (s *session) withoutSource(need balance.Need, tried []string) (*backend.Conn, error) {
	if s.token.Set.IsEmpty() {
		return s.staleReader(tried, sourceUnreachable)
	}
	if c := s.waitCovered(need, s.srv.opts.MaxWait-s.srv.opts.Wait, tried); c != nil {
		return c, nil
	}
	if s.refusal != nil {
		return nil, s.refusal
	}
	return nil, wire.NewError(wire.ErrUnknown,
		"Causeway: no replica has this session's writes after %v, and no source can be reached; see SHOW CAUSEWAY SERVERS", s.srv.opts.MaxWait)
}

// withoutReplicas: the source is all there is. Only a cluster that has
// replicas, and lost them, spends its budget for that.
func (s *session) withoutReplicas(v *backend.View, p plan) (*backend.Conn, error) {
	if len(v.Replicas) == 0 || p.begin {
		return nil, nil
	}
	deadline := time.Now().Add(s.srv.opts.MaxWait)
	for !s.srv.opts.Budget.Take(time.Now()) {
		if time.Now().After(deadline) {
			s.srv.metrics.fallbacks.WithLabelValues("refused").Inc()
			return nil, s.budgetError("no replica is usable")
		}
		if err := s.pause(5 * time.Millisecond); err != nil {
			return nil, err
		}
	}
	s.srv.metrics.fallbacks.WithLabelValues("used").Inc()
	return nil, nil
}

// budgetError tells why a read found no server. One that refused the session's
// account has said more than that.
func (s *session) budgetError(why string) error {
	if s.refusal != nil {
		return s.refusal
	}
	return wire.NewError(wire.ErrUnknown,
		"Causeway: %s, and the fallback budget of the source is used up ([fallback] %s); try again, or raise it", why, s.srv.opts.BudgetText)
}

// afterBudget: with a token wait, never be stale; without one never fail.
func (s *session) afterBudget(need balance.Need, tried []string) (*backend.Conn, error) {
	if s.token.Set.IsEmpty() {
		return s.staleReader(tried, budgetUsedUp)
	}
	if c := s.waitCovered(need, s.srv.opts.MaxWait-s.srv.opts.Wait, tried); c != nil {
		return c, nil
	}
	return nil, s.budgetError(fmt.Sprintf("no replica has this session's writes after %v", s.srv.opts.MaxWait))
}

// Why a read is served stale.
const (
	budgetUsedUp      = "the fallback budget was used up"
	sourceUnreachable = "the source did not answer"
)

// staleReader serves a read without a token from the freshest live replica.
func (s *session) staleReader(tried []string, why string) (*backend.Conn, error) {
	v := s.view()
	for {
		n, _ := balance.Freshest(without(v.Replicas, tried), time.Now())
		switch {
		case n != nil:
		case s.refusal == nil && why == sourceUnreachable:
			return nil, wire.NewError(wire.ErrUnknown, "Causeway: no replica is usable, and %s; see SHOW CAUSEWAY SERVERS", why)
		default:
			return nil, s.budgetError("no replica is usable")
		}
		c, err := s.replicaConn(n, true)
		if err == nil {
			s.route.reason = reasonStale
			s.stale = newStaleNote(n, why)
			s.srv.metrics.stale.Inc()
			return c, nil
		}
		tried = append(tried, n.Addr)
	}
}

// need is what a read of this session asks of a replica now.
func (s *session) need(v *backend.View, now time.Time) (balance.Need, error) {
	if s.token.Void(v.Epoch) {
		s.token = gtid.Token{}
		s.srv.metrics.lostTokens.Inc()
		return balance.Need{}, wire.NewError(wire.ErrUnknown,
			"Causeway: writes of this session were lost: the source no longer has transactions that it had acknowledged")
	}
	if s.srv.opts.SkipTokenCheck {
		return balance.Need{Now: now, AnyLive: true}, nil
	}
	token := s.token.Set
	need := balance.Need{Token: token, Now: now}
	if token.IsEmpty() {
		s.srv.metrics.emptyTokens.Inc()
		need.Token = s.srv.floorSet(v)
		need.MaxStaleness = s.srv.opts.MaxStaleness
	} else {
		s.route.reason = reasonToken
	}
	return need, nil
}

// pick chooses among the replicas that qualify until one can be connected to.
// Where all their pools are in use it waits for the first, unless the session
// holds a connection to the source, which can answer: two sessions that each
// wait for what the other holds would wait for ever.
func (s *session) pick(v *backend.View, need balance.Need, tried []string) *backend.Conn {
	var busy *backend.Node
	for {
		nodes := without(v.Replicas, tried)
		n, why := balance.Pick(s.srv.opts.Policy, nodes, need, s.srv.turn.Add(1))
		if n == nil {
			s.route.near = why
			break
		}
		c, err := s.replicaConn(n, false)
		if err == nil {
			n.Live.Picks.Add(1)
			return c
		}
		if busy == nil && errors.As(err, new(*backend.PoolFull)) {
			busy = n
		}
		tried = append(tried, n.Addr)
	}
	switch {
	case busy == nil, s.route.queued: // once is enough
		return nil
	case s.home != nil:
		return s.home
	}
	s.route.queued = true
	c, err := s.replicaConn(busy, true)
	if err != nil {
		return nil
	}
	busy.Live.Picks.Add(1)
	return c
}

// without returns the nodes that were not tried; usually all, unchanged.
func without(nodes []*backend.Node, tried []string) []*backend.Node {
	if len(tried) == 0 {
		return nodes
	}
	out := make([]*backend.Node, 0, len(nodes))
next:
	for _, n := range nodes {
		for _, addr := range tried {
			if n.Addr == addr {
				continue next
			}
		}
		out = append(out, n)
	}
	return out
}

func anyUsable(v *backend.View, tried []string) bool {
	for _, n := range without(v.Replicas, tried) {
		if n.Usable() {
			return true
		}
	}
	return false
}

// sampleWait is how long a read waits for a sample between two looks.
const sampleWait = 5 * time.Millisecond

// waitCovered waits until a replica covers the token.
func (s *session) waitCovered(need balance.Need, limit time.Duration, tried []string) *backend.Conn {
	start := time.Now()
	until := need.Token
	if need.MaxStaleness > 0 {
		until = s.view().SourcePosition // who has that is fresh
	}
	if limit <= 0 || until.IsEmpty() {
		return nil
	}
	for {
		v, ok := s.srv.opts.Monitor.WaitCovered(s.ctx, until, start.Add(limit))
		s.route.waited = time.Since(start)
		if !ok {
			s.srv.metrics.waits.WithLabelValues("timeout").Inc()
			return nil
		}
		need.Now = time.Now()
		if c := s.pick(v, need, tried); c != nil {
			s.srv.metrics.waits.WithLabelValues("covered").Inc()
			if !s.token.Set.IsEmpty() {
				s.route.reason = reasonWaited
			}
			return c
		}
		covered := need.MaxStaleness > 0 // but not proved to be fresh: the next sample of the source tells
		if time.Since(start) >= limit || len(tried) > 0 || covered && s.pause(sampleWait) != nil {
			s.srv.metrics.waits.WithLabelValues("timeout").Inc()
			return nil
		}
	}
}

// replicaConn returns the session's connection to a replica.
func (s *session) replicaConn(n *backend.Node, wait bool) (*backend.Conn, error) {
	if c := s.replicas[n.Addr]; c != nil { // it holds a read-only transaction or a cursor
		if s.unfit(c, n, time.Now()) == "" && c.Fits(s.want(n, c == s.readTrx)) {
			return c, nil
		}
		s.dropReplica(c)
	}
	var own *backend.Conn
	if s.last != nil && s.last.Node.Addr == n.Addr {
		own = s.last
	}
	c, err := s.lease(n, own, false, wait)
	if err != nil {
		errors.As(err, &s.refusal)
		s.log.Debug().Err(err).Str("node", n.Addr).Msg("no connection to a replica")
		return nil, err
	}
	s.holdReplica(c)
	return c, nil
}

func (s *session) holdReplica(c *backend.Conn) {
	if s.replicas == nil {
		s.replicas = map[string]*backend.Conn{}
	}
	s.replicas[c.Node.Addr] = c
}

// floorSet is what a read needs whose session has no token of its own: the
// source's position when this process first knew it.
func (s *Server) floorSet(v *backend.View) gtid.Set {
	f := s.floor.Load()
	if (f == nil || f.Epoch != v.Epoch) && !v.SourcePosition.IsEmpty() {
		f = &gtid.Token{Set: v.SourcePosition, Epoch: v.Epoch}
		s.floor.Store(f)
	}
	if f == nil {
		return gtid.Set{}
	}
	return f.Set
}
