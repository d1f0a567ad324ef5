package server

import "testing"

// The values are MySQL 9.7's own, asked right after the statement on its
// connection, when FOUND_ROWS() was 6 before.
func TestFoundByWrite(t *testing.T) {
	for _, c := range []struct {
		digest string
		info   string
		want   uint64
		set    bool
	}{
		{"update t set v = v + ? where id < ?", "Rows matched: 3  Changed: 3  Warnings: 0", 3, true},
		{"update t set v = v", "Rows matched: 5  Changed: 0  Warnings: 0", 5, true},
		{"update t join w using (id) set t . s = w . l", "Rows matched: 3  Changed: 3  Warnings: 0", 0, true},
		{"with c as (select ? as n) delete t from t, c where t . id = c . n", "", 0, true},
		{"delete from t where id < ?", "", 0, false},
		{"insert into t (v) values (?)", "", 0, false},
		{"insert into t (v) values (...)", "Records: 3  Duplicates: 0  Warnings: 0", 3, false},
		{"insert into t (v) select id from w", "Records: 3  Duplicates: 0  Warnings: 0", 3, true},
		{"replace into t (id, v) values (?)", "", 0, false},
		{"load data local infile ? into table t (v)", "Records: 2  Deleted: 0  Skipped: 0  Warnings: 0", 0, false},
	} {
		n, ok := foundByWrite(c.digest, countedIn([]byte(c.info)))
		if ok != c.set || ok && n != c.want {
			t.Errorf("%s: %d %v, want %d %v", c.digest, n, ok, c.want, c.set)
		}
	}
}
