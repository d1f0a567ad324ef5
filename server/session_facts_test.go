package server

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"causeway/backend"
	"causeway/classifier"
	"causeway/wire"
)

// bareSession is a session without connections over a view.
func bareSession(defaults map[string]string) (*session, *backend.View) {
	v := &backend.View{}
	if defaults != nil {
		v.Source = &backend.Node{Defaults: defaults}
	}
	return &session{login: &Login{Caps: wire.CapProtocol41, Collation: 45}, state: backend.EmptyState}, v
}

func TestFacts(t *testing.T) {
	homeWith := func(status wire.Status) func(*session) {
		return func(s *session) { s.home = &backend.Conn{Status: status} }
	}
	set := func(name, value string) func(*session) {
		return func(s *session) { s.state = s.state.WithVar(name, value) }
	}
	for _, c := range []struct {
		name string
		tune func(*session)
		want facts
	}{
		{"a new session", func(*session) {}, facts{}},
		{"in a transaction", homeWith(wire.StatusInTrans), facts{homeTrx: true}},
		{"connected, no transaction", homeWith(wire.StatusAutocommit), facts{}},
		{"autocommit off", set("autocommit", "OFF"), facts{autocommitOff: true}},
		{"autocommit 0", set("autocommit", "0"), facts{autocommitOff: true}},
		{"autocommit on", set("autocommit", "ON"), facts{}},
		{"read only", set("transaction_read_only", "ON"), facts{readOnly: true}},
		{"read only 1", set("transaction_read_only", "1"), facts{readOnly: true}},
		{"read write", set("transaction_read_only", "OFF"), facts{}},
		{"BEGIN not sent yet", func(s *session) { s.lazy = &lazyTrx{text: "BEGIN"} }, facts{lazy: true}},
		{"BEGIN READ ONLY not sent yet", func(s *session) { s.lazy = &lazyTrx{text: "x", readOnly: true} }, facts{lazy: true, lazyReadOnly: true}},
		{"literals in user variables", set("@a", "1"), facts{homeState: true}},
		{"SET TRANSACTION held", func(s *session) { s.nextTrx = []string{"SET TRANSACTION READ ONLY"} }, facts{nextReadOnly: true}},
		{"on a replica, fresh", func(s *session) { s.readTrx, s.readFresh = &backend.Conn{Status: wire.StatusInTrans}, true }, facts{readOnlyTrx: true, fresh: true, unread: true}},
		{"on a replica, with savepoints", func(s *session) {
			s.readTrx, s.readFresh, s.readPinned = &backend.Conn{Status: wire.StatusInTrans}, true, true
		}, facts{readOnlyTrx: true, unread: true}},
		{"on a replica, used", func(s *session) { s.readTrx = &backend.Conn{Status: wire.StatusInTrans} }, facts{readOnlyTrx: true}},
		{"user variables", func(s *session) { s.sticky.userVars = true }, facts{homeState: true}},
		{"text-prepared statements", func(s *session) { s.sticky.prepared = map[string]bool{"p": true} }, facts{homeState: true}},
		{"handlers", func(s *session) { s.sticky.handlers = map[string]bool{"h": true} }, facts{homeState: true}},
		{"temporary tables", func(s *session) { s.sticky.temp.some = true }, facts{homeOnly: reasonTempTables}},
		{"LOCK TABLES", func(s *session) { s.sticky.locked.tables = true }, facts{homeOnly: reasonLockedTables}},
		{"locks win over temporary tables", func(s *session) { s.sticky.locked.tables, s.sticky.temp.some = true, true }, facts{homeOnly: reasonLockedTables}},
		{"XA", func(s *session) { s.sticky.xa = true }, facts{homeOnly: reasonXA}},
		{"SET TRANSACTION sent", func(s *session) { s.oneShot = true }, facts{homeOnly: reasonOneShot}},
		{"doubt", func(s *session) { s.homeOnly = reasonDoubt }, facts{homeOnly: reasonDoubt}},
		{"untracked", func(s *session) { s.homeOnly = reasonUntracked }, facts{homeOnly: reasonUntracked}},
		{"named locks", func(s *session) { s.sticky.locks = true }, facts{homeOnly: reasonUserLocks}},
	} {
		s, v := bareSession(map[string]string{"autocommit": "ON"})
		c.tune(s)
		if got := s.facts(v); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// A variable that the session has not set has the source's global value.
func TestFactsFollowTheSourcesDefaults(t *testing.T) {
	s, v := bareSession(map[string]string{"autocommit": "OFF"})
	if !s.facts(v).autocommitOff {
		t.Error("the source's autocommit=OFF is not seen")
	}
	s.state = s.state.WithVar("autocommit", "ON")
	if s.facts(v).autocommitOff {
		t.Error("the session's own value does not win")
	}
	s, v = bareSession(nil)
	if s.facts(v).autocommitOff {
		t.Error("without a source autocommit is taken to be off")
	}
}

func TestStickyState(t *testing.T) {
	if (&stickyState{}).any() {
		t.Error("a new session has sticky state")
	}
	for _, s := range []stickyState{{temp: tempTables{some: true}}, {locked: tableLocks{tables: true}}, {locked: tableLocks{global: true}}, {locked: tableLocks{instance: true}}, {xa: true}, {userVars: true}, {locks: true}, {prepared: map[string]bool{"s": true}}, {handlers: map[string]bool{"h": true}}, {variables: true}} {
		if !s.any() {
			t.Errorf("%+v can be replayed", s)
		}
	}
}

func TestClassifierMode(t *testing.T) {
	for _, c := range []struct {
		name, sqlMode, charset string
		caps                   wire.Capability
		collation              uint16
		want                   classifier.Mode
	}{
		{name: "MySQL's default", sqlMode: "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES"},
		{name: "ANSI", sqlMode: "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ANSI", want: classifier.Mode{ANSIQuotes: true, PipesAsConcat: true, IgnoreSpace: true}},
		{name: "no backslashes", sqlMode: "NO_BACKSLASH_ESCAPES", want: classifier.Mode{NoBackslashEscapes: true}},
		{name: "IGNORE_SPACE by the login", caps: wire.CapIgnoreSpace, want: classifier.Mode{IgnoreSpace: true}},
		{name: "gbk", charset: "gbk", want: classifier.Mode{UnsafeCharset: true}},
		{name: "GB18030", charset: "GB18030", want: classifier.Mode{UnsafeCharset: true}},
		{name: "sjis by the login's collation", collation: 13, want: classifier.Mode{UnsafeCharset: true}},
		{name: "utf8mb4 after a login with sjis", charset: "utf8mb4", collation: 13},
		{name: "latin1", charset: "latin1"},
	} {
		s, v := bareSession(map[string]string{"sql_mode": ""})
		s.login.Caps |= c.caps
		if c.collation != 0 {
			s.login.Collation = c.collation
		}
		if c.sqlMode != "" {
			s.state = s.state.WithVar("sql_mode", c.sqlMode)
		}
		if c.charset != "" {
			s.state = s.state.WithVar("character_set_client", c.charset)
		}
		for range 2 { // the second time from memory
			if got := s.classifierMode(v); got != c.want {
				t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
			}
		}
	}
}

// The mode follows the state and the source's defaults.
func TestClassifierModeChanges(t *testing.T) {
	s, v := bareSession(nil)
	if s.classifierMode(v).ANSIQuotes {
		t.Error("ANSI_QUOTES out of nothing")
	}
	v.Source = &backend.Node{Defaults: map[string]string{"sql_mode": "ANSI_QUOTES"}}
	if !s.classifierMode(v).ANSIQuotes {
		t.Error("a source that became known is not asked")
	}
	s.state = s.state.WithVar("sql_mode", "")
	if s.classifierMode(v).ANSIQuotes {
		t.Error("SET sql_mode is not followed")
	}
}

func TestFilterTrack(t *testing.T) {
	block := wire.AppendTrackSchema(nil, "db")
	block = wire.AppendTrackVariable(block, "time_zone", "UTC")
	block = wire.AppendTrackVariable(block, "max_execution_time", "1")
	block = wire.AppendTrackStateChange(block, true)
	block = wire.AppendTrackGTIDs(block, testGTIDs)
	schema, zone, limit := wire.AppendTrackSchema(nil, "db"), wire.AppendTrackVariable(nil, "time_zone", "UTC"), wire.AppendTrackVariable(nil, "max_execution_time", "1")
	for _, c := range []struct {
		name  string
		caps  wire.Capability
		wants trackerWants
		want  string
	}{
		{"MySQL's defaults", modern, defaultWants(nil), string(schema) + string(zone)},
		{"nothing", modern, trackerWants{}, ""},
		{"all variables", modern, trackerWants{all: true}, string(zone) + string(limit)},
		{"one by name", modern, trackerWants{vars: map[string]bool{"max_execution_time": true}}, string(limit)},
		{"state changes", modern, trackerWants{stateChange: true}, string(wire.AppendTrackStateChange(nil, true))},
		{"GTIDs", modern, trackerWants{gtids: true}, string(wire.AppendTrackGTIDs(nil, testGTIDs))},
		{"no tracking negotiated", old, trackerWants{all: true, schema: true, gtids: true}, ""},
	} {
		s := &session{login: &Login{Caps: c.caps}, wants: c.wants}
		if got := string(s.filterTrack(block)); got != c.want {
			t.Errorf("%s: % x, want % x", c.name, got, c.want)
		}
	}
	s := &session{login: &Login{Caps: modern}, wants: defaultWants(nil)}
	if got := s.filterTrack([]byte{1, 9, 9}); len(got) != 0 {
		t.Errorf("a malformed block: % x", got)
	}
}

// A client that sets a tracker of its own is told what it asked for, and
// Causeway's trackers are set again.
func TestSessionRearmsTrackers(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	k.run("SET session_track_gtids='OWN_GTID'")
	r := k.query("INSERT INTO t VALUES (1)")
	if string(r.ok.Track) != string(wire.AppendTrackGTIDs(nil, sourceUUID+":101")) {
		t.Errorf("the client was told % x", r.ok.Track)
	}
	if got := k.route("Token"); got != sourceUUID+":101" {
		t.Errorf("token %q", got)
	}
	k.run("SET session_track_gtids='OFF'")
	if r := k.query("INSERT INTO t VALUES (2)"); r.ok.Track != nil {
		t.Errorf("the client was told % x", r.ok.Track)
	}
	// It was off until the next statement: what was written meanwhile is asked for.
	if got := k.route("Token"); got != sourceUUID+":1-102" {
		t.Errorf("token %q", got)
	}
}

// A server that answers the check of the trackers too late: its answer is nobody's,
// what came before it may be unknown, and the statement runs once, elsewhere.
func TestTrackersAnsweredTooLate(t *testing.T) {
	l := startLab(t, 1, func(o *Options) { o.Backend.ConnectTimeout = 2 * time.Second })
	var late atomic.Bool
	l.source.on("SELECT @@session_track_schema", func(c *fakeConn, text string) {
		if late.CompareAndSwap(true, false) {
			time.Sleep(3 * time.Second)
		}
		c.rows(4, []string{"1", "1", "OWN_GTID", ""})
	})
	l.source.on("CALL nosuch", func(c *fakeConn, text string) { c.fail(1305, "PROCEDURE nosuch does not exist") })
	k := l.client()
	k.query("CALL nosuch()")
	late.Store(true)
	r := k.query("INSERT INTO t VALUES (1)")
	if r.err != nil || len(r.rows) != 0 || r.ok.Header != wire.HeaderOK {
		t.Errorf("INSERT was answered by %+v", r)
	}
	if late.Load() {
		t.Fatal("the trackers were not looked at")
	}
	ran := slices.DeleteFunc(l.source.texts(), func(text string) bool { return !strings.HasPrefix(text, "INSERT") })
	if len(ran) != 1 {
		t.Errorf("INSERT ran %d times", len(ran))
	}
	if got := k.route("Token"); !strings.Contains(got, "101") {
		t.Errorf("token %q", got)
	}
}
