package classifier

import (
	"fmt"
	"strings"
	"testing"
)

func TestNamesToken(t *testing.T) {
	c := New(Options{})
	for sql, want := range map[string]bool{
		"SELECT @causeway_token": true, "select @CAUSEWAY_GTIDS as x limit 1": true, "SET @`causeway_token` = 'x'": true,
		"SET @x = 1, @'causeway_token' := ?": true, "SELECT a FROM t WHERE b = @causeway_token": true, "SELECT @causeway_token := 'x'": true,
		"SELECT a FROM t INTO @causeway_token": true, "CALL p(@causeway_token)": true, "SELECT 1; SET @causeway_token = 'x'": true,
		"INSERT INTO t VALUES (@causeway_token)": true, "SET @x = @causeway_token": true,
		"SELECT '@causeway_token'": false, "SELECT @causeway_tokens": false, "SELECT causeway_token FROM t": false, "SELECT 1 /*causeway_token='x'*/": false,
		"SET @causeway_class = 'F1'": false,
	} {
		if got := c.Classify([]byte(sql), Mode{}).Is(NamesToken); got != want {
			t.Errorf("%s: %v", sql, got)
		}
	}
}

func TestTokenSelect(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT @causeway_token": "@causeway_token",
		"select @Causeway_Token as t, @causeway_gtids g from dual limit 1;":   "t,plain g",
		"/* a */ SELECT @`causeway_gtids` /* b */ LIMIT 1 -- c":               "plain @`causeway_gtids`",
		"SELECT @causeway_token AS `my token`, @causeway_token 'x' FROM DUAL": "my token,x",
		"SELECT @causeway_token, 1":                                           "", "SELECT @causeway_token FROM t": "", "SELECT @causeway_token LIMIT 2": "", "SELECT @causeway_token LIMIT ?": "",
		"SELECT CONCAT(@causeway_token)": "", "SELECT @causeway_token + 1": "", "SELECT @causeway_token := 'x'": "", "SELECT @x": "", "SELECT": "",
		"SELECT @causeway_token; SELECT 1": "", "SELECT @causeway_token AS": "", "SELECT @causeway_token,": "", "SELECT DISTINCT @causeway_token": "",
		"SELECT @causeway_token FROM": "", "SELECT /*!50000 @causeway_token */": "", "SELECT @causeway_token 'x": "",
	} {
		columns, ok := TokenSelect([]byte(sql), Mode{})
		var got []string
		for _, c := range columns {
			name := c.Name
			if c.Plain {
				name = "plain " + name
			}
			got = append(got, name)
		}
		if ok != (want != "") || ok && strings.Join(got, ",") != want {
			t.Errorf("%s: %q %v", sql, got, ok)
		}
	}
}

