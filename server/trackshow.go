package server

import (
	"regexp"
	"strings"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// looksAtTrackers tells whether a statement shows the session_track variables,
// whose values on a connection are those that Causeway needs. Such a statement
// must not do anything of which the trackers would have to tell.
func (s *session) looksAtTrackers(j *job) bool {
	c := j.class
	if j.want != expectResult || c.Flags.Any(classifier.MultiStatement|classifier.UnknownFunction|classifier.Opaque) {
		return false
	}
	switch c.Kind {
	case classifier.Set: // SET session_track_x = an expression with @@session_track_y
		return c.Is(classifier.ReadsSystemVars) && onlyTrackers(c.Names) && strings.Count(c.Digest, "session_track_") > len(c.Names)
	case classifier.ReadSource:
		return strings.Contains(c.Digest, "session_track_") || strings.Contains(c.Digest, "session_variables") ||
			strings.Contains(c.Digest, "variables_by_thread") || strings.HasPrefix(c.Digest, "show") && s.showsTrackers(j)
	}
	return false
}

func onlyTrackers(names []string) bool {
	for _, name := range names {
		if !backend.IsTracker(name) {
			return false
		}
	}
	return true
}

var (
	showVariables = regexp.MustCompile(`(?is)^\s*show\s+(?:(?:session|local)\s+)?variables\b(.*)$`)
	likePattern   = regexp.MustCompile(`(?is)^\s*like\s+['"]([^'"]*)['"]\s*;?\s*$`)
)

// showsTrackers tells whether SHOW VARIABLES may list one of them.
func (s *session) showsTrackers(j *job) bool {
	m := showVariables.FindStringSubmatch(s.textOf(j))
	if m == nil {
		return false
	}
	like := likePattern.FindStringSubmatch(m[1])
	if like == nil {
		return true
	}
	pattern := regexp.QuoteMeta(strings.ReplaceAll(strings.ToLower(like[1]), `\_`, "_"))
	pattern = strings.NewReplacer("%", ".*", "_", ".").Replace(pattern)
	for _, name := range [...]string{"session_track_gtids", "session_track_schema", "session_track_state_change", "session_track_system_variables"} {
		if ok, err := regexp.MatchString("^"+pattern+"$", name); ok || err != nil {
			return true
		}
	}
	return false
}

// runAsWanted runs such a statement while the variables have the client's values.
func (s *session) runAsWanted(c *backend.Conn, j *job) error {
	armed, wanted := c.Armed(), s.wants.is
	if c.Status.Has(wire.StatusInTrans) { // it cannot be set in a transaction
		wanted.GTIDs = armed.GTIDs
	}
	unclean := c.Unclean
	c.Unclean = true // until the trackers are back: nobody else may have it without
	s.bound(c)
	err := c.SetTrackers(armed, wanted)
	c.SetDeadline(noDeadline)
	if err != nil {
		c.Broken = true
		return s.answerError(j, err)
	}
	if err := s.runOn(c, j); err != nil || c.Broken || s.home != c {
		return err
	}
	if j.class.Kind == classifier.Set {
		return nil // what it has set is looked at before the next statement
	}
	s.keepDiagnostics(c)
	s.bound(c)
	defer c.SetDeadline(noDeadline)
	if err := c.SetTrackers(wanted, armed); err != nil {
		c.Broken = true
	}
	c.Unclean = unclean
	return nil
}
