package server

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"causeway/backend"
	"causeway/balance"
	"causeway/classifier"
	"causeway/scope"
	"causeway/wire"
)

// The replica of a READ ONLY transaction was picked for what reads had to see when
// the snapshot was made. What begins another transaction, or reads what no snapshot
// holds, must see what was acknowledged by now, and the replica may lack that.

// renewal is what has to be done about it before a statement runs there.
type renewal uint8

const (
	renewNothing renewal = iota // the snapshot holds, or nothing is read
	renewPlace                  // nothing was read yet: where the transaction goes on is chosen anew
	renewLater                  // no snapshot is kept: it waits for the replica, and then goes on on the source
	renewHere                   // it can run on this replica alone: it waits, and then it is an error
)

// renews judges a statement that is to run in the open transaction on the replica.
// It is pure.
func renews(c *classifier.Class, f facts) renewal {
	switch c.Kind {
	case classifier.Commit, classifier.Rollback, classifier.Savepoint, classifier.Empty, classifier.Set,
		classifier.SetTransaction, classifier.Use, classifier.UnlockTables, classifier.XA:
		return renewNothing
	case classifier.Read, classifier.ReadSource, classifier.Write:
		if c.Is(classifier.NoTable) && !c.Is(classifier.UnknownFunction) {
			return renewNothing
		}
	}
	switch {
	case f.fresh, f.onlyLocks:
		return renewPlace
	case outlivesTrx(c), // PREPARE, HANDLER OPEN
		c.Kind == classifier.LockingRead && strings.Contains(strings.ToLower(c.Digest), "for update"): // 1792
		return renewNothing
	case f.unread, c.Is(classifier.MultiStatement):
		return renewHere
	case f.rereads:
		return renewLater
	case c.Kind == classifier.Read, c.Kind == classifier.ReadSource, c.Kind == classifier.Write, c.Kind == classifier.Do:
		return renewNothing
	}
	return renewHere // may end the transaction, or reads the latest rows: FOR SHARE
}

// reopens tells of a statement that ends the transaction and begins the next one;
// chain: one of the same kind, without more being said. completion: completion_type.
// It is pure.
func reopens(c *classifier.Class, completion string) (reopens, chain bool) {
	switch {
	case c.Is(classifier.MultiStatement):
	case c.Kind == classifier.Begin:
		return trxForms.MatchString(c.Digest) || snapshotForm.MatchString(c.Digest), false
	case c.Kind != classifier.Commit && c.Kind != classifier.Rollback, c.Is(classifier.Release), !trxForms.MatchString(c.Digest):
	case c.Is(classifier.Chain):
		return true, true
	case completion == "1", strings.EqualFold(completion, "CHAIN"):
		chain = !strings.Contains(strings.ToLower(c.Digest), "no chain")
		return chain, chain
	}
	return false, false
}

// snapshotForm is what trxForms leaves out: it is never lazy.
var snapshotForm = regexp.MustCompile(`^(?i:start transaction (read (only|write) ?, ?)?with consistent snapshot( ?, ?read (only|write))?)( ?;)?$`)

// reopenReadTrx ends the transaction on the replica for a statement that begins
// another one. A chain is answered here: a server hears of it with the first read,
// for which a replica is chosen then.
func (s *session) reopenReadTrx(j *job) (done bool, err error) {
	again, chain := reopens(j.class, s.variable("completion_type", s.view()))
	if !again {
		return false, nil
	}
	how := "COMMIT"
	if j.class.Kind == classifier.Rollback {
		how = "ROLLBACK"
	}
	s.leaveReadTrx(how)
	if !chain {
		return false, nil
	}
	s.goOnLater(true)
	return true, s.answeredHere(j.class)
}

// leaveReadTrx ends the transaction on its replica. The next one has its characteristics.
func (s *session) leaveReadTrx(how string) {
	s.endReadTrx(how)
	s.nextTrx = []string{s.readKind}
	s.lateToken = false
}

// goOnLater keeps a READ ONLY transaction open for the client only, until its next
// statement. onReplica: a replica may have that, else the source gets it.
func (s *session) goOnLater(onReplica bool) {
	s.lazy = &lazyTrx{text: "START TRANSACTION", readOnly: onReplica}
	s.status |= trxStatus
	s.inTrx.Store(true)
}

// unlessBegun forgets what the next transaction was to be like, if the one that was to
// take the place of a READ ONLY one could not begin.
func (s *session) unlessBegun() {
	if s.readTrx == nil && s.lazy == nil && !s.homeInTrx() && len(s.nextTrx) == 1 && s.nextTrx[0] == s.readKind {
		s.nextTrx = nil
	}
}

// noteBegun keeps what a transaction that has begun on a replica is like: as the
// texts say that gave it characteristics, else as the session's are.
func (s *session) noteBegun(texts []string) {
	level := cmp.Or(s.variable("transaction_isolation", s.view()), s.readTrx.Node.Defaults["transaction_isolation"])
	for _, text := range texts {
		if set := s.srv.opts.Classifier.Classify([]byte(text), s.mode).Trx.Isolation; set != "" {
			level = set
		}
	}
	s.readKind, s.readPinned = "SET TRANSACTION READ ONLY", false
	level = strings.ToUpper(level)
	switch level {
	case "READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE":
		s.readKind = "SET TRANSACTION ISOLATION LEVEL " + strings.ReplaceAll(level, "-", " ") + ", READ ONLY"
	}
	s.rereads = strings.HasPrefix(level, "READ-") // SERIALIZABLE may be before what came meanwhile
}

