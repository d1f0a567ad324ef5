package server

import (
	"strings"

	"causeway/classifier"
	"causeway/gtid"
	"causeway/wire"
)

// followUntracked notices writes that no GTID tells of, and variables whose
// changes the server does not report: such a session reads from the source.
func (s *session) followUntracked(c *classifier.Class) {
	wrote := (c.Kind == classifier.Write || c.Kind == classifier.Call) && s.relay.ok.AffectedRows > 0 &&
		(!c.Is(classifier.SelectInto) || c.Is(classifier.UnknownFunction)) // INTO counts the rows it read
	logged := true
	if v, ok := s.state.Var("sql_log_bin"); ok {
		logged = v == "ON" || v == "1"
	}
	silent := wrote && !s.tracked.gtids && !s.home.Status.Has(wire.StatusInTrans) && !s.sticky.temp.any() &&
		!s.login.Caps.Has(wire.CapFoundRows) && !s.view().WithoutGTIDs
	if wrote && !logged || c.Kind == classifier.DDL && !logged || silent {
		s.srv.metrics.untracked.Inc()
		s.homeOnly, s.untracked = reasonUntracked, true
		s.raise(gtid.Set{}, s.view(), s.openWindow())
	}
	if c.Is(classifier.SetsUntracked) {
		s.homeOnly, s.sticky.variables = reasonUntracked, true
		s.home.Stained = s.home.Stained || strings.Contains(strings.ToLower(c.Digest), "resource group")
	}
}
