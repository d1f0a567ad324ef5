package seq

import (
	"regexp"
	"slices"
)

// variable is a session variable: how it is set, and by what its value shows.
// Each of them gives a kind that sets it, with what shows it soon after, and
// one that only shows it: a value that came from another session shows there.
type variable struct {
	name  string
	sets  []string
	shows []string
}

// variables are those whose effect is looked at, not only their value. None of
// the shows depends on statistics, plans or the time of day. rand_seed1 is not
// here: without it RAND() differs each time, with it only the next one is equal.
var variables = []variable{
	{"time_zone", []string{"SET time_zone = '+05:00'", "SET SESSION time_zone = '-03:30'", "SET @@time_zone = '+00:00'", "SET time_zone = DEFAULT", "SET time_zone = 'SYSTEM'", "SET time_zone = 'nowhere'"},
		[]string{"SELECT ts, dt FROM $1.times ORDER BY id", "SELECT FROM_UNIXTIME(86400)", "SELECT UNIX_TIMESTAMP('2024-01-02 03:04:05')", "SELECT @@time_zone", "SELECT id FROM $2.times WHERE ts < '2024-05-06 04:00:00'"}},
	{"group_concat_max_len", []string{"SET group_concat_max_len = 4", "SET group_concat_max_len = 4 + 6", "SET SESSION group_concat_max_len = GREATEST(@@group_concat_max_len, 65536)", "SET group_concat_max_len = DEFAULT", "SET group_concat_max_len = (SELECT COUNT(*) + 4 FROM $1.words)"},
		[]string{"SELECT GROUP_CONCAT(s ORDER BY id) FROM $1.words", "SELECT LENGTH(GROUP_CONCAT(REPEAT('x', 700) ORDER BY id)) FROM $1.words", "SELECT @@group_concat_max_len"}},
	{"div_precision_increment", []string{"SET div_precision_increment = 9", "SET div_precision_increment = 0", "SET div_precision_increment = 1 + 1", "SET div_precision_increment = DEFAULT"},
		[]string{"SELECT 1 / 3", "SELECT n / 7 FROM $1.kinds WHERE id = 1", "SELECT @@div_precision_increment"}},
	{"sql_select_limit", []string{"SET sql_select_limit = 2", "SET sql_select_limit = 1", "SET SQL_SELECT_LIMIT = DEFAULT"},
		[]string{"SELECT id FROM $1.words ORDER BY id", "SELECT id FROM $2.t ORDER BY id DESC", "SELECT @@sql_select_limit"}},
	{"foreign_key_checks", []string{"SET foreign_key_checks = 0", "SET foreign_key_checks = 1", "SET foreign_key_checks = OFF"},
		[]string{"UPDATE $1.child SET parent = 99 WHERE parent < 10", "SELECT @@foreign_key_checks", "DELETE FROM $1.parent WHERE id = 2"}},
	{"unique_checks", []string{"SET unique_checks = 0", "SET unique_checks = 1"}, []string{"SELECT @@unique_checks"}},
	{"lc_time_names", []string{"SET lc_time_names = 'de_DE'", "SET lc_time_names = 'fr_FR'", "SET lc_time_names = DEFAULT", "SET lc_time_names = 'xx_YY'"},
		[]string{"SELECT DAYNAME(d), MONTHNAME(d) FROM $1.times WHERE id = 1", "SELECT DATE_FORMAT('2024-05-06', '%W %M')", "SELECT @@lc_time_names"}},
	// The time itself is shown only while it is one that was set.
	{"timestamp", []string{"SET timestamp = 1000000000", "SET timestamp = 1100000000.5", "SET timestamp = UNIX_TIMESTAMP('2010-03-04 05:06:07')", "SET timestamp = DEFAULT"},
		[]string{"SELECT IF(NOW() < '2015-01-01', NOW(), 'now')", "SELECT IF(UNIX_TIMESTAMP() < 1400000000, UNIX_TIMESTAMP(), 0)", "SELECT CURDATE() < '2015-01-01', id FROM $1.words ORDER BY id", "INSERT INTO $1.t (v) VALUES (YEAR(NOW()))"}},
	{"insert_id", []string{"SET insert_id = 70001", "SET insert_id = 70000 + 77", "SET SESSION insert_id = 70321"},
		[]string{"INSERT INTO $1.t (v) VALUES (71)", "INSERT INTO $2.t (v) VALUES (72), (73)"}},
	{"last_insert_id", []string{"SET last_insert_id = 55", "SET identity = 77", "SET @@SESSION.last_insert_id = 5 + 6"},
		[]string{"SELECT LAST_INSERT_ID()", "SELECT @@last_insert_id, @@identity", "SELECT LAST_INSERT_ID(), id FROM $1.words ORDER BY id"}},
	{"sql_safe_updates", []string{"SET sql_safe_updates = 1", "SET sql_safe_updates = 0", "SET SQL_SAFE_UPDATES = ON"},
		[]string{"UPDATE $1.t SET v = v + 1", "DELETE FROM $1.child", "SELECT @@sql_safe_updates"}},
	{"max_execution_time", []string{"SET max_execution_time = 5000", "SET SESSION max_execution_time = 0"}, []string{"SELECT @@max_execution_time", "SELECT COUNT(*) FROM $1.words"}},
	// Smaller limits refuse what the statistics of a server let them: those count deleted rows too.
	{"sql_big_selects", []string{"SET SQL_BIG_SELECTS = 0", "SET sql_big_selects = 1", "SET max_join_size = 1000000", "SET max_join_size = DEFAULT"},
		[]string{"SELECT @@sql_big_selects, @@max_join_size", "SHOW SESSION VARIABLES LIKE 'max_join_size'"}},
	{"default_week_format", []string{"SET default_week_format = 6", "SET default_week_format = 3", "SET default_week_format = 0"}, []string{"SELECT WEEK('2024-01-01'), WEEK('2023-12-31')", "SELECT WEEK(d) FROM $1.times WHERE id = 1"}},
	{"max_error_count", []string{"SET max_error_count = 1", "SET max_error_count = 0", "SET max_error_count = DEFAULT"}, []string{"SELECT CAST('a' AS SIGNED), CAST('b' AS SIGNED)", "SHOW WARNINGS", "SELECT @@max_error_count"}},
	{"auto_increment_increment", []string{"SET auto_increment_increment = 10", "SET auto_increment_increment = 3, auto_increment_offset = 2", "SET auto_increment_increment = DEFAULT, auto_increment_offset = DEFAULT"},
		[]string{"INSERT INTO $1.t (v) VALUES (81), (82)", "SELECT @@auto_increment_increment, @@auto_increment_offset"}},
	{"sql_notes", []string{"SET sql_notes = 0", "SET sql_notes = 1"}, []string{"SELECT CAST(1.5 AS SIGNED) + 0, '1x' = 1", "CREATE DATABASE IF NOT EXISTS $1", "SELECT @@sql_notes"}},
	{"sql_warnings", []string{"SET sql_warnings = 1", "SET sql_warnings = 0"}, []string{"INSERT INTO $1.t (v) VALUES (91)", "SELECT @@sql_warnings"}},
	{"sql_auto_is_null", []string{"SET sql_auto_is_null = 1", "SET sql_auto_is_null = 0"}, []string{"INSERT INTO $1.t (v) VALUES (92)", "SELECT v FROM $1.t WHERE id IS NULL", "SELECT @@sql_auto_is_null"}},
	{"block_encryption_mode", []string{"SET block_encryption_mode = 'aes-256-cbc'", "SET block_encryption_mode = DEFAULT"}, []string{"SELECT HEX(AES_ENCRYPT('text', 'key', '0123456789abcdef'))", "SELECT @@block_encryption_mode"}},
	{"cte_max_recursion_depth", []string{"SET cte_max_recursion_depth = 5", "SET cte_max_recursion_depth = DEFAULT"}, []string{"WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 50) SELECT MAX(n) FROM c"}},
	{"sql_quote_show_create", []string{"SET sql_quote_show_create = 0", "SET sql_quote_show_create = 1"}, []string{"SHOW CREATE TABLE $1.words", "SELECT @@sql_quote_show_create"}},
	{"default_collation_for_utf8mb4", []string{"SET default_collation_for_utf8mb4 = utf8mb4_general_ci", "SET default_collation_for_utf8mb4 = DEFAULT"}, []string{"SELECT COLLATION(CONVERT('x' USING utf8mb4))", "SELECT @@default_collation_for_utf8mb4"}},
	{"transaction_isolation", []string{"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET transaction_isolation = 'READ-UNCOMMITTED'", "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "SET SESSION transaction_isolation = 'nonsense'"},
		[]string{"SELECT @@transaction_isolation", "SELECT VARIABLE_VALUE FROM performance_schema.session_variables WHERE VARIABLE_NAME = 'transaction_isolation'"}},
	{"transaction_read_only", []string{"SET SESSION TRANSACTION READ ONLY", "SET SESSION TRANSACTION READ WRITE", "SET transaction_read_only = 1", "SET SESSION transaction_read_only = 0"},
		[]string{"INSERT INTO $1.t (v) VALUES (93)", "SELECT @@transaction_read_only", "UPDATE $2.t SET v = v + 1 WHERE id = 1"}},
	{"wait_timeout", []string{"SET SESSION wait_timeout = 1234", "SET wait_timeout = DEFAULT", "SET net_write_timeout = 77"}, []string{"SELECT @@wait_timeout, @@net_write_timeout", "SHOW VARIABLES LIKE 'wait_timeout'"}},
	{"innodb_lock_wait_timeout", []string{"SET innodb_lock_wait_timeout = 7", "SET lock_wait_timeout = 99"}, []string{"SELECT @@innodb_lock_wait_timeout, @@lock_wait_timeout"}},
	{"optimizer_switch", []string{"SET optimizer_switch = 'index_merge=off'", "SET optimizer_switch = DEFAULT"}, []string{"SELECT @@optimizer_switch LIKE '%index_merge=off%'"}},
	{"sort_buffer_size", []string{"SET sort_buffer_size = 65536", "SET sort_buffer_size = DEFAULT", "SET max_sort_length = 8", "SET sort_buffer_size = 1"}, []string{"SELECT @@sort_buffer_size, @@max_sort_length"}},
	{"windowing_use_high_precision", []string{"SET windowing_use_high_precision = OFF", "SET windowing_use_high_precision = ON"}, []string{"SELECT @@windowing_use_high_precision"}},
	{"default_storage_engine", []string{"SET default_storage_engine = 'MyISAM'", "SET default_storage_engine = DEFAULT"}, []string{"SELECT @@default_storage_engine"}},
	{"profiling", []string{"SET @@profiling = 1", "SET profiling = 0"}, []string{"SELECT @@profiling"}},
	{"several", []string{"SET sql_mode = 'ANSI_QUOTES', time_zone = '+02:00'", "SET time_zone = '+04:00', @@group_concat_max_len = 5, NAMES latin1", "SET time_zone = '+03:00', nosuch = 1", "SET @old = @@sql_mode, sql_mode = ''", "SET div_precision_increment = 7, time_zone = 'nonsense'", "SET /* c */ time_zone /* d */ = '+06:00' -- end"},
		[]string{`SELECT "ts" FROM $1.times WHERE id = 1`, "SELECT ts FROM $1.times WHERE id = 1", "SELECT GROUP_CONCAT(s ORDER BY id) FROM $1.words", "SELECT 1 / 3"}},
}

// variableKinds are the kinds that the table of variables gives.
func variableKinds() []Kind {
	var kinds []Kind
	for _, v := range append(variables, valuesOnly...) {
		kinds = append(kinds, Kind{"set " + v.name, 8, func(g *Gen) []Step { return g.setAndShow(v) }})
		kinds = append(kinds, Kind{"show " + v.name, 2, func(g *Gen) []Step { return []Step{t(pick(g, v.shows...))} }})
	}
	return kinds
}

// staysThere are the assignments that no proxy can replay: of expressions to what
// is not a value of its own, and of what works once.
var staysThere = regexp.MustCompile(`(?i)(SET|SESSION) insert_id =|profiling|@old =`)

// setAndShow sets a variable and looks at it once or twice.
func (g *Gen) setAndShow(v variable) []Step {
	set := q(pick(g, v.sets...))
	set.forget = []string{v.name}
	if staysThere.MatchString(set.text) {
		set = set.pin(PinUser)
	}
	steps := []Step{set, t(pick(g, v.shows...))}
	if g.chance(40) {
		steps = append(steps, t(pick(g, v.shows...)))
	}
	return steps
}

// valuesOnly are variables that show in nothing but their value: one row for many.
var valuesOnly = []variable{
	{"plain values", []string{"SET tmp_table_size = 2097152", "SET join_buffer_size = 131072", "SET eq_range_index_dive_limit = 3", "SET updatable_views_with_limit = 0", "SET optimizer_prune_level = 0", "SET net_read_timeout = 44", "SET old_alter_table = 1"},
		[]string{"SELECT @@tmp_table_size, @@join_buffer_size, @@eq_range_index_dive_limit, @@updatable_views_with_limit, @@optimizer_prune_level, @@net_read_timeout, @@old_alter_table"}},
}

// Forgettable are the names by which Hooks can spoil what steps set.
func Forgettable() []string {
	names := []string{"sql_mode", "autocommit", "NAMES", "CHARACTER SET", "character_set_results", "character_set_client", "character_set_connection", "collation_connection"}
	for _, v := range variables {
		if v.name != "several" {
			names = append(names, v.name)
		}
	}
	return names
}

// Sets tells whether a step sets a variable.
func (s Step) Sets(variable string) bool { return slices.Contains(s.forget, variable) }
