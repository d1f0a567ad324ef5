package server

import (
	"math/bits"
	"strings"
	"sync/atomic"
	"time"

	"causeway/classifier"
)

// pin says what ties a session to a connection between statements.
type pin uint16

const (
	pinTransaction pin = 1 << iota
	pinTempTables
	pinTableLocks
	pinUserLocks
	pinUserVars
	pinVariables
	pinNextTrx
	pinTextPrepared
	pinXA
	pinHandler
	pinCursor
	pinLongData
	pinTrackers
	pinUnknown
)

// leavesBehind are the pins after which only COM_RESET_CONNECTION makes a
// connection fit for others.
const leavesBehind = ^(pinTransaction | pinCursor | pinLongData | pinTrackers)

var pinNames = [...]string{
	"transaction", "temporary_tables", "table_locks", "user_locks", "user_variables", "session_variables",
	"set_transaction", "text_prepared", "xa", "handler", "cursor", "long_data", "trackers", "unknown_statement",
}

// String lists the reasons.
func (p pin) String() string {
	var names []string
	for rest := p; rest != 0; rest &= rest - 1 {
		names = append(names, pinNames[bits.TrailingZeros16(uint16(rest))])
	}
	return strings.Join(names, ",")
}

// pinned is the present pin of a session, for SHOW CAUSEWAY PINS.
type pinned struct {
	pin    pin
	since  time.Time
	digest string // of the statement that pinned
	node   string
}

// stickyState is session state that exists only on the source connection.
type stickyState struct {
	temp      tempTables
	locked    tableLocks
	xa        bool
	userVars  bool // user variables whose values are not known
	variables bool // session variables that nobody reports
	unknown   bool // a statement that was not understood may have left anything
	locks     bool // named locks are held
	insertID  bool // SET insert_id holds for the next INSERT
	handlers  map[string]bool
	prepared  map[string]bool // by PREPARE
}

func (k *stickyState) any() bool {
	return k.temp.any() || k.locked.any() || k.xa || k.userVars || k.variables || k.unknown || k.locks || k.insertID || len(k.handlers) > 0 || len(k.prepared) > 0
}

// homePins tells what ties the session to its connection to the source.
func (s *session) homePins() pin {
	var p pin
	k := &s.sticky
	set := func(on bool, bit pin) {
		if on {
			p |= bit
		}
	}
	set(s.homeInTrx(), pinTransaction)
	set(k.temp.any(), pinTempTables)
	set(k.locked.any(), pinTableLocks)
	set(k.locks, pinUserLocks)
	set(k.userVars, pinUserVars)
	set(k.variables || k.insertID, pinVariables)
	set(s.oneShot, pinNextTrx)
	set(len(k.prepared) > 0, pinTextPrepared)
	set(k.xa, pinXA)
	set(len(k.handlers) > 0, pinHandler)
	set(k.unknown, pinUnknown)
	set(s.trackers.due, pinTrackers)
	for _, st := range s.stmts {
		if st.at == s.home {
			set(!st.long, pinCursor)
			set(st.long, pinLongData)
		}
	}
	return p
}

// replicaPins tells what ties the session to connections to replicas.
func (s *session) replicaPins() pin {
	var p pin
	if s.readTrx != nil {
		p |= pinTransaction
	}
	for _, st := range s.stmts {
		if st.at != nil && st.at != s.home && !st.long {
			p |= pinCursor
		}
	}
	return p
}

// notePins publishes the session's pins if they have changed.
func (s *session) notePins(p pin) {
	old := s.pinned.Load()
	switch {
	case p == 0 && old == nil, old != nil && old.pin == p:
		return
	case p == 0:
		s.pinned.Store(nil)
		return
	}
	s.pinned.Store(&pinned{pin: p, since: time.Now(), digest: s.route.digest, node: s.route.node})
}

// pinnedPointer is what other sessions read.
type pinnedPointer = atomic.Pointer[pinned]

// tempTables are the temporary tables of a session, as far as their names are
// known.
type tempTables struct {
	names map[string]bool // as they are spelled: Tt and tt can be two
	some  bool            // of unknown names: made by a routine
	moved bool            // one may have another name now
}

func (t *tempTables) any() bool { return t.some || len(t.names) > 0 }

// mayBeIn tells whether a statement may name one of them. It looks for the bare
// names: where one has other letters than a digest shows as they are, any
// statement may.
func (t *tempTables) mayBeIn(c *classifier.Class) bool {
	if t.some || t.moved || len(c.Digest) >= classifier.CutDigest || c.Is(classifier.ExecutableComment) {
		return true
	}
	digest := strings.ToLower(c.Digest)
	for name := range t.names {
		_, table, _ := strings.Cut(strings.ToLower(name), ".")
		if !plainName(table) || hasWord(digest, table) {
			return true
		}
	}
	return !plainText(digest)
}

// plainName tells whether an identifier is written in one way only, but for case.
func plainName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool { return c >= 0x80 || !inName(byte(c)) })
}

// hasWord tells whether a text has a name that is no part of a longer one.
func hasWord(text, name string) bool {
	for from := 0; ; from++ {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		from += i
		end := from + len(name)
		if (from == 0 || !inName(text[from-1])) && (end == len(text) || !inName(text[end])) {
			return true
		}
	}
}

func inName(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z'
}

// plainText: other letters can be the upper case of ASCII ones.
func plainText(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return c >= 0x80 })
}

// follow takes in a statement that created or dropped tables of these names. One
// that is dropped by another spelling, as some servers take it, stays known.
func (t *tempTables) follow(c *classifier.Class, names []string, schema string) {
	switch {
	case c.Is(classifier.MultiStatement):
		t.some = t.some || c.Is(classifier.CreatesTemp)
	case c.Is(classifier.CreatesTemp) && len(names) == 0:
		t.some = true
	case c.Is(classifier.CreatesTemp):
		if t.names == nil {
			t.names = map[string]bool{}
		}
		for _, name := range names {
			t.names[qualified(name, schema)] = true
		}
	case c.Is(classifier.DropsTemp):
		for _, name := range names {
			delete(t.names, qualified(name, schema))
		}
		t.moved = t.moved && t.any()
	case c.Kind == classifier.DDL && t.any() && t.mayBeIn(c):
		t.moved = true // ALTER TABLE can give one another name
	}
}

func qualified(name, schema string) string {
	if strings.Contains(name, ".") {
		return name
	}
	return schema + "." + name
}
