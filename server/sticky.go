package server

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// followSticky takes in what a statement did to the state that only the
// connection to the source has.
func (s *session) followSticky(j *job) {
	k, c := &s.sticky, j.class
	changed := c.Is(classifier.Opaque) && s.tracked.stateChanged
	if c.Kind == classifier.Write && c.Is(classifier.UsesUserVars) { // one that was never set has a type from now on
		s.home.Unclean = true
		k.userVars = k.userVars || s.namesUnset(c)
	}
	if s.relay.err != nil {
		if c.Kind == classifier.Handler && len(c.Names) == 2 && s.relay.err.Code == wire.ErrUnknownTable { // a statement on its table has closed it
			delete(k.handlers, c.Names[1])
		}
		s.afterFailed(j)
		return
	}
	k.locked.follow(c)
	switch c.Kind {
	case classifier.XA:
		k.xa = s.home.Status.Has(wire.StatusInTrans) || xaEnded(c)
	case classifier.TextPrepare:
		k.followPrepare(c)
	case classifier.Handler:
		k.followHandler(c)
	case classifier.Unknown:
		k.unknown = k.unknown || mayLeaveSomething(j.frame.Payload, c)
	case classifier.Write:
		k.insertID = k.insertID && s.hasInsertID()
	}
	k.insertID = k.insertID || setsInsertID(c)
	s.followTimestamp(j)
	var tables []string
	if c.Flags.Any(classifier.CreatesTemp | classifier.DropsTemp) {
		tables = classifier.TempTables(s.textOf(j), s.mode)
	}
	k.temp.follow(c, tables, s.state.Schema)
	if changed && c.Kind != classifier.TextPrepare { // PREPARE and EXECUTE always report a change
		k.temp.some, k.userVars = true, true
	}
	if c.Is(classifier.SetsUserVars) && !s.keepUserVars(s.home, j) || c.Kind == classifier.Call && c.Is(classifier.UsesUserVars) {
		k.userVars = true // an OUT parameter sets one
	}
	if c.Flags.Any(classifier.GetLock|classifier.ReleaseLock) || runsUnseen(c) || s.tracked.stateChanged && mayTrigger(c) && !k.userVars {
		s.followHeld(c)
	}
}

// hasInsertID asks whether insert_id still waits for an INSERT that generates an
// id: no other write uses it up.
func (s *session) hasInsertID() bool {
	row, err := s.askHome("SELECT @@insert_id")
	return err != nil || len(row) != 1 || row[0] != "0"
}

// runsUnseen names the statements that can do anything to the session's state.
func runsUnseen(c *classifier.Class) bool { return c.Is(classifier.Opaque) }

// xaEnded: after XA END the branch is still the session's, though the flags say
// that no transaction is open.
func xaEnded(c *classifier.Class) bool {
	digest := strings.ToLower(c.Digest)
	return strings.HasPrefix(digest[max(strings.LastIndex(digest, "xa "), 0):], "xa end") // the last of several
}

// followPrepare reads the pairs of verb and name; a text can have several.
func (k *stickyState) followPrepare(c *classifier.Class) {
	for names := c.Names; len(names) >= 2; names = names[2:] {
		switch names[0] {
		case "prepare":
			if k.prepared == nil {
				k.prepared = map[string]bool{}
			}
			k.prepared[names[1]] = true
		case "deallocate":
			delete(k.prepared, names[1])
		}
	}
}

func (k *stickyState) followHandler(c *classifier.Class) {
	for names := c.Names; len(names) >= 2; names = names[2:] { // a text can have several
		switch names[0] {
		case "open":
			if k.handlers == nil {
				k.handlers = map[string]bool{}
			}
			k.handlers[names[1]] = true
		case "close":
			delete(k.handlers, names[1])
		}
	}
}

// mayLeaveSomething looks for what leaves session state behind that no tracker
// reports, in a text that was not understood, or in one of several statements of
// different kinds, whose flags tell of the rest.
func mayLeaveSomething(text []byte, c *classifier.Class) bool {
	signs := []string{"handler", "prepare", "xa "}
	if c.Is(classifier.Opaque) {
		signs = append(signs, "@", "get_lock", "lock", "temporary")
	}
	return hasAny(text, signs...)
}

func hasAny(text []byte, signs ...string) bool {
	lower := bytes.ToLower(text)
	return slices.ContainsFunc(signs, func(sign string) bool { return bytes.Contains(lower, []byte(sign)) })
}

// followTimestamp makes a timestamp that was set part of the state. What it was
// set to, if not to a literal, the server knows.
func (s *session) followTimestamp(j *job) {
	if !slices.Contains(j.class.Names, "timestamp") || j.class.Kind != classifier.Set && j.class.Kind != classifier.Unknown {
		return
	}
	text, _ := queryText(j.frame.Payload, s.login.Caps)
	value, ok := classifier.Timestamp(text, s.mode)
	if !ok || j.stmt != nil || s.relay.err != nil {
		if value, ok = s.askTimestamp(); !ok {
			s.homeOnly, s.sticky.variables = reasonUntracked, true
			return
		}
	}
	for _, on := range []struct {
		state *backend.State
		set   func(*backend.State)
	}{{s.home.State(), s.home.SetState}, {s.state, func(st *backend.State) { s.state = st }}} {
		if value == "" {
			on.set(on.state.WithoutVar("timestamp"))
		} else {
			on.set(on.state.WithVar("timestamp", value))
		}
	}
}

// askTimestamp asks the session's connection to the source for @@timestamp; "" if
// none is set: it is another one with each statement then.
func (s *session) askTimestamp() (value string, ok bool) {
	for i := range 2 {
		row, err := s.askHome("SELECT @@timestamp")
		if err != nil || len(row) != 1 {
			return "", false
		}
		if i == 1 && row[0] != value {
			return "", true
		}
		value = row[0]
	}
	return value, true
}

// followHeld asks what the connection holds for itself: no answer tells it to
// somebody who does not read the rows, and routines can take locks and set
// variables unseen. If nobody can tell, a lock that may have been taken is taken
// to be held, and what ran unseen is undone before anybody else comes.
func (s *session) followHeld(c *classifier.Class) {
	s.home.Unclean = s.home.Unclean || runsUnseen(c) // temporary tables of a routine, nobody reports
	unseen := runsUnseen(c) || mayTrigger(c) || s.relay.err != nil
	ctx, cancel := context.WithTimeout(s.ctx, s.srv.opts.Backend.ConnectTimeout)
	defer cancel()
	held, err := s.srv.opts.Monitor.Held(ctx, s.home.Node.Addr, s.home.ThreadID)
	if err == nil {
		s.sticky.locks = held.UserLocks
		s.sticky.locked.add(held)
		s.sticky.userVars = s.sticky.userVars || unseen && !s.keptUserVars(held.UserVars)
		return
	}
	s.log.Debug().Err(err).Msg("cannot ask what a connection holds")
	s.home.Dirty = s.home.Dirty || runsUnseen(c)
	s.sticky.userVars = s.sticky.userVars || c.Is(classifier.SetsUserVars) || unseen && s.state.HasUserVarsBut(hintVariables[:])
	switch {
	case c.Is(classifier.GetLock):
		s.sticky.locks = true
	case c.Is(classifier.ReleaseLock) && strings.Contains(strings.ToLower(c.Digest), "release_all_locks"):
		s.sticky.locks = false
	}
}
