package server

import (
	"regexp"
	"strings"

	"causeway/classifier"
	"causeway/wire"
)

// lazyTrx is a transaction that has begun for the client only. A server hears
// of it with the first statement, so that one that stays empty costs nothing.
type lazyTrx struct {
	text     string // BEGIN or START TRANSACTION, as the client wrote it
	readOnly bool   // may still go to a replica
}

// trxForms are the statements, by digest, that cannot fail: any other text is
// for a server to judge.
var trxForms = regexp.MustCompile(`^(?i:(begin|start transaction)( work)?( read (only|write))?|(commit|rollback)( work)?( and (no )?chain)?( (no )?release)?)( ?;)?$`)

// answerHere serves statements of transactions that no server need hear of yet.
func (s *session) answerHere(class *classifier.Class, text []byte) (bool, error) {
	if s.tracksTrx(s.view()) || class.Is(classifier.MultiStatement) || s.aborted != "" || s.readTrx != nil || s.oneShot ||
		s.homeInTrx() || s.sticky.locked.any() || s.sticky.xa || s.sticky.variables || // gtid_next: an empty transaction counts
		class.Kind != classifier.Set && !trxForms.MatchString(class.Digest) {
		return false, nil
	}
	switch {
	case class.Kind == classifier.Begin && !class.Trx.Snapshot:
		return true, s.beginLazily(class, text)
	case class.Kind == classifier.Commit, class.Kind == classifier.Rollback:
		return s.endLazily(class)
	case class.Kind == classifier.Set && class.Is(classifier.SetsAutocommit) && s.lazy == nil:
		if on, ok := classifier.Autocommit(text, s.mode); ok {
			return true, s.setAutocommit(on)
		}
	}
	return false, nil
}

// choosesAtStart tells of a READ ONLY transaction whose START has a key or a class:
// its replica is chosen by those, now, as no later statement need have them.
func (s *session) choosesAtStart(j *job) bool {
	readOnly := j.class.Trx.ReadOnly || !j.class.Trx.ReadWrite && (s.isOn("transaction_read_only") || len(s.nextTrx) > 0)
	return readOnly && (j.hints.Key != "" || j.hints.Class != "" || j.hints.MaxStaleness != "")
}

func (s *session) beginLazily(class *classifier.Class, text []byte) error {
	if s.lazy == nil || class.Trx != (classifier.Trx{}) { // a bare BEGIN keeps the characteristics
		f := s.facts(s.view())
		s.borrowed = false
		s.lazy = &lazyTrx{text: string(text), readOnly: class.Trx.ReadOnly || (f.readOnly || f.nextReadOnly) && !class.Trx.ReadWrite}
	}
	s.tellTrx(trxBegun)
	s.inTrx.Store(true) // a stop of the server waits for it
	s.status |= wire.StatusInTrans
	s.status &^= wire.StatusInTransReadonly
	if s.lazy.readOnly {
		s.status |= wire.StatusInTransReadonly
	}
	return s.answeredHere(class)
}

// endLazily ends a transaction that no server knows of. Without one there is
// nothing to end, unless the connection that the session holds has more to it.
func (s *session) endLazily(class *classifier.Class) (bool, error) {
	if s.home != nil && s.lazy == nil || s.completes() {
		return false, nil
	}
	if s.lazy == nil && (len(s.nextTrx) > 0 || class.Is(classifier.Chain)) {
		return false, nil
	}
	if !class.Is(classifier.Chain) {
		s.lazy, s.nextTrx = nil, nil
		s.tellTrx(trxEnded)
		s.inTrx.Store(false)
		s.status &^= trxStatus
	}
	if err := s.answeredHere(class); err != nil {
		return true, err
	}
	if class.Is(classifier.Release) {
		return true, errQuit
	}
	return true, nil
}

// completes tells whether completion_type makes COMMIT do more.
func (s *session) completes() bool {
	v := s.variable("completion_type", s.view())
	return v != "" && v != "0" && !strings.EqualFold(v, "NO_CHAIN")
}

// releases tells whether a statement ends the connection, too: COMMIT RELEASE.
func (s *session) releases(c *classifier.Class) bool {
	switch {
	case c.Is(classifier.Release):
		return true
	case c.Kind != classifier.Commit && c.Kind != classifier.Rollback, c.Is(classifier.Chain), !s.completes():
		return false
	}
	v := s.variable("completion_type", s.view())
	return (v == "2" || strings.EqualFold(v, "RELEASE")) && !strings.Contains(strings.ToLower(c.Digest), "no release")
}

// switchesOff tells whether a SET of autocommit leaves it off, and commits nothing.
func (s *session) switchesOff(j *job) bool {
	on, ok := classifier.Autocommit([]byte(s.textOf(j)), s.mode)
	return ok && !on
}

// setAutocommit changes the session's state only: it is replayed before the
// next statement.
func (s *session) setAutocommit(on bool) error {
	value := "OFF"
	s.status &^= wire.StatusAutocommit
	if on {
		value = "ON"
		s.status |= wire.StatusAutocommit
	}
	return s.setHere("autocommit", value)
}

// setHere answers a SET that cannot fail.
func (s *session) setHere(name, value string) error {
	s.state = s.state.WithVar(name, value)
	return s.setTold(wire.AppendTrackStateChange(wire.AppendTrackVariable(nil, name, value), true))
}

// setTold answers a SET that no server runs by an OK that reports what one would.
func (s *session) setTold(block []byte) error {
	s.noteHere()
	ok := wire.OK{Status: s.status}
	s.tracked.setsState = false
	news := s.filterTrack(block)
	s.untold = wire.JoinTracks(news, s.untold)
	s.tell(&ok)
	return s.send(ok.Append(s.scratch[:0], s.login.Caps))
}

func (s *session) answeredHere(class *classifier.Class) error {
	s.route = route{reason: reasonLocal, digest: class.Digest}
	s.noteHere()
	return s.sendOK()
}

// noteHere counts a statement that was answered here and that leaves no
// diagnostics.
func (s *session) noteHere() {
	s.srv.metrics.count(localTarget, reasonLocal)
	s.noteDone()
}

func (s *session) noteDone() {
	s.forgetConditions()
	s.stale, s.told, s.rowCount = nil, 0, 0
}
