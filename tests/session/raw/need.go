package raw

import "testing"

// Query runs a statement that must not fail: an error ends the test.
func Query(t testing.TB, c *Client, sql string, attrs ...Attr) Answer {
	t.Helper()
	a, err := c.Query(sql, attrs...)
	if err == nil {
		err = a.Err()
	}
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return a
}

// Route is a value of SHOW CAUSEWAY ROUTE, "" if there is none: what became of
// the statement before.
func Route(t testing.TB, c *Client, name string) string {
	t.Helper()
	return Query(t, c, "SHOW CAUSEWAY ROUTE").Fact(name)
}

// Fact is a value of an answer of names and values, as SHOW CAUSEWAY ROUTE and
// STATUS and EXPLAIN CAUSEWAY give, "" if there is none.
func (a Answer) Fact(name string) string {
	for _, row := range a[0].Rows {
		if string(row[0]) == name {
			return string(row[1])
		}
	}
	return ""
}
