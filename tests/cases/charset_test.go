package cases

import (
	"fmt"

	"causeway/tests/session/raw"
)

// charsetCases: bytes and collations are the session's.
var charsetCases = []theCase{
	{row: "H2", name: "emoji", options: map[string]func(*raw.Options){"b": collation(33), "c": collation(8), "d": collation(45)}, steps: steps(
		"a: INSERT INTO words (id, s) VALUES (10, '🙂') => OK", "a: SELECT s FROM words WHERE id = 10 => 🙂 @replica", "b: SELECT s FROM words WHERE id = 10 => ?", "c: SELECT s FROM words WHERE id = 10 => ?", "d: SELECT s FROM words WHERE id = 10 => 🙂", "a: SELECT HEX(s) FROM words WHERE id = 10 => F09F9982", "c: INSERT INTO words (id, s) VALUES (11, '\xe9') => OK", "a: SELECT s FROM words WHERE id = 11 => é", "d: UPDATE words SET s = 'naïve 🙂' WHERE id = 11 => OK", "b: SELECT s FROM words WHERE id = 11 => naïve ?", "a: SELECT id FROM words WHERE s = 'naïve 🙂' => 11",
		prep("a", "w", "INSERT INTO words (id, s) VALUES (?, ?)"), prep("c", "w", "INSERT INTO words (id, s) VALUES (?, ?)"), exe("a", "w", num(20), str("é🙂")), exe("c", "w", num(21), str("\xe9")), "d: SELECT s FROM words WHERE id > 19 ORDER BY id => é🙂 | é", "c: SELECT s FROM words WHERE id = 1 => \xe9", "a: SELECT s FROM words WHERE id = 1 => é", "c: SET NAMES utf8mb4", "c: SELECT s FROM words WHERE id = 10 => 🙂", "b: SELECT s FROM words WHERE id = 10 => ?",
	)},
	{row: "H3", name: "SET NAMES binary", steps: steps(
		"a: SET NAMES binary => OK", "b: SELECT 'a' = 'A', s FROM words WHERE id = 1 => 1,é", "a: SELECT 'a' = 'A' => 0", "a: SELECT s, l FROM words ORDER BY id", "a: INSERT INTO words (id, s) VALUES (12, 'é') => OK", "b: SELECT s FROM words WHERE id = 12 => é", "a: INSERT INTO words (id, l) VALUES (13, '\xe9') => OK", "b: SELECT l FROM words WHERE id = 13 => é", "a: SELECT @@character_set_client, @@character_set_results, @@collation_connection", `a: \reset`, "a: SELECT 'a' = 'A' => 1", "a: SET NAMES binary", `a: \quit`, "c: SELECT 'a' = 'A', l FROM words WHERE id = 1 => 1,é",
	)},
	{row: "H4", name: "collations of the login", run: collations},
	{row: "H4", name: "collations that are set", steps: steps(
		"a: SET NAMES utf8mb4 COLLATE utf8mb4_ja_0900_as_cs => OK", "a: SELECT @@collation_connection, 'a' = 'A' => utf8mb4_ja_0900_as_cs,0", "b: SELECT @@collation_connection, 'a' = 'A' => utf8mb4_0900_ai_ci,1", "a: SELECT id FROM words WHERE id = 1 AND 'a' = 'A' => none @replica", "a: SET collation_connection = utf8mb4_bin", "a: SELECT 'a' = 'A', id FROM words WHERE id = 1 => 0,1", "b: UPDATE words SET s = 'B' WHERE 'a' = 'A' AND id = 1 => OK", "x: SELECT s FROM words WHERE id = 1 => B", "a: UPDATE words SET s = 'A' WHERE 'a' = 'A'", "x: SELECT s FROM words WHERE id = 1 => B", "a: SET NAMES nosuch => ERR 1115", "a: SET NAMES utf8mb4 COLLATE latin1_bin => ERR 1253", "a: SELECT @@collation_connection => utf8mb4_bin", "a: SET character_set_client = utf16 => ERR 1231", "a: SET character_set_results = NULL", "a: SELECT l FROM words WHERE id = 3 => \xfc", "b: SELECT l FROM words WHERE id = 3 => ü", "a: SET default_collation_for_utf8mb4 = utf8mb4_general_ci", "a: SET NAMES utf8mb4", "a: SELECT @@collation_connection", "b: SET NAMES utf8mb4", "b: SELECT @@collation_connection => utf8mb4_0900_ai_ci",
	)},
}

func collation(id uint16) func(*raw.Options) {
	return func(o *raw.Options) { o.Collation = id }
}

// collations logs in with ids that are known, of many bytes, unknown, or above 255.
func collations(e *env) string {
	seen := ""
	for _, id := range []uint16{1, 2, 8, 28, 33, 45, 46, 63, 83, 192, 224, 246, 247, 253, 255, 258, 303, 310, 323, 600, 2047, 65535} {
		o := options(e.addr, e.caps)
		o.Collation = id
		c, err := raw.Dial(o)
		if err != nil {
			seen += fmt.Sprintf("%d: %v\n", id, err)
			continue
		}
		for _, sql := range []string{"SELECT @@character_set_client, @@character_set_results, @@collation_connection", "SELECT s, l FROM words ORDER BY id", "SELECT l FROM words WHERE id = 1 FOR UPDATE"} {
			a, err := c.Query(sql)
			seen += fmt.Sprintf("%d: %s %v\n%s", id, sql, err, a)
		}
		c.Quit()
	}
	return seen
}
