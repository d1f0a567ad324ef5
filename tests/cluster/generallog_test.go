package cluster

import (
	"reflect"
	"testing"
)

func TestParseGeneralLog(t *testing.T) {
	const z = "2026-01-02T03:04:05.678901Z\t"
	for name, c := range map[string]struct {
		text string
		want []LogEntry
	}{
		"nothing": {"", []LogEntry{}},
		"heading only": {"/usr/sbin/mysqld, Version: 9.7.4. started with:\nTcp port: 3311  Unix socket: mysql.sock\n" +
			"Time                 Id Command    Argument\n", []LogEntry{}},
		"a query":         {z + "   12 Query\tSELECT 1\n", []LogEntry{{12, "Query", "SELECT 1"}}},
		"a long number":   {z + " 1234567 Query\tSELECT 1\n", []LogEntry{{1234567, "Query", "SELECT 1"}}},
		"two words":       {z + "    8 Init DB\tapp\n", []LogEntry{{8, "Init DB", "app"}}},
		"no argument":     {z + "    8 Quit\t\n", []LogEntry{{8, "Quit", ""}}},
		"a time zone":     {"2026-01-02T03:04:05.678901+02:00\t    8 Query\tDO 1\n", []LogEntry{{8, "Query", "DO 1"}}},
		"tabs and spaces": {z + "    8 Query\t SELECT\t1 \n", []LogEntry{{8, "Query", " SELECT\t1 "}}},
		"several lines": {z + "    8 Query\tSELECT 1\n  FROM t\n\nWHERE a\n" + z + "    9 Quit\t\n",
			[]LogEntry{{8, "Query", "SELECT 1\n  FROM t\n\nWHERE a"}, {9, "Quit", ""}}},
		"a heading in between": {"Time                 Id Command    Argument\n" + z + "    8 Ping\t\n", []LogEntry{{8, "Ping", ""}}},
	} {
		if got := parseGeneralLog([]byte(c.text)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %#v, want %#v", name, got, c.want)
		}
	}
}
