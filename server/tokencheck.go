package server

import (
	"context"
	"strings"
	"time"

	"causeway/backend"
	"causeway/classifier"
	"causeway/gtid"
	"causeway/wire"
)

// tokenOutcome is what became of a token that was handed in.
type tokenOutcome uint8

const (
	tokenSame      tokenOutcome = iota // as the last one
	tokenKnown                         // the source is known to have executed it
	tokenAsked                         // as it turned out when it was asked
	tokenNew                           // nobody is known to have executed it: the source is to be asked
	tokenMalformed                     // not readable, or its signature is wrong
	tokenForeign                       // the source has not executed it
	tokenLost                          // some of it is known to have been lost
	tokenOld                           // issued before the source's history began anew
	tokenUnchecked                     // nobody could be asked
	tokenOutcomes  = iota
)

var tokenOutcomeNames = [tokenOutcomes]string{
	tokenSame: "same", tokenKnown: "known", tokenAsked: "asked", tokenNew: "new", tokenMalformed: "malformed",
	tokenForeign: "foreign", tokenLost: "lost", tokenOld: "old", tokenUnchecked: "unchecked",
}

func (o tokenOutcome) String() string { return tokenOutcomeNames[o] }

// takeTokens makes tokens that were handed in together part of the session's, or
// says why not: then nothing has changed. It never waits for a replica, and at most
// max_wait for the source.
func (s *session) takeTokens(texts []string, since time.Time) *wire.Error {
	carrier := strings.Join(texts, "\x00")
	another := s.anothersWork(carrier)
	var taken []gtid.Set
	last := s.handed
	for _, text := range texts {
		now := handedToken{text: text, epoch: s.view().Epoch, lost: s.srv.acked.version.Load()}
		if now == s.handed && !another {
			s.srv.metrics.tokens[tokenSame].Inc()
			continue
		}
		set, e := s.readToken(text, since)
		if e != nil {
			return e
		}
		if !set.IsEmpty() {
			taken, last = append(taken, set), now
		}
	}
	if another {
		s.forgetOthers(carrier)
	}
	for _, set := range taken {
		s.take(set)
		s.handed, s.lateToken = last, s.status.Has(wire.StatusInTrans) && s.lazy == nil
	}
	return nil
}

// take makes what was handed in part of the token. Whoever hands in what was written
// under one key wants it seen under any.
func (s *session) take(set gtid.Set) {
	s.common.keyed = s.common.keyed.Subtract(set)
	s.hold(set)
}

// loginToken takes the token that came with the login.
func (s *session) loginToken() *wire.Error {
	text := s.login.hintAttr(classifier.HintToken)
	if text == "" {
		return nil
	}
	return s.takeTokens([]string{text}, time.Now())
}

// readToken reads and checks a token.
func (s *session) readToken(text string, since time.Time) (gtid.Set, *wire.Error) {
	set, issued, err := s.srv.opts.Tokens.Read(text)
	if err != nil {
		s.srv.metrics.tokens[tokenMalformed].Inc()
		return gtid.Set{}, wire.NewError(wire.ErrWrongValueForVar, "Causeway: the token cannot be taken: %v", err)
	}
	if set.IsEmpty() {
		return gtid.Set{}, nil
	}
	if s.view().WithoutGTIDs {
		s.srv.metrics.tokens[tokenForeign].Inc()
		return gtid.Set{}, noTokens()
	}
	outcome, set, e := s.checkToken(set, issued, since)
	s.srv.metrics.tokens[outcome].Inc()
	return set, e
}

// checkToken finds out whether the source has executed a token, and returns what
// of it holds.
func (s *session) checkToken(set gtid.Set, issued, since time.Time) (tokenOutcome, gtid.Set, *wire.Error) {
	ctx, cancel := context.WithTimeout(s.ctx, s.srv.opts.MaxWait)
	defer cancel()
	for {
		v, lost := s.view(), s.srv.acked.lostSet()
		outcome := judgeToken(v, lost, set, issued)
		if outcome == tokenNew && settledSource(v) {
			if executed, err := s.srv.opts.Monitor.SourceSoon(ctx, since); err == nil && sameSource(v, s.view()) {
				if missing := set.Subtract(executed); !missing.IsEmpty() {
					return tokenForeign, gtid.Set{}, foreignToken(missing)
				}
				outcome = tokenAsked
			}
		}
		switch outcome {
		case tokenKnown, tokenAsked:
			// Acknowledged by another Causeway, maybe: what is lost of it is told here too.
			if s.srv.ack(set, nil); lostKey(s.view()) == lostKey(v) {
				return outcome, set, nil
			}
			continue // what the new source has is another question
		case tokenLost, tokenOld:
			if e := s.lostToken(outcome, set.Intersect(lost)); e != nil || outcome == tokenOld {
				return outcome, gtid.Set{}, e
			}
			if set = set.Subtract(lost); set.IsEmpty() {
				return outcome, set, nil
			}
			continue // the rest is judged by itself
		}
		if ctx.Err() != nil {
			return tokenUnchecked, gtid.Set{}, wire.NewError(wire.ErrServerIsntAvailable,
				"Causeway: the token is newer than what is known of the source, and the source could not be asked within %v (routing.max_wait); try again, see SHOW CAUSEWAY SERVERS", s.srv.opts.MaxWait)
		}
		if err := s.standBy(standByStep); err != nil {
			return tokenUnchecked, gtid.Set{}, asClientError(err)
		}
	}
}

// judgeToken says what is known of a token without asking anybody. It is pure.
// While the source serves only its own position counts: what a replica has beyond
// that may be its own alone.
func judgeToken(v *backend.View, lost, set gtid.Set, issued time.Time) tokenOutcome {
	switch {
	case !issued.IsZero() && !v.EpochSince.IsZero() && issued.Unix() < v.EpochSince.Unix():
		return tokenOld
	case !set.Intersect(lost).IsEmpty():
		return tokenLost
	case v.SourcePosition.Contains(set):
		return tokenKnown
	case v.Source.Usable():
		return tokenNew
	}
	known := v.SourcePosition
	for _, n := range v.Replicas {
		if n.Usable() {
			known = known.Union(n.Position.Subtract(n.Errant))
		}
	}
	if known.Contains(set) {
		return tokenKnown
	}
	return tokenNew
}

// lostToken tells of writes that are gone, unless routing.on_lost_write wants them
// forgotten.
func (s *session) lostToken(outcome tokenOutcome, lost gtid.Set) *wire.Error {
	s.srv.metrics.lostTokens.Inc()
	if s.srv.opts.ForgetLostWrites {
		return nil
	}
	why := "the source that took over does not have " + shortSet(lost)
	if outcome == tokenOld {
		why = "the source's history began anew after it was issued"
	}
	return wire.NewError(wire.ErrWrongValueForVar, "Causeway: writes of the token were lost: %s; drop it and go on without", why)
}

func foreignToken(missing gtid.Set) *wire.Error {
	return wire.NewError(wire.ErrWrongValueForVar,
		"Causeway: the token names transactions that the source has not executed: %s; it is made up, or of another cluster, or a failover lost them: drop it and go on without", shortSet(missing))
}

// shortSet is a set for an error text.
func shortSet(set gtid.Set) string {
	text := set.Line()
	if len(text) > 200 {
		return text[:200] + "..."
	}
	return text
}

// lostSet is what is known to have been lost.
func (a *acknowledged) lostSet() gtid.Set {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lost
}
