package server

import (
	"strconv"
	"strings"
	"time"

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
		if err := s.srv.opts.Monitor.SetSource(words[3]); err != nil {
			return s.fail(asClientError(err))
		}
		s.log.Warn().Str("node", words[3]).Msg("the source was named by CAUSEWAY SET SOURCE")
		return s.operated()
	}
	if change, ok := parseTopology(words[1:]); ok {
		return s.changeTopology(change)
	}
	return s.fail(wire.NewError(wire.ErrParse,
		"Causeway does not know '%s'; it knows CAUSEWAY PAUSE WRITES [FOR n SECONDS], CAUSEWAY RESUME, CAUSEWAY SET SOURCE 'host:port', "+
			"CAUSEWAY ADD SERVER 'host:port' [WEIGHT n] [ZONE 'z'], CAUSEWAY REMOVE SERVER 'host:port' and CAUSEWAY SET WEIGHT 'host:port' = n", strings.Join(words, " ")))
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
