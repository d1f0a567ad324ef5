package server

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"

	"causeway/classifier"
	"causeway/wire"
)

// hintVariables are the user variables that no statement needs to see.
var hintVariables = [...]string{"@" + classifier.HintClass, "@" + classifier.HintMaxStaleness, "@" + classifier.HintKey, "@" + classifier.HintToken}

// refuseHidden refuses, before anything has run, what would name a key, a token or a
// class in a way that Causeway does not follow: reads could miss writes, and nobody
// would be told.
func (s *session) refuseHidden(j *job) *wire.Error {
	c := j.class
	switch {
	case j.hints.Unread == classifier.HintKey, j.hints.Unread == classifier.HintToken:
		return unreadHint(j.hints.Unread)
	case c.Is(classifier.HidesHint), c.Is(classifier.SetsHint | classifier.MultiStatement):
		return hintNotAlone()
	case c.Kind == classifier.TextPrepare, c.Is(classifier.MultiStatement):
		if slices.Contains(c.Names, "prepare") {
			return s.refusePrepared(s.textOf(j))
		}
	}
	return nil
}

// refusePrepared looks into the text of PREPARE ... FROM '...', which runs at EXECUTE
// without anybody looking at it.
func (s *session) refusePrepared(sql string) *wire.Error {
	for _, text := range classifier.PreparedTexts([]byte(sql), s.mode) {
		inner := []byte(text)
		if !bytes.Contains(bytes.ToLower(inner), []byte("causeway")) {
			continue
		}
		h := classifier.CommentHints(inner, s.mode)
		c := s.srv.opts.Classifier.Classify(inner, s.classifierMode(s.view()))
		switch {
		case c.Is(classifier.NamesToken):
			return notAlone()
		case h.Key != "", h.Token != "", h.Unread != "", c.Flags.Any(classifier.SetsHint | classifier.HidesHint):
			return hintInPrepare()
		}
	}
	return nil
}

func unreadHint(name string) *wire.Error {
	return wire.NewError(wire.ErrWrongValueForVar, "Causeway: the statement names %s in a way that is not understood: "+
		"write /*%s='...'*/, the value URL-encoded and in single quotes, or a query attribute that is a string; nothing has run", name, name)
}

func hintNotAlone() *wire.Error {
	return wire.NewError(wire.ErrWrongValueForVar, "Causeway: @causeway_key, @causeway_class and @causeway_max_staleness are set by SET @causeway_key = '...' "+
		"as a statement of its own, not among several statements, by := in an expression, by INTO, or as an argument of a routine; nothing has run")
}

func hintInPrepare() *wire.Error {
	return wire.NewError(wire.ErrWrongValueForVar, "Causeway: the text of a PREPARE cannot name a key, token or class: "+
		"put the comment on the EXECUTE, or SET @causeway_key = '...' before it; nothing has run")
}

// followHints takes in what a SET says to Causeway by user variables. If its value
// is not in the text the server is asked for it.
func (s *session) followHints(j *job) {
	if !j.class.Is(classifier.SetsHint) {
		return
	}
	names, values, ok := classifier.HintVars([]byte(s.textOf(j)), s.mode)
	switch {
	case !ok || j.stmt != nil || s.relay.err != nil: // what of it was set before it failed, the server knows
		s.askHints()
	default:
		for i, name := range names {
			s.hints.Assign(name, values[i])
		}
	}
	s.wish = s.srv.classes.wishOf(s.hints.Class, s.hints.MaxStaleness)
}

// askedHints gives the variables in one charset, whatever that of the results is: keys are
// compared byte by byte. What cannot be converted is given as it is.
var askedHints = func() string {
	var list []string
	for _, name := range []string{classifier.HintClass, classifier.HintMaxStaleness, classifier.HintKey} {
		list = append(list, "COALESCE(HEX(CONVERT(@"+name+" USING utf8mb4)),HEX(@"+name+"),'')")
	}
	return "SELECT " + strings.Join(list, ",")
}()

// askHints asks the connection to the source for the values that it has been
// given. A key that nobody knows would let reads miss writes.
func (s *session) askHints() {
	if s.home == nil || s.home.Broken {
		s.homeOnly = reasonDoubt
		return
	}
	s.keepDiagnostics(s.home)
	s.bound(s.home)
	defer s.home.SetDeadline(noDeadline)
	row, err := s.home.Query(askedHints)
	var values [3]string
	for i := range min(len(row), len(values)) {
		text, e := hex.DecodeString(row[i])
		if e != nil {
			err = e
		}
		values[i] = string(text)
	}
	if err != nil || len(row) != len(values) {
		s.home.Broken, s.homeOnly = true, reasonDoubt
		return
	}
	s.hints.Class, s.hints.MaxStaleness, s.hints.Key = values[0], values[1], values[2]
}
