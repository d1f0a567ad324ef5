package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"causeway/backend"
	"causeway/classifier"
	"causeway/gtid"
	"causeway/scope"
	"causeway/wire"
)

// doubt is a statement whose answer was lost and which may still commit.
type doubt struct {
	addr        string
	account     backend.Account
	thread      uint32
	established time.Time

	by      keys           // which it wrote under
	shared  []*scope.Entry // which the session raises: others are in doubt as well
	settled []func()
	left    bool // to the server, see leaveDoubt
}

// lostAnswer handles a connection that broke while a command was under way. A
// client that left ends the session; a write that it left behind was finished.
func (s *session) lostAnswer(c *backend.Conn, j *job, err error) error {
	s.applyNews(c, j)
	var client *clientError
	if errors.As(err, &client) || s.killed.Load() {
		c.Broken = true
		if c == s.home && s.common.shares() && s.mayHaveWritten(j.class) { // others read what it may have written
			s.openDoubt(c)
		}
		return err
	}
	if c != s.home {
		return s.lostReplicaAnswer(c, j, err)
	}
	var refused *stateRefused
	if errors.As(err, &refused) {
		gone := s.dropHome(err)
		if werr := s.fail(asClientError(err)); werr != nil {
			return werr
		}
		return overOnly(gone)
	}
	if s.mayHaveWritten(j.class) {
		s.openDoubt(c)
		if s.sharing.failed == nil { // else publish has told why
			s.log.Warn().Err(err).Str("node", c.Node.Addr).Str("digest", j.class.Digest).
				Msg("the answer to a write was lost; its outcome is found out before the session reads from a replica")
		}
	}
	inTrx := c.Status.Has(wire.StatusInTrans)
	gone := s.dropHome(err)
	reads := j.class.Kind == classifier.Read || !mayHaveCommitted(j.class) && (j.class.Kind == classifier.ReadSource || s.canStandIn(j))
	reads = reads && !s.tracked.gtids && s.sharing.failed == nil // else it has written, by a view or a function
	if gone == nil && !inTrx && reads && j.want == expectResult && !s.relay.started && !j.again {
		j.again = true
		s.client.SetSequence(j.seq)
		s.srv.metrics.resends.WithLabelValues("connection").Inc()
		return s.run1(j)
	}
	if endsTrx(j.class) || !inTrx {
		s.aborted = ""
	}
	if !s.relay.started {
		s.client.SetSequence(j.seq) // rows may have been ready to go
	}
	s.settleDoubts()
	if isRollback(j) && !s.relay.started && overOnly(gone) == nil {
		return s.endedByLoss(j)
	}
	return s.tellLost(c, j, err, gone)
}

// mayHaveWritten tells it of the command whose answer was lost: by its kind, or
// because a part of the answer that came brought GTIDs.
func (s *session) mayHaveWritten(c *classifier.Class) bool {
	return s.tracked.gtids || mayHaveCommitted(c)
}

func (s *session) openDoubt(c *backend.Conn) {
	d := &doubt{addr: c.Node.Addr, account: c.Account(), thread: c.ThreadID, established: c.Established, by: s.common.keys}
	if s.common.shares() {
		d.shared = s.sharedEntries(s.view())
		for _, e := range d.shared {
			d.settled = append(d.settled, e.Doubt())
		}
	}
	s.doubts = append(s.doubts, d)
	s.srv.metrics.doubts.WithLabelValues("opened").Inc()
}

// leaveDoubts has the server find out what becomes of the doubts that others share,
// as the session may ask for nothing any more.
func (s *session) leaveDoubts() {
	for _, d := range s.doubts {
		s.leaveDoubt(d)
	}
}

func (s *session) leaveDoubt(d *doubt) {
	if len(d.shared) > 0 && !d.left {
		d.left = true
		s.srv.wg.Go(func() { s.srv.settleLater(d) })
	}
}

// settleLater tries until the outcome is known, or the server stops.
func (s *Server) settleLater(d *doubt) {
	defer s.recovered(d.thread)
	for s.serving.Err() == nil {
		ctx, cancel := context.WithTimeout(s.serving, s.opts.MaxWait)
		set, _, err := s.outcome(ctx, d)
		cancel()
		if err == nil {
			d.settle(set, s)
			return
		}
		select {
		case <-s.serving.Done():
		case <-time.After(doubtPause):
		}
	}
}

// doubtPause is between two tries to learn the outcome of a lost statement.
const doubtPause = 100 * time.Millisecond

// settle makes what may have been committed part of what the others need, and
// ends their doubt.
func (d *doubt) settle(set gtid.Set, s *Server) {
	v := s.opts.Monitor.View()
	if v.WithoutGTIDs {
		set = gtid.Set{}
	}
	for _, e := range d.shared {
		e.Raise(set, v.Epoch, s.narrow)
		e.Stick(s.windowEnd(s.opts.Sticky))
	}
	s.publishLater(d.shared)
	for _, settled := range d.settled {
		settled()
	}
}

