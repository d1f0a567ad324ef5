package server

import (
	"errors"

	"causeway/classifier"
	"causeway/wire"
)

// errTrxLost is told until the client ends the transaction that it thinks it has.
const errTrxLost = "Causeway: the transaction was lost (%s); ROLLBACK before going on"

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
		s.aborted = ""
		s.tellTrx(trxEnded)
		s.noteLocal(reasonLocal)
		return true, s.sendOK()
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
// server rolls it back with the connection that broke.
func (s *session) endedByLoss() error {
	s.aborted = ""
	s.tellTrx(trxEnded)
	s.noteHere()
	return s.sendOK()
}

func isRollback(j *job) bool { return j.class.Kind == classifier.Rollback && endsPlainly(j) }

func isCommit(j *job) bool { return j.class.Kind == classifier.Commit && endsPlainly(j) }

// endsPlainly: no other transaction begins, and the session goes on.
func endsPlainly(j *job) bool {
	return j.want == expectResult && !j.class.Flags.Any(classifier.Chain|classifier.Release|classifier.MultiStatement)
}
