package server

import (
	"regexp"
	"sync"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// knownSets remembers what SETs of session variables did that a server has run, so
// that while no connection is free the same SET can be answered without one: a
// client that connects to KILL what uses them up sends first what all clients of
// its kind send. What no server has taken yet is never answered from here.
type knownSets struct {
	mu          sync.Mutex
	young, aged map[setKey]setEffect // those of aged that are used again become young
}

// setKey is all that the effect of a SET to literals depends on.
type setKey struct {
	user, text string
	before     string // Key of the state, but for the schema
	defaults   uint64 // SET GLOBAL changes what a session begins with
	age        uint64 // of the pools: accounts may have changed since
}

// setEffect is what it leaves.
type setEffect struct {
	after  *backend.State // but for the schema
	status wire.Status    // those of setStatus
	block  []byte         // what the server reported
}

const (
	maxKnownSets = 1000 // in each of the two
	maxKnownText = 500

	setStatus = wire.StatusNoBackslashEscapes
)

func (k *knownSets) note(key setKey, e setEffect) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.young == nil || len(k.young) >= maxKnownSets {
		k.young, k.aged = map[setKey]setEffect{}, k.young
	}
	k.young[key] = e
}

func (k *knownSets) find(key setKey) (setEffect, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e, ok := k.young[key]; ok {
		return e, true
	}
	e, ok := k.aged[key]
	return e, ok
}

// notAlike is what a SET has that reads more than literals: a function, a variable on
// the right side, the schema's character set.
var notAlike = regexp.MustCompile(`(?i)\(|=\s*@|^set char(acter\s+)?set\b`)

// setsAlike tells whether a SET does the same each time in the same state: session
// variables, to literals.
func setsAlike(j *job) bool {
	c := j.class
	return c.Kind == classifier.Set && !c.Flags.Any(classifier.SetsAutocommit|classifier.UsesUserVars|classifier.SetsUserVars) &&
		onAnyServer(j) && !notAlike.MatchString(c.Digest)
}

// noteKnownSet remembers what a SET did that a connection has just run, in the state
// before. One that left warnings must run to leave them.
func (s *session) noteKnownSet(c *backend.Conn, j *job, before *backend.State) {
	if s.relay.err != nil || s.relay.ok.Warnings > 0 || j.want != expectResult || s.status.Has(wire.StatusInTrans) || !before.HasCharset() || !setsAlike(j) {
		return
	}
	if text := s.textOf(j); len(text) <= maxKnownText {
		defaults, age := c.Origin()
		key := setKey{s.login.User, text, before.WithSchema("").Key(), defaults, age}
		s.srv.sets.note(key, setEffect{s.state.WithSchema(""), s.relay.ok.Status & setStatus, s.tracked.block})
	}
}

// answerKnownSet answers a SET whose effect is known; the state goes to the
// connection that the session has next. done false: it is not known, or a replica has
// just refused it.
func (s *session) answerKnownSet(j *job) (done bool, err error) {
	src := s.view().Source
	if src == nil || s.relay.err != nil || !setsAlike(j) {
		return false, nil
	}
	s.knowCharset()
	e, known := s.srv.sets.find(setKey{s.login.User, s.textOf(j), s.state.WithSchema("").Key(), src.DefaultsSeq, s.srv.pools.Age()})
	if !known {
		return false, nil
	}
	s.state = e.after.WithSchema(s.state.Schema)
	s.status = s.status&^setStatus | e.status
	s.route.reason = reasonLocal
	return true, s.setTold(e.block)
}
