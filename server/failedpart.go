package server

import (
	"regexp"
	"slices"
	"strings"

	"causeway/classifier"
	"causeway/wire"
)

// failedPart tells whether what failed may have done a part of it: the statements before
// the one that failed, the assignments of a SET before the one that could not be
// made, and what an expression set or locked before another one failed.
func (s *session) failedPart(j *job) bool {
	c := j.class
	switch {
	case s.relay.err == nil, s.nothingRan(j):
		return false
	case c.Flags.Any(classifier.MultiStatement | classifier.SetsUserVars | classifier.GetLock | classifier.ReleaseLock):
		return true
	}
	return setsSeveral(c)
}

// setsSeveral: a server looks at all values before it assigns the first, but some, as that
// of gtid_next, it refuses only then.
func setsSeveral(c *classifier.Class) bool {
	return c.Kind == classifier.Set && strings.Contains(c.Digest, ",")
}

func setsInsertID(c *classifier.Class) bool {
	return (c.Kind == classifier.Set || c.Is(classifier.MultiStatement)) && slices.Contains(c.Names, "insert_id")
}

// afterFailed takes in what may have been done before the failure. What a routine or a
// prepared text did, no packet tells: the connection is reset before anybody else gets it.
func (s *session) afterFailed(j *job) {
	c, k := j.class, &s.sticky
	k.forgetPrepared(c, s.relay.err, s.relay.ours)
	part := s.failedPart(j)
	if !runsUnseen(c) && !part {
		return
	}
	s.home.Unclean = true
	k.temp.moved = k.temp.any()
	if part {
		s.keepPart(j)
	}
	s.followHeld(c)
}

// keepPart keeps for the session what no answer tells of and nobody can ask for. All
// that could have been left counts; what could have been ended does not.
func (s *session) keepPart(j *job) {
	c, k := j.class, &s.sticky
	k.insertID = k.insertID || setsInsertID(c)
	s.followTimestamp(j)
	if !c.Is(classifier.MultiStatement) {
		return
	}
	k.temp.follow(c, nil, "")
	switch c.Kind {
	case classifier.XA:
		k.xa = k.xa || s.home.Status.Has(wire.StatusInTrans) || strings.Contains(strings.ToLower(c.Digest), "xa end")
	case classifier.TextPrepare:
		k.followPrepare(madeBy(c, "prepare"))
	case classifier.Handler:
		k.followHandler(madeBy(c, "open"))
	case classifier.Unknown:
		k.unknown = k.unknown || hasAny(j.frame.Payload, "handler", "prepare", "xa ", "temporary")
	}
}

// madeBy leaves of a text's pairs of verb and name those of one verb.
func madeBy(c *classifier.Class, verb string) *classifier.Class {
	made := *c
	made.Names = nil
	for names := c.Names; len(names) >= 2; names = names[2:] {
		if names[0] == verb {
			made.Names = append(made.Names, names[0], names[1])
		}
	}
	return &made
}

// wholePrepare is a PREPARE that a server can read, whatever its text is.
var wholePrepare = regexp.MustCompile(`^(?i)prepare \S+ from (\?|@\S+)$`)

// forgetPrepared: a server drops the statement of that name before it looks at the new text.
func (k *stickyState) forgetPrepared(c *classifier.Class, e *wire.Error, ours bool) {
	if c.Kind == classifier.TextPrepare && len(c.Names) == 2 && !ours && e.Code != wire.ErrQueryInterrupted && wholePrepare.MatchString(c.Digest) {
		delete(k.prepared, c.Names[1])
	}
}
