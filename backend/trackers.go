package backend

import (
	"fmt"
	"slices"
	"strings"
)

// trackers are tracked themselves: a procedure may switch them off, and whoever
// does not notice loses GTIDs.
var trackers = []string{"session_track_gtids", "session_track_schema", "session_track_state_change", "session_track_system_variables"}

// TrackerNames are the variables that a connection is armed with.
func TrackerNames() []string { return slices.Clone(trackers) }

// IsTracker tells whether a variable is one of those that a connection is armed
// with.
func IsTracker(name string) bool { return slices.Contains(trackers, name) }

// armStatement is the statement that makes the server report what Causeway needs.
func (c *Conn) armStatement() string {
	return "SET SESSION session_track_gtids='OWN_GTID', session_track_schema=ON, session_track_state_change=ON, session_track_system_variables='" + c.trackedList() + "'"
}

// TrackerValues are the values of the session_track variables: of switches 0 or
// 1, as SELECT gives them.
type TrackerValues struct{ Schema, StateChange, GTIDs, Variables string }

// Armed returns what the variables are when armed.
func (c *Conn) Armed() TrackerValues { return TrackerValues{"1", "1", "OWN_GTID", c.trackedList()} }

// Trackers returns what the variables are now.
func (c *Conn) Trackers() (TrackerValues, error) {
	row, err := c.Query("SELECT @@session_track_schema, @@session_track_state_change, @@session_track_gtids, @@session_track_system_variables")
	if err != nil {
		return TrackerValues{}, err
	}
	if len(row) != 4 {
		return TrackerValues{}, fmt.Errorf("asking for the trackers: %d columns", len(row))
	}
	return TrackerValues{row[0], row[1], row[2], row[3]}, nil
}

// trackedList is the value of session_track_system_variables.
func (c *Conn) trackedList() string {
	return strings.Join(c.cfg.TrackedVariables, ",") + "," + strings.Join(trackers, ",")
}

// SetTrackers changes the variables from what they are. What is as it should be
// is left alone: inside of a transaction a server refuses any value for
// session_track_gtids.
func (c *Conn) SetTrackers(from, to TrackerValues) error {
	var sets []string
	set := func(name, from, to string) {
		if from != to {
			sets = append(sets, name+"="+literal(name, to))
		}
	}
	set("session_track_gtids", from.GTIDs, to.GTIDs)
	set("session_track_schema", from.Schema, to.Schema)
	set("session_track_state_change", from.StateChange, to.StateChange)
	set("session_track_system_variables", from.Variables, to.Variables)
	if sets == nil {
		return nil
	}
	_, err := c.Query("SET SESSION " + strings.Join(sets, ", "))
	return err
}