// lostBefore handles a connection that broke before a command was sent there:
// the command runs on another one, unless the session had something on this.
func (s *session) lostBefore(c *backend.Conn, j *job) error {
	if c != s.home {
		return s.lostReplicaAnswer(c, j, errString("an earlier answer was lost"))
	}
	gone := s.dropHome(errString("an earlier answer was lost"))
	if s.killed.Load() {
		return errQuit
	}
	if gone == nil && s.aborted == "" && !j.again {
		j.again = true
		s.client.SetSequence(j.seq)
		return s.run1(j)
	}
	e := wire.NewError(wire.ErrNetRead, "Causeway: the connection to source %s was lost before the statement was sent; it did not run", c.Node.Addr)
	errors.As(gone, &e) // the transaction is lost
	if werr := s.fail(e); werr != nil {
		return werr
	}
	return overOnly(gone)
}

// endsTrx tells whether no transaction of before is open after a statement,
// whatever became of it; for a client that lost the answer there is none to end.
func endsTrx(c *classifier.Class) bool {
	switch c.Kind {
	case classifier.Commit, classifier.Rollback, classifier.DDL:
		return true
	}
	return c.Is(classifier.ImplicitCommit)
}

// tellLost answers the command whose answer was lost.
func (s *session) tellLost(c *backend.Conn, j *job, err, gone error) error {
	if s.relay.started {
		return fmt.Errorf("source %s was lost in the middle of its answer: %w", c.Node.Addr, err)
	}
	if e := s.sharing.failed; e != nil {
		s.observe(c, j)
		if werr := s.fail(s.notTold(e)); werr != nil {
			return werr
		}
		return overOnly(gone)
	}
	outcome := "it was not a write"
	if s.mayHaveWritten(j.class) {
		outcome = "whether it took effect is not known: read before you repeat it"
	}
	if errors.As(gone, new(*wire.Error)) && s.aborted != "" {
		outcome += "; the transaction is lost: ROLLBACK before going on"
	}
	s.observe(c, j)
	if werr := s.fail(wire.NewError(wire.ErrNetRead, "Causeway: the connection to source %s was lost during the statement; %s", c.Node.Addr, outcome)); werr != nil {
		return werr
	}
	return overOnly(gone)
}

// overOnly returns what dropHome said if it ends the session.
func overOnly(gone error) error {
	var over *sessionGone
	if errors.As(gone, &over) {
		return gone
	}
	return nil
}

// lostReplicaAnswer handles a read-only transaction, or what follows a read,
// whose replica went away.
func (s *session) lostReplicaAnswer(c *backend.Conn, j *job, err error) error {
	inTrx := s.readTrx == c
	s.srv.opts.Monitor.Report(c.Node.Addr, c.Node.Incarnation.Generation, err.Error())
	if !inTrx {
		s.dropReplica(c)
	} else {
		s.readTrxLost(c)
	}
	if s.relay.started {
		return err
	}
	s.client.SetSequence(j.seq)                  // rows may have been ready to go
	if inTrx && (isRollback(j) || isCommit(j)) { // it was READ ONLY
		return s.endedByLoss(j)
	}
	e := wire.NewError(wire.ErrNetRead, "Causeway: the connection to replica %s was lost during the statement", c.Node.Addr)
	if inTrx {
		e.Message += ", and the transaction with it"
	}
	return s.fail(e)
}

// readTrxLost notes that the replica of a read-only transaction went away.
func (s *session) readTrxLost(c *backend.Conn) {
	s.dropReplica(c)
	s.abort("replica "+c.Node.Addr+" was lost", s.readKind)
}

// mayHaveCommitted tells whether a statement on the source can have committed
// something although its answer was an error, or did not come.
func mayHaveCommitted(c *classifier.Class) bool {
	switch c.Kind {
	case classifier.Read, classifier.ReadSource, classifier.Diagnostics, classifier.LockingRead,
		classifier.Savepoint, classifier.Use, classifier.Kill, classifier.Empty, classifier.Handler:
		return c.Flags.Any(classifier.MayCommit | classifier.ImplicitCommit | classifier.UnknownFunction)
	case classifier.Set: // of the session's own variables, by what cannot write
		return c.Flags.Any(classifier.MayCommit | classifier.ImplicitCommit | classifier.UnknownFunction | classifier.MultiStatement | classifier.SetsGlobal)
	}
	return true
}

// settleDoubts comes before any statement of a session in doubt: as long as an
// outcome cannot be found out, reads go to the source, see homeOnlyBesides.
func (s *session) settleDoubts() {
	if len(s.doubts) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.srv.opts.MaxWait)
	defer cancel()
	s.doubts = slices.DeleteFunc(s.doubts, func(d *doubt) bool { return s.resolveDoubt(ctx, d) })
}

