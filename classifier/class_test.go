package classifier

import (
	"fmt"
	"reflect"
	"testing"
)

func classify(sql string) *Class { return New(Options{}).Classify([]byte(sql), Mode{}) }

func TestNames(t *testing.T) {
	names := []string{"character_set_client", "character_set_results", "character_set_connection", "collation_connection"}
	for _, tc := range []struct {
		sql  string
		want []string
	}{
		{"SET SQL_MODE='', @@session.Time_Zone='UTC', @X=1, `foreign_key_checks`=0", []string{"sql_mode", "time_zone", "@x", "foreign_key_checks"}},
		{"SET GLOBAL a=1, SESSION sort_buffer_size=2, @@global.b=3, LOCAL c=4", []string{"sort_buffer_size", "c"}},
		{"SET GLOBAL a=1, b=2, @c=3, d=4, @@e=5, SESSION f=6, g=7, @@global.h=8, i=9", []string{"@c", "e", "f", "g", "i"}},
		{"SET NAMES utf8mb4", names},
		{"SET CHARACTER SET latin1", names},
		{"SET tx_isolation='SERIALIZABLE'", []string{"transaction_isolation"}},
		{"SET @a = (SELECT 1, 2), @b = f(1, 2)", []string{"@a", "@b"}},
		{"SET @'q' = 1, @`r` = 2", []string{"@q", "@r"}},
		{"SET TRANSACTION READ ONLY, ISOLATION LEVEL SERIALIZABLE", []string{"transaction_read_only", "transaction_isolation"}},
		{"SET ROLE NONE", []string{"role"}},
		{"show CAUSEWAY Status", []string{"show", "causeway", "status"}},
		{"causeway drain 'x:1' 5", []string{"causeway", "drain", "x:1", "5"}},
		{"SELECT 1", nil},
	} {
		if got := classify(tc.sql).Names; !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s\n got %v\nwant %v", tc.sql, got, tc.want)
		}
	}
}

func TestTrx(t *testing.T) {
	for _, tc := range []struct {
		sql  string
		want Trx
	}{
		{"BEGIN", Trx{}},
		{"START TRANSACTION READ ONLY", Trx{ReadOnly: true}},
		{"START TRANSACTION READ WRITE, WITH CONSISTENT SNAPSHOT", Trx{ReadWrite: true, Snapshot: true}},
		{"SET TRANSACTION READ ONLY", Trx{ReadOnly: true}},
		{"SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED, READ WRITE", Trx{ReadWrite: true, Isolation: "READ-UNCOMMITTED"}},
		{"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", Trx{Isolation: "REPEATABLE-READ"}},
		{"SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY", Trx{ReadOnly: true, Isolation: "SERIALIZABLE"}},
		{"SET GLOBAL TRANSACTION READ ONLY", Trx{}},
		{"SET transaction_read_only = 1", Trx{ReadOnly: true}},
		{"SET transaction_read_only = ON", Trx{ReadOnly: true}},
		{"SET transaction_read_only = 'OFF'", Trx{ReadWrite: true}},
		{"SET @@session.transaction_isolation = 'read-committed'", Trx{Isolation: "READ-COMMITTED"}},
		{"SET transaction_isolation = \"REPEATABLE-READ\", transaction_read_only = 0", Trx{ReadWrite: true, Isolation: "REPEATABLE-READ"}},
	} {
		if got := classify(tc.sql).Trx; got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.sql, got, tc.want)
		}
	}
}

// TestSetValuesAreKept: texts that differ in a value that decides the class do
// not share one; others do.
func TestSetValuesAreKept(t *testing.T) {
	c := New(Options{})
	at := func(sql string) *Class { return c.Classify([]byte(sql), Mode{}) }
	if at("SET transaction_read_only=1") == at("SET transaction_read_only=0") {
		t.Error("SET transaction_read_only: 1 and 0 share a class")
	}
	if at("SET @x='a'") != at("SET @x='b'") {
		t.Error("SET @x: two values, two classes")
	}
}

