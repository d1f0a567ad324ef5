package server

import (
	"regexp"
	"strings"

	"causeway/classifier"
	"causeway/gtid"
	"causeway/wire"
)

// followUntracked notices writes that no GTID tells of, and variables whose
// changes the server does not report: such a session reads from the source.
func (s *session) followUntracked(j *job) {
	c := j.class
	wrote := (c.Kind == classifier.Write || c.Kind == classifier.Call) && s.relay.ok.AffectedRows > 0 &&
		(!c.Is(classifier.SelectInto) || c.Is(classifier.UnknownFunction)) // INTO counts the rows it read
	logged := true
	if v, ok := s.state.Var("sql_log_bin"); ok {
		logged = v == "ON" || v == "1"
	}
	open := s.home.Status.Has(wire.StatusInTrans)
	changed := wrote && !s.tracked.gtids && !s.sticky.temp.any() && s.countsChanges(c)
	silent := (s.trxRows.follow(c, changed, open) && !s.tracked.gtids || changed && !open) && !s.view().WithoutGTIDs
	if wrote && !logged || c.Kind == classifier.DDL && !logged || silent {
		s.srv.metrics.untracked.Inc()
		s.homeOnly, s.untracked = reasonUntracked, true
		s.raise(gtid.Set{}, s.view(), s.openWindow())
	}
	if c.Is(classifier.SetsUntracked) && !automatic.MatchString(s.textOf(j)) {
		s.homeOnly, s.sticky.variables = reasonUntracked, true
		s.home.Stained = s.home.Stained || strings.Contains(strings.ToLower(c.Digest), "resource group")
	}
}

// automatic sets gtid_next to what it is: if it has been something else, the session is
// known to have set it.
var automatic = regexp.MustCompile(`(?i)^\s*set\s+((session|local)\s+|@@|@@(session|local)\.)?gtid_next\s*:?=\s*['"]automatic['"]\s*;?\s*$`)

// countsChanges tells whether an OK counts the rows that a statement has changed. For a
// client with CLIENT_FOUND_ROWS an UPDATE counts those it found and tells the others
// besides, and ON DUPLICATE KEY UPDATE those that were as they should be, too.
func (s *session) countsChanges(c *classifier.Class) bool {
	if !s.login.Caps.Has(wire.CapFoundRows) {
		return true
	}
	digest := strings.ToLower(c.Digest)
	switch {
	case c.Kind == classifier.Call, c.Is(classifier.MultiStatement), strings.Contains(digest, "on duplicate key"):
		return false
	case strings.HasPrefix(digest, "update"), strings.HasPrefix(digest, "with"):
		return !s.tracked.unchanged
	}
	return true
}

// trxRows follows whether the transaction that is open has changed rows. GTIDs would
// tell of them when it commits.
type trxRows struct {
	changed bool
	saved   bool // it has a savepoint
	kept    bool // changed before the first: ROLLBACK TO undoes none of that
}

// ended forgets them with their transaction.
func (t *trxRows) ended(over bool) {
	if over {
		*t = trxRows{}
	}
}

// follow takes in a statement that worked; open: after it a transaction is open. It
// tells whether the statement has committed changed rows.
func (t *trxRows) follow(c *classifier.Class, changed, open bool) (committed bool) {
	several := c.Flags.Any(classifier.MultiStatement | classifier.UnknownFunction)
	switch {
	case commits(c) && !several && (!open || c.Kind == classifier.Commit || c.Kind == classifier.Begin):
		committed = t.changed
		*t = trxRows{}
	case c.Kind == classifier.Rollback:
		*t = trxRows{}
	case c.Kind == classifier.Savepoint && strings.HasPrefix(strings.ToLower(c.Digest), "rollback"):
		t.changed = t.kept
	case c.Kind == classifier.Savepoint && !t.saved:
		t.saved, t.kept = true, t.changed
	case c.Kind == classifier.Write && !several: // a routine may have undone what it did
		t.changed = t.changed || changed
	}
	t.ended(!open)
	return committed
}
