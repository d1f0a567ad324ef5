package server

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"causeway/backend"
	"causeway/classifier"
	"causeway/gtid"
	"causeway/wire"
)

// trackedNews is what the OKs of one command reported.
type trackedNews struct {
	state        *backend.State // nil: no change
	gtids        bool
	disarmed     bool   // a session_track variable was set
	connCharset  bool   // character_set_connection was reported
	bigSelects   bool   // sql_big_selects was
	schema       bool   // the schema was
	insertID     bool   // an OK had an insert id
	info         uint64 // what the info of an OK counted, see noteFound
	unchanged    bool   // that of the last said of an UPDATE that it changed no row
	stateChanged bool
	before       []uint16 // warning counts of the results before the last
	setsState    bool     // session_track_state_change was set
	block        []byte   // what the OK of a SET reported, as it came
}

// onOK takes in an OK before it is forwarded, so that the token has grown by
// the time the client can know of its write.
func (s *session) onOK(ok *wire.OK) error {
	s.tracked.insertID = s.tracked.insertID || ok.LastInsertID != 0
	if ok.Status.Has(wire.StatusMoreResults) {
		s.tracked.before = append(s.tracked.before, ok.Warnings)
	}
	if len(ok.Info) > 0 {
		s.tracked.info = countedIn(ok.Info)
	}
	s.tracked.unchanged = changesNone(ok.Info)
	s.followCommit(ok)
	s.noteSeen()
	if len(ok.Track) == 0 {
		return nil
	}
	if s.runs.Load().Kind == classifier.Set {
		s.tracked.block = bytes.Clone(ok.Track)
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
			s.learnTracker(string(name), string(value))
			return nil
		}
		s.tracked.state = s.newsState().WithVar(string(name), string(value))
		s.followTracked(string(name), string(value))
	case wire.TrackStateChange:
		s.tracked.stateChanged = s.tracked.stateChanged || string(value) == "1"
	}
	return nil
}

// followTracked looks at a reported variable that stands for more than itself: a
// server that sets max_join_size sets sql_big_selects as well, and does not say so.
func (s *session) followTracked(name, value string) {
	switch name {
	case "character_set_connection":
		s.tracked.connCharset = true
	case backend.BigSelects:
		s.tracked.bigSelects = true
	case backend.MaxJoinSize:
		if !s.tracked.bigSelects {
			s.tracked.state = s.newsState().WithVar(backend.BigSelects, backend.BigSelectsAfter(value))
		}
	}
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
	s.srv.ack(set, s.current)
	var until time.Duration
	if !showsNothing(s.runs.Load()) {
		until = s.openWindow()
	}
	s.growUntil(set, until)
	return s.unshared()
}

// grow adds what the session has written to its token, and to what it shares with
// others, and opens a window.
func (s *session) grow(set gtid.Set) { s.growUntil(set, s.openWindow()) }

func (s *session) growUntil(set gtid.Set, until time.Duration) {
	if s.view().WithoutGTIDs {
		set = gtid.Set{} // from when it had some
	}
	s.common.note(set, s.token.Set)
	s.hold(set)
	s.raise(set, s.view(), until)
}

// hold adds GTIDs to the session's token.
func (s *session) hold(set gtid.Set) {
	token, lost := s.token.Add(set, s.view().Epoch)
	if lost {
		s.srv.metrics.lostTokens.Inc()
	}
	token.Set = s.srv.narrow(token.Set)
	s.token = token
}

// applyNews makes tracked state that of the session and of the connection that
// reported it. On a replica only the variables of a read-only transaction could
// change, and those are the session's as well.
func (s *session) applyNews(c *backend.Conn, _ *job) {
	if s.tracked.schema {
		s.dropped = ""
	}
	if s.tracked.state == nil || s.tracked.state == s.state && s.tracked.state == c.State() {
		return // USE of the schema that the session is in moves a connection that was in another one
	}
	s.state = s.tracked.state
	on := s.state
	if !s.tracked.schema {
		on = on.WithSchema(c.State().Schema) // which need not be the session's, see enterSchema
	}
	c.SetState(on)
}

