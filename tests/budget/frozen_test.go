package budget

import (
	"strings"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/session/raw"
)

// TestFrozenSource: a source that takes connections and answers nothing. What
// replicas can serve they serve, with a warning where their age cannot be proved;
// what needs the source is told that it is down, on connections of before and on
// new ones, and nobody waits for an answer that may never come.
func TestFrozenSource(t *testing.T) {
	lay(t)
	cw := cluster.StartCauseway(t, shared, "[cluster]\nfailover_wait = \"1s\"\n") // writes need not wait long for another source
	writer, fresh, pinned, inTrx := dial(t, cw), dial(t, cw), dial(t, cw), dial(t, cw)
	raw.Query(t, pinned, "CREATE TEMPORARY TABLE tmp AS SELECT 1 AS id")
	raw.Query(t, inTrx, "BEGIN")
	raw.Query(t, inTrx, "UPDATE r SET v = 8 WHERE id = 8")
	raw.Query(t, writer, "UPDATE r SET v = 5 WHERE id = 1") // its connection lies in the pool
	check.Must(t, shared.WaitCaughtUp(t.Context()))
	check.Must(t, shared.Source().Freeze())
	shared.HealAfter(t)
	check.Until(t, "the source is down", func() bool {
		return !sourceUp(raw.Query(t, fresh, "SHOW CAUSEWAY SERVERS"))
	})
	time.Sleep(2500 * time.Millisecond) // beyond max_staleness
	for range 2 {
		wantStale(t, fresh, raw.Query(t, fresh, "SELECT v FROM r WHERE id = 2"))
		raw.Query(t, fresh, "START TRANSACTION READ ONLY")
		wantStale(t, fresh, raw.Query(t, fresh, "SELECT v FROM r WHERE id = 2"))
		raw.Query(t, fresh, "COMMIT")
		if a := raw.Query(t, writer, "SELECT v FROM r WHERE id = 1"); a.Value() != "5" {
			t.Errorf("the writer read %s", a.Value())
		}
		for _, sql := range []string{"UPDATE r SET v = 6 WHERE id = 1", "select $$x$$", "SELECT @@server_id", "SET SESSION sql_log_bin = 1", "BEGIN; SELECT 1"} {
			wantDown(t, writer, sql)
			wantDown(t, fresh, sql)
		}
		for _, sql := range []string{"SET sql_mode = ''", "SELECT @@sql_mode"} { // a replica stands in
			raw.Query(t, writer, sql)
			raw.Query(t, fresh, sql)
		}
		for _, sql := range []string{"INSERT INTO tmp VALUES (2)", "SELECT * FROM tmp", "SET @q = 7", "UPDATE r SET v = 6 WHERE id = 1"} {
			wantDown(t, pinned, sql)
		}
		for _, sql := range []string{"UPDATE r SET v = 9 WHERE id = 8", "COMMIT", "ROLLBACK", "SELECT v FROM r WHERE id = 8"} {
			wantDown(t, inTrx, sql)
		}
	}
	check.Must(t, shared.Source().Thaw())
	check.Until(t, "writes go on", func() bool {
		a, err := writer.Query("UPDATE r SET v = 7 WHERE id = 1")
		check.Must(t, err)
		return a.Err() == nil
	})
	if a := raw.Query(t, writer, "SELECT v FROM r WHERE id = 1"); a.Value() != "7" {
		t.Errorf("the writer read %s", a.Value())
	}
	raw.Query(t, pinned, "INSERT INTO tmp VALUES (3)")
	if a := raw.Query(t, pinned, "SELECT GROUP_CONCAT(id) FROM tmp"); a.Value() != "1,3" {
		t.Errorf("the temporary table has %s", a.Value())
	}
	raw.Query(t, inTrx, "COMMIT")
	if a := raw.Query(t, inTrx, "SELECT v FROM r WHERE id = 8"); a.Value() != "8" {
		t.Errorf("the transaction's row has %s", a.Value())
	}
}

// sourceUp reads the answer of SHOW CAUSEWAY SERVERS.
func sourceUp(a raw.Answer) bool {
	for _, row := range a[0].Rows {
		for _, v := range row {
			if strings.HasPrefix(string(v), "down: ") {
				return false
			}
		}
	}
	return true
}

func wantStale(t *testing.T, c *raw.Client, a raw.Answer) {
	t.Helper()
	w := raw.Query(t, c, "SHOW WARNINGS")
	if len(a[0].Rows) != 1 || a[0].Warnings != 1 || len(w[0].Rows) != 1 || !strings.Contains(string(w[0].Rows[0][2]), "the source did not answer") {
		t.Errorf("a read while the source is frozen: %v, warnings %v", a, w)
	}
}

func wantDown(t *testing.T, c *raw.Client, sql string) {
	t.Helper()
	a, err := c.Query(sql)
	check.Must(t, err)
	if a.Err() == nil || !strings.Contains(a.Err().Error(), "is down: ") || !strings.Contains(a.Err().Error(), "its last answer was") {
		t.Errorf("%s, while the source is frozen: %v", sql, a.Err())
	}
}
