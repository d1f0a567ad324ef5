package cases

import (
	"strings"
	"time"

	"causeway/tests/session/raw"
)

// variableCases: a session's variables are on every connection that serves it,
// and on none that serves another.
var variableCases = []theCase{
	{row: "V1", name: "sql_mode of two clients", steps: steps(
		"a: SET sql_mode = 'ANSI_QUOTES' => OK", `b: SELECT "v" FROM t WHERE id = 1 => v`, `a: SELECT "v" FROM t WHERE id = 1 => 10`, `b: SELECT "v" FROM t WHERE id = 1 FOR UPDATE => v`, `a: SELECT "v" FROM t WHERE id = 1 FOR UPDATE => 10`,
		"b: SET sql_mode = '' => OK", "b: INSERT INTO t (v) VALUES ('abc') => OK", "c: INSERT INTO t (v) VALUES ('abc') => ERR 1366", "b: INSERT INTO t (v) VALUES ('abc') => OK", "c: SELECT @@sql_mode", "a: SELECT @@sql_mode => ANSI_QUOTES", "b: SELECT @@sql_mode",
		`a: UPDATE t SET "v" = 12 WHERE id = 1 => OK`, `b: UPDATE t SET "v" = 12 => ERR 1064`, `a: \quit`, `d: SELECT "v" FROM t WHERE id = 1 => v`, `d: UPDATE t SET "v" = 12 => ERR 1064`, "d: SELECT 1 / 0",
	)},
	{row: "V4", name: "sql_safe_updates", steps: steps(
		"a: SET sql_safe_updates = 1 => OK", "b: UPDATE t SET v = v + 1 => OK", "a: UPDATE t SET v = 0 => ERR 1175", "b: UPDATE t SET v = v + 1 => OK", "a: DELETE FROM t => ERR 1175", "a: SELECT @@sql_safe_updates => 1", "b: SELECT @@sql_safe_updates => 0", "a: SET sql_safe_updates = 0", "a: UPDATE t SET v = v + 1 => OK", "x: SELECT v FROM t WHERE id = 1 => 13",
	)},
	{row: "V5", name: "wait_timeout is the session's", steps: steps(
		"a: SET SESSION wait_timeout = 1234 => OK", "a: SELECT @@wait_timeout => 1234", "b: SELECT @@wait_timeout => 28800", "b: INSERT INTO t (v) VALUES (1)", "a: SELECT @@session.wait_timeout => 1234", "a: SHOW VARIABLES LIKE 'wait_timeout' => wait_timeout,1234", `a: \quit`, "c: SELECT @@wait_timeout => 28800", "c: SET interactive_timeout = 99", "b: SELECT @@interactive_timeout => 28800", "c: SELECT @@interactive_timeout => 99",
	)},
	{row: "V5", name: "wait_timeout runs out", run: timesOut},
	{row: "V6", name: "SET reaches every server", steps: steps(
		"a: SET time_zone = '+05:00' => OK", "a: SELECT ts FROM times => 2024-05-06 12:08:09 @replica", "a: SELECT ts FROM times => 2024-05-06 12:08:09 @replica", "a: SELECT ts FROM times => 2024-05-06 12:08:09 @replica", "a: SELECT ts FROM times FOR UPDATE => 2024-05-06 12:08:09 @source",
		"b: SELECT ts FROM times => 2024-05-06 07:08:09 @replica", "b: SELECT ts FROM times => 2024-05-06 07:08:09 @replica", "b: SELECT ts FROM times FOR UPDATE => 2024-05-06 07:08:09 @source", "a: UPDATE times SET ts = '2024-01-01 05:00:00' => OK", "b: SELECT ts FROM times => 2024-01-01 00:00:00", "x: SELECT ts FROM times => 2024-01-01 00:00:00",
		"a: START TRANSACTION READ ONLY", "a: SELECT ts FROM times => 2024-01-01 05:00:00 @replica", "a: COMMIT", "a: SET time_zone = '-03:30'", "a: SELECT ts FROM times => 2023-12-31 20:30:00 @replica", "a: SELECT ts FROM times => 2023-12-31 20:30:00 @replica", "a: SET @@time_zone = DEFAULT", "a: SELECT ts FROM times => 2024-01-01 00:00:00 @replica", "a: SELECT ts FROM times => 2024-01-01 00:00:00 @replica",
	)},
	{row: "V7", name: "user variables and reset", steps: steps(
		"a: SET @v = 1, @w = 'x' => OK", "b: INSERT INTO t (v) VALUES (1) => OK", "b: SELECT @v => NULL", "a: SELECT @v, @w => 1,x", "a: SELECT v + @v FROM t WHERE id = 1 => 11", "b: SET @v = 2", "a: SELECT @v => 1", "b: SELECT @v => 2", "a: SELECT v FROM t WHERE id = 1 => 10 @replica",
		`a: \reset`, "a: SELECT @v => NULL", "a: SELECT v FROM t WHERE id = 1 => 10 @replica", "a: SET @v = 3", `a: \user app cases`, "a: SELECT @v => NULL", "b: SELECT @v => 2", `b: \quit`, "c: SELECT @v, @w => NULL,NULL", "c: INSERT INTO t (v) VALUES (@v) => OK", "x: SELECT v FROM t WHERE id = 7 => NULL",
	)},
	{row: "V7", name: "user variables changed by routines and triggers", run: changedUnseen},
	{row: "V8", name: "system variables are no user variables", steps: steps(
		"a: SELECT @@version", "a: SELECT v FROM t WHERE id = 1 => 10 @replica", "b: INSERT INTO t (v) VALUES (1) => OK", "a: SELECT @@session.auto_increment_increment AS auto_increment_increment, @@character_set_client, @@transaction_isolation, @@sql_mode, @@time_zone", "b: INSERT INTO t (v) VALUES (1) => OK", "a: SELECT @@global.max_connections > 0 => 1", "a: SELECT '@x', v FROM t WHERE id = 1 => @x,10 @replica", "a: SELECT v FROM t WHERE s = 'a@b' => none @replica", "a: SELECT @@max_allowed_packet > 0, v FROM t WHERE id = 1 => 1,10", "b: INSERT INTO t (v) VALUES (1) => OK",
	)},
	{row: "V9", name: "rare variables", steps: rareVariables()},
	{row: "V12", name: "changed where no parser looks", steps: steps(
		"a: CALL zone() => OK", "a: SELECT ts FROM times", "a: SELECT @@time_zone", "b: SELECT ts FROM times => 2024-05-06 07:08:09", "a: SELECT ts FROM times FOR UPDATE", `a: \reset`, "b: SELECT ts FROM times FOR UPDATE => 2024-05-06 07:08:09",
		"a: PREPARE p FROM 'SET time_zone = ''+07:00'''", "a: EXECUTE p", "a: SELECT ts FROM times => 2024-05-06 14:08:09", "a: DEALLOCATE PREPARE p", "b: SELECT ts FROM times => 2024-05-06 07:08:09", "a: SELECT ts FROM times => 2024-05-06 14:08:09", `a: \reset`, "b: SELECT ts FROM times FOR UPDATE => 2024-05-06 07:08:09", "a: /*!40101 SET time_zone = '+01:00' */", "a: SELECT ts FROM times => 2024-05-06 08:08:09",
		"a: SELECT /*+ SET_VAR(time_zone = '+02:00') */ ts FROM times", "a: SELECT /*+ SET_VAR(sql_mode = 'ANSI_QUOTES') */ v FROM t WHERE id = 1 => 10", "a: SELECT @@time_zone => +01:00", "a: SET GLOBAL div_precision_increment = 6", "a: SELECT 1 / 7 => 0.1429", "c: SELECT @@div_precision_increment => 6", "x: SET GLOBAL div_precision_increment = DEFAULT",
	)},
	{row: "V13", name: "names of the isolation level", steps: steps(
		"a: SELECT @@tx_isolation => ERR 1193", "a: SET SESSION tx_isolation = 'READ-COMMITTED' => ERR 1193", "a: SELECT @@transaction_isolation => REPEATABLE-READ", "a: SHOW VARIABLES LIKE 'tx_isolation' => none", "a: SHOW VARIABLES LIKE 'transaction_isolation' => transaction_isolation,REPEATABLE-READ", "a: SELECT @@session.transaction_read_only => 0", "a: SELECT @@tx_read_only => ERR 1193", "a: /*!80000 SET transaction_isolation = 'READ-COMMITTED' */", "a: SELECT @@transaction_isolation => READ-COMMITTED", "b: SELECT @@transaction_isolation => REPEATABLE-READ",
	)},
	{row: "V15", name: "texts with more are not said again", steps: steps(
		"a: SET time_zone = '+01:00'; INSERT INTO t (v) VALUES (1) => OK", "a: SELECT COUNT(*) FROM t => 6", "a: SELECT COUNT(*) FROM t => 6", "a: SELECT ts FROM times => 2024-05-06 08:08:09", "b: INSERT INTO t (v) VALUES (2)", "a: SELECT COUNT(*) FROM t => 7",
		"a: INSERT INTO t (v) VALUES (3); SET sql_mode = 'ANSI_QUOTES'; DELETE FROM t WHERE id = 1", "b: UPDATE t SET v = 0 WHERE id = 2", `a: SELECT COUNT("v") FROM t => 7`, "a: UPDATE t SET v = 9 WHERE id = 3", "b: UPDATE t SET v = 0 WHERE id = 4", "a: SELECT COUNT(*) FROM t FOR UPDATE => 7", "a: USE cases2; SET sql_mode = ''; INSERT INTO t (v) VALUES (4)", "b: INSERT INTO t (v) VALUES (5)", `a: SELECT COUNT(*), "v" FROM t => 2,v`, "a: SET @x = 5; INSERT INTO t (v) VALUES (6)", "a: SELECT COUNT(*), @x FROM t => 3,5", `a: \quit`, "x: SELECT COUNT(*) FROM cases2.t => 3", "x: SELECT COUNT(*) FROM t => 8",
	)},
}

