package server

import (
	"fmt"
	"slices"
	"time"

	"causeway/classifier"
	"causeway/wire"
)

// writePause is a pause of all writes, for a planned change of the source. It
// is immutable.
type writePause struct {
	by     string // the account that asked for it
	until  time.Time
	source string // server_uuid of the source at its begin
	refuse bool   // when the time is up writes fail, instead of going on
}

// pauseWrites lets new writes and new transactions wait from now on.
func (s *Server) pauseWrites(by string, limit time.Duration) {
	p := &writePause{by: by, until: time.Now().Add(limit), refuse: s.opts.PauseEndRefuses}
	if src := s.opts.Monitor.View().Source; src != nil {
		p.source = src.Incarnation.ServerUUID
	}
	s.paused.Store(p)
	s.log.Warn().Str("by", by).Dur("limit", limit).Msg("writes are paused: new ones wait, open transactions may finish")
}

// pauseNow returns the pause, nil if writes go on. One that is over is ended:
// by another source, or by its time.
func (s *Server) pauseNow(now time.Time) *writePause {
	p := s.paused.Load()
	if p == nil {
		return nil
	}
	src := s.opts.Monitor.View().Source
	switch {
	case src.Usable() && src.Incarnation.ServerUUID != p.source:
		s.resumeWrites(p, "another server is the source: "+src.Addr)
		return nil
	case !p.over(now):
		return p
	case p.refuse:
		return p
	}
	s.resumeWrites(p, "the pause has reached its limit")
	return nil
}

func (p *writePause) over(now time.Time) bool { return now.After(p.until) }

// resumeWrites ends the pause p, unless it is over already.
func (s *Server) resumeWrites(p *writePause, why string) {
	if s.paused.CompareAndSwap(p, nil) {
		s.log.Warn().Str("why", why).Msg("writes go on")
	}
}

// openWrites counts the sessions with a transaction, or a write, on the source.
func (s *Server) openWrites() (n int) {
	s.eachSession(func(x *session) {
		if x.writing.Load() {
			n++
		}
	})
	return n
}

// text is the state of the pause for people.
func (p *writePause) text(now time.Time) string {
	if p.over(now) {
		return "refused: the pause has reached its limit; CAUSEWAY RESUME lets them go on"
	}
	return fmt.Sprintf("paused by %s for %v more", p.by, p.until.Sub(now).Round(time.Second))
}

// admitWrite holds what begins a write or a transaction while writes are
// paused. What is part of an open one goes on. The mark is set before the look
// at the pause, and whoever pauses counts the marks afterwards: one of them
// sees the other.
func (s *session) admitWrite(j *job) error {
	if s.writing.Load() {
		return nil
	}
	if s.holdsWrite() {
		s.writing.Store(true)
		return nil
	}
	if !s.mayBePaused(j) {
		return nil
	}
	s.writing.Store(true)
	if s.srv.paused.Load() == nil {
		return nil
	}
	return s.awaitResume()
}

// mayBePaused tells whether a statement begins a write or a transaction.
func (s *session) mayBePaused(j *job) bool {
	return s.opensTrx(j) || beginsWrite(j, s.isOff("autocommit", s.view()))
}

func (s *session) awaitResume() error {
	s.srv.waitingWrites.Add(1)
	defer s.srv.waitingWrites.Add(-1)
	for {
		now := time.Now()
		p := s.srv.pauseNow(now)
		if p == nil {
			return nil
		}
		s.writing.Store(false)
		if p.over(now) {
			return wire.NewError(wire.ErrOptionPreventsStmt, "Causeway: writes were paused by %s and have not been resumed in time; try again later (CAUSEWAY RESUME lets them go on)", p.by)
		}
		if s.srv.draining.Load() {
			return wire.NewError(wire.ErrServerShutdown, "Causeway: it stops while writes are paused; the statement was not sent")
		}
		if err := s.standBy(standByStep); err != nil {
			return err
		}
		s.writing.Store(true)
	}
}

// holdsWrite tells whether the session has something open on the source that
// its next statements belong to.
func (s *session) holdsWrite() bool { return s.homeInTrx() || s.sticky.locked.any() || s.sticky.xa }

// doneWriting takes the mark back at a command's end.
func (s *session) doneWriting() {
	if s.writing.Load() && !s.holdsWrite() {
		s.writing.Store(false)
	}
}

// opensTrx tells whether a command leaves a transaction open on the source whatever it
// does itself: BEGIN, which was answered here, goes there with it, or it is a COMMIT
// that begins another one.
func (s *session) opensTrx(j *job) bool {
	switch {
	case j.want == expectPrepare:
		return false
	case j.class.Kind == classifier.Commit, j.class.Kind == classifier.Rollback:
		_, chain := reopens(j.class, s.variable("completion_type", s.view()))
		return chain
	}
	return s.lazy != nil
}

// beginsWrite tells whether a statement that is to run on the source writes, or
// begins a transaction there. inTrx: any statement on a table does.
func beginsWrite(j *job, inTrx bool) bool {
	c := j.class
	if j.want == expectPrepare || j.want != expectResult && j.stmt == nil {
		return false
	}
	hidden := c.Flags.Any(classifier.UnknownFunction | classifier.ImplicitCommit | classifier.MultiStatement)
	switch c.Kind {
	case classifier.Read, classifier.ReadSource:
		return hidden || inTrx && !c.Is(classifier.NoTable)
	case classifier.Handler:
		return hidden || inTrx
	case classifier.Set:
		return hidden || inTrx && mayLock(c)
	case classifier.Diagnostics, classifier.Use, classifier.Kill, classifier.Empty, classifier.Savepoint,
		classifier.SetTransaction, classifier.Commit, classifier.Rollback, classifier.UnlockTables:
		return hidden
	case classifier.TextPrepare:
		return hidden || slices.Contains(c.Names, "execute")
	}
	return true
}
