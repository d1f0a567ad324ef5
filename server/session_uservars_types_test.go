package server

import (
	"slices"
	"strings"
	"testing"
)

// User variables that were set to literals mean the same after the session has set
// another sql_mode or character set, and tie it to no connection.
func TestSessionUserVariablesOutliveModes(t *testing.T) {
	for _, c := range []struct {
		set, mode, replayed string
	}{
		{"SET @a = 'it''s'", "ANSI", "_utf8mb4 X'69742773' COLLATE utf8mb4_0900_ai_ci"},
		{`SET @a = "a\nb"`, "ANSI_QUOTES,NO_BACKSLASH_ESCAPES", "_utf8mb4 X'610a62' COLLATE utf8mb4_0900_ai_ci"},
		{"SET @a = ''", "TRADITIONAL", "_utf8mb4 X'' COLLATE utf8mb4_0900_ai_ci"},
		{"SET @a = 1.50", "STRICT_ALL_TABLES", "1.50"},
		{"SET @a = 1e3", "ANSI", "1e3"},
		{"SET @a = +5", "ANSI", "+5"},
		{"SET @a = .5", "ANSI", ".5"},
		{"SET @a = NULL", "ANSI", "NULL"},
		{"SET @a = TRUE", "ANSI", "TRUE"},
		{"GET DIAGNOSTICS @a = NUMBER", "ANSI", "CAST(0 AS UNSIGNED)"},
	} {
		l := startLab(t, 1, func(o *Options) { o.Pool.Max = 1 })
		k := l.client()
		k.run("SELECT 1", c.set, "SET sql_mode='"+c.mode+"'")
		if pins := k.query("SHOW CAUSEWAY PINS").rows; len(pins) > 0 {
			t.Errorf("after %q and %s the pins are %q", c.set, c.mode, pins)
		}
		l.client().run("INSERT INTO t VALUES (1)") // takes the connection
		l.forget()
		k.run("SELECT @a")
		if texts := l.source.texts(); !slices.Contains(texts, "SET @`a`="+c.replayed) {
			t.Errorf("after %q the source was asked %q", c.set, texts)
		}
	}
}

// What the text does not tell is asked for, and pins nothing if the server tells it.
func TestSessionUserVariablesAskedFor(t *testing.T) {
	asked := "SELECT @`a` IS NULL"
	for _, c := range []struct {
		set      string
		answer   []string
		replayed string // "" if the session is pinned
	}{
		{"SET @a = @@sql_mode", []string{"0", "utf8mb3", "utf8mb3_general_ci", "414E5349", "STRING"}, "_utf8mb3 X'414E5349' COLLATE utf8mb3_general_ci"},
		{"SET @a = @@session.unique_checks", []string{"0", "binary", "binary", "31", "INTEGER"}, "1"},
		{"SET @a = @@max_join_size", []string{"0", "binary", "binary", "3138", "UNSIGNED INTEGER"}, "CAST(18 AS UNSIGNED)"},
		{"SET @a = @@long_query_time", []string{"0", "binary", "binary", "3130", "DOUBLE"}, "10e0"},
		{"SET @a = @@long_query_time", []string{"0", "binary", "binary", "31653230", "DOUBLE"}, "1e20"},
		{"SET @a = @@x", []string{"0", "binary", "binary", "35", "DECIMAL"}, "5."},
		{"SET @a = @@character_set_results", []string{"1", "utf8mb3", "utf8mb3_general_ci", "", ""}, "NULL"},
		{"SET @a = 'é'", []string{"0", "utf8mb4", "utf8mb4_bin", "C3A9", "STRING"}, "_utf8mb4 X'C3A9' COLLATE utf8mb4_bin"},
		{"SET @a = x'ff'", []string{"0", "binary", "binary", "FF", "BLOB"}, "_binary X'FF'"},
		{"SET @a = _latin1'x' COLLATE latin1_bin", []string{"0", "latin1", "latin1_bin", "78", "STRING"}, "_latin1 X'78' COLLATE latin1_bin"},
		{"/*!40101 SET @a = @@sql_mode */", []string{"0", "utf8mb3", "utf8mb3_general_ci", "", "STRING"}, "_utf8mb3 X'' COLLATE utf8mb3_general_ci"},
		{"SET @a = @@x", []string{"0", "binary", "binary", "31", "OPAQUE"}, ""},
		{"SET @a = @@x", []string{"0", "binary", "binary", "0031", "INTEGER"}, ""}, // in utf16
		{"SET @a = @@x", []string{"0", "x'y", "binary", "31", "STRING"}, ""},
		{"SET @a = @@x", nil, ""},
		{"SET @a = @b", nil, ""},
		{"SET @a = '" + strings.Repeat("x", maxKept) + "'", nil, ""},
		{"SET @`é` = 1", nil, ""},
		{"SET @`a ` = 1", nil, ""},
	} {
		l := startLab(t, 1, func(o *Options) { o.Pool.Max = 1 })
		l.source.on(asked, func(fc *fakeConn, _ string) {
			if c.answer == nil {
				fc.fail(1064, "no")
				return
			}
			fc.rows(5, c.answer)
		})
		k := l.client()
		k.run("SELECT 1", c.set)
		pins := k.query("SHOW CAUSEWAY PINS").rows
		if pinned := len(pins) == 1 && pins[0][3] == "user_variables"; pinned != (c.replayed == "") || !pinned && len(pins) > 0 {
			t.Errorf("after %.99q the pins are %q", c.set, pins)
		}
		if c.replayed == "" {
			continue
		}
		l.client().run("INSERT INTO t VALUES (1)")
		l.forget()
		k.run("SELECT @a")
		if texts := l.source.texts(); !slices.Contains(texts, "SET @`a`="+c.replayed) {
			t.Errorf("after %q the source was asked %q", c.set, texts)
		}
	}
}
