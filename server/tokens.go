package server

import (
	"causeway/classifier"
	"causeway/gtid"
	"causeway/wire"
)

// handedToken is the last token that a session was handed: an application that
// sends the same one with each statement pays for it once.
type handedToken struct {
	text        string
	epoch, lost uint64 // of the view, and acknowledged.version, when it was taken
}

// tokens comes before all that a command may be answered by: it takes in the
// tokens that came with it, and serves the statements that concern only them.
func (s *session) tokens(j *job) (done bool, err error) {
	s.readHints(j)
	if e := s.refuseHidden(j); e != nil {
		return true, s.refuseToken(j, e)
	}
	s.useKey(j)
	if j.hints.Token != "" || j.hints.NoToken {
		if e := s.takeTokens(j.hints.Tokens(), j.start); e != nil {
			return true, s.refuseToken(j, s.notSent(e))
		}
	}
	if !j.class.Is(classifier.NamesToken) {
		return false, nil
	}
	if s.aborted != "" {
		return s.whileAborted(j)
	}
	switch {
	case j.class.Kind == classifier.Set && !j.class.Is(classifier.MultiStatement):
		return s.setToken(j)
	case j.class.Kind == classifier.ReadSource:
		if columns, ok := classifier.TokenSelect([]byte(s.textOf(j)), s.mode); ok {
			return true, s.giveToken(j, columns)
		}
	}
	return true, s.refuseToken(j, notAlone())
}

// notSent tells beside why a token was not taken where that leaves the client, who may
// have sent it with a COMMIT.
func (s *session) notSent(e *wire.Error) *wire.Error {
	e.Message += "; nothing has run"
	if s.homeInTrx() || s.lazy != nil {
		e.Message += "; the transaction is still open"
	}
	return e
}

// setToken takes the token of SET @causeway_token = '...'. What sets nothing else
// is answered here; else a server runs the rest of it.
func (s *session) setToken(j *job) (done bool, err error) {
	set, ok := classifier.ReadTokenSet([]byte(s.textOf(j)), s.mode)
	if ok && set.Param {
		var value string
		value, ok = s.boundText(j)
		set.Values = []string{value}
	}
	if !ok {
		return true, s.refuseToken(j, notRead(set))
	}
	if e := s.takeTokens(set.Values, j.start); e != nil {
		return true, s.refuseToken(j, s.notSent(e))
	}
	if !set.Alone || s.wants.stateChange { // a server tells of a variable that was set
		return false, nil
	}
	if e := s.applyRules(j); e != nil {
		return true, s.denied(j, e)
	}
	return true, s.answeredHere(j.class)
}

// refuseToken answers by an error before anything has run.
func (s *session) refuseToken(j *job, e *wire.Error) error {
	s.route = route{digest: j.class.Digest}
	s.noteLocal(reasonRefused)
	return s.refuseWith(e)
}

// notRead says why a SET that names the token cannot be served.
func notRead(set classifier.TokenSet) *wire.Error {
	if set.Names {
		return notAlone()
	}
	return notLiteral()
}

func notLiteral() *wire.Error {
	return wire.NewError(wire.ErrWrongValueForVar, "Causeway: @causeway_token must be set to a string literal, or to the only parameter of a prepared statement bound as a string; nothing has run")
}

func notAlone() *wire.Error {
	return wire.NewError(wire.ErrWrongValueForVar, "Causeway: the token is known to Causeway only: write SELECT @causeway_token, SELECT @causeway_gtids or SET @causeway_token = '...' as a statement of its own; nothing has run")
}

// boundText is the value of the first parameter of an execution, "" for NULL; ok
// is false if it is no string.
func (s *session) boundText(j *job) (value string, ok bool) {
	p, e, types := j.frame.Payload, j.exec, j.stmt.types
	count := uint64(1)
	if s.login.Caps.Has(wire.CapQueryAttributes) { // they follow the parameter
		if count, _, ok = wire.ReadLenEncInt(p[10:]); !ok {
			return "", false
		}
	}
	first := e.boundFlag - int((count+7)/8) // of the null bitmap
	switch {
	case e.boundFlag == 0 || first < 10 || len(types) < 2:
		return "", false
	case p[first]&1 != 0:
		return "", true
	case !isText(types[0]):
		return "", false
	}
	text, _, ok := wire.ReadLenEncBytes(p[e.typesEnd:])
	return string(text), ok
}

// mustSee is all that reads of the session must see, once nothing is left that
// it is not known of.
func (s *session) mustSee(j *job) (gtid.Set, *wire.Error) {
	if s.trackers.due && s.trackers.on == nil && s.home != nil && !s.home.Broken {
		s.rearmTrackers(j) // what was written meanwhile was not reported
	}
	s.settleDoubts()
	switch {
	case len(s.doubts) > 0:
		return gtid.Set{}, wire.NewError(wire.ErrServerIsntAvailable,
			"Causeway: the answer to a write of this session was lost, and whether it took effect is not known yet; ask for the token again")
	case s.untracked:
		return gtid.Set{}, wire.NewError(wire.ErrServerIsntAvailable,
			"Causeway: this session has written what no GTID tells of (sql_log_bin = 0, or a schema that is not replicated), so no token can stand for it")
	}
	if err := s.tellLostWrites(s.view()); err != nil {
		return gtid.Set{}, asClientError(err)
	}
	if s.sharedInDoubt() {
		return gtid.Set{}, wire.NewError(wire.ErrServerIsntAvailable,
			"Causeway: the answer to another connection's write that this one must see was lost, and whether it took effect is not known yet; ask for the token again")
	}
	v := s.view()
	if v.WithoutGTIDs && s.windows.all > 0 {
		return gtid.Set{}, noTokens()
	}
	d := s.demand(v)
	if err := s.demandOthers(&d); err != nil {
		return gtid.Set{}, asClientError(err)
	}
	return d.token, nil
}