// resolveDoubt takes the outcome of a lost statement into the token, once it is known.
func (s *session) resolveDoubt(ctx context.Context, d *doubt) bool {
	set, how, err := s.srv.outcome(ctx, d)
	if err != nil {
		s.srv.metrics.doubts.WithLabelValues("unresolved").Inc()
		s.log.Debug().Err(err).Str("node", d.addr).Msg("outcome of a lost statement not known yet")
		s.leaveDoubt(d)
		return false
	}
	defer s.under(d.by)()
	s.grow(set)
	d.settle(set, s.srv)
	s.srv.metrics.doubts.WithLabelValues(how).Inc()
	return true
}

// outcome waits until the thread of the lost connection is gone from its server
// and returns that server's position then: what it committed is in there.
func (s *Server) outcome(ctx context.Context, d *doubt) (set gtid.Set, how string, err error) {
	v := s.opts.Monitor.View()
	if set, ok := s.settledByPromotion(ctx, d, v); ok {
		return set, "promoted", nil
	}
	node := v.Node(d.addr)
	if node == nil {
		return set, "", fmt.Errorf("%s is no server of the cluster any more", d.addr)
	}
	set, err = backend.AwaitGone(ctx, s.opts.Backend, node, d.account, d.thread, d.established)
	return set, "resolved", err
}

// afterError takes the source's whole position as the token, since an ERR
// carries no GTIDs though the statement may have committed.
func (s *session) afterError(c *backend.Conn, j *job) {
	s.learnTrx(c, j)
	if c != s.home || j.want == expectPrepare || !mayHaveCommitted(j.class) {
		return
	}
	if s.nothingRan(j) {
		return
	}
	s.srv.metrics.hidden.Inc()
	ctx, cancel := context.WithTimeout(s.ctx, s.srv.opts.Backend.ConnectTimeout)
	defer cancel()
	set, err := s.positionOf(ctx, c)
	if err == nil && nothingSince(j.before, set) {
		s.growUntil(set, 0)
		return
	}
	if err == nil {
		s.grow(set)
		return
	}
	s.log.Warn().Err(err).Msg("cannot learn what a failed statement committed; the session reads from the source")
	s.openDoubt(c)
}

// nothingSince tells that nobody has committed anything since a view was taken, if
// afterwards the source had executed no more than that set.
func nothingSince(v *backend.View, set gtid.Set) bool {
	return v != nil && !v.WithoutGTIDs && !set.IsEmpty() && v.SourcePosition.Contains(set)
}

// nothingRan: the text could not be parsed, and no routine or other statement ran
// whose text it was. The names of a SET's variables belong to its syntax.
func (s *session) nothingRan(j *job) bool {
	c := j.class
	switch s.relay.err.Code {
	case wire.ErrUnknownSystemVariable:
		return c.Kind == classifier.Set && !c.Is(classifier.MultiStatement)
	case wire.ErrParse:
		return c.Kind != classifier.TextPrepare && c.Kind != classifier.Call && !c.Flags.Any(classifier.MultiStatement|classifier.UnknownFunction)
	}
	return false
}

// learnTrx asks whether a transaction is open after an error that may have ended
// or begun it: an ERR has no status flags. COM_PING's OK has, and it leaves the
// diagnostics alone, but for ROW_COUNT().
func (s *session) learnTrx(c *backend.Conn, j *job) {
	code := s.relay.err.Code
	may := j.class.Flags.Any(classifier.MayChangeState | classifier.MultiStatement)
	if c.Status.Has(wire.StatusInTrans) {
		may = may || endsTrx(j.class) || code == wire.ErrDeadlock || code == wire.ErrLockWaitTimeout
	} else {
		may = may || s.isOff("autocommit", s.view())
	}
	if !may || j.want == expectPrepare || s.nothingRan(j) {
		return
	}
	if s.askStatus(c) == nil {
		if s.locks == c || mayLock(j.class) {
			s.noteLocks(c)
		}
		return
	}
	c.Broken = true
	if endsTrx(j.class) && code != wire.ErrParse {
		c.Status &^= trxStatus // the implicit commit comes before all else that can fail
	}
}

// positionOf asks the server of a connection for its gtid_executed, now. The
// monitor's shared question is used where it goes to the same server: it
// leaves the connection's diagnostics alone, which the client may ask for next.
func (s *session) positionOf(ctx context.Context, c *backend.Conn) (gtid.Set, error) {
	if src := s.view().Source; src != nil && src.Addr == c.Node.Addr && src.Incarnation.Generation == c.Node.Incarnation.Generation {
		if set, _, err := s.srv.opts.Monitor.FreshSource(ctx); err == nil {
			return set, nil
		}
	}
	s.bound(c)
	defer c.SetDeadline(noDeadline)
	row, err := c.Query("SELECT @@global.gtid_executed")
	if err != nil || len(row) != 1 {
		c.Broken = true
		return gtid.Set{}, fmt.Errorf("asking for the position: %w", err)
	}
	return gtid.Parse(row[0])
}
