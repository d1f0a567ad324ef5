package server

import (
	"context"
	"slices"
	"strings"

	"causeway/backend"
	"causeway/classifier"
	"causeway/gtid"
	"causeway/wire"
)

// trackedNews is what the OKs of one command reported.
type trackedNews struct {
	state        *backend.State // nil: no change
	gtids        bool
	disarmed     bool // a session_track variable was set
	connCharset  bool // character_set_connection was reported
	schema       bool // the schema was
	insertID     bool // an OK had an insert id
	stateChanged bool
	matched      int64 // see matchedRows
}

// onOK takes in an OK before it is forwarded, so that the token has grown by
// the time the client can know of its write.
func (s *session) onOK(ok *wire.OK) error {
	s.tracked.insertID = s.tracked.insertID || ok.LastInsertID != 0
	if len(ok.Info) > 0 {
		s.tracked.matched = matchedRows(ok.Info)
	}
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
		s.tracked.state, s.tracked.schema = s.newsState().WithSchema(string(value)), true
	case wire.TrackSystemVariable:
		if backend.IsTracker(string(name)) {
			s.tracked.disarmed = true
			return nil
		}
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
	if c == s.home && s.state.HasUserVars() && !s.state.ReadsLiteralsAs(s.tracked.state) {
		s.sticky.userVars = true // their literals would mean something else now
	}
	s.state = s.tracked.state
	on := s.state
	if !s.tracked.schema && on.Schema == "" {
		on = on.WithSchema(c.State().Schema) // which a session without one has not left
	}
	c.SetState(on)
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

// trackerCheck says what must be looked at before the next statement runs.
type trackerCheck struct {
	due   bool
	named []string // variables that the client assigned by name

	// The connection was given back in between: it is still the session's at this turn.
	on   *backend.Conn
	turn uint64
}

// noteTrackers asks for a check after a statement that may have changed what
// the server reports: by name, or inside a routine or a prepared text, of which
// the server then says that some state changed, or nothing if it failed.
func (s *session) noteTrackers(j *job) {
	c := j.class
	if j.want == expectPrepare {
		return
	}
	if c.Is(classifier.SetsTracker) {
		s.trackers.due = true
		s.trackers.named = append(s.trackers.named, c.Names...)
	}
	if s.tracked.disarmed || c.Is(classifier.MayChangeState) && (s.tracked.stateChanged || s.relay.err != nil) {
		s.trackers.due = true
	}
}

// checkTrackers comes before a statement on a connection to the source that was
// leased for it. If another session has had it, it was reset in between.
func (s *session) checkTrackers(c *backend.Conn, j *job) {
	switch {
	case !s.trackers.due || s.trackers.on == nil:
	case s.trackers.on != c || s.trackers.turn != c.Turn:
		s.trackers = trackerCheck{}
	case j.class.Kind != classifier.Diagnostics:
		s.rearmTrackers(j)
	}
}

// rearmTrackers sets the trackers as Causeway needs them, if they are not, and
// learns what the client wants to be told. It runs before the next statement
// but those that look at the diagnostics of the last one, which it clears.
func (s *session) rearmTrackers(j *job) {
	check := s.trackers
	s.trackers = trackerCheck{}
	s.keepFound(s.home)
	if j.want != expectResult && j.want != expectPrepare {
		s.keepDiagnostics(s.home) // such a command leaves them
	}
	s.bound(s.home)
	defer s.home.SetDeadline(noDeadline)
	armed, have, err := s.home.Trackers()
	if err != nil {
		s.home.Broken = true
		return
	}
	s.learnWants(check.named, armed, have)
	if have == armed {
		return
	}
	if have.GTIDs != armed.GTIDs { // what was written meanwhile was not reported
		ctx, cancel := context.WithTimeout(s.ctx, s.srv.opts.Backend.ConnectTimeout)
		defer cancel()
		set, err := s.positionOf(ctx, s.home)
		if err != nil {
			s.homeOnly = reasonUntracked
		} else {
			s.grow(set)
		}
	}
	if err := s.home.Arm(); err != nil {
		s.home.Broken = true
	}
}

// learnWants takes over what the client has set itself: what it named, and
// what is not as Causeway left it.
func (s *session) learnWants(named []string, armed, have backend.TrackerValues) {
	set := func(name, ours, now string) bool { return now != ours || slices.Contains(named, name) }
	w := &s.wants
	if set("session_track_schema", armed.Schema, have.Schema) {
		w.schema = have.Schema == "1"
	}
	if set("session_track_state_change", armed.StateChange, have.StateChange) {
		w.stateChange = have.StateChange == "1"
	}
	if set("session_track_gtids", armed.GTIDs, have.GTIDs) {
		w.gtids = have.GTIDs != "OFF"
	}
	if set("session_track_system_variables", armed.Variables, have.Variables) {
		w.all, w.vars = have.Variables == "*", map[string]bool{}
		for name := range strings.SplitSeq(have.Variables, ",") {
			w.vars[strings.ToLower(strings.TrimSpace(name))] = true
		}
	}
}
