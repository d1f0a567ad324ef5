package server

import (
	"slices"
	"strings"
	"time"

	"causeway/backend"
	"causeway/classifier"
	"causeway/gtid"
	"causeway/wire"
)

// A cluster without GTIDs (View.WithoutGTIDs) is served by sticky windows alone: a
// read within one goes to the source, and if it cannot, fails; beyond windows reads
// go to any replica within its lag limit. No token exists, so none is handed out or
// taken, and no class that needs a proof has one.

// followCommit opens a window for an OK that may stand for a commit, before the
// client has it: no GTID tells there.
func (s *session) followCommit(ok *wire.OK) {
	if s.home == nil || s.current != s.home || !s.followsTrx() {
		return
	}
	var commit bool
	if commit, s.trxWrote = judgeCommit(s.runs.Load(), ok, s.trxWrote); commit && s.srv.opts.Sticky > 0 && s.view().WithoutGTIDs {
		s.raise(gtid.Set{}, s.view(), s.openWindow())
	}
}

// judgeCommit tells whether an OK may stand for a commit, and whether the
// transaction that is open after it may have written; wrote: the one before it.
// What is open the server's flags say. It is pure.
//
//	statement                     open after   window
//	write, autocommit             no           yes, whatever it changed
//	write in a transaction        yes          no
//	COMMIT, or implicitly         either       if the transaction may have written
//	CALL, not understood, several either       yes: it may have committed in between
//	ROLLBACK                      either       no, but with a warning: some of it stayed
//	read                          either       no
func judgeCommit(c *classifier.Class, ok *wire.OK, wrote bool) (commit, wroteNow bool) {
	open, writes := ok.Status.Has(wire.StatusInTrans), mayWrite(c)
	if c.Kind == classifier.XA && !c.Is(classifier.MultiStatement) {
		return writes, wrote && !writes && !showsNothing(c)
	}
	ends := !open || endsTrx(c) || c.Kind == classifier.Begin || c.Kind == classifier.LockTables
	switch {
	case c.Is(classifier.MultiStatement), runsUnseen(c):
		commit = writes || ends && wrote
	case c.Kind == classifier.Rollback:
		commit = wrote && ok.Warnings > 0 // 1196: a table without transactions
	default:
		commit = ends && (wrote || writes)
	}
	return commit, open && (writes || wrote && !ends)
}

// mayWrite leaves out what only begins or ends transactions.
func mayWrite(c *classifier.Class) bool {
	if c.Is(classifier.MultiStatement) {
		return mayHaveCommitted(c)
	}
	if writesNothingShared(c) {
		return false
	}
	switch c.Kind {
	case classifier.Begin, classifier.Commit, classifier.Rollback, classifier.SetTransaction, classifier.LockTables, classifier.UnlockTables:
		return false
	case classifier.Set, classifier.Do:
		return c.Is(classifier.UnknownFunction)
	case classifier.TextPrepare:
		return slices.Contains(c.Names, "execute")
	case classifier.XA:
		return strings.HasPrefix(strings.ToLower(c.Digest), "xa commit")
	}
	return mayHaveCommitted(c)
}

// lacksGTIDs refuses a read whose class promises what only GTIDs can prove.
func (ch *choice) lacksGTIDs() *wire.Error {
	what := ""
	switch {
	case ch.class.Consistency == Bounded, ch.class.Consistency == Global:
		what = "is " + ch.class.Consistency.String()
	case ch.class.Monotonic:
		what = "has monotonic reads"
	case ch.staleness > 0:
		what = "is asked for with a max_staleness"
	default:
		return nil
	}
	return wire.NewError(wire.ErrServerIsntAvailable,
		"Causeway: class %s %s, which needs GTIDs, and the source has none (gtid_mode = OFF); use a class with consistency = \"session\", \"eventual\" or \"source\"", ch.class.Name, what)
}

// noTokens refuses a token where there are none.
func noTokens() *wire.Error {
	return wire.NewError(wire.ErrWrongValueForVar, "Causeway: the source has no GTIDs (gtid_mode = OFF), so there are no tokens; only [routing] sticky and its scope hold here")
}

// onlySource holds a read within a window to the source: nothing tells which
// replica has the commit. It waits for the budget as long as reads wait for it
// where no replica is usable. false: the window has ended meanwhile.
func (s *session) onlySource(v *backend.View) (bool, error) {
	deadline := time.Now().Add(s.srv.opts.MaxWait)
	for ; ; v = s.view() {
		switch {
		case s.srv.windowLeft(s.demanded.until) == 0:
			return false, nil
		case !v.Source.Usable():
			return true, wire.NewError(wire.ErrServerIsntAvailable,
				"Causeway: without GTIDs only the source is sure to have what was written a moment ago, and it cannot be reached; see SHOW CAUSEWAY SERVERS")
		case s.srv.opts.Budget.Ask(s.contract.share, time.Now()):
			s.route.reason = reasonSticky
			return true, nil
		case time.Now().After(deadline):
			s.srv.opts.Budget.Refuse()
			s.stats().refused.Inc()
			return true, s.budgetError("without GTIDs only the source is sure to have what was written a moment ago")
		}
		if err := s.pause(5 * time.Millisecond); err != nil {
			return true, err
		}
	}
}
