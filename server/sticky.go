package server

import (
	"bytes"
	"context"
	"strings"

	"causeway/classifier"
	"causeway/wire"
)

// followSticky takes in what a statement did to the state that only the
// connection to the source has.
func (s *session) followSticky(j *job) {
	k, c := &s.sticky, j.class
	changed := c.Is(classifier.MayChangeState) && s.tracked.stateChanged
	if s.relay.err != nil {
		s.afterFailed(c)
		return
	}
	switch c.Kind {
	case classifier.LockTables:
		k.locked = true
	case classifier.UnlockTables, classifier.Begin:
		k.locked = false
	case classifier.XA:
		k.xa = s.home.Status.Has(wire.StatusInTrans) || xaEnded(c)
	case classifier.TextPrepare:
		k.followPrepare(c)
	case classifier.Handler:
		k.followHandler(c)
	case classifier.Unknown:
		k.unknown = k.unknown || mayLeaveSomething(j.frame.Payload)
	}
	k.temp.follow(c, s.state.Schema)
	if changed && (c.Kind != classifier.TextPrepare || c.Names[0] == "execute") {
		k.temp.some, k.userVars = true, true
	}
	if c.Is(classifier.SetsUserVars) && !s.keepUserVars(j) || c.Kind == classifier.Call && c.Is(classifier.UsesUserVars) {
		k.userVars = true // an OUT parameter sets one
	}
	if c.Flags.Any(classifier.GetLock|classifier.ReleaseLock) || runsUnseen(c) {
		s.followHeld(c)
	}
}

// afterFailed: what a routine or a prepared text did before it failed, no packet
// tells. The connection is reset before anybody else gets it.
func (s *session) afterFailed(c *classifier.Class) {
	if !runsUnseen(c) && !c.Is(classifier.MultiStatement) {
		return
	}
	s.home.Dirty = true
	s.followHeld(c)
}

// runsUnseen names the statements that can do anything to the session's state.
func runsUnseen(c *classifier.Class) bool {
	switch c.Kind {
	case classifier.Call, classifier.Unknown, classifier.TextPrepare:
		return true
	}
	return c.Flags.Any(classifier.UnknownFunction)
}

// xaEnded: after XA END the branch is still the session's, though the flags say
// that no transaction is open.
func xaEnded(c *classifier.Class) bool { return strings.HasPrefix(strings.ToLower(c.Digest), "xa end") }

func (k *stickyState) followPrepare(c *classifier.Class) {
	if len(c.Names) != 2 { // several statements in one text
		k.unknown = true
		return
	}
	switch name := c.Names[1]; c.Names[0] {
	case "prepare":
		if k.prepared == nil {
			k.prepared = map[string]bool{}
		}
		k.prepared[name] = true
	case "deallocate":
		delete(k.prepared, name)
	}
}

func (k *stickyState) followHandler(c *classifier.Class) {
	switch {
	case len(c.Names) != 1:
		k.unknown = true
	case c.Names[0] == "open":
		k.handlers++
	case c.Names[0] == "close":
		k.handlers = max(k.handlers-1, 0)
	}
}

// mayLeaveSomething looks for what leaves session state behind that no tracker
// reports, in a text that was not understood.
func mayLeaveSomething(text []byte) bool {
	lower := bytes.ToLower(text)
	for _, sign := range []string{"@", "get_lock", "lock", "handler", "prepare", "temporary"} {
		if bytes.Contains(lower, []byte(sign)) {
			return true
		}
	}
	return false
}

// followHeld asks what the connection holds for itself: no answer tells it to
// somebody who does not read the rows, and routines can take locks and set
// variables unseen. If nobody can tell, a lock that may have been taken is taken
// to be held, and what ran unseen is undone before anybody else comes.
func (s *session) followHeld(c *classifier.Class) {
	ctx, cancel := context.WithTimeout(s.ctx, s.srv.opts.Backend.ConnectTimeout)
	defer cancel()
	held, err := s.srv.opts.Monitor.Held(ctx, s.home.Node.Addr, s.home.ThreadID)
	if err == nil {
		s.sticky.locks = held.UserLocks
		s.sticky.userVars = s.sticky.userVars || held.UserVars > s.state.UserVars()
		return
	}
	s.log.Debug().Err(err).Msg("cannot ask what a connection holds")
	s.home.Dirty = s.home.Dirty || runsUnseen(c)
	switch {
	case c.Is(classifier.GetLock):
		s.sticky.locks = true
	case c.Is(classifier.ReleaseLock) && strings.Contains(strings.ToLower(c.Digest), "release_all_locks"):
		s.sticky.locks = false
	}
}

// keepUserVars makes user variables that were set to literals part of the
// state, which can be replayed. false: something else was set.
func (s *session) keepUserVars(j *job) bool {
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
	on := s.home.State()
	for i, name := range names {
		on = on.WithVar("@"+name, values[i])
	}
	s.state = state
	s.home.SetState(on)
	return true
}
