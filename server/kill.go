package server

import (
	"errors"
	"strconv"
	"strings"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// errKillDenied is MySQL's ER_KILL_DENIED_ERROR.
const errKillDenied = 1095

const errInterrupted = "Query execution was interrupted"

// kill serves KILL with an id that Causeway gave out. false: the id is a
// server's own, or it cannot be known here; the source must answer.
func (s *session) kill(j *job) (bool, error) {
	if j.class.Is(classifier.MultiStatement) {
		return false, nil
	}
	id, known, err := s.killID(j)
	if err != nil {
		return true, s.answerError(j, err)
	}
	if !known || id > 1<<32-1 {
		return false, nil
	}
	target := s.srv.sessionOf(uint32(id))
	if target != nil && target != s && target.killed.Load() {
		target = nil // it is only being cleared away
	}
	if target == nil && id < firstConnectionID {
		return false, nil
	}
	s.route = route{digest: j.class.Digest}
	s.noteLocal(reasonLocal)
	switch {
	case target == nil:
		return true, s.refuseWith(wire.NewError(wire.ErrNoSuchThread, "Unknown thread id: %d", id))
	case s.srv.loginOf(target).User != s.login.User:
		return true, s.refuseWith(wire.NewError(errKillDenied, "You are not owner of thread %d", id))
	case target == s:
		err := s.refuseWith(wire.NewError(wire.ErrQueryInterrupted, errInterrupted))
		if err == nil && !j.class.KillQuery {
			err = errQuit
		}
		return true, err
	case j.class.KillQuery:
		err = s.srv.killQuery(target)
	default:
		s.srv.end(target)
	}
	if err != nil {
		return true, s.answerError(j, err)
	}
	s.noteHere()
	return true, s.sendOK()
}

// killQuery stops the statement of a session, if there is one: on its server, or
// before it gets to one. The mark comes before the look at the server, and the
// session looks the other way round, so that one of them sees the other.
func (s *Server) killQuery(x *session) error {
	x.cut.begin()
	if x.busySince.Load() != 0 {
		x.interrupted.Store(true)
	}
	x.cut.end()
	if c := x.busyOn.Load(); c != nil {
		return s.interrupt(x, c, false)
	}
	return nil
}

// end closes a session that was killed. Its client goes first, as with MySQL:
// what the statement that runs says when it is interrupted, or had to say
// already, does not reach it.
func (s *Server) end(x *session) {
	x.killed.Store(true)
	x.client.Close()
	x.cancel()
	c := x.busyOn.Load()
	if c == nil {
		return
	}
	if err := s.interrupt(x, c, false); err != nil {
		s.log.Debug().Err(err).Str("node", c.Node.Addr).Msg("cannot kill the query of a killed connection; its own is closed")
		x.cut.begin()
		defer x.cut.end()
		if x.busyOn.Load() == c {
			c.Close()
		}
	}
}

// interruptibly does on a connection what comes before a statement and may wait there,
// for a lock or a server that hangs: KILL and the watchdog end that as the statement itself.
func (s *session) interruptibly(c *backend.Conn, j *job, do func() error) error {
	s.plainRead.Store(!mayHaveCommitted(j.class))
	s.busyOn.Store(c)
	err := do()
	s.busyOn.Store(nil)
	s.cut.await()
	return err
}

// killID finds out which connection KILL names. known is false where only the
// source can tell.
func (s *session) killID(j *job) (id uint64, known bool, err error) {
	if j.class.KillID != 0 {
		return j.class.KillID, true, nil
	}
	expr, ok := classifier.KillTarget([]byte(s.textOf(j)), s.mode)
	switch {
	case !ok:
		return 0, false, nil
	case strings.EqualFold(strings.ReplaceAll(expr, " ", ""), "connection_id()"):
		return uint64(s.id), true, nil
	case j.class.Flags.Any(evaluatedOnce):
		return 0, false, nil
	}
	return s.evaluateKillID(j, expr)
}

// evaluatedOnce is what an expression may do besides having a value.
const evaluatedOnce = classifier.SetsUserVars | classifier.SetsLastInsertID | classifier.GetLock | classifier.ReleaseLock | classifier.UnknownFunction

// evaluateKillID asks the source for the value of an expression, in the
// session's state: user variables may stand in it, and it would be wrong to have
// the source kill by it, whose ids are others. What the source refuses it will
// refuse in the KILL as well.
func (s *session) evaluateKillID(j *job, expr string) (id uint64, known bool, err error) {
	c, err := s.homeConn(j.start, false)
	if err != nil {
		return 0, false, err
	}
	s.checkTrackers(c, j)
	s.bound(c)
	defer c.SetDeadline(noDeadline)
	if err := c.AlignNow(s.state); err != nil {
		c.Broken = true
		return 0, false, err
	}
	if j.class.Is(classifier.UsesLastInsertID) {
		if err := s.bringInsertID(c, j.class); err != nil {
			return 0, false, err
		}
	}
	row, err := c.Query("SELECT CAST((" + expr + "\n) AS SIGNED)")
	s.last = nil // the server knows of our own question now
	var refused *wire.Error
	switch {
	case errors.As(err, &refused):
		return 0, false, nil
	case err != nil:
		c.Broken = true
		return 0, false, err
	case len(row) != 1:
		return 0, false, nil
	}
	n, err := strconv.ParseInt(row[0], 10, 64)
	return uint64(n), err == nil && n > 0, nil
}

// sessionOf finds a session by the id that its client was greeted with, or by
// what CONNECTION_ID() inside an expression shows to it while it holds a connection.
func (s *Server) sessionOf(id uint32) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id >= firstConnectionID || id == 0 {
		return s.sessions[id]
	}
	for _, x := range s.sessions {
		if x.homeID.Load() == id {
			return x
		}
	}
	return nil
}

// loginOf is who a session is logged in as; COM_CHANGE_USER may be changing it.
func (s *Server) loginOf(x *session) *Login {
	s.mu.Lock()
	defer s.mu.Unlock()
	return x.login
}
