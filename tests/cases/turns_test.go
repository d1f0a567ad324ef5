package cases

import (
	"fmt"
	"math/rand/v2"
)

// turnCases let three sessions take turns at random: none may see another's
// state. The seeds are in the names.
var turnCases = turns(5)

func turns(n uint64) []theCase {
	var list []theCase
	for seed := range n {
		list = append(list, theCase{row: "X21", name: fmt.Sprint("sessions in turns, seed ", seed), classic: seed%2 == 1, steps: turnsOf(seed)})
	}
	return list
}

// whole are pieces of work after each of which another session may go on: none
// leaves a session bound to a connection.
var whole = [][]string{
	{"SELECT v FROM t WHERE id = 1"}, {`SELECT "v" FROM t WHERE id = 2`}, {"SELECT ts FROM times"}, {"SELECT ts FROM times FOR UPDATE"}, {"SELECT l FROM words WHERE id = 1"}, {"SELECT DATABASE(), COUNT(*) FROM t"}, {"SELECT @v, @@sql_mode, @@time_zone, @@autocommit, @@collation_connection"}, {"SELECT GROUP_CONCAT(s ORDER BY id) FROM t WHERE id < 6"}, {"SELECT id FROM t ORDER BY id"}, {"SELECT LAST_INSERT_ID()"}, {"SELECT @@transaction_isolation, @@transaction_read_only"}, {"SELECT * FROM nosuch"}, {"SHOW WARNINGS"},
	{"INSERT INTO t (v) VALUES (1)"}, {"INSERT INTO t (v) VALUES ('abc')", "SELECT 1"}, {"UPDATE t SET v = v + 1"}, {"UPDATE t SET v = v + 1 WHERE id = 1"}, {"DELETE FROM t WHERE id > 8"}, {"INSERT INTO t (v) VALUES (2), (3)", "SELECT LAST_INSERT_ID(), ROW_COUNT()"}, {"BEGIN", "UPDATE t SET v = 7 WHERE id = 3", "SELECT SUM(v) FROM t", "ROLLBACK"}, {"BEGIN", "INSERT INTO t (v) VALUES (9)", "COMMIT"}, {"START TRANSACTION READ ONLY", "SELECT COUNT(*) FROM t", "COMMIT"}, {"BEGIN", "COMMIT"},
	{"SET sql_mode = 'ANSI_QUOTES'"}, {"SET sql_mode = ''"}, {"SET sql_mode = DEFAULT"}, {"SET time_zone = '+05:00'"}, {"SET time_zone = DEFAULT"}, {"SET NAMES latin1"}, {"SET NAMES utf8mb4"}, {"SET @v = 3"}, {"SET group_concat_max_len = 6"}, {"SET group_concat_max_len = DEFAULT"}, {"SET sql_select_limit = 3"}, {"SET sql_select_limit = DEFAULT"}, {"SET sql_safe_updates = 1"}, {"SET sql_safe_updates = 0"}, {"USE cases2"}, {"USE cases"}, {"SET SESSION TRANSACTION READ WRITE", "DELETE FROM cases.t WHERE id >= 60", "SET insert_id = 60", "INSERT INTO cases.t (v) VALUES (5)"},
	{"SET autocommit = 0", "INSERT INTO t (v) VALUES (4)", "ROLLBACK"}, {"SET autocommit = 1"}, {"SET SESSION TRANSACTION READ ONLY"}, {"SET SESSION TRANSACTION READ WRITE"}, {"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"}, {"SET transaction_isolation = DEFAULT"}, {"SET nosuch = 1"}, {`\ping`}, {`\reset`, "USE cases"}, {"CREATE TEMPORARY TABLE tt (id INT)", "INSERT INTO tt VALUES (1)", "SELECT * FROM tt", "DROP TEMPORARY TABLE tt"}, {"SELECT GET_LOCK('cases_x21', 0)", "SELECT RELEASE_LOCK('cases_x21')"}, {"LOCK TABLES t READ", "SELECT COUNT(*) FROM t", "UNLOCK TABLES"}, {"SELECT CAST('abc' AS SIGNED)", "SHOW WARNINGS", "SELECT 1"}, {`\quit`},
}

// turnsOf ends each piece with COMMIT, as a session that is in a transaction
// by autocommit=0 would hold the connection that another one needs.
func turnsOf(seed uint64) []step {
	random := rand.New(rand.NewPCG(seed, 21))
	var list []step
	for range 70 {
		session := string("abc"[random.IntN(3)])
		piece := whole[random.IntN(len(whole))]
		list = append(list, each(session, piece...)...)
		if piece[0] != `\quit` {
			list = append(list, each(session, "COMMIT")...)
		}
	}
	return list
}
