package backend

import (
	"slices"
	"testing"
)

func TestStateIsImmutable(t *testing.T) {
	a := EmptyState.WithSchema("a").WithVar("Time_Zone", "+01:00")
	b := a.WithVar("sql_mode", "ANSI").WithVar("time_zone", "+02:00").WithSchema("b")
	if v, ok := a.Var("time_zone"); !ok || v != "+01:00" || a.Schema != "a" {
		t.Errorf("changed: %q %v, schema %q", v, ok, a.Schema)
	}
	if _, ok := a.Var("sql_mode"); ok {
		t.Error("a later variable shows in an earlier state")
	}
	if got := b.Vars(); !slices.Equal(got, []string{"sql_mode", "time_zone"}) {
		t.Errorf("variables %q", got)
	}
	if len(EmptyState.Vars()) != 0 || EmptyState.Schema != "" {
		t.Error("the empty state has something in it")
	}
}

// Equal pointers are the fast way: what changes nothing keeps the pointer.
func TestStateKeepsItsPointer(t *testing.T) {
	a := EmptyState.WithSchema("a").WithVar("time_zone", "+01:00")
	if a.WithSchema("a") != a || a.WithVar("time_zone", "+01:00") != a || a.WithVar("TIME_ZONE", "+01:00") != a {
		t.Error("a state without a change is another one")
	}
	if a.WithVar("time_zone", "") == a || a.WithSchema("") == a {
		t.Error("a change kept the pointer")
	}
}

func vars(pairs ...string) *State {
	s := EmptyState
	for i := 0; i < len(pairs); i += 2 {
		s = s.WithVar(pairs[i], pairs[i+1])
	}
	return s
}

