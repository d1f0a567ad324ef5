package seq

import (
	"fmt"
	"strings"
)

// SessionWord begins the names of a session's schemas at a side.
func SessionWord(side string, session int) string { return side + string(rune('a'+session)) }

// Schemas are the statements that create all that the sequences of a side use,
// to be run by an administrator.
func Schemas(side string) []string {
	list := []string{"DROP DATABASE IF EXISTS " + side, "CREATE DATABASE " + side}
	for i := range Sessions {
		for _, which := range []string{"$1", "$2"} {
			for _, text := range schema {
				mark := string(rune('a'+i)) + which[1:]
				text = strings.NewReplacer("$s", which, "$m", mark).Replace(text)
				list = append(list, expand(text, SessionWord(side, i)))
			}
		}
	}
	return list
}

// schema creates one schema, whose name is $s and whose mark, the same on both
// sides, is $m. Names of columns, tables and
// routines are the same in all of them: what comes from another one shows in
// the values only.
var schema = []string{
	"DROP DATABASE IF EXISTS $s",
	"CREATE DATABASE $s CHARACTER SET utf8mb4",
	"CREATE TABLE $s.t (id INT AUTO_INCREMENT PRIMARY KEY, v INT, s VARCHAR(50))",
	"CREATE TABLE $s.words (id INT PRIMARY KEY, s VARCHAR(50), l VARCHAR(50) CHARACTER SET latin1)",
	"CREATE TABLE $s.times (id INT PRIMARY KEY, ts TIMESTAMP(3) NULL, dt DATETIME, d DATE, tm TIME(6))",
	"CREATE TABLE $s.kinds (id INT PRIMARY KEY, n DECIMAL(20,5), u BIGINT UNSIGNED, f FLOAT, d DOUBLE, b BIT(9), e ENUM('x','y'), st SET('p','q'), bl BLOB, j JSON, c CHAR(5), y YEAR)",
	"CREATE TABLE $s.parent (id INT PRIMARY KEY)",
	"CREATE TABLE $s.child (id INT AUTO_INCREMENT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES $s.parent (id))",
	"CREATE VIEW $s.tv AS SELECT id, v FROM $s.t WHERE v > 20",
	"CREATE PROCEDURE $s.put(val INT) INSERT INTO $s.t (v) VALUES (val)",
	"CREATE PROCEDURE $s.two_results(INOUT n INT) BEGIN SELECT id FROM $s.words ORDER BY id LIMIT 2; SELECT 'second', n; SET n = n + 1; END",
	"CREATE PROCEDURE $s.out_values(OUT n INT, OUT w VARCHAR(20)) BEGIN SET n = 5; SET w = 'o''ut'; END",
	"CREATE PROCEDURE $s.signals() BEGIN INSERT INTO $s.t (v) VALUES (7); SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'on purpose', MYSQL_ERRNO = 1644; END",
	"CREATE FUNCTION $s.plus_one(n INT) RETURNS INT DETERMINISTIC NO SQL RETURN n + 1",
	"CREATE FUNCTION $s.writes(n INT) RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO $s.t (v) VALUES (n); RETURN n; END",
	"INSERT INTO $s.words VALUES (1, 'é', 'é'), (2, '日本', '?'), (3, '$m', 'ü')",
	"INSERT INTO $s.times VALUES (1, '2024-05-06 07:08:09.123', '2024-05-06 07:08:09', '2024-05-06', '-12:13:14.5'), (2, NULL, NULL, NULL, NULL)",
	"INSERT INTO $s.kinds VALUES (1, -123.45678, 18446744073709551615, 1.5, 2.25e100, b'101', 'y', 'p,q', x'00ff', '{\"a\": [1, 2]}', 'ab', 2024), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
	"INSERT INTO $s.parent VALUES (1), (2)",
}

// layRows are the texts by which a session brings its own rows back at its
// start. In a write of its own it also gets a token, so that it reads from
// replicas that have them. With base, ids go on from there on both sides,
// however far they had come: it must be larger each time.
func layRows(session int, base uint64, ddl bool) []string {
	var list []string
	if base != 0 && ddl {
		list = append(list, "DROP TABLE IF EXISTS $1.extra, $1.extra2", "DROP VIEW IF EXISTS $1.extra_view")
	}
	var b strings.Builder
	b.WriteString("BEGIN; ")
	if base != 0 {
		fmt.Fprintf(&b, "INSERT INTO $1.t (id) VALUES (%d); INSERT INTO $2.t (id) VALUES (%d); INSERT INTO $1.child (id) VALUES (%d); ", base, base, base)
	}
	for i, s := range []string{"$1", "$2"} {
		v := 100*(session+1) + 10*i
		fmt.Fprintf(&b, "DELETE FROM %s.t; INSERT INTO %s.t VALUES (1, %d, 'one'), (2, %d, 'two'), (3, %d, 'three'), (4, %d, 'four'), (5, %d, 'five'); ", s, s, v+1, v+2, v+3, v+4, v+5)
	}
	b.WriteString("DELETE FROM $1.child; REPLACE INTO $1.parent VALUES (1), (2); INSERT INTO $1.child (parent) VALUES (1); DELETE FROM $1.times WHERE id > 10; COMMIT")
	return append(list, b.String())
}