func TestReadTokenSet(t *testing.T) {
	for _, tc := range []struct {
		sql  string
		want string
		mode Mode
	}{
		{sql: "SET @causeway_token = 'u:1'", want: "[u:1] alone"},
		{sql: "set @`Causeway_Token` := \"u:1\";", want: "[u:1] alone"},
		{sql: `SET @causeway_token = 'u:1,\n''v'':\2'`, want: "[u:1,\n'v':2] alone"},
		{sql: `SET @causeway_token = 'u\n'`, want: `[u\n] alone`, mode: Mode{NoBackslashEscapes: true}},
		{sql: "SET @causeway_token = NULL", want: "[] alone"},
		{sql: "SET @causeway_token = ''", want: "[] alone"},
		{sql: "SET @causeway_token = ?", want: "[] param alone"},
		{sql: "SET @causeway_token = 'a', @causeway_token = 'b'", want: "[a b] alone"},
		{sql: "SET @x = NOW(), @causeway_token = 'a', NAMES utf8mb4", want: "[a]"},
		{sql: "SET @causeway_token = ?, @x = 1"}, {sql: "SET @causeway_token = CONCAT('a', 'b')"}, {sql: "SET @causeway_token = 'a' 'b'"},
		{sql: "SET @causeway_token = _utf8mb4'a'"}, {sql: "SET @causeway_token = x'61'"}, {sql: "SET @causeway_token = N'a'"}, {sql: "SET @causeway_token = @x"},
		{sql: "SET @causeway_token = 5"}, {sql: "SET @causeway_token"}, {sql: "SET @causeway_gtids = 'a'"}, {sql: "SET @x = @causeway_token"}, {sql: `SET @causeway_token = _latin1"a"`},
		{sql: "SET @causeway_token = 'a', @x = @causeway_token"}, {sql: "SET @causeway_token = 'a"}, {sql: "SELECT 1"}, {sql: "SET"},
		{sql: "SET @causeway_token = \"a\"", mode: Mode{ANSIQuotes: true}},
	} {
		s, ok := ReadTokenSet([]byte(tc.sql), tc.mode)
		got := fmt.Sprint(s.Values)
		if s.Param {
			got += " param"
		}
		if s.Alone {
			got += " alone"
		}
		if ok != (tc.want != "") || ok && got != tc.want {
			t.Errorf("%s: %s %v", tc.sql, got, ok)
		}
	}
}

func TestTokenHints(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT 1 /*causeway_token='u%3A1-5%2Cv%3A1'*/":                    "u:1-5,v:1",
		"/*causeway_token='u:1'*/ SELECT 1":                                "u:1",
		"SELECT /*a='b',causeway_token='u:1',c='d'*/ a FROM t":             "u:1",
		"SELECT 1 /*causeway_token='a'*/ + 1 /*causeway_token='b',x='y'*/": "a|b",
		"SELECT 1 /*causeway_token='a',causeway_token='a'*/":               "a",
		"SELECT '/*causeway_token=''a''*/'":                                "",
		"SELECT 1 -- /*causeway_token='a'*/":                               "",
		"SELECT 1 /*causeway_token='a'*/ /*causeway_class='F1'*/":          "a",
	} {
		h := CommentHints([]byte(sql), Mode{})
		if got := strings.Join(h.Tokens(), "|"); got != want {
			t.Errorf("%s: %q", sql, got)
		}
	}
	h := Hints{Token: "a", Class: "F0"}
	h.Fill(Hints{Token: "b" + tokenEnd + "a", Class: "F1"})
	if got := strings.Join(h.Tokens(), "|"); got != "a|b" || h.Class != "F0" {
		t.Errorf("%q %q", got, h.Class)
	}
}

// No text makes the readers of tokens fail, and what they read is in the text.
func FuzzTokenStatements(f *testing.F) {
	for _, sql := range []string{
		"SELECT @causeway_token AS x, @`causeway_gtids` FROM DUAL LIMIT 1;", "SET @causeway_token = 'a\\\\''b', @x = 1", "SET @causeway_token := ?",
		"SET @causeway_token = '", "SELECT @causeway_token '", "SET ,", "SELECT @'", "SET @x = (1, 2), @causeway_token = NULL",
	} {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		for _, m := range []Mode{{}, {ANSIQuotes: true}, {NoBackslashEscapes: true}} {
			columns, ok := TokenSelect([]byte(sql), m)
			if ok && len(columns) == 0 {
				t.Fatalf("%q asks for nothing", sql)
			}
			s, ok := ReadTokenSet([]byte(sql), m)
			for _, v := range s.Values {
				if len(v) > len(sql) {
					t.Fatalf("%q has the value %q", sql, v)
				}
			}
			if ok && s.Param && (!s.Alone || len(s.Values) > 0) {
				t.Fatalf("%q: %+v", sql, s)
			}
			if lower := strings.ToLower(sql); ok && (s.Param || len(s.Values) > 0) && !strings.Contains(lower, HintToken) {
				t.Fatalf("%q sets no token", sql)
			}
		}
	})
}