func TestDiff(t *testing.T) {
	initial := func(name string) (string, bool) {
		v, ok := map[string]string{"time_zone": "SYSTEM", "sql_mode": "STRICT_TRANS_TABLES", "character_set_results": "utf8mb4"}[name]
		return v, ok
	}
	for _, c := range []struct {
		name     string
		from, to *State
		want     []string
	}{
		{"nothing", vars(), vars(), nil},
		{"the same", vars("time_zone", "+01:00"), vars("time_zone", "+01:00"), nil},
		{"a new one", vars(), vars("time_zone", "+01:00"), []string{"time_zone='+01:00'"}},
		{"another value", vars("time_zone", "+02:00"), vars("time_zone", "+01:00"), []string{"time_zone='+01:00'"}},
		{"several, by name", vars(), vars("time_zone", "UTC", "sql_mode", "", "group_concat_max_len", "99"),
			[]string{"group_concat_max_len=99", "sql_mode=''", "time_zone='UTC'"}},
		{"one that is not set any more", vars("time_zone", "+01:00"), vars(), []string{"time_zone='SYSTEM'"}},
		{"not set any more, but as it began", vars("time_zone", "SYSTEM"), vars(), nil},
		{"not set any more, beginning unknown", vars("max_execution_time", "9"), vars(), []string{"max_execution_time=DEFAULT"}},
		{"what stays where it was set", vars("sql_log_bin", "OFF"), vars("transaction_read_only", "ON", "binlog_format", "ROW"), nil},
		{"NULL", vars(), vars("character_set_results", ""), []string{"character_set_results=NULL"}},
	} {
		if got := diff(c.from, c.to, RoleReplica, initial); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLiteral(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"sql_mode", "", "''"},
		{"sql_mode", "ANSI_QUOTES,STRICT_TRANS_TABLES", "'ANSI_QUOTES,STRICT_TRANS_TABLES'"},
		{"character_set_results", "", "NULL"},
		{"character_set_client", "utf8mb4", "'utf8mb4'"},
		{"autocommit", "ON", "'ON'"},
		{"max_execution_time", "1000", "1000"},
		{"long_query_time", "10.000000", "10.000000"},
		{"x", "-5", "-5"},
		{"x", "it's", "'it''s'"},
		{"x", `a\`, `'a\\'`},
		{"x", `'; DROP TABLE t; --`, `'''; DROP TABLE t; --'`},
		{"time_zone", "+01:00", "'+01:00'"},
		{"x", "1e5", "'1e5'"},
		{"x", "1.", "'1.'"},
		{"x", ".5", "'.5'"},
		{"x", "-", "'-'"},
		{"x", "--5", "'--5'"},
		{"x", "0x10", "'0x10'"},
		{"x", "٣", "'٣'"},
	} {
		if got := literal(c.name, c.value); got != c.want {
			t.Errorf("%s=%q is written %s, want %s", c.name, c.value, got, c.want)
		}
	}
}

func TestReplayable(t *testing.T) {
	for _, name := range []string{"time_zone", "sql_mode", "autocommit", "transaction_isolation", "character_set_client", "max_execution_time"} {
		if !replayable(name, RoleReplica) || !replayable(name, RoleSource) {
			t.Errorf("%s stays behind", name)
		}
	}
	for _, name := range []string{"transaction_read_only", "sql_log_bin", "binlog_format"} {
		if replayable(name, RoleReplica) || !replayable(name, RoleSource) {
			t.Errorf("%s belongs to the source and there only", name)
		}
	}
}

func TestUserVariables(t *testing.T) {
	a := vars("@a", "1", "@`", "'x'", "time_zone", "UTC")
	b := vars("@a", "2")
	if got := userDiff(a, b, RoleSource); !slices.Equal(got, []string{"@`a`=2", "@````=NULL"}) {
		t.Errorf("%q", got)
	}
	if got := userDiff(a, b, RoleReplica); got != nil {
		t.Errorf("on a replica: %q", got)
	}
	if got := diff(vars(), a, RoleSource, func(string) (string, bool) { return "", false }); !slices.Equal(got, []string{"time_zone='UTC'"}) {
		t.Errorf("among the session variables: %q", got)
	}
	if !a.HasUserVars() || vars("time_zone", "x").HasUserVars() {
		t.Error("HasUserVars")
	}
}

// What a server binds at PREPARE comes from the statement, the rest stays: to
// set autocommit in between would commit.
func TestBinding(t *testing.T) {
	prepared := vars("sql_mode", "ANSI", "autocommit", "ON", "@a", "1").WithSchema("then").Binding()
	now := vars("sql_mode", "", "time_zone", "UTC", "autocommit", "OFF", "@b", "2").WithSchema("now")
	want := vars("sql_mode", "ANSI", "autocommit", "OFF", "@b", "2").WithSchema("then")
	if got := now.WithBinding(prepared); !got.Same(want) {
		t.Errorf("%q in %q", got.vars, got.Schema)
	}
}

func TestSame(t *testing.T) {
	a, b := vars("x", "1", "y", "2"), vars("y", "2", "x", "1")
	if a != b || !a.Same(b) || a.Same(vars("x", "1")) || a.Same(a.WithSchema("s")) {
		t.Error("equal states are not the same, or others are")
	}
}

// FuzzLiteral: whatever the value, the literal is one token: a number, NULL, or
// one string in which every quote is doubled and every backslash escaped.
func FuzzLiteral(f *testing.F) {
	f.Add("it's")
	f.Add(`\`)
	f.Add(`\'`)
	f.Add("-1.5")
	f.Fuzz(func(t *testing.T, value string) {
		s := literal("x", value)
		if s == value && isNumber(value) {
			return
		}
		if len(s) < 2 || s[0] != '\'' || s[len(s)-1] != '\'' {
			t.Fatalf("%q became %s", value, s)
		}
		var back []byte
		body := s[1 : len(s)-1]
		for i := 0; i < len(body); i++ {
			if body[i] == '\'' || body[i] == '\\' {
				if i++; i == len(body) || body[i] != body[i-1] {
					t.Fatalf("%q became %s", value, s)
				}
			}
			back = append(back, body[i])
		}
		if string(back) != value {
			t.Fatalf("%q became %s, which is %q", value, s, back)
		}
	})
}

func TestHasUserVarsBut(t *testing.T) {
	s := EmptyState.WithVar("sql_mode", "").WithVar("@a", "1")
	for _, c := range []struct {
		state *State
		but   []string
		want  bool
	}{
		{EmptyState, nil, false}, {s, nil, true}, {s, []string{"@a"}, false}, {s, []string{"@b"}, true},
		{s.WithVar("@b", "2"), []string{"@a", "@b"}, false}, {s.WithVar("@c", "2"), []string{"@a", "@b"}, true},
	} {
		if got := c.state.HasUserVarsBut(c.but); got != c.want {
			t.Errorf("%v but %v: %v", c.state.Vars(), c.but, got)
		}
	}
}
