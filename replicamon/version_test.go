package replicamon

import (
	"strings"
	"testing"
)

func TestRefuseVersion(t *testing.T) {
	for _, tt := range []struct{ version, refused string }{
		{"8.0.22", ""},
		{"8.0.36-28", ""},
		{"8.0.36-0ubuntu0.22.04.1", ""},
		{"8.4.0", ""},
		{"9.7.4-2", ""},
		{"10.0.0", ""},
		{"8.0.21", "too old"},
		{"5.7.44-log", "too old"},
		{"5.5.5-10.11.6-MariaDB-1", "MariaDB"},
		{"11.4.2-MariaDB", "MariaDB"},
		{"8.0.mysql_aurora.3.04.0", "not understood"},
		{"", "not understood"},
	} {
		why := refuseVersion(tt.version)
		if (why == "") != (tt.refused == "") || !strings.Contains(why, tt.refused) {
			t.Errorf("%q: %q, want %q", tt.version, why, tt.refused)
		}
		if why != "" && !strings.Contains(why, "8.0.22 or later") {
			t.Errorf("%q: %q does not say what is needed", tt.version, why)
		}
	}
}

func TestBinlogSQL(t *testing.T) {
	for version, want := range map[string]string{
		"8.0.36": "SHOW MASTER STATUS", "8.1.0": "SHOW MASTER STATUS", "8.2.0": "SHOW BINARY LOG STATUS",
		"8.4.3": "SHOW BINARY LOG STATUS", "9.7.4-2": "SHOW BINARY LOG STATUS",
	} {
		if got := binlogSQL(version); got != want {
			t.Errorf("%s: %s", version, got)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{Servers: []string{"a"}, Defaults: []string{"sql_mode", "time_zone"}}, ""},
		{Options{}, "no servers"},
		{Options{Servers: []string{"a", "b", "a"}}, "a is listed twice"},
		{Options{Servers: []string{"a"}, Defaults: []string{"x'; DROP"}}, "not the name of a variable"},
		{Options{Servers: []string{"a"}, Defaults: []string{""}}, "not the name of a variable"},
	} {
		err := tt.o.validate()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt.o, err)
		}
	}
}