func TestKill(t *testing.T) {
	for _, tc := range []struct {
		sql   string
		id    uint64
		query bool
	}{
		{"KILL 5", 5, false},
		{"KILL CONNECTION 18446744073709551615", 18446744073709551615, false},
		{"KILL /* c */ QUERY 0x10", 16, true},
		{"KILL QUERY @id", 0, true},
		{"KILL 5 + 1", 0, false},
		{"KILL 010", 10, false},
		{"KILL 99999999999999999999999", 0, false},
	} {
		got := classify(tc.sql)
		if got.Kind != Kill || got.KillID != tc.id || got.KillQuery != tc.query {
			t.Errorf("%s: %s %d %v", tc.sql, got.Kind, got.KillID, got.KillQuery)
		}
	}
}

func TestStatements(t *testing.T) {
	for sql, want := range map[string]int{
		"": 0, ";": 0, "SELECT 1": 1, "SELECT 1;": 1, "SELECT 1; ;": 1, "SELECT 1; SELECT 2": 2,
		"CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END": 1,
	} {
		if got := classify(sql).Statements; got != want {
			t.Errorf("%q: %d statements, want %d", sql, got, want)
		}
	}
}

func TestReadOnlyFunctions(t *testing.T) {
	c := New(Options{ReadOnlyFunctions: []string{"RO_F", "app.f2", "`x`.`f3`"}})
	for sql, want := range map[string]Kind{
		"SELECT ro_f(1)": Read, "SELECT app.ro_f(1) FROM t": Read, "SELECT `RO_F`(1)": Read,
		"SELECT app.f2(1)": Read, "SELECT f2(1)": Write, "SELECT other.f2(1)": Write,
		"SELECT x.f3 (1)": Read, "SELECT ro_f(f4(1))": Write, "SELECT ro_f2(1)": Write,
	} {
		if got := c.Classify([]byte(sql), Mode{}).Kind; got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
}

func TestModes(t *testing.T) {
	for _, tc := range []struct {
		sql  string
		mode Mode
		want Kind
	}{
		{`SELECT "wr_f"(1)`, Mode{ANSIQuotes: true}, Write},
		{`SELECT * FROM "mysql"."user"`, Mode{ANSIQuotes: true}, ReadSource},
		{`SELECT "a" FROM t`, Mode{ANSIQuotes: true}, Read},
		{`SELECT 'a\' FROM t FOR UPDATE -- '`, Mode{NoBackslashEscapes: true}, LockingRead},
		{`SELECT 'a\' FROM t FOR UPDATE -- '`, Mode{}, Read},
		{`SELECT now () FROM t`, Mode{IgnoreSpace: true}, Read},
		{`SELECT now/**/() FROM t`, Mode{IgnoreSpace: true}, Write},
		{`SELECT now () FROM t`, Mode{}, Write},
		{`SELECT a || b FROM t`, Mode{PipesAsConcat: true}, Read},
		{"SELECT 'abc' FROM t", Mode{UnsafeCharset: true}, Read},
		{"SELECT '\xbf\\' FROM t FOR UPDATE -- '", Mode{UnsafeCharset: true}, Unknown},
		{"INSERT INTO t VALUES ('\xc4\xe3')", Mode{UnsafeCharset: true}, Write},
		{"SELECT '\xc4\xe3' FROM t WHERE a LIKE '%\xc3\xa9m'", Mode{UnsafeCharset: true}, Read},
		{"SELECT '\xc3\xa9' FROM t FOR UPDATE", Mode{UnsafeCharset: true}, LockingRead},
		{"SELECT `\x95\x60` FROM t", Mode{UnsafeCharset: true}, Unknown},
		{"SELECT '\x95\x5c' FROM t", Mode{UnsafeCharset: true}, Unknown},
		{"SELECT a FROM t WHERE b = \x95\x7c\x7c", Mode{UnsafeCharset: true}, Unknown},
		{"COMMIT", Mode{UnsafeCharset: true}, Commit},
	} {
		if got := New(Options{}).Classify([]byte(tc.sql), tc.mode); got.Kind != tc.want {
			t.Errorf("%s in %+v: %s %s, want %s", tc.sql, tc.mode, got.Kind, got.Flags, tc.want)
		}
	}
}

// TestModesDoNotShare: one classifier, one text, two modes, two classes.
func TestModesDoNotShare(t *testing.T) {
	c := New(Options{})
	text := []byte(`SELECT 'a\' FROM t FOR UPDATE -- '`)
	for range 2 {
		if got := c.Classify(text, Mode{}).Kind; got != Read {
			t.Errorf("with escapes: %s", got)
		}
		if got := c.Classify(text, Mode{NoBackslashEscapes: true}).Kind; got != LockingRead {
			t.Errorf("without escapes: %s", got)
		}
	}
	if c.Classify([]byte("SELECT 1"), Mode{}).Is(ExecutableComment) {
		t.Error("plain text has the flag of an executable comment")
	}
	if !c.Classify([]byte("/*!50000 SELECT*/ 1"), Mode{}).Is(ExecutableComment) {
		t.Error("executable comment lost its flag to the cache")
	}
}

func TestLearn(t *testing.T) {
	c := New(Options{CacheEntries: 32})
	sql := []byte("SELECT * FROM harmless WHERE id = 1")
	class := c.Classify(sql, Mode{})
	if class.Kind != Read {
		t.Fatalf("%s", class.Kind)
	}
	c.Learn(class, Write)
	for range 2 {
		got := c.Classify([]byte("select * from harmless where id=2"), Mode{})
		if got.Kind != Write || !got.Is(MayCommit) || class.Kind != Read {
			t.Errorf("learned %s %s, the class handed out is %s", got.Kind, got.Flags, class.Kind)
		}
		for i := range 1000 { // push it out of the cache: it must be known still
			c.Classify(fmt.Appendf(nil, "SELECT x%d", i), Mode{})
		}
	}
	c.Learn(unsafeText(nil), Write) // not cached: nothing to learn
}

func TestStrings(t *testing.T) {
	if got := (MayCommit | NoTable).String(); got != "MayCommit|NoTable" {
		t.Error(got)
	}
	if Flags(0).String() != "0" || Kind(200).String() != "kind(200)" || LockingRead.String() != "locking_read" {
		t.Error("names")
	}
	for k := Empty; k <= Causeway; k++ {
		if k.String() == "" {
			t.Errorf("kind %d has no name", k)
		}
	}
	if len(flagNames) != 37 || HidesHint != 1<<36 {
		t.Errorf("%d names of flags", len(flagNames))
	}
}

func TestTrackedVariablesAreSorted(t *testing.T) {
	for i := 1; i < len(TrackedVariables); i++ {
		if TrackedVariables[i-1] >= TrackedVariables[i] {
			t.Errorf("%s before %s", TrackedVariables[i-1], TrackedVariables[i])
		}
	}
	if !Tracked("sql_mode") || Tracked("session_track_gtids") {
		t.Error("Tracked")
	}
}

func TestSystemSchema(t *testing.T) {
	for name, want := range map[string]bool{"mysql": true, "Information_Schema": true, "app": false, "": false} {
		if SystemSchema(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

// The mysql client asks so at each start: it is no statement that may write.
func TestDollarProbe(t *testing.T) {
	c := New(Options{})
	for sql, want := range map[string]Kind{"select $$": Read, "SELECT $$": Read, "select $$x$$": Unknown, "select $$;": Unknown} {
		if got := c.Classify([]byte(sql), Mode{}); got.Kind != want {
			t.Errorf("%s: %s, want %s", sql, got.Kind, want)
		}
	}
}
