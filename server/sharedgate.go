package server

import (
	"context"
	"strings"

	"causeway/classifier"
	"causeway/share"
	"causeway/wire"
)

// publishes is what a statement may make visible that others must be told of.
type publishes uint8

const (
	publishesNothing publishes = iota
	publishesOwn               // it may write, or commit what another session has prepared
	publishesTrx               // it ends the open transaction, which may have written, by a commit
)

// judgePublishes says what others would have to be told of after a statement; wrote:
// the transaction that is open may have written. It is pure.
//
//	write, DDL, CALL, not understood     own
//	COMMIT, or implicitly                the transaction's, if it wrote
//	XA COMMIT                            own: whoever wrote it
//	XA PREPARE                           nothing: no reader sees it before XA COMMIT
//	ROLLBACK, also to a savepoint or XA  nothing
//	temporary tables, user variables     nothing
//	read, SET, DO without a function     nothing
func judgePublishes(c *classifier.Class, wrote bool) publishes {
	switch {
	case c.Kind == classifier.Rollback, c.Kind == classifier.Savepoint:
		return publishesNothing
	case c.Is(classifier.MultiStatement):
		if mayHaveCommitted(c) {
			return publishesOwn
		}
		return publishesNothing
	case mayWrite(c):
		return publishesOwn
	case wrote && commits(c):
		return publishesTrx
	}
	return publishesNothing
}

// writesNothingShared names statements of kinds that write whose effects only their
// session can see, or nobody.
func writesNothingShared(c *classifier.Class) bool {
	if c.Flags.Any(classifier.UnknownFunction | classifier.Opaque) {
		return false
	}
	switch c.Kind {
	case classifier.Write:
		return c.Flags.Any(classifier.CreatesTemp | classifier.DropsTemp | classifier.SelectInto)
	case classifier.DDL:
		verb, _, _ := strings.Cut(strings.ToLower(c.Digest), " ")
		return verb == "check" || verb == "analyze" || verb == "flush"
	case classifier.Other:
		return true
	}
	return false
}

// commits tells of what may commit the transaction that is open before it.
func commits(c *classifier.Class) bool {
	switch c.Kind {
	case classifier.Commit, classifier.Begin, classifier.LockTables, classifier.UnlockTables:
		return true
	}
	return c.Flags.Any(classifier.ImplicitCommit | classifier.SetsAutocommit)
}

// trxMayHaveWritten tells it of the transaction that is open on the source.
func (s *session) trxMayHaveWritten() bool {
	return s.trxWrote && (s.homeInTrx() || s.sticky.xa)
}

// followFailed notes that a statement which failed may have left something in the
// open transaction: one statement is undone as a whole, those inside a routine or
// before it in the same text are not.
func (s *session) followFailed(c *classifier.Class) {
	if s.followsTrx() {
		s.trxWrote = s.homeInTrx() && (s.trxWrote || mayWrite(c) && (runsUnseen(c) || c.Is(classifier.MultiStatement)))
	}
}

// followsTrx tells whether it matters what transactions have written: GTIDs tell of
// it only when they are committed.
func (s *session) followsTrx() bool {
	return s.srv.others != nil || s.srv.opts.Sticky > 0 && s.view().WithoutGTIDs
}

// storeRefuses refuses what others would have to be told of, before it runs, while
// they cannot be: by configuration while the store is away, and always where another
// process goes by this one's name, if that has not ended within max_wait.
func (s *session) storeRefuses(c *classifier.Class) error {
	if s.srv.others == nil || !s.common.shares() {
		return nil
	}
	what := judgePublishes(c, s.trxMayHaveWritten())
	if what == publishesNothing {
		return nil
	}
	why := ""
	if err := s.awaitName(); err != nil {
		why = "another process holds the lease of this Causeway's name in the store of shared keys ([token.store] name), so nobody can be told of what is written under a key or scope here"
	} else if s.srv.opts.StoreDownRefuses && !s.srv.others.Joined() {
		why = "the store of shared keys cannot be reached, and writes under a key or scope are refused until it can ([token] store_down)"
	} else {
		return nil
	}
	s.srv.metrics.shared.writes.WithLabelValues("refused").Inc()
	return wire.NewError(wire.ErrServerIsntAvailable, "Causeway: %s; %s; see SHOW CAUSEWAY STATUS", why, s.leftBy(what))
}

// leftBy tells where a refusal leaves the client.
func (s *session) leftBy(what publishes) string {
	switch {
	case what == publishesTrx:
		return "nothing was committed: the transaction has written, and is open with its locks until ROLLBACK, or until this statement is sent again later and works"
	case s.homeInTrx() || s.lazy != nil:
		return "nothing has run; the transaction is open: ROLLBACK ends it"
	}
	return "nothing has run"
}

// awaitName waits while another process goes by this one's name.
func (s *session) awaitName() error {
	if !s.srv.others.Doubled() {
		return nil
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.srv.opts.MaxWait)
	defer cancel()
	return s.srv.others.AwaitName(ctx)
}

// notTold is the error for a statement that ran and of which the others could not be
// told: its client must not take it for acknowledged.
func (s *session) notTold(err error) *wire.Error {
	return wire.NewError(wire.ErrServerIsntAvailable,
		"Causeway: what this statement wrote took effect, but the other Causeways that share keys could not be told within %v (routing.max_wait), so that reads through them may miss it: %v; do not repeat it; see SHOW CAUSEWAY STATUS",
		s.srv.opts.MaxWait, err)
}

// storeTrust is the row Store_trusted: what a read would find now.
func storeTrust(st share.State) string {
	switch {
	case st.Phase != share.Joined:
		return "no: " + string(share.NotJoined)
	case st.Distrust != share.Trusted:
		return strings.TrimSpace("no: " + string(st.Distrust) + " " + st.About)
	}
	return "yes"
}
