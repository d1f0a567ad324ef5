package server

import (
	"errors"
	"strings"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// errTrxLost is told until the client ends the transaction that it thinks it has.
const errTrxLost = "Causeway: the transaction was lost (%s); ROLLBACK before going on"

// abort notes that the client's transaction is lost. again is SET TRANSACTION for one
// like it.
func (s *session) abort(why, again string) {
	s.aborted, s.lostKind = why, again
	s.status &^= trxStatus
	s.inTrx.Store(false)
}

// homeKind is SET TRANSACTION for another transaction like that on a connection to the
// source, "" if its isolation level is not known here.
func (s *session) homeKind(c *backend.Conn) string {
	switch {
	case s.oneShot, s.ownLevel:
		return ""
	case c.Status.Has(wire.StatusInTransReadonly), !c.Status.Has(wire.StatusInTrans) && s.isOn("transaction_read_only"):
		return "SET TRANSACTION READ ONLY"
	}
	return "SET TRANSACTION READ WRITE"
}

// noticeLoss looks whether the connection of the transaction that is to be rolled
// back is still there: without it, it has been.
func (s *session) noticeLoss(j *job) {
	v := s.view()
	switch {
	case s.readTrx != nil:
		c := s.readTrx
		if s.unfit(c, v.Node(c.Node.Addr), j.start) != "" {
			s.readTrxLost(c)
		}
	case s.home != nil && s.home.Status.Has(wire.StatusInTrans) && !s.sticky.any():
		if why := s.unfit(s.home, v.Source, j.start); why != "" {
			_ = s.dropHome(errors.New(why)) // s.aborted tells
		}
	}
}

// whileAborted answers for a transaction that no longer exists.
func (s *session) whileAborted(j *job) (bool, error) {
	why := s.aborted
	switch {
	case j.want == expectPrepare: // ends nothing, whatever it prepares
	case j.class.Kind == classifier.Rollback:
		return true, s.endedByLoss(j)
	case j.class.Kind == classifier.Commit:
		s.aborted = ""
	case j.class.Kind == classifier.Begin || j.class.Is(classifier.SetsAutocommit):
		s.aborted = "" // the client was told, and begins anew
		return false, nil
	}
	s.noteLocal(reasonRefused)
	return true, s.fail(wire.NewError(wire.ErrServerIsntAvailable, errTrxLost, why))
}

// endedByLoss answers what was to end a transaction of which nothing is left: its
// server rolls it back with the connection that broke. AND CHAIN begins another one.
func (s *session) endedByLoss(j *job) error {
	s.aborted = ""
	s.noteLocal(reasonLocal)
	_, chain := reopens(j.class, s.variable("completion_type", s.view()))
	switch {
	case !chain:
		s.tellTrx(trxEnded)
	case s.lostKind == "":
		s.tellTrx(trxEnded)
		return s.refuseWith(wire.NewError(wire.ErrServerIsntAvailable, errNotChained))
	default:
		s.chainLost()
	}
	s.noteDone()
	if err := s.sendOK(); err != nil || !s.releases(j.class) {
		return err
	}
	return errQuit
}

// errNotChained is told once; the client has no transaction then.
const errNotChained = "Causeway: the transaction was lost, and none has begun in its place: it had characteristics by SET TRANSACTION"

// chainLost keeps a transaction like the lost one open for the client only.
func (s *session) chainLost() {
	s.lateToken = false
	s.tellTrx(trxBegun)
	s.nextTrx = nil
	if strings.HasSuffix(s.lostKind, "READ ONLY") {
		s.nextTrx = []string{s.lostKind}
		s.goOnLater(true)
		return
	}
	s.lazy = &lazyTrx{text: "START TRANSACTION READ WRITE"}
	s.status |= wire.StatusInTrans
	s.inTrx.Store(true)
}

func isRollback(j *job) bool { return j.class.Kind == classifier.Rollback && j.want == expectResult }

func isCommit(j *job) bool { return j.class.Kind == classifier.Commit && j.want == expectResult }
