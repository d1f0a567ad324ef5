package classifier

import (
	"slices"
	"testing"
)

func TestUserVars(t *testing.T) {
	for _, c := range []struct {
		sql           string
		names, values []string
		ok            bool
	}{
		{"SET @a = 1", []string{"a"}, []string{"1"}, true},
		{"set @A := 'x', @`b c` = -1.5 , @d=NULL;", []string{"a", "b c", "d"}, []string{"'x'", "-1.5", "NULL"}, true},
		{"SET @a=0x1f, sql_mode='', @b = \"it''s\"", []string{"a", "b"}, []string{"0x1f", `"it''s"`}, true},
		{"SET @a = (SELECT 1)", nil, nil, false},
		{"SET @a = 1 + 1", nil, nil, false},
		{"SET @a = @b", nil, nil, false},
		{"SET @a = 1, @b = NOW()", nil, nil, false},
		{"SET @a = 'é'", nil, nil, false},
		{"SET @a = _latin1'x'", nil, nil, false},
		{"SET @a = N'x'", nil, nil, false},
		{"SET @a = 'x' COLLATE utf8mb4_bin", nil, nil, false},
		{"SET @a = ?", nil, nil, false},
		{"SET /*!80000 @a = 1 */", nil, nil, false},
		{"SET @a = 'x", nil, nil, false},
	} {
		names, values, ok := UserVars([]byte(c.sql), Mode{})
		if ok != c.ok || ok && (!slices.Equal(names, c.names) || !slices.Equal(values, c.values)) {
			t.Errorf("%s: %q %q %v", c.sql, names, values, ok)
		}
	}
}

func TestSetVars(t *testing.T) {
	for sql, want := range map[string][]Assigned{
		"SET @a = 'it''s', @b := -5":                           {{"a", "'it''s'"}, {"b", "-5"}},
		"SET @a = @@sql_mode, sql_mode = '', @b=1":             {{"a", ""}, {"b", "1"}},
		"SET @a = @@session.sql_mode":                          {{"a", ""}},
		"SET @a = @@GLOBAL . `x`":                              nil,
		"SET @a = @@x + 1":                                     nil,
		"/*!40101 SET @A=@@SQL_MODE, SQL_MODE='' */;":          {{"a", ""}},
		"/*!40101 SET @a='x' */":                               {{"a", ""}},
		"SET @a = 1 /*!99999 , @b = 2 */":                      nil,
		"SET @a = 'é', @b = N'x', @c = _latin1'x', @d = x'41'": {{"a", ""}, {"b", ""}, {"c", ""}, {"d", ""}},
		"SET @a = 'x' COLLATE utf8mb4_bin":                     {{"a", ""}},
		"SET @a = 'x' 'y'":                                     {{"a", ""}},
		"SET @a = _latin1":                                     nil,
		"SET @a = COLLATE":                                     nil,
		"SET @a = 'x' COLLATE f()":                             nil,
		"SET @a = CONCAT('x')":                                 nil,
		"SET @a = @b":                                          nil,
		"SET @`é` = 1":                                         nil,
		"SET @`a ` = 1":                                        nil,
	} {
		got, ok := SetVars([]byte(sql), Mode{})
		if ok != (want != nil) || ok && !slices.Equal(got, want) {
			t.Errorf("%s: %q %v", sql, got, ok)
		}
	}
}

func TestAutocommit(t *testing.T) {
	for sql, want := range map[string]string{
		"SET autocommit=0": "off", "set session autocommit = OFF;": "off", "SET @@autocommit=1": "on",
		"SET @@session.autocommit = TRUE": "on", "set /*x*/ local autocommit = 1": "on",
		"SET GLOBAL autocommit=0": "", "SET autocommit=0, sql_mode=''": "", "SET autocommit=@x": "",
		"SET autocommit=DEFAULT": "", "SET autocommit = 1 + 0": "", "SET autocommit=0; SELECT 1": "",
	} {
		got := ""
		if on, ok := Autocommit([]byte(sql), Mode{}); ok && on {
			got = "on"
		} else if ok {
			got = "off"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}

func TestTempTables(t *testing.T) {
	for sql, want := range map[string][]string{
		"CREATE TEMPORARY TABLE Tt (a INT, b INT)":                 {"Tt"},
		"create temporary table if not exists `S`.`T` select 1, 2": {"S.T"},
		"/* x */ CREATE /*!32302 TEMPORARY */ TABLE t LIKE u":      {"t"},
		"DROP TEMPORARY TABLE IF EXISTS a, s . B, c RESTRICT":      {"a", "s.B", "c"},
		"Drop Table a, `b`": {"a", "b"},
		"DROP TABLES a":     {"a"},
		"DROP TABLE":        nil, "DROP VIEW v": nil, "CREATE TEMPORARY TABLE (": nil,
	} {
		if got := TempTables(sql, Mode{}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}

func TestNamesOfWhatIsOpened(t *testing.T) {
	c := New(Options{})
	for sql, want := range map[string][]string{
		"PREPARE S FROM 'SELECT 1'": {"prepare", "s"},
		"EXECUTE s USING @a":        {"execute", "s"},
		"DEALLOCATE PREPARE s":      {"deallocate", "s"},
		"DROP PREPARE s":            {"deallocate", "s"},
		"HANDLER t OPEN":            {"open", "t"},
		"HANDLER s.T OPEN":          {"open", "t"},
		"HANDLER s.t OPEN AS `h`":   {"open", "h"},
		"HANDLER t OPEN h":          {"open", "h"},
		"HANDLER h READ FIRST":      {"read", "h"},
		"HANDLER s.t CLOSE":         {"close", "t"},
	} {
		if got := c.Classify([]byte(sql), Mode{}).Names; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}
