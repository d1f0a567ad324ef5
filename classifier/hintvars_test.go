package classifier

import (
	"slices"
	"testing"
)

// What a SET gives a variable is what the variable has on MySQL, or it is asked for.
func TestHintVars(t *testing.T) {
	none := "(asked for)"
	for _, c := range []struct {
		literal, want string
		mode          Mode
	}{
		{literal: `'k'`, want: "k"}, {literal: `"k"`, want: "k"}, {literal: `''`, want: ""}, {literal: "NULL", want: ""},
		{literal: `'O\'Brien'`, want: "O'Brien"}, {literal: `'O''Brien'`, want: "O'Brien"}, {literal: `"a""b"`, want: `a"b`},
		{literal: `"O'Brien"`, want: "O'Brien"}, {literal: `'a\\b'`, want: `a\b`}, {literal: `'a\nb\t\0\Z\x'`, want: "a\nb\t\x00\x1ax"},
		{literal: `'50\%\_'`, want: `50\%\_`},
		{literal: `'a\\b'`, mode: Mode{NoBackslashEscapes: true}, want: `a\\b`},
		{literal: `'O''Br\ien'`, mode: Mode{NoBackslashEscapes: true}, want: `O'Br\ien`},
		{literal: `"k"`, mode: Mode{ANSIQuotes: true}, want: none},
		{literal: "42", want: "42"}, {literal: "0.50", want: "0.50"}, {literal: "0", want: "0"}, {literal: "TRUE", want: "1"}, {literal: "false", want: "0"},
		{literal: "042", want: none}, {literal: ".5", want: none}, {literal: "1e3", want: none}, {literal: "0x41", want: none}, {literal: "-1", want: none},
		{literal: "12345678901234567890", want: none},
		{literal: `'a' 'b'`, want: none}, {literal: `x'41'`, want: none}, {literal: `_latin1'a'`, want: none}, {literal: `N'a'`, want: none},
		{literal: `b'1'`, want: none}, {literal: `'é'`, want: none}, {literal: `'a' COLLATE utf8mb4_bin`, want: none}, {literal: "@x", want: none},
		{literal: "(SELECT 'a')", want: none}, {literal: "?", want: none}, {literal: "/*!80000 'a' */", want: none},
	} {
		for _, op := range []string{"=", ":="} {
			names, values, ok := HintVars([]byte("SET @Causeway_Key "+op+" "+c.literal+", @x = 1, @causeway_class='F1'"), c.mode)
			if ok != (c.want != none) || ok && (!slices.Equal(names, []string{"causeway_key", "causeway_class"}) || values[0] != c.want || values[1] != "F1") {
				t.Errorf("%s: %q %q %v", c.literal, names, values, ok)
			}
		}
	}
	if _, _, ok := HintVars([]byte(`SET @'causewa\y_key' = 'k'`), Mode{}); ok {
		t.Error("an escaped name was taken for what it looks like")
	}
}

// Every way in which a statement can assign a hint's variable is seen.
func TestHintFlags(t *testing.T) {
	c := New(Options{})
	for sql, want := range map[string]Flags{
		"SET @causeway_key = 'k'": SetsHint, "SET @x = 1, @`Causeway_Class` := 'F1'": SetsHint, "SET SESSION sql_mode = '', @'causeway_max_staleness' = ?": SetsHint,
		"SET @causeway_key := CONCAT('a', @causeway_key)": SetsHint, "SET @causeway_key = 'a', NAMES utf8mb4": SetsHint,
		`SET @'causewa\y_key' = 'k'`: SetsHint, "SET /*!80000 @causeway_key = 'k' */": SetsHint,
		"SET @x = @causeway_key": 0, "SELECT @causeway_key": 0, "SELECT a FROM t WHERE b = @causeway_key": 0, "SELECT @causeway_key, @x := 1": 0,
		"INSERT INTO t VALUES (@causeway_key)": 0, "SELECT '@causeway_key' INTO @x": 0, "SET @causeway_keys = 1": 0, "SELECT 1 /*causeway_key='k'*/": 0,
		"SET @causeway_token = 'x'": 0, "SELECT causeway_key FROM t": 0, "SET @x = 'causeway_key'": 0,
		"SET @x = (@causeway_key := 'k')": HidesHint, "SET @causeway_key = (@causeway_key := 'k')": SetsHint | HidesHint,
		"SELECT 'k' INTO @causeway_key": HidesHint, "SELECT 1, 'k' INTO @x, @`causeway_key` FROM t": HidesHint, "DO @causeway_key := 'k'": HidesHint,
		"SELECT @causeway_class := 'F1'": HidesHint, "INSERT INTO t VALUES (@causeway_key := 'k')": HidesHint, "INSERT INTO t SELECT @causeway_key := a FROM u": HidesHint,
		"UPDATE t SET a = (@causeway_max_staleness := '2s')": HidesHint, "CALL p(@causeway_key)": HidesHint, "EXECUTE s USING @a, @causeway_key": HidesHint,
		"LOAD DATA INFILE 'x' INTO TABLE t (a, @causeway_key)": HidesHint, "GET DIAGNOSTICS @causeway_key = NUMBER": HidesHint,
		"EXPLAIN FORMAT=JSON INTO @causeway_key SELECT 1": HidesHint, "WITH c AS (SELECT 1) SELECT @causeway_key := 'k' FROM c": HidesHint,
		"HANDLER t READ FIRST WHERE @causeway_key := 'k'": HidesHint, "HANDLER t READ FIRST WHERE a = @causeway_key": 0,
		"SHOW TABLES WHERE @causeway_key := 'k'": HidesHint, "(SELECT 'k' INTO @causeway_key)": HidesHint, "SELECT 1; DO @causeway_key := 'k'": HidesHint,
		"SET @causeway_key = 'M'; INSERT INTO t VALUES (1)": SetsHint, "SET @b = 1; SET @causeway_key = 'v1'": SetsHint, "SELECT 1; SET @causeway_key = 'k'": SetsHint,
	} {
		if got := c.Classify([]byte(sql), Mode{}).Flags & (SetsHint | HidesHint); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
	hidden := "SET @causeway_key = '\xbf\\'"
	if !c.Classify([]byte(hidden), Mode{UnsafeCharset: true}).Is(HidesHint) || c.Classify([]byte("SET @x = '\xbf\\'"), Mode{UnsafeCharset: true}).Is(HidesHint) {
		t.Error("text in an unsafe charset")
	}
}

func TestPreparedTexts(t *testing.T) {
	for sql, want := range map[string][]string{
		"PREPARE s FROM 'SELECT ''a'''":                   {"SELECT 'a'"},
		`select 'x'; prepare s from "SET @\causeway_key"`: {"SET @causeway_key"},
		"PREPARE s FROM @q":                               nil,
		"SELECT 'from'":                                   nil,
	} {
		if got := PreparedTexts([]byte(sql), Mode{}); !slices.Equal(got, want) {
			t.Errorf("%s: %q", sql, got)
		}
	}
}
