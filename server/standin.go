package server

import (
	"errors"
	"slices"
	"strings"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// While no source serves, or all connections to it are in use, a replica stands in
// for it for what drivers send when they connect: SET of variables that are replayed
// on every connection of the session anyway, questions for them, and USE. A client
// can log in then and read, or KILL what uses the connections up. Nothing else is
// brought there: what writes, or leaves what only its connection has, waits for a
// source.

// These end the wait for a source for a command that need not wait.
var (
	errStandIn    = errors.New("a replica can stand in for the source")
	errSourceFull = errors.New("all connections to the source are in use")
)

// canStandIn tells whether a replica may run a command that is the source's, if
// no source serves or is free. It must leave the session with nothing open anywhere.
func (s *session) canStandIn(j *job) bool {
	return s.home == nil && len(s.doubts) == 0 && s.lazy == nil && s.readTrx == nil && s.aborted == "" && len(s.nextTrx) == 0 &&
		!s.trackers.due && !s.sticky.any() && !s.oneShot && s.dropped == "" && onAnyServer(j)
}

// homeOrStandIn is homeFor, unless the command was run without it: done. Where the
// source is only full, nothing else is waited for first, and what cannot be had
// elsewhere, or is refused there, waits for the source.
func (s *session) homeOrStandIn(j *job) (c *backend.Conn, done bool, err error) {
	s.mayStandIn = s.canStandIn(j)
	c, err = s.homeFor(j)
	s.mayStandIn = false
	full := err == errSourceFull // as it is, from sourceConn
	if !full && err != errStandIn {
		return c, false, err
	}
	if done, err := s.standIn(j, full); done {
		return nil, true, err
	}
	if full {
		if done, err := s.answerKnownSet(j); done {
			return nil, true, err
		}
	}
	c, err = s.homeFor(j)
	return c, false, err
}

// standInFlags are what such a statement may do.
const standInFlags = classifier.ReadsSystemVars | classifier.NoTable | classifier.SetsAutocommit | classifier.MayCommit | classifier.ExecutableComment

// onAnyServer tells whether a command means the same on any server that covers
// the session's token. It is pure.
func onAnyServer(j *job) bool {
	c := j.class
	if j.want == expectSimple {
		return c == useClass
	}
	if j.want != expectResult || j.stmt != nil || len(c.Digest) >= classifier.CutDigest { // which may not be whole
		return false
	}
	switch c.Kind {
	case classifier.Use:
		return c.Flags == 0
	case classifier.Set:
		if _, ok := readOnlyDefault(c); ok {
			return true
		}
		return !c.Flags.Any(^(standInFlags | classifier.UsesUserVars | classifier.SetsUserVars | classifier.SetsHint)) && onlyAssigns(c) &&
			slices.IndexFunc(c.Names, isNodesOwn) < 0 && len(c.Names) > 0 && namesShared(c.Digest) && !hasWord(c.Digest, "default") && !hasWord(c.Digest, "select")
	case classifier.ReadSource:
		if asksReadOnly(c) {
			return true
		}
		return c.Is(classifier.NoTable) && !c.Flags.Any(^standInFlags) && namesShared(c.Digest) && !strings.Contains(strings.Replace(c.Digest, "version()", "", 1), "(")
	}
	return false
}

// onlyAssigns tells whether a SET reads no user variable: each one that it names,
// it assigns.
func onlyAssigns(c *classifier.Class) bool {
	n := strings.Count(c.Digest, "@") - 2*strings.Count(c.Digest, "@@")
	for _, name := range c.Names {
		if strings.HasPrefix(name, "@") {
			n--
		}
	}
	return n == 0
}

// isNodesOwn tells of a session variable that replicas' connections do not have
// as the session has it.
func isNodesOwn(name string) bool {
	return !strings.HasPrefix(name, "@") && !(classifier.Tracked(name) && backend.OnReplicas(name))
}

// readOnlyDefault tells what SET SESSION TRANSACTION sets, if that is all that it
// does. No replica is asked: connections there stay read only.
func readOnlyDefault(c *classifier.Class) (value string, ok bool) {
	switch strings.TrimSuffix(c.Digest, ";") {
	case "set session transaction read only":
		return "ON", true
	case "set session transaction read write":
		return "OFF", true
	}
	return "", false
}

// asksReadOnly tells of the question for the same default, which pools ask of a new
// connection. Replicas' connections would say that they are read only.
func asksReadOnly(c *classifier.Class) bool {
	switch strings.TrimSuffix(c.Digest, ";") {
	case "select @@session.transaction_read_only", "select @@transaction_read_only":
		return true
	}
	return false
}

// readOnlyHere sets the session's transaction_read_only, or tells it.
func (s *session) readOnlyHere(j *job) (bool, error) {
	if value, ok := readOnlyDefault(j.class); ok {
		s.route.reason = reasonLocal
		return true, s.setHere("transaction_read_only", value)
	}
	if !asksReadOnly(j.class) {
		return false, nil
	}
	s.route.reason = reasonLocal
	text := s.textOf(j)
	column := strings.TrimRight(text[max(0, strings.LastIndex(text, "@@")):], "; ")
	value := "0"
	if s.isOn("transaction_read_only") {
		value = "1"
	}
	return true, s.values(j, ownQuery{items: []ownItem{{what: "transaction_read_only", column: column}}}, []string{value})
}

// constants are variables that are no session's, and that the servers of a
// cluster have in common as far as clients are concerned.
var constants = []string{
	"character_set_database", "character_set_system", "collation_database", "init_connect", "license", "lower_case_table_names",
	"max_allowed_packet", "net_buffer_length", "performance_schema", "protocol_version", "system_time_zone", "tx_isolation",
	"version", "version_comment", "version_compile_machine", "version_compile_os",
}

// namesShared tells whether all system variables that a digest reads mean the
// same wherever it runs.
func namesShared(digest string) bool {
	for rest := digest; ; {
		_, after, found := strings.Cut(rest, "@@")
		if !found {
			return true
		}
		end := 0
		for end < len(after) && (after[end] == '.' || inName(after[end])) {
			end++
		}
		name := strings.ToLower(after[:end])
		name = strings.TrimPrefix(strings.TrimPrefix(name, "session."), "local.")
		if rest = after[end:]; !slices.Contains(constants, name) && isNodesOwn(name) {
			return false
		}
	}
}

// setsLiterals tells whether the user variables that a SET assigns, if any, can be
// replayed on the source later.
func (s *session) setsLiterals(j *job) bool {
	if !j.class.Is(classifier.SetsUserVars) {
		return true
	}
	_, _, ok := classifier.UserVars([]byte(s.textOf(j)), s.mode)
	if ok && j.class.Is(classifier.SetsHint) { // the source cannot be asked for them
		_, _, ok = classifier.HintVars([]byte(s.textOf(j)), s.mode)
	}
	return ok && j.class.Kind == classifier.Set
}

// standIn runs a command on a replica that covers the session's token. false:
// there is none. full: the source's connections are in use; it serves else.
func (s *session) standIn(j *job, full bool) (bool, error) {
	if !s.setsLiterals(j) {
		return false, nil
	}
	if done, err := s.readOnlyHere(j); done {
		return true, err
	}
	v := s.view()
	first := int(s.srv.turn.Add(1) % uint64(max(1, len(v.Replicas))))
	for i := range v.Replicas {
		n := v.Replicas[(first+i)%len(v.Replicas)]
		if !n.Usable() || !n.Position.Contains(s.token.Set) {
			continue
		}
		c, err := s.replicaConn(n, !full)
		if err != nil {
			continue
		}
		again, err := s.runStandIn(c, j, full)
		if !again {
			return true, err
		}
	}
	return false, nil
}

// runStandIn runs a command on one replica. again: it did not run, or was refused
// where the source may know better: a schema or a right may be new.
func (s *session) runStandIn(c *backend.Conn, j *job, full bool) (again bool, err error) {
	s.stale = nil
	before := s.state
	if err := s.exchange(c, j, false); err != nil {
		return s.readFailedOn(c, j, err)
	}
	if full && s.relay.err != nil && !s.relay.ours {
		return true, nil
	}
	s.route.reason = reasonStandIn
	if full {
		s.route.reason = reasonSourceFull
	}
	s.finish(c, j)
	s.status = s.status&^wire.StatusNoBackslashEscapes | c.Status&wire.StatusNoBackslashEscapes
	if j.class.Is(classifier.SetsAutocommit) {
		s.status = s.status&^wire.StatusAutocommit | c.Status&wire.StatusAutocommit
	}
	if s.relay.err == nil && j.class.Kind == classifier.Set {
		s.followCharset(c, j.class)
		if j.class.Is(classifier.SetsUserVars) {
			c.Unclean = true // no state tells of them there
			s.keepUserVars(c, j)
			s.followHints(j)
		}
	}
	s.noteKnownSet(c, j, before)
	return false, s.respond()
}
