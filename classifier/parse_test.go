package classifier

import (
	"strings"
	"testing"
)

// TestObjections: had the token check taken these for plain reads, the parser's
// trees would have said no.
func TestObjections(t *testing.T) {
	for sql, want := range map[string]Kind{
		"SELECT a FROM t":                             Read,
		"SELECT ABS(a), DATE '2024-01-01' FROM t":     Read,
		"SELECT a FROM t FOR UPDATE":                  LockingRead,
		"SELECT * FROM (SELECT a FROM t FOR SHARE) d": LockingRead,
		"SELECT a FROM t INTO OUTFILE 'x'":            Write,
		"SELECT @x":                                   ReadSource,
		"SELECT @@x":                                  ReadSource,
		"SELECT f(1)":                                 Write,
		"SELECT ro_f(1), s.ro_g(1)":                   Read,
		"SELECT s.abs(1)":                             Write,
		"SELECT LAST_INSERT_ID()":                     Write,
		"EXPLAIN ANALYZE DELETE FROM t":               Unknown,
		"EXPLAIN DELETE FROM t":                       Write,
		"EXPLAIN SELECT 1":                            Read,
		"SHOW TABLES":                                 Read,
		"DELETE FROM t":                               Unknown,
		"COMMIT":                                      Unknown,
		"SELECT 1; SELECT 2":                          Unknown, // not the one statement that was counted
	} {
		var pool parserPool
		o := opinion{readOnly: set("ro_f", "s.ro_g"), verdict: verdict{kind: Read}}
		if !pool.ask(&o, sql, Mode{}, 1) || o.verdict.kind != want {
			t.Errorf("%s: %s, want %s", sql, o.verdict.kind, want)
		}
	}
}

// TestParserCannotParse: its failures are no objection.
func TestParserCannotParse(t *testing.T) {
	var pool parserPool
	for _, sql := range []string{"SELECT 1 FROM JSON_TABLE('1', '$' COLUMNS (a INT PATH '$')) j", "hello", "", strings.Repeat("(", 10_000)} {
		o := opinion{verdict: verdict{kind: Read}}
		pool.ask(&o, sql, Mode{}, 0)
		if o.verdict.kind != Read {
			t.Errorf("%.60s: %s", sql, o.verdict.kind)
		}
	}
}

func TestWithoutComments(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT/*T! FOR UPDATE */1":           "SELECT 1",
		"SELECT /*+ BKA(t) */ a -- x\nFROM t": "SELECT a FROM t",
		"SELECT /*!50000 a, */ '/* b */'":     "SELECT a, '/* b */'",
		"SELECT f (1), g(2), t.a":             "SELECT f (1), g(2), t.a",
	} {
		if got := withoutComments([]byte(sql), Mode{}); got != want {
			t.Errorf("%q: %q, want %q", sql, got, want)
		}
	}
}

func TestModeReachesTheParser(t *testing.T) {
	var pool parserPool
	o := opinion{verdict: verdict{kind: Read}}
	if !pool.ask(&o, `SELECT "a" FROM "t"`, Mode{ANSIQuotes: true, NoBackslashEscapes: true, PipesAsConcat: true, IgnoreSpace: true}, 1) {
		t.Error("ANSI_QUOTES did not reach the parser")
	}
}