// trackerWants is what the client asked its server to report, by the values of
// the variables as they are for the client.
type trackerWants struct {
	schema, stateChange, gtids, all bool
	vars                            map[string]bool

	is backend.TrackerValues
}

// wantsOf reads the values.
func wantsOf(is backend.TrackerValues) trackerWants {
	w := trackerWants{schema: is.Schema == "1", stateChange: is.StateChange == "1", gtids: is.GTIDs != "OFF", all: is.Variables == "*", is: is}
	if is.Variables == mysqlTrackers.Variables {
		w.vars = defaultTrackedVars
		return w
	}
	w.vars = map[string]bool{}
	for name := range strings.SplitSeq(is.Variables, ",") {
		w.vars[strings.ToLower(strings.TrimSpace(name))] = true
	}
	return w
}

// mysqlTrackers are MySQL's own defaults.
var mysqlTrackers = backend.TrackerValues{
	Schema: "1", StateChange: "0", GTIDs: "OFF",
	Variables: "time_zone,autocommit,character_set_client,character_set_results,character_set_connection",
}

var defaultTrackedVars = map[string]bool{
	"time_zone": true, "autocommit": true, "character_set_client": true,
	"character_set_results": true, "character_set_connection": true,
}

// defaultWants are those of a new session: the source's global values.
func defaultWants(source *backend.Node) trackerWants {
	is := mysqlTrackers
	if source != nil {
		if v, ok := source.Defaults["session_track_schema"]; ok {
			is.Schema = asSelected(v)
		}
		if v, ok := source.Defaults["session_track_state_change"]; ok {
			is.StateChange = asSelected(v)
		}
		is.GTIDs = cmp.Or(source.Defaults["session_track_gtids"], is.GTIDs)
		if v, ok := source.Defaults["session_track_system_variables"]; ok {
			is.Variables = v
		}
	}
	return wantsOf(is)
}

// asSelected is the value of a switch as SELECT gives it.
func asSelected(value string) string {
	if strings.EqualFold(value, "ON") || value == "1" {
		return "1"
	}
	return "0"
}

// learnTracker takes over a value that the server has just reported.
func (s *session) learnTracker(name, value string) {
	is := s.wants.is
	switch name {
	case "session_track_schema":
		is.Schema = asSelected(value)
	case "session_track_state_change":
		is.StateChange = asSelected(value)
		s.tracked.setsState = true
	case "session_track_gtids":
		is.GTIDs = value
	case "session_track_system_variables":
		is.Variables = value
	}
	s.wants = wantsOf(is)
}

// tracksTrx tells whether the client is to be told of the state of transactions:
// then they begin and end on a server, never only here.
func (s *session) tracksTrx(v *backend.View) bool {
	value, ok := s.state.Var(trxTracker)
	if !ok && v.Source != nil {
		value, ok = v.Source.Defaults[trxTracker]
	}
	return ok && !strings.EqualFold(value, "OFF")
}

const trxTracker = "session_track_transaction_info"

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
		case kind == wire.TrackStateChange && w.stateChange && !s.tracked.setsState:
			out = wire.AppendTrackStateChange(out, string(value) == "1")
		case kind == wire.TrackGTIDs && w.gtids:
			out = wire.AppendTrackGTIDs(out, string(value))
		case kind == wire.TrackSystemVariable && (w.all || w.vars[strings.ToLower(string(name))]):
			out = wire.AppendTrackVariable(out, string(name), string(value))
		case kind == wire.TrackTransactionCharacteristics || kind == wire.TrackTransactionState:
			if s.passesTrx(kind, value) {
				out = wire.AppendTrackTransaction(out, kind, string(value))
			}
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return out
}

// askUntold asks for what the server has to tell of a statement that failed after
// it may have done something: an ERR has no room for it, and the next statement may
// run elsewhere.
func (s *session) askUntold(c *backend.Conn, j *job) {
	may := runsUnseen(j.class) || j.class.Is(classifier.MultiStatement) || setsSeveral(j.class)
	if j.want == expectResult && (may && s.relay.err.Code != wire.ErrParse || elsewhere(c, j)) {
		s.fetchUntold(c)
	}
}

