package fidelity

import (
	"slices"
	"testing"

	"causeway/tests/fidelity/seq"
	"causeway/tests/session/raw"
)

// undo is how a variable is forgotten, where SET name = DEFAULT is not it.
var undo = map[string]string{
	"NAMES": "SET NAMES utf8mb4", "CHARACTER SET": "SET NAMES utf8mb4", "character_set_client": "SET NAMES utf8mb4",
	"character_set_results": "SET character_set_results = utf8mb4", "character_set_connection": "SET character_set_connection = utf8mb4",
	"collation_connection": "SET collation_connection = utf8mb4_0900_ai_ci", "insert_id": "SET insert_id = 0", "last_insert_id": "SET last_insert_id = 0",
	"autocommit": "SET autocommit = 1", "auto_increment_increment": "SET auto_increment_increment = 1, auto_increment_offset = 1",
	"sql_big_selects": "SET sql_big_selects = 1, max_join_size = DEFAULT", "wait_timeout": "SET wait_timeout = DEFAULT, net_write_timeout = DEFAULT",
	"innodb_lock_wait_timeout": "SET innodb_lock_wait_timeout = DEFAULT, lock_wait_timeout = DEFAULT",
	"sort_buffer_size":         "SET sort_buffer_size = DEFAULT, max_sort_length = DEFAULT", "unique_checks": "SET unique_checks = 1",
	"foreign_key_checks": "SET foreign_key_checks = 1", "transaction_isolation": "SET SESSION transaction_isolation = 'REPEATABLE-READ'",
	"transaction_read_only": "SET SESSION transaction_read_only = 0", "profiling": "SET profiling = 0", "sql_auto_is_null": "SET sql_auto_is_null = 0",
	"sql_safe_updates": "SET sql_safe_updates = 0", "sql_notes": "SET sql_notes = 1", "sql_warnings": "SET sql_warnings = 0", "sql_quote_show_create": "SET sql_quote_show_create = 1",
}

// maxForgotten is how many sequences that set a variable it may take until one
// shows that it was forgotten.
const maxForgotten = 80

// TestForgottenVariable shows that the test can fail: both sides are MySQL, and
// on one of them each variable in turn is forgotten right after it was set. A
// difference counts only where a statement of the variable's own kind shows it.
func TestForgottenVariable(t *testing.T) {
	l := newLane(t, 0, shared.Source().Addr)
	for _, v := range seq.Forgettable() {
		t.Run(v, func(t *testing.T) {
			text, ok := undo[v]
			if !ok {
				text = "SET " + v + " = DEFAULT"
			}
			l.proxied.Hooks.After = func(s seq.Step, c *raw.Client) {
				if !s.Sets(v) {
					return
				}
				if a, err := c.Query(text); err != nil || a.Err() != nil {
					t.Fatalf("%s: %v %v", text, a, err)
				}
			}
			tried := 0
			for seed := uint64(1); tried < maxForgotten; seed++ {
				s := seq.Generate(seed, seq.Options{Owed: true})
				if !slices.ContainsFunc(s.Steps, func(s seq.Step) bool { return s.Sets(v) }) {
					continue
				}
				tried++
				if d := l.differs(s, false); d != nil {
					hooks := l.proxied.Hooks
					l.proxied.Hooks = seq.Hooks{}
					l.anew(t)
					l.proxied.Hooks = hooks
					if d.Step.Shows(v) {
						t.Logf("seen in sequence %d of those that set it, at %s", tried, d.Step)
						return
					}
				}
			}
			t.Errorf("forgotten, and not seen in %d sequences that set it", tried)
		})
	}
}