// setCases: SET in all its forms.
var setCases = []theCase{
	{row: "V3", name: "several assignments in one SET", steps: steps(
		"a: SET sql_mode = 'ANSI_QUOTES', time_zone = '+02:00', NAMES utf8mb3 => OK", `a: SELECT "ts" FROM times => 2024-05-06 09:08:09`, `b: SELECT "ts" FROM times => ts`, "a: SET sql_mode = '', time_zone = 'nonsense' => ERR 1298", `a: SELECT "ts" FROM times => 2024-05-06 09:08:09`, "a: SELECT @@sql_mode, @@time_zone, @@character_set_client => ANSI_QUOTES,+02:00,utf8mb3",
		"a: SET nosuch = 1, time_zone = '+00:00' => ERR 1193", `a: SELECT "ts" FROM times => 2024-05-06 09:08:09`, "a: SET @old = @@sql_mode, sql_mode = '' => OK", "b: SELECT v FROM t WHERE id = 1 => 10", `a: SELECT "ts" FROM times => ts`, "a: SET sql_mode = @old", `a: SELECT "ts" FROM times => 2024-05-06 09:08:09`, "a: SET sql_mode = (SELECT 'PIPES_AS_CONCAT'), @z = 1", "a: SELECT 'a' || 'b' => ab", "b: SELECT 'a' || 'b' => 0",
		"a: SET @@session.group_concat_max_len = 4, SESSION sql_select_limit = 2", "a: SELECT GROUP_CONCAT(s ORDER BY id) FROM t => one,", "a: SELECT id FROM t ORDER BY id => 1 | 2", "b: SELECT id FROM t ORDER BY id => 1 | 2 | 3 | 4 | 5", "b: SELECT GROUP_CONCAT(s ORDER BY id) FROM t => one,two,three,four,five",
	)},
	{row: "V10", name: "unknown variables", steps: steps(
		"a: SET nosuch = 1 => ERR 1193", "a: SHOW WARNINGS", "a: SELECT v FROM t WHERE id = 1 => 10 @replica", "b: INSERT INTO t (v) VALUES (1) => OK", "a: SET @@session.nosuch = 1 => ERR 1193", "a: SET SESSION nosuch.x = 1 => ERR 1193", "a: SET sql_mode = 'NOSUCH' => ERR 1231", "a: SET SESSION port = 1 => ERR 1238", "a: SET time_zone => ERR 1064", "a: /*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */ => OK", "a: SELECT @OLD_CHARACTER_SET_CLIENT => utf8mb4", "a: /*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */ => OK", "a: SELECT @@unique_checks, @OLD_UNIQUE_CHECKS => 0,1",
		"a: /*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */ => OK", "a: SELECT @@unique_checks => 1", "a: SELECT v FROM t WHERE id = 1 => 10 @replica", "a: SET PERSIST nosuch = 1 => ERR 1193", "a: SET GLOBAL nosuch = 1 => ERR 1193", "a: SELECT v FROM t WHERE id = 2 => 20 @replica", "a: SET unique_checks = 0", `a: \quit`, "b: SELECT @@unique_checks => 1",
	)},
	{row: "V11", name: "comments inside SET", steps: steps(
		"a: SET /* a */ time_zone /* b */ = /* c */ '+03:00' -- d", "a: SELECT ts FROM times => 2024-05-06 10:08:09", "a: /* x */ SET time_zone = '+04:00' # y", "a: SELECT ts FROM times => 2024-05-06 11:08:09", "a: SET/**/time_zone='+05:00'/* ; */;", "a: SELECT ts FROM times => 2024-05-06 12:08:09", "a: SET -- z\ntime_zone = '+06:00', -- '\n sql_mode = 'ANSI_QUOTES'", `a: SELECT "ts" FROM times => 2024-05-06 13:08:09`, "a: SET /*! time_zone = '+07:00' */ , @x = 1", "a: SELECT ts FROM times => 2024-05-06 14:08:09", "a: SET /*+ hint */ time_zone = '+08:00'", "a: SELECT ts FROM times => 2024-05-06 15:08:09", "b: SELECT ts FROM times => 2024-05-06 07:08:09",
	)},
}

