package tokens

import (
	"encoding/hex"
	"strings"
	"testing"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/session/raw"
)

// TestKeyIsTheValue: the key of a session is what the variable is on MySQL, whatever its
// literal, charset and sql_mode.
func TestKeyIsTheValue(t *testing.T) {
	lay(t)
	cw := cluster.StartCauseway(t, shared, budget)
	c := dial(t, cw.Addr, nil)
	for _, setup := range []string{"DO 0", "SET sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES')", "SET sql_mode = 'ANSI_QUOTES'", "SET sql_mode = '', NAMES latin1", "SET NAMES gbk"} {
		raw.Query(t, c, setup)
		for _, literal := range []string{
			`'k'`, `'O''Brien'`, `'a\\b'`, `'a\nb'`, `'50\%\_'`, `'\x\y'`, `'a' 'b'`, `x'4142'`, `0x4142`, `_utf8mb4'ab'`, `N'ab'`, "42", "042", "0.50", ".5", "1e3", "-1",
			"-0", "TRUE", "12345678901234567890", "CONCAT('a', 'b')", `'ab' COLLATE utf8mb4_bin`, "b'1000001'", "(SELECT 'x')",
		} {
			if strings.Contains(literal, "COLLATE") && (strings.Contains(setup, "latin1") || strings.Contains(setup, "gbk")) {
				continue // no collation of that charset
			}
			raw.Query(t, c, "SET @causeway_key = "+literal)
			want, err := hex.DecodeString(raw.Query(t, c, "SELECT HEX(CONVERT(@causeway_key USING utf8mb4))").Value())
			check.Must(t, err)
			raw.Query(t, c, "SELECT v FROM tok.r")
			if got := raw.Route(t, c, "Scope"); got != "session, key "+string(want) {
				t.Errorf("%s, %s: scope %q, the variable is %q", setup, literal, got, want)
			}
		}
	}
}

// TestKeyOfOtherCharset: the same letters are the same key in another charset.
func TestKeyOfOtherCharset(t *testing.T) {
	lay(t)
	cw := cluster.StartCauseway(t, shared, budget)
	c := dial(t, cw.Addr, nil)
	for _, sql := range []string{"SET @causeway_key = '\xc3\xa9'", "SET @causeway_key = x'C3A9'", "SET NAMES latin1", "SET @causeway_key = '\xe9'"} {
		raw.Query(t, c, sql)
		if !strings.Contains(sql, "causeway_key") {
			continue
		}
		raw.Query(t, c, "SELECT v FROM tok.r")
		raw.Query(t, c, "SET NAMES utf8mb4")
		if got := raw.Route(t, c, "Scope"); got != "session, key é" {
			t.Errorf("%q: scope %q", sql, got)
		}
	}
	raw.Query(t, c, "SET @causeway_key = x'E9FF'") // no text: its bytes
	raw.Query(t, c, "SELECT v FROM tok.r")
	if got := raw.Route(t, c, "Scope"); got != "session, key 0xE9FF" {
		t.Errorf("bytes: scope %q", got)
	}
}

// TestKeyOfAPreparedText: the key of a text that PREPARE knows is that of its EXECUTE, and
// a key inside of it is refused before anything runs.
func TestKeyOfAPreparedText(t *testing.T) {
	lay(t)
	cw := cluster.StartCauseway(t, shared, budget)
	w, r := dial(t, cw.Addr, nil), dial(t, cw.Addr, nil)
	refused(t, w, "PREPARE s FROM 'REPLACE INTO r VALUES (1, 5) /*causeway_key=''PP''*/'", "text of a PREPARE")
	refused(t, w, "SET @causeway_key = 'M'; REPLACE INTO r VALUES (1, 5)", "statement of its own")
	refused(t, w, "SELECT 'k' INTO @causeway_key", "statement of its own")
	if got := raw.Query(t, w, "SELECT @causeway_key IS NULL").Value(); got != "1" {
		t.Errorf("something has run: %s", got)
	}
	raw.Query(t, w, "PREPARE s FROM 'REPLACE INTO r VALUES (1, 77)'")
	for _, n := range shared.Replicas() {
		check.Must(t, n.Pause(t.Context()))
	}
	shared.HealAfter(t)
	raw.Query(t, w, "EXECUTE s /*causeway_key='PP'*/")
	if got := raw.Query(t, r, "SELECT v FROM r WHERE id = 1 /*causeway_key='PP'*/").Value(); got != "77" {
		t.Errorf("read %q", got)
	}
}
