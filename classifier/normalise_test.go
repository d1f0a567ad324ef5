package classifier

import (
	"strings"
	"testing"
)

func digest(sql string, m Mode) string {
	n := &normaliser{}
	n.run([]byte(sql), m, m.key(), false)
	return string(n.out[1:])
}

func TestDigest(t *testing.T) {
	for _, tc := range []struct{ sql, want string }{
		{"SELECT  *\nFROM T WHERE Id=1 AND c='x'", "select * from t where id = ? and c = ?"},
		{"select a.b , `C` from `T`", "select a.b, `c` from `t`"},
		{"SELECT 1 -- c", "select ?"},
		{"SELECT -1, - 1, a-1, a - -1, (-1), -a", "select - ?, ?, a - ?, a - ?, (?), - a"},
		{"SELECT a FROM t WHERE id IN (1,2, 3)", "select a from t where id in (?+)"},
		{"SELECT a FROM t WHERE id in(1)", "select a from t where id in (?+)"},
		{"SELECT a FROM t WHERE id IN (1, b, 3)", "select a from t where id in (?, b, ?)"},
		{"SELECT a FROM t WHERE id IN (-1, +2)", "select a from t where id in (?+)"},
		{"SELECT a FROM t WHERE (a,b) IN ((1,2),(3,4),(5,6))", "select a from t where (a, b) in ((?+))"},
		{"INSERT INTO t(a, b) VALUES (1,'x'), (2,NULL)", "insert into t(a, b) values (?+)"},
		{"INSERT INTO t VALUES (1,NOW()),(2,NOW()),(3,NOW())", "insert into t values (?, now())"},
		{"INSERT INTO t VALUES (1,NOW()),(2,f(x))", "insert into t values (?, now()), (?, f(x))"},
		{"INSERT INTO t VALUES (1,(2)),(3,(4)) ON DUPLICATE KEY UPDATE a=VALUES(a)", "insert into t values (?, (?)) on duplicate key update a = values (a)"},
		{"INSERT INTO t VALUES ()", "insert into t values ()"},
		{"VALUES ROW(1,2), ROW(3,4)", "values row(?+)"},
		{"SELECT f(1, 2), (1, 2)", "select f(?, ?), (?, ?)"},
		{"SELECT last_insert_id( ), last_insert_id( 5 )", "select last_insert_id(), last_insert_id(?)"},
		{"SELECT 'a' 'b' \"c\", N'x', _utf8mb4'y', _utf8mb4 x'00'", "select ?, ?, ?, ?"},
		{"SELECT a IS NULL, a IS NOT NULL, NULL, (NULL)", "select a is null, a is not null, ?, (?)"},
		{"SELECT count(*), count (*), abs (1)", "select count(*), count (*), abs(?)"},
		{"SELECT @x, @`Y`, @@Session.sql_mode", "select @x, @`y`, @@session.sql_mode"},
		{"SELECT t.1a, 1a, t .5, 1.5", "select t.1a, 1a, t ?, ?"},
		{"SELECT 1;", "select ?"},
		{" ; ; ", ""},
		{"SELECT 1;;SELECT 2;", "select ?; select ?"},
		{"SET autocommit=0, sql_mode='x', @a='y', tx_isolation='READ-COMMITTED'", "set autocommit = 0, sql_mode = ?, @a = ?, tx_isolation = 'READ-COMMITTED'"},
		{"SET @@session.sql_log_bin = 0, time_zone = '+1:00'", "set @@session.sql_log_bin = 0, time_zone = ?"},
		{"SET PASSWORD = 'secret'", "set password = ?"},
		{"SET autocommit='" + strings.Repeat("x", 100) + "'", "set autocommit = ?"},
		{"KILL QUERY 17", "kill query 17"},
		{"SELECT a->>'$.x', b:=1, c<=>d, e!=f, g<>h, i||j", "select a ->> ?, b := ?, c <=> d, e != f, g <> h, i || j"},
		{"SELECT 5--1", "select ? - ?"},
		{"/*!50000 SELECT */ 1", "select ?"},
	} {
		if got := digest(tc.sql, Mode{}); got != tc.want {
			t.Errorf("%s\n got %s\nwant %s", tc.sql, got, tc.want)
		}
	}
}

func TestDigestModes(t *testing.T) {
	for _, tc := range []struct {
		sql  string
		mode Mode
		want string
	}{
		{`SELECT "A", 'x'`, Mode{ANSIQuotes: true}, `select "a", ?`},
		{`SELECT "a""b" "c"`, Mode{ANSIQuotes: true}, `select "a""b" "c"`},
		{`SELECT 'a\', b, 'c'`, Mode{NoBackslashEscapes: true}, "select ?, b, ?"},
		{`SELECT 'a\', b, 'c'`, Mode{}, "select ? c ?"},
		{`SELECT now (), count  (*)`, Mode{IgnoreSpace: true}, "select now(), count(*)"},
		{`SELECT now/**/()`, Mode{IgnoreSpace: true}, "select now ()"},
	} {
		if got := digest(tc.sql, tc.mode); got != tc.want {
			t.Errorf("%s in %+v\n got %s\nwant %s", tc.sql, tc.mode, got, tc.want)
		}
	}
}

// TestDigestOfDigest: a digest is its own, so it can be shown, stored and
// asked for again.
func TestDigestOfDigest(t *testing.T) {
	for _, sql := range []string{
		"SELECT a,-1 FROM t WHERE id IN (1,2) AND x NOT IN ((1,2),(3,4)) OR c IS NULL",
		"INSERT INTO t (a) VALUES (1,NOW()),(2,NOW()),(3, 4)",
		"SELECT COUNT (*), f (1) FROM `T`.`x` -- c",
		"SET autocommit = 0, @x = 'y'",
	} {
		once := digest(sql, Mode{})
		if twice := digest(once, Mode{}); twice != once {
			t.Errorf("%s\n once %s\ntwice %s", sql, once, twice)
		}
	}
}

// TestLargeLists: the digest of a long list is as short as that of a short one.
func TestLargeLists(t *testing.T) {
	list := strings.Repeat("1,", 100_000) + "1"
	if got := digest("SELECT a FROM t WHERE id IN ("+list+")", Mode{}); len(got) > 100 {
		t.Errorf("digest of a long list has %d bytes", len(got))
	}
	rows := strings.Repeat("(1,'a',now()),", 50_000) + "(1,'a',now())"
	if got := digest("INSERT INTO t VALUES "+rows, Mode{}); len(got) > 100 {
		t.Errorf("digest of many rows has %d bytes", len(got))
	}
}