// rareVariables sets what hardly anybody sets, to a value that is not the
// default, and wants it kept for this session and no other.
func rareVariables() []step {
	var list []step
	for _, v := range [][2]string{
		{"optimizer_switch", "'index_merge=off'"}, {"eq_range_index_dive_limit", "7"}, {"max_join_size", "1000"}, {"range_optimizer_max_mem_size", "8000"}, {"sort_buffer_size", "65536"}, {"tmp_table_size", "2048"}, {"optimizer_search_depth", "3"}, {"sql_big_selects", "0"}, {"max_sort_length", "8"}, {"default_week_format", "3"},
		{"group_concat_max_len", "GREATEST(@@group_concat_max_len, 65536)"}, {"lc_time_names", "'de_DE'"}, {"lc_messages", "'fr_FR'"}, {"net_write_timeout", "77"}, {"lock_wait_timeout", "55"}, {"innodb_lock_wait_timeout", "44"}, {"max_execution_time", "50000"}, {"sql_quote_show_create", "0"}, {"cte_max_recursion_depth", "99"}, {"windowing_use_high_precision", "0"}, {"div_precision_increment", "8"}, {"block_encryption_mode", "'aes-256-cbc'"},
		{"default_storage_engine", "'MEMORY'"}, {"auto_increment_increment", "10"}, {"innodb_table_locks", "0"}, {"updatable_views_with_limit", "'NO'"}, {"information_schema_stats_expiry", "0"}, {"use_secondary_engine", "'OFF'"}, {"end_markers_in_json", "1"}, {"old_alter_table", "1"}, {"show_create_table_verbosity", "1"}, {"explicit_defaults_for_timestamp", "1"},
	} {
		list = append(list, steps("a: SET SESSION "+v[0]+" = "+v[1], "b: SELECT @@"+v[0], "a: SELECT @@"+v[0])...)
	}
	return append(list, steps("a: INSERT INTO t (v) VALUES (1), (2) => OK", "a: SELECT COUNT(*) FROM t => 7", "a: SELECT 1 / 3 => 0.33333333", "b: SELECT 1 / 3 => 0.3333", "b: INSERT INTO t (v) VALUES (1)", "x: SELECT MAX(id) FROM t", "a: BEGIN", "a: SELECT @@lock_wait_timeout => 55", "a: COMMIT", "a: SELECT DAYNAME('2024-05-06'), s FROM t WHERE id = 1 => Montag,one", "b: SELECT DAYNAME('2024-05-06'), s FROM t WHERE id = 1 => Monday,one", "a: SELECT @@eq_range_index_dive_limit, @@sql_big_selects => 7,0", `a: \reset`, "a: SELECT @@eq_range_index_dive_limit, @@sql_big_selects, 1 / 3 => 200,1,0.3333")...)
}