// elsewhere tells of a prepared statement of another schema than the connection's: a
// server goes there and back, and tells of that in its next OK.
func elsewhere(c *backend.Conn, j *job) bool {
	return j.stmt != nil && j.stmt.State.Schema != c.State().Schema
}

func (s *session) fetchUntold(c *backend.Conn) {
	if s.askStatus(c) != nil {
		c.Broken = true
	}
}

// askStatus makes the status flags of a connection known, by COM_PING: its OK has
// them, and it leaves the diagnostics alone, but for ROW_COUNT(). What it tells of the
// session besides, it tells once: the client hears of that with its next OK.
func (s *session) askStatus(c *backend.Conn) error {
	s.bound(c)
	defer c.SetDeadline(noDeadline)
	block, err := c.Ping()
	if err == nil {
		err = wire.WalkTrack(block, s.onTracked)
	}
	if err == nil && len(block) > 0 {
		s.untold = s.filterTrack(block)
	}
	return err
}

// What MySQL tells of an explicit transaction at its begin and its end, even where
// session_track_transaction_info is OFF.
const (
	trxBegun = "T_______"
	trxEnded = "________"
)

// passesTrx tells whether what a server says of its transaction is news for the
// client: it may have been told so when the transaction began or ended only here.
func (s *session) passesTrx(kind wire.TrackKind, value []byte) bool {
	if c := s.current; c != s.home && c != s.readTrx {
		return false
	}
	if kind == wire.TrackTransactionCharacteristics {
		return s.current == s.home
	}
	if string(value) == s.trxTold() {
		return false
	}
	s.trxState = string(value)
	return true
}

func (s *session) trxTold() string { return cmp.Or(s.trxState, trxEnded) }

// tellTrx has the next OK tell of a transaction's begin or end.
func (s *session) tellTrx(state string) {
	if s.login.Caps.Has(wire.CapSessionTrack) && s.trxTold() != state {
		s.untold = wire.AppendTrackTransaction(s.untold, wire.TrackTransactionState, state)
	}
	s.trxState = state
}

// tell adds to an OK of our own what the client has not been told.
func (s *session) tell(ok *wire.OK) {
	if len(s.untold) > 0 && s.login.Caps.Has(wire.CapSessionTrack) {
		ok.Track, s.untold = s.untold, nil
		ok.Status |= wire.StatusSessionStateChanged
	}
}

// trackerCheck says what must be looked at before the next statement runs.
type trackerCheck struct {
	due   bool
	named []string // variables that the client assigned by name
	by    keys     // which it wrote under

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
	if !s.trackers.due {
		s.trackers.by = s.common.keys
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
	defer s.under(check.by)()
	s.keepFound(s.home)
	if j.want != expectResult && j.want != expectPrepare {
		s.keepDiagnostics(s.home) // such a command leaves them
	}
	s.bound(s.home)
	defer s.home.SetDeadline(noDeadline)
	armed := s.home.Armed()
	have, err := s.home.Trackers()
	if err != nil {
		s.home.Broken = true
		s.openDoubt(s.home) // something may have been written and not reported
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
			s.homeOnly, s.untracked = reasonUntracked, true
		} else {
			s.grow(set)
		}
	}
	if err := s.home.SetTrackers(have, armed); err != nil {
		s.home.Broken = true
	}
}

// learnWants takes over what the client has set itself: what it named, and
// what is not as Causeway left it.
func (s *session) learnWants(named []string, armed, have backend.TrackerValues) {
	is := s.wants.is
	learn := func(name string, value *string, ours, now string) {
		if now != ours || slices.Contains(named, name) {
			*value = now
		}
	}
	learn("session_track_schema", &is.Schema, armed.Schema, have.Schema)
	learn("session_track_state_change", &is.StateChange, armed.StateChange, have.StateChange)
	learn("session_track_gtids", &is.GTIDs, armed.GTIDs, have.GTIDs)
	learn("session_track_system_variables", &is.Variables, armed.Variables, have.Variables)
	s.wants = wantsOf(is)
}