// planned is the plan of a command. A READ ONLY transaction may have to leave its
// replica for it.
func (s *session) planned(j *job) (plan, error) {
	waited := time.Duration(0)
	for {
		v := s.view()
		f := s.facts(v)
		f.tempFree = f.homeOnly == reasonTempTables && s.homeOnlyBesides() == reasonNone && !s.sticky.temp.mayBeIn(j.class)
		if !f.homeTrx && !f.lazy || j.class.Kind == classifier.Begin {
			s.borrowed = false
		}
		p := decide(j.class, f)
		if j.want == expectPrepare {
			p = decidePrepare(j.class, f)
		}
		s.route = route{reason: p.reason, digest: j.class.Digest, rule: s.rule, view: v.Seq, waited: waited}
		if p.target != toTrx || j.want != expectResult {
			return p, nil
		}
		again, err := s.renewReadTrx(j, f)
		if err != nil || !again {
			return p, err
		}
		waited = s.route.waited
	}
}

// renewReadTrx sees to it that what a statement reads on the transaction's replica is
// all that it must see. again: the transaction has left it, and the statement is to
// be planned anew.
func (s *session) renewReadTrx(j *job, f facts) (again bool, err error) {
	how := renews(j.class, f)
	if how == renewNothing {
		return false, nil
	}
	c := s.readTrx
	need, has, err := s.mayReadHere(c, j, how)
	torn := s.readTorn && f.unread // no wait makes another snapshot
	switch {
	case err != nil:
		return false, err
	case how == renewPlace && (!has || s.readTorn || s.choice.toSource()):
		s.leaveReadTrx("ROLLBACK")
		if !f.onlyLocks {
			s.goOnLater(true)
		}
		return true, nil
	case !torn && (has || s.awaitHere(c, need, j.start, s.patience(how))):
		return false, nil
	case how == renewHere, s.readPinned, s.hasCursor(c):
		return false, s.lacking(c)
	case !s.srv.opts.Budget.Ask(s.contract.share, time.Now()):
		s.srv.opts.Budget.Refuse()
		s.stats().refused.Inc()
		return false, s.budgetError("the replica of the READ ONLY transaction lacks writes that must be seen")
	}
	s.moveReadTrx()
	s.countRead(j)
	s.fellBack()
	s.borrowed = true
	return true, nil
}

// renewBound is renewReadTrx for an execution whose long data is on the replica: it
// can go nowhere else.
func (s *session) renewBound(j *job) error {
	c, f := s.readTrx, s.facts(s.view())
	if renews(j.class, f) == renewNothing {
		return nil
	}
	need, has, err := s.mayReadHere(c, j, renewHere)
	torn := s.readTorn && f.unread
	if err != nil || !torn && (has || s.awaitHere(c, need, j.start, s.srv.opts.MaxWait)) {
		return err
	}
	return s.lacking(c)
}

func (s *session) lacking(c *backend.Conn) *wire.Error {
	return wire.NewError(wire.ErrServerIsntAvailable,
		"Causeway: replica %s, which has the READ ONLY transaction, lacks writes that this statement must see, as it may read beyond the transaction's snapshot (waited %v); nothing has run: send COMMIT or ROLLBACK as a statement of its own first",
		c.Node.Addr, s.route.waited.Round(time.Millisecond))
}

// mayReadHere tells whether the transaction's replica has what a statement must see
// now, and what that is.
func (s *session) mayReadHere(c *backend.Conn, j *job, how renewal) (need balance.Need, has bool, err error) {
	reason := s.route.reason
	s.choose(j)
	v := s.view()
	if need, err = s.need(v, j.start); err != nil {
		return need, false, err
	}
	s.route.reason = reason
	if s.contract.monotonic && !need.AnyLive {
		floor, err := s.seenBut(v, scope.Read{Addr: c.Node.Addr, Generation: c.Node.Incarnation.Generation})
		if err != nil {
			return need, false, err
		}
		need.Token = need.Token.Union(floor)
	}
	if how != renewPlace { // a transaction keeps its replica for all but the promise itself
		need.MaxStaleness, need.Limit = 0, -1
	}
	return need, s.has(c, need), nil
}

// has tells whether a connection's server qualifies now.
func (s *session) has(c *backend.Conn, need balance.Need) bool {
	v := s.view()
	switch {
	case s.sharedInDoubt():
		return false // only the source is sure to have it
	case v.WithoutGTIDs && s.contract.token:
		return s.srv.windowLeft(s.demanded.until) == 0
	}
	n := v.Node(c.Node.Addr)
	if n == nil || n.Incarnation.Generation != c.Node.Incarnation.Generation {
		return true // the connection is lost, which is told where it is used
	}
	need.Now = time.Now()
	n, _ = balance.Pick(s.srv.opts.Policy, []*backend.Node{n}, need, 0)
	return n != nil
}

// patience is how long a statement waits for the transaction's replica: as long as
// its class waits for any, if the source can take it over.
func (s *session) patience(how renewal) time.Duration {
	if how == renewLater {
		for _, step := range s.contract.class.OnLag {
			if step.Kind == StepWait {
				return min(step.Wait, s.srv.opts.MaxWait)
			}
		}
		return 0
	}
	return s.srv.opts.MaxWait
}

// awaitHere waits for one server, at most for limit after start.
func (s *session) awaitHere(c *backend.Conn, need balance.Need, start time.Time, limit time.Duration) bool {
	deadline := start.Add(limit)
	for time.Now().Before(deadline) && !s.view().WithoutGTIDs {
		s.srv.opts.Monitor.WaitCovered(s.ctx, need.Token, deadline)
		if s.has(c, need) {
			s.route.waited = time.Since(start)
			s.srv.metrics.waits.WithLabelValues("covered").Inc()
			return true
		}
		if s.pause(sampleWait) != nil {
			break
		}
	}
	s.route.waited = time.Since(start)
	s.srv.metrics.waits.WithLabelValues("timeout").Inc()
	return false
}