// timesOut waits for a session's own wait_timeout: that session ends, and the
// next one on the same connection has its full time.
func timesOut(e *env) string {
	c, other := e.dial(), e.dial()
	if c == nil || other == nil {
		return ""
	}
	defer c.Close()
	defer other.Quit()
	e.query(c, "SET wait_timeout = 1")
	e.query(c, "SELECT v FROM t WHERE id = 1 FOR UPDATE")
	e.query(other, "SELECT 1")
	time.Sleep(1500 * time.Millisecond) // MySQL counts in seconds: nothing tells when it is over
	a, err := c.Query("SELECT 1")
	if err == nil && a.Err() == nil {
		e.errorf("a session goes on after its wait_timeout")
	}
	e.want(other, "INSERT INTO t (v) VALUES (1); SELECT @@wait_timeout", "28800")
	if c := e.dial(func(o *raw.Options) { o.DB = "cases2" }); c != nil {
		e.want(c, "SELECT @@wait_timeout", "28800")
		c.Quit()
	}
	return ""
}

// changedUnseen sets a user variable where no text shows it. Through Causeway its
// connection must stay with the session then, as the value is there alone.
func changedUnseen(e *env) string {
	c := e.dial()
	if c == nil {
		return ""
	}
	e.query(c, "CREATE PROCEDURE counts() SELECT COUNT(*) INTO @v FROM t")
	e.query(c, "CREATE FUNCTION sets_v() RETURNS INT NO SQL BEGIN SET @v = 8; RETURN 1; END")
	e.query(c, "CREATE TRIGGER sums BEFORE INSERT ON t FOR EACH ROW SET @v = @v + NEW.v")
	c.Quit()
	var values []string
	for _, sql := range []string{"CALL counts()", "SELECT sets_v()", "DO sets_v()", "UPDATE t SET v = sets_v() WHERE id = 1", "INSERT INTO t (v) VALUES (70)", "HANDLER t OPEN; HANDLER t READ FIRST WHERE (@v := 9); HANDLER t CLOSE"} {
		c := e.dial()
		if c == nil {
			break
		}
		e.query(c, "SET @v = 1")
		e.query(c, sql)
		if !e.direct && !strings.Contains(e.query(c, "SHOW CAUSEWAY PINS").String(), "user_variables") {
			e.errorf("after %s the session is not pinned", sql)
		}
		values = append(values, e.query(c, "SELECT @v").Value())
		c.Quit()
	}
	if c := e.dial(); c != nil {
		e.query(c, "DROP TRIGGER sums; DROP FUNCTION sets_v; DROP PROCEDURE counts")
		c.Quit()
	}
	return strings.Join(values, ",")
}
