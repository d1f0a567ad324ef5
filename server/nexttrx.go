package server

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// SET TRANSACTION gives characteristics to the next transaction only. One that is
// READ ONLY is kept here until the transaction starts, for only then it is known
// where.

const (
	accessMode = `read (only|write)`
	isolation  = `isolation level (read committed|read uncommitted|repeatable read|serializable)`
)

// setTrxForm is the statement, by digest, that cannot fail; any other text is for
// a server to judge.
var setTrxForm = regexp.MustCompile(`^(?i:set transaction (` + accessMode + `( ?, ?` + isolation + `)?|` + isolation + `( ?, ?` + accessMode + `)?))( ?;)?$`)

// holdSetTransaction keeps SET TRANSACTION READ ONLY, and what is added to it.
func (s *session) holdSetTransaction(class *classifier.Class, text []byte) bool {
	f := s.facts(s.view())
	if !setTrxForm.MatchString(class.Digest) || !class.Trx.ReadOnly && (len(s.nextTrx) == 0 || class.Trx.ReadWrite) ||
		f.homeTrx || f.lazy || f.readOnlyTrx || s.aborted != "" || f.homeOnly != reasonNone || class.Is(classifier.MultiStatement) {
		return false
	}
	s.nextTrx = append(s.nextTrx, string(text))
	return true
}

// serializable tells whether the next transaction's reads take locks, which are of use
// on the source only, and would stop a replica's applier.
func (s *session) serializable(v *backend.View) bool {
	s.classifierMode(v)
	if s.modeSerial {
		return true
	}
	for _, text := range s.nextTrx {
		if strings.Contains(strings.ToUpper(text), "SERIALIZABLE") {
			return true
		}
	}
	return false
}

// startTrx begins on a connection what was begun only here: the transaction,
// and the characteristics that SET TRANSACTION gave it.
func (s *session) startTrx(c *backend.Conn, j *job) error {
	if j.want == expectPrepare || s.lazy == nil && (len(s.nextTrx) == 0 || startsNoTrx(j.class)) { // PREPARE starts nothing either
		return nil
	}
	return s.interruptibly(c, j, func() error { return s.sendStart(c) })
}

func (s *session) sendStart(c *backend.Conn) error {
	if err := c.AlignNow(s.reachable()); err != nil { // isolation levels hold for transactions that begin later
		c.Broken = true
		return err
	}
	texts := s.nextTrx
	if s.lazy == nil { // a statement that fails, or runs in no transaction after all, does not use them up
		s.oneShot = c == s.home
		c.Unclean = true
	}
	held, lazy := s.nextTrx, s.lazy
	if lazy != nil && (c == s.home || lazy.readOnly) { // else it is empty, and the next one begins: no replica takes READ WRITE
		texts = append(slices.Clip(texts), lazy.text)
	}
	s.nextTrx, s.lazy = nil, nil
	s.ownLevel = s.ownLevel || c == s.home && lazy != nil && len(held) > 0
	for _, text := range texts {
		if _, err := c.Query(text); err != nil {
			s.notStarted(c, held, lazy, err)
			return err
		}
	}
	return nil
}

// notStarted keeps a transaction open for the client whose start a server has
// refused: only the statement has failed that was to be its first.
func (s *session) notStarted(c *backend.Conn, held []string, lazy *lazyTrx, err error) {
	switch {
	case !errors.As(err, new(*wire.Error)):
		c.Broken = true
		s.status &^= trxStatus
	case lazy == nil:
		s.status &^= trxStatus
	default:
		c.Unclean = true // the texts before may hold for the next transaction there
		s.nextTrx, s.lazy = held, lazy
	}
}

// startsNoTrx tells of a statement that surely leaves the characteristics of the
// next transaction as they are.
func startsNoTrx(c *classifier.Class) bool {
	switch c.Kind {
	case classifier.Set:
		if setsTrxDefault(c) {
			return false // a new default takes the next one's place, if that is known there
		}
		return !c.Flags.Any(classifier.SetsNextTrx|classifier.UnknownFunction|classifier.MultiStatement) && !strings.Contains(c.Digest, "select")
	case classifier.Use, classifier.Diagnostics, classifier.Kill, classifier.Empty:
		return !c.Is(classifier.MultiStatement)
	case classifier.Read, classifier.ReadSource:
		return c.Is(classifier.NoTable) && !c.Flags.Any(classifier.UnknownFunction|classifier.MultiStatement)
	}
	return false
}

// setsTrxDefault tells of SET with what transactions are like. Inside one, MySQL gives it to
// those after the next COMMIT or ROLLBACK, and not yet to one that begins after autocommit has
// ended this one.
func setsTrxDefault(c *classifier.Class) bool {
	return c.Kind == classifier.Set && (slices.Contains(c.Names, "transaction_read_only") || slices.Contains(c.Names, "transaction_isolation"))
}

// endsXA are the statements that end what a session has of an XA transaction.
var endsXA = regexp.MustCompile(`^(?i:xa (commit|rollback|prepare) [^;]*;?)$`)

// usesNextTrx tells of a statement that surely had a transaction, if it did not
// fail: the characteristics are used up.
func usesNextTrx(c *classifier.Class) bool {
	switch c.Kind {
	case classifier.Read: // its tables may all be derived ones, or functions
		return !c.Flags.Any(classifier.NoTable|classifier.MultiStatement) && !isShow(c) && !strings.Contains(c.Digest, "(select") &&
			!strings.Contains(strings.ToLower(c.Digest), "json_table")
	case classifier.Write:
		return !c.Flags.Any(classifier.SelectInto | classifier.NoTable | classifier.MultiStatement | classifier.CreatesTemp | classifier.DropsTemp)
	case classifier.DDL: // that of temporary tables commits nothing
		return !c.Flags.Any(classifier.MultiStatement | classifier.CreatesTemp | classifier.DropsTemp)
	case classifier.LockingRead, classifier.Begin, classifier.Commit, classifier.Rollback:
		return !c.Is(classifier.MultiStatement)
	case classifier.XA:
		return endsXA.MatchString(c.Digest)
	case classifier.Set, classifier.LockTables, classifier.UnlockTables:
		// SET autocommit = 1 leaves them; LOCK TABLES may not, and UNLOCK TABLES only commits where tables are locked: in doubt they are not used up.
		return false
	}
	return c.Is(classifier.ImplicitCommit) && !c.Is(classifier.MultiStatement)
}
