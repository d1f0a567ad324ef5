package server

import (
	"strings"

	"causeway/backend"
	"causeway/gtid"
	"causeway/wire"
)

// trackedNews is what the OKs of one command reported.
type trackedNews struct {
	state        *backend.State // nil: no change
	gtids        bool
	connCharset  bool // character_set_connection was reported
	stateChanged bool
}

// onOK takes in an OK before it is forwarded, so that the token has grown by
// the time the client can know of its write.
func (s *session) onOK(ok *wire.OK) error {
	if len(ok.Track) == 0 {
		return nil
	}
	return wire.WalkTrack(ok.Track, s.onTracked)
}

func (s *session) onTracked(kind wire.TrackKind, name, value []byte) error {
	switch kind {
	case wire.TrackGTIDs:
		return s.sawGTIDs(value)
	case wire.TrackSchema:
		s.tracked.state = s.newsState().WithSchema(string(value))
	case wire.TrackSystemVariable:
		s.tracked.state = s.newsState().WithVar(string(name), string(value))
		s.tracked.connCharset = s.tracked.connCharset || string(name) == "character_set_connection"
	case wire.TrackStateChange:
		s.tracked.stateChanged = s.tracked.stateChanged || string(value) == "1"
	}
	return nil
}

func (s *session) newsState() *backend.State {
	if s.tracked.state != nil {
		return s.tracked.state
	}
	return s.state
}

// sawGTIDs adds what an OK reports to the token. A set that cannot be read
// must not be lost: the answer is treated as if it had not come.
func (s *session) sawGTIDs(text []byte) error {
	set, err := gtid.ParseBytes(text)
	if err != nil {
		return &backendError{err}
	}
	s.tracked.gtids = true
	s.grow(set)
	return nil
}

// grow adds GTIDs to the session's token.
func (s *session) grow(set gtid.Set) {
	v := s.view()
	token, lost := s.token.Add(set, v.Epoch)
	if lost {
		s.srv.metrics.lostTokens.Inc()
	}
	if limit := s.srv.opts.TokenIntervals; limit > 0 && token.Set.Intervals() > limit {
		token.Set = token.Set.Widen(v.SourcePosition, limit)
	}
	s.token = token
}

// applyNews makes tracked state that of the session and of the connection that
// reported it. On a replica only the variables of a read-only transaction could
// change, and those are the session's as well.
func (s *session) applyNews(c *backend.Conn, _ *job) {
	if s.tracked.state == nil || s.tracked.state == s.state {
		return
	}
	s.state = s.tracked.state
	c.SetState(s.state)
}

// trackerWants is what the client asked its server to report. The defaults are
// MySQL's own.
type trackerWants struct {
	schema, stateChange, gtids, all bool
	vars                            map[string]bool
}

var defaultTrackedVars = map[string]bool{
	"time_zone": true, "autocommit": true, "character_set_client": true,
	"character_set_results": true, "character_set_connection": true,
}

func defaultWants() trackerWants { return trackerWants{schema: true, vars: defaultTrackedVars} }

// filterTrack leaves in a session-state block what the client asked for, in place.
func (s *session) filterTrack(block []byte) []byte {
	if !s.login.Caps.Has(wire.CapSessionTrack) {
		return nil
	}
	var out []byte
	err := wire.WalkTrack(block, func(kind wire.TrackKind, name, value []byte) error {
		w := &s.wants
		switch {
		case kind == wire.TrackSchema && w.schema:
			out = wire.AppendTrackSchema(out, string(value))
		case kind == wire.TrackStateChange && w.stateChange:
			out = wire.AppendTrackStateChange(out, string(value) == "1")
		case kind == wire.TrackGTIDs && w.gtids:
			out = wire.AppendTrackGTIDs(out, string(value))
		case kind == wire.TrackSystemVariable && (w.all || w.vars[strings.ToLower(string(name))]):
			out = wire.AppendTrackVariable(out, string(name), string(value))
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return out
}

// rearmTrackers learns what the client wants to be told, after it has set a
// session_track variable, and sets them again as Causeway needs them.
func (s *session) rearmTrackers() {
	s.bound(s.home)
	defer s.home.SetDeadline(noDeadline)
	row, err := s.home.Query("SELECT @@session_track_schema, @@session_track_state_change, @@session_track_gtids, @@session_track_system_variables")
	if err != nil || len(row) != 4 {
		s.home.Broken = true
		return
	}
	s.wants = trackerWants{
		schema: row[0] == "1", stateChange: row[1] == "1",
		gtids: row[2] != "OFF", all: row[3] == "*", vars: map[string]bool{},
	}
	for name := range strings.SplitSeq(row[3], ",") {
		s.wants.vars[strings.ToLower(strings.TrimSpace(name))] = true
	}
	if err := s.home.Arm(); err != nil {
		s.home.Broken = true
	}
}
