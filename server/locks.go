package server

import (
	"slices"
	"strings"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// With autocommit = 0 a statement keeps its metadata locks until COMMIT, ROLLBACK or
// an implicit commit, also where it has begun no transaction: because it failed before
// it touched a row, or its table's engine has none.

// noteLocks notes after a statement that failed whether there may be such locks.
func (s *session) noteLocks(c *backend.Conn) {
	s.locks = nil
	if c.Status&(wire.StatusInTrans|wire.StatusAutocommit) == 0 {
		s.locks = c
	}
}

// mayLock tells whether a statement can have opened a table: a SET of values has not.
func mayLock(c *classifier.Class) bool {
	return c.Kind != classifier.Set || c.Is(classifier.UnknownFunction) || strings.Contains(c.Digest, "select")
}

// followLocks does so after one that worked: it may have released them, or they are
// those of a transaction that its flags tell of.
func (s *session) followLocks(c *backend.Conn, j *job) {
	switch ends := endsTrx(j.class); {
	case c == s.locks && (ends || s.relay.ok.Status&(trxStatus|wire.StatusAutocommit) != 0):
		s.locks = nil
	case ends || !s.leavesLocks(j) || c != s.home && c != s.readTrx:
	case s.locks == nil:
		s.locks = c
	case s.locks != c:
		c.Unclean = true // at least it is reset before others have it
	}
}

// leavesLocks tells whether a statement that worked may have left locks of which no
// flag tells.
func (s *session) leavesLocks(j *job) bool {
	return s.relay.ok.Status&(wire.StatusInTrans|wire.StatusAutocommit) == 0 && j.want == expectResult && mayKeepLocks(j.class)
}

// mayKeepLocks tells whether a statement can have used a table without transactions.
// SHOW and HANDLER give their locks back.
func mayKeepLocks(c *classifier.Class) bool {
	if c.Is(classifier.MultiStatement) {
		return true
	}
	switch c.Kind {
	case classifier.Read, classifier.ReadSource, classifier.LockingRead, classifier.Write, classifier.Call, classifier.Unknown:
		return !isShow(c) && (!c.Is(classifier.NoTable) || c.Is(classifier.UnknownFunction))
	case classifier.Do, classifier.Set, classifier.Diagnostics:
		return c.Is(classifier.UnknownFunction) || !c.Is(classifier.NoTable) && strings.Contains(strings.ToLower(c.Digest), "select")
	case classifier.TextPrepare:
		return slices.Contains(c.Names, "execute")
	}
	return false
}

// homeInTrx tells whether the connection to the source has a transaction, or
// metadata locks, that end with COMMIT.
func (s *session) homeInTrx() bool {
	return s.home != nil && (s.home.Status.Has(wire.StatusInTrans) || s.locks == s.home)
}
