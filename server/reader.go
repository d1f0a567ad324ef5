package server

import (
	"errors"
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
	s.choose(j)
	s.countRead(j)
	if s.choice.toSource() {
		s.route.reason = reasonClass
		return s.runOnHome(j)
	}
	var tried []string
	for {
		c, err := s.reader(j, p, tried)
		switch {
		case err == errBrownout, c != nil && c != s.home && s.brownedOut(&s.choice, &s.contract): // meanwhile: those behind it in the queue come first
			return s.refuseBrownout()
		case err != nil:
			return s.answerError(j, err)
		}
		if c == nil && (s.route.reason == reasonFallback || p.begin) && s.contract.has(StepStale) {
			c, err = s.homeOrStale(j, tried)
			if err != nil {
				return s.answerError(j, err)
			}
		}
		if c == nil || c == s.home {
			s.borrowed = p.begin
			return s.runOnHome(j)
		}
		again, err := s.tryReplica(c, j, p)
		if !again {
			return err
		}
		tried = append(tried, c.Node.Addr)
		if len(tried) > 1 || s.relay.err != nil {
			s.borrowed = p.begin
			return s.resend(j)
		}
	}
}

// homeOrStale makes sure of the source for a read that falls back to it. If it
// cannot be connected to, a read that may be stale is served as it can be.
func (s *session) homeOrStale(j *job, tried []string) (*backend.Conn, error) {
	_, err := s.homeConn(j.start, schemaFree(j))
	if err == nil || errors.As(err, new(*wire.Error)) || errors.As(err, new(*sessionGone)) {
		return nil, nil // runOnHome tells
	}
	s.log.Debug().Err(err).Msg("a read could not fall back to the source")
	return s.staleReader(tried, sourceUnreachable), nil // without one runOnHome tells
}

// resend runs a read on the source that a replica could not answer.
func (s *session) resend(j *job) error {
	if e := s.relay.err; e != nil && turnedOutToWrite(e.Code) {
		if e := s.storeRefuses(j.class); e != nil {
			return s.answerError(j, e)
		}
	}
	s.route.reason = reasonResent
	s.stale = nil
	return s.runOnHome(j)
}

// tryReplica runs a read on one replica. again: it may be sent once more.
func (s *session) tryReplica(c *backend.Conn, j *job, p plan) (again bool, err error) {
	held, lazy := s.nextTrx, s.lazy
	s.audit(c, j)
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
		if p.begin { // a transaction may be open there, a cursor as well
			s.closeTrx(c, "ROLLBACK")
		}
		s.client.SetSequence(j.seq)
		return true, nil
	}
	if p.begin && s.begunOn(c, j) {
		s.readTrx, s.readTorn = c, false
		s.readFresh = r.err == nil || !r.started && c.Status.Has(wire.StatusInTrans)
		s.noteBegun(held)
	}
	s.finish(c, j)
	s.stats().onReplica.Add(1)
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

// turnedOutToWrite names the errors by which a replica says that a read would write.
func turnedOutToWrite(code uint16) bool {
	return code == wire.ErrReadOnlyTransaction || code == wire.ErrOptionPreventsStmt
}

