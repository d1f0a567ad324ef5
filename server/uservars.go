package server

import (
	"slices"
	"strings"

	"causeway/backend"
	"causeway/classifier"
)

// mayTrigger names the statements that change session state by triggers only, but
// for a variable that they name and that was never set: its type is news.
func mayTrigger(c *classifier.Class) bool {
	return (c.Kind == classifier.Write || c.Kind == classifier.DDL) && !c.Flags.Any(classifier.CreatesTemp|classifier.DropsTemp)
}

// keptUserVars tells whether the variables that the server has, by their sums, are
// those of the state: a value that is not as its literal may have been set unseen.
func (s *session) keptUserVars(sums map[string]string) bool {
	set := 0
	for _, name := range s.state.Vars() {
		literal, _ := s.state.Var(name)
		if name[0] != '@' || strings.EqualFold(literal, "NULL") {
			continue
		}
		as := func(value string) bool { return sums[name[1:]] == backend.VarSum(value) }
		if !slices.ContainsFunc(classifier.KeptValues(literal, s.mode), as) {
			return false
		}
		set++
	}
	return set == len(sums)
}

// namesUnset tells whether a statement names a user variable that was never set to a literal.
func (s *session) namesUnset(c *classifier.Class) bool {
	for _, m := range userVars.FindAllStringSubmatch(c.Digest, -1) {
		if _, set := s.state.Var(strings.ToLower(strings.ReplaceAll(m[1], "`", ""))); !set {
			return true
		}
	}
	return false
}

// keepUserVars makes user variables that were set to literals part of the
// state, which can be replayed. false: something else was set.
func (s *session) keepUserVars(c *backend.Conn, j *job) bool {
	if j.class.Kind != classifier.Set || j.stmt != nil || s.sticky.userVars || j.class.Is(classifier.MultiStatement) {
		return false
	}
	text, ok := queryText(j.frame.Payload, s.login.Caps)
	if !ok {
		return false
	}
	names, values, ok := classifier.UserVars(text, s.mode)
	if !ok || j.class.Flags.Any(classifier.UnknownFunction) {
		return false
	}
	state := s.state
	for i, name := range names {
		state = state.WithVar("@"+name, values[i])
	}
	on := c.State()
	for i, name := range names {
		on = on.WithVar("@"+name, values[i])
	}
	s.state = state
	c.SetState(on)
	return true
}
