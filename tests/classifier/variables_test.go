package classifier

import (
	"slices"
	"testing"

	"causeway/classifier"
)

// untracked are the session variables that an application can set and that are
// left out of TrackedVariables on purpose; see there.
var untracked = []string{
	"character_set_database", "collation_database", "gtid_next", "identity",
	"immediate_server_version", "insert_id", "last_insert_id", "optimizer_trace",
	"original_commit_timestamp", "original_server_version", "profiling",
	"profiling_history_size", "pseudo_replica_mode", "pseudo_slave_mode", "pseudo_thread_id",
	"rand_seed1", "rand_seed2", "rbr_exec_mode", "require_row_format", "session_track_gtids",
	"session_track_schema", "session_track_state_change", "session_track_system_variables",
	"timestamp",
}

// olders are variables of servers before this one.
var olders = []string{"new", "myisam_repair_threads"}

// TestTrackedVariables: every variable that a session can set is tracked or
// left out by name, and every tracked one can be set.
func TestTrackedVariables(t *testing.T) {
	s := newSession(t)
	rows, err := s.conn.QueryContext(s.ctx, "SELECT LOWER(variable_name) FROM performance_schema.session_variables")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		settable := s.exec("SET SESSION "+name+" = @@session."+name) == nil
		tracked := classifier.Tracked(name)
		left := slices.Contains(untracked, name)
		switch {
		case settable && !tracked && !left:
			t.Errorf("%s can be set, but is neither tracked nor left out on purpose", name)
		case tracked && !settable:
			t.Errorf("%s is tracked, but cannot be set", name)
		case tracked && left:
			t.Errorf("%s is tracked and left out", name)
		}
	}
	for _, name := range classifier.TrackedVariables {
		if !slices.Contains(names, name) && !slices.Contains(olders, name) {
			t.Errorf("%s is tracked, but this server does not know it", name)
		}
	}
}
