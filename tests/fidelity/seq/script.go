package seq

import (
	"fmt"
	"regexp"
	"strings"

	"causeway/wire"
)

// Script is a sequence with what its sessions asked for at login.
type Script struct {
	Seed  uint64
	Caps  [Sessions]wire.Capability
	Steps []Step

	// Polite scripts leave a session only when nothing ties it to a connection,
	// so that all sessions can share one: on a pool of size 1 the next session
	// would wait for ever.
	Polite bool
}

// state is what a session has pinned after the steps so far.
type state struct {
	pins  Pin
	off   bool // autocommit = 0
	moved bool // may be in another schema than $1
	fixed bool // may be READ ONLY: temporary tables cannot be dropped
}

// after folds one step in.
func (st state) after(s Step) state {
	switch s.op {
	case opReset: // the schema stays
		return state{moved: st.moved}
	case opChangeUser:
		return state{moved: s.text != "$1"}
	}
	frees := s.frees
	if s.stmt != "" && s.op != opPrepare && s.runs == "" { // of a statement that is gone
		frees = 0
	}
	st.fixed = st.fixed || saysReadOnly.MatchString(s.runsText())
	if st.fixed {
		frees &^= PinTemp | PinShadow
	}
	if st.pins&PinTables != 0 { // where HANDLER CLOSE is refused
		frees &^= PinHandler
	}
	if st.pins&PinXA != 0 { // where DROP TEMPORARY TABLE is refused
		frees &^= PinTemp | PinShadow
	}
	if st.pins&s.unless != 0 {
		frees &^= PinXA
	}
	if st.pins&PinChain != 0 && frees&PinTrx != 0 {
		frees &^= PinTrx
		st.pins |= PinTrx
	}
	switch {
	case s.auto == 1 && st.off && st.pins&PinXA != 0: // refused: it would commit
	case s.auto == 1:
		if st.off { // otherwise it commits nothing
			frees |= PinTrx
			if st.fixed { // a server leaves the next transaction READ ONLY
				st.pins |= PinNext
			}
		}
		st.off = false
	case s.auto == -1:
		st.off = true
	}
	ends := frees&PinTrx != 0
	st.pins = st.pins&^frees | s.pins | st.outOfSight(s)
	st.moved = st.moved || s.op == opInitDB || moves.MatchString(s.runsText())
	if st.off && (!ends || endsAndHolds.MatchString(s.text)) && (s.auto == 0 || st.pins&PinXA != 0) {
		st.pins |= PinTrx
	}
	return st
}

var (
	endsAndHolds = regexp.MustCompile(`^(ROLLBACK; SELECT|CREATE TABLE \$1\.t )`) // the second fails, and keeps locks
	unsetUser    = regexp.MustCompile(`^INSERT .*@[a-d]`)
	moves        = regexp.MustCompile(`(?i)^USE `)
	routine      = regexp.MustCompile(`(\$[12])\.(put|two_results|signals|writes|plus_one)\(`)
)

// outOfSight is PinUser after what ties a session to its connection though the
// text does not look like it: a write read a user variable that may be
// unset, which has a type from then on; or a routine of another schema ran, of
// which MySQL says no more than that the session's state changed.
func (st state) outOfSight(s Step) Pin {
	text := s.runsText()
	if unsetUser.MatchString(text) {
		return PinUser
	}
	for _, m := range routine.FindAllStringSubmatch(text, -1) {
		if m[1] != "$1" || st.moved {
			return PinUser
		}
	}
	return 0
}

// runsText is the text that a step runs.
func (s Step) runsText() string {
	switch s.op {
	case opPrepare:
		return ""
	case opExecute, opExecuteSame, opCursor:
		return s.runs
	}
	return s.text
}

// Valid tells whether a polite script is one: a shorter one may have lost the
// step that ended a pin.
func (s Script) Valid() bool {
	if !s.Polite {
		return true
	}
	var states [Sessions]state
	for i, step := range s.Steps {
		states[step.On] = states[step.On].after(step)
		if i+1 < len(s.Steps) && s.Steps[i+1].On != step.On && states[step.On].pins != 0 && !s.lastOf(i) {
			return false
		}
	}
	return true
}

// lastOf tells whether a session does nothing after step i: the player ends
// it there, which ends its pins.
func (s Script) lastOf(i int) bool {
	for _, later := range s.Steps[i+1:] {
		if later.On == s.Steps[i].On {
			return false
		}
	}
	return true
}

// uses tells whether a session has a step that is as asked.
func (s Script) uses(session int, is func(Step) bool) bool {
	for _, step := range s.Steps {
		if step.On == session && is(step) {
			return true
		}
	}
	return false
}

// String writes the script for a report.
func (s Script) String() string {
	var b strings.Builder
	for i := range Sessions {
		if s.uses(i, func(Step) bool { return true }) {
			fmt.Fprintf(&b, "%c  connects, %s\n", 'A'+i, capsText(s.Caps[i]))
		}
	}
	for _, step := range s.Steps {
		b.WriteString(step.String() + "\n")
	}
	return b.String()
}

func capsText(c wire.Capability) string {
	var words []string
	for _, w := range []struct {
		cap  wire.Capability
		name string
	}{{wire.CapDeprecateEOF, "DEPRECATE_EOF"}, {wire.CapSessionTrack, "SESSION_TRACK"}, {wire.CapFoundRows, "FOUND_ROWS"},
		{wire.CapIgnoreSpace, "IGNORE_SPACE"}, {wire.CapQueryAttributes, "QUERY_ATTRIBUTES"}} {
		if c.Has(w.cap) {
			words = append(words, w.name)
		}
	}
	return "asking for [" + strings.Join(words, " ") + "]"
}

// Everyone is a script in which each session does nothing of note.
func Everyone() Script {
	var s Script
	for i := range Sessions {
		step := q("DO 1")
		step.On, s.Caps[i] = i, modernCaps
		s.Steps = append(s.Steps, step)
	}
	return s
}

// Shows tells whether a step belongs to the kinds of a variable.
func (s Step) Shows(variable string) bool {
	switch {
	case variable == "sql_mode":
		return strings.HasPrefix(s.Kind, "sql_mode ") || strings.HasPrefix(s.Kind, "under ")
	case s.Kind == "charsets": // NAMES is not among them, it has enough of its own
		return strings.HasPrefix(variable, "character_set") || variable == "CHARACTER SET"
	}
	return s.Kind == variable || s.Kind == "set "+variable || s.Kind == "show "+variable
}