// noteResend counts it, and remembers a digest that turned out to write.
func (s *session) noteResend(c *backend.Conn, j *job) {
	switch code := s.relay.err.Code; {
	case turnedOutToWrite(code):
		j.class = s.srv.opts.Classifier.Learn(j.class, writeKind) // on the source it is one
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
// It follows the read's contract: a replica that qualifies, else what the on_lag
// of its class says.
func (s *session) reader(j *job, p plan, tried []string) (*backend.Conn, error) {
	v := s.view()
	s.refusal = nil
	need, err := s.need(v, j.start)
	if err != nil {
		return nil, err
	}
	if s.sharing.asked {
		v = s.view() // it took a round trip
	}
	if s.brownedOut(&s.choice, &s.contract) {
		return nil, errBrownout
	}
	if v.WithoutGTIDs && s.contract.token && anyUsable(v, nil) {
		held, err := s.onlySource(v)
		if !held {
			return s.reader(j, p, tried)
		}
		return nil, err
	}
	if s.sticks(j, v) {
		return nil, nil
	}
	barred := s.barred(&s.contract, v, j.start)
	if c, err := s.holdToSeen(v, &need, tried, barred); err != nil || c != nil {
		return c, err
	}
	if barred {
		if c, err := s.onLag(p, need, tried, true); err == nil {
			return c, nil
		} // a warm-up makes no errors
	}
	if c := s.pick(v, need, tried); c != nil {
		return c, nil
	}
	if !anyUsable(v, tried) {
		s.route.reason = reasonNoReplica
		return s.withoutReplicas(v, p)
	}
	return s.onLag(p, need, tried, false)
}

// barred tells whether the warm-up after a promotion keeps a read from replicas:
// no GTID proves what it sees, and its class does not take that. (A replica may
// still be without what the new source has applied of its own backlog.)
func (s *session) barred(c *contract, v *backend.View, now time.Time) bool {
	return now.Before(v.WarmupUntil) && !c.token && !c.class.WarmupAllow && v.Source.Usable() && !s.srv.opts.SkipTokenCheck
}

// need is what a read of this session asks of a replica now.
func (s *session) need(v *backend.View, now time.Time) (balance.Need, error) {
	if err := s.tellLostWrites(v); err != nil {
		return balance.Need{}, err
	}
	if v.WithoutGTIDs {
		if e := s.choice.lacksGTIDs(); e != nil {
			return balance.Need{}, e
		}
	}
	s.demanded = s.demand(v)
	if class := s.choice.class; class.Consistency >= OwnWrites || class.PromoteOnToken { // others ask for no token
		if err := s.demandOthers(&s.demanded); err != nil {
			return balance.Need{}, err
		}
	}
	s.contract = s.agree(s.choice, &s.demanded, v)
	if s.srv.opts.SkipTokenCheck {
		return s.needOf(&s.contract, &s.demanded, now), nil // the contract stays, for the audit
	}
	if !s.demanded.held && !s.contract.global {
		s.srv.metrics.emptyTokens.Inc()
	} else if s.contract.token {
		s.route.reason = reasonToken
	}
	if s.contract.global && anyUsable(v, nil) {
		all, err := s.sourceNow(now)
		if err != nil {
			return balance.Need{}, err
		}
		s.route.reason = reasonToken
		s.demanded.token = s.demanded.token.Union(all)
	}
	return s.needOf(&s.contract, &s.demanded, now), nil
}

// agree is the contract of a read of this session.
func (s *session) agree(ch choice, d *demand, v *backend.View) contract {
	everywhere := d.held && ch.class.mayPromote() && !v.WithoutGTIDs && coveredEverywhere(v, d.token)
	c := agree(ch, s.srv.classes.all[0], d.held, everywhere)
	c.token = c.token || d.stands && (c.floor || c.class.PromoteOnToken)
	if d.stands && c.token && !c.global && !coveredSomewhere(v, d.token) {
		c = c.patient(ch.class, s.srv.classes.all[0])
	}
	if v.WithoutGTIDs { // nothing proves an age: the lag limit judges alone
		c.bound, c.floor = 0, false
	}
	return c
}

// needOf is what a contract asks of a replica.
func (s *session) needOf(c *contract, d *demand, now time.Time) balance.Need {
	if s.srv.opts.SkipTokenCheck {
		return balance.Need{Now: now, AnyLive: true}
	}
	need := balance.Need{MaxStaleness: c.bound, Now: now, Limit: c.class.limit, Promoted: c.promoted && d.held}
	switch {
	case c.token:
		need.Token = d.token
	case c.floor:
		need.Token = d.floor
	}
	return need
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

// awaited is what a replica must have for a read to go on; empty: nobody knows.
func awaited(need *balance.Need, v *backend.View) gtid.Set {
	if need.MaxStaleness > 0 {
		return need.Token.Union(v.SourcePosition) // who has that is fresh
	}
	return need.Token
}

// waitCovered waits until a replica qualifies, at most for limit after start.
func (s *session) waitCovered(need balance.Need, start time.Time, limit time.Duration, tried []string) *backend.Conn {
	until := awaited(&need, s.view())
	if until.IsEmpty() {
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
			if s.contract.token {
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

// errHasCursor is why a read goes elsewhere: the session's connection is not fit for
// it, but for the rows still to be fetched.
var errHasCursor = errors.New("the connection has an open cursor")

// replicaConn returns the session's connection to a replica.
func (s *session) replicaConn(n *backend.Node, wait bool) (*backend.Conn, error) {
	if c := s.replicas[n.Addr]; c != nil { // it holds a read-only transaction or a cursor
		switch fit := s.unfit(c, n, time.Now()) == ""; {
		case fit && c.StillFits(s.want(n, c == s.readTrx)):
			return c, nil
		case fit && s.hasCursor(c):
			return nil, errHasCursor
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
