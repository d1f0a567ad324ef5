package server

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"causeway/backend"
	"causeway/gtid"
	"causeway/wire"
)

// maxPause bounds CAUSEWAY PAUSE WRITES FOR n SECONDS.
const maxPause = time.Hour

const errNotAdmin = "Access denied; you need the admin privilege for this operation: [[users]] admin = true in Causeway's configuration"

// operate serves the statements by which an operator steers the proxy. words
// are those of the statement, CAUSEWAY first.
func (s *session) operate(words []string) error {
	if acc := s.srv.users[s.login.User]; acc == nil || !acc.Admin {
		return s.fail(wire.NewError(wire.ErrSpecificAccessDenied, errNotAdmin))
	}
	text := strings.Join(words[1:], " ")
	switch {
	case strings.HasPrefix(text, "pause writes"):
		limit, ok := pauseLimit(words[3:], s.srv.opts.PauseLimit)
		if !ok {
			break
		}
		if len(words) > 3 && (limit < time.Second || limit > maxPause) {
			return s.fail(wire.NewError(wire.ErrWrongArguments,
				"Causeway: writes can be paused for 1 to %d seconds, '%s' is not: write CAUSEWAY PAUSE WRITES FOR n SECONDS with such a number, or without FOR for the %v of [cluster] pause_limit",
				int(maxPause/time.Second), words[4], s.srv.opts.PauseLimit))
		}
		s.srv.pauseWrites(s.login.User, limit)
		return s.operated()
	case text == "resume", text == "resume writes":
		if p := s.srv.paused.Load(); p != nil {
			s.srv.resumeWrites(p, "resumed by "+s.login.User)
		}
		return s.operated()
	case len(words) == 4 && strings.HasPrefix(text, "set source "):
		return s.nameSource(words[3])
	}
	if change, ok := parseTopology(words[1:]); ok {
		return s.changeTopology(change)
	}
	return s.fail(wire.NewError(wire.ErrParse,
		"Causeway does not know '%s'; it knows CAUSEWAY PAUSE WRITES [FOR n SECONDS], CAUSEWAY RESUME, CAUSEWAY SET SOURCE 'host:port', "+
			"CAUSEWAY ADD SERVER 'host:port' [WEIGHT n] [ZONE 'z'], CAUSEWAY REMOVE SERVER 'host:port' and CAUSEWAY SET WEIGHT 'host:port' = n", strings.Join(words, " ")))
}

// nameSource serves CAUSEWAY SET SOURCE. The operator is obeyed, and warned if the
// server has not got all that clients were told of.
func (s *session) nameSource(addr string) error {
	before := s.srv.acked.lostSet()
	if err := s.srv.opts.Monitor.SetSource(addr); err != nil {
		return s.fail(asClientError(err))
	}
	lost, known := s.lostSince(before)
	text := lost.Line()
	s.log.Warn().Str("node", addr).Bool("compared", known).Uint64("lacks_acknowledged", lost.Count()).Str("gtids", text[:min(len(text), 500)]).
		Msg("the source was named by CAUSEWAY SET SOURCE")
	switch {
	case !known:
		return s.operatedWarning("Causeway: %s is the source, and it is not known yet whether it has all acknowledged writes; SHOW CAUSEWAY LOST will list those that it lacks", addr)
	case !lost.IsEmpty():
		return s.operatedWarning("Causeway: %s is the source, and lacks %d acknowledged writes: %s; SHOW CAUSEWAY LOST lists them", addr, lost.Count(), shortSet(lost))
	}
	return s.operated()
}

// lostSince is what a new source was found to lack beyond before. known: it has been
// asked. One that has relay logs to apply yet cannot tell for long.
func (s *session) lostSince(before gtid.Set) (lost gtid.Set, known bool) {
	ctx, cancel := context.WithTimeout(s.ctx, s.srv.opts.MaxWait)
	defer cancel()
	for !s.srv.lostKnown(s.view()) && !s.srv.compareLost(ctx) {
		if ctx.Err() != nil || s.standBy(standByStep) != nil {
			return lost, false
		}
	}
	return s.srv.acked.lostSet().Subtract(before), true
}

// operatedWarning is operated with a warning, which SHOW WARNINGS tells again.
func (s *session) operatedWarning(format string, args ...any) error {
	s.noteHere()
	if !s.keepsWarnings() {
		return s.sendOK()
	}
	s.earlier = []backend.Condition{{Level: "Warning", Code: strconv.Itoa(int(wire.ErrServerIsntAvailable)), Message: fmt.Sprintf(format, args...)}}
	s.warnings = 1
	return s.sendWarned(1)
}

func (s *session) operated() error {
	s.noteHere()
	return s.sendOK()
}

// pauseLimit reads what follows PAUSE WRITES: nothing, or FOR n SECONDS. What is
// no number at all is 0.
func pauseLimit(words []string, def time.Duration) (limit time.Duration, ok bool) {
	if len(words) == 0 {
		return def, true
	}
	if len(words) != 3 || words[0] != "for" || words[2] != "seconds" && words[2] != "second" {
		return 0, false
	}
	n, err := strconv.ParseInt(words[1], 10, 32)
	if err != nil {
		n = 0
	}
	return time.Duration(n) * time.Second, true
}
