package server

import (
	"strings"
	"testing"
	"time"

	"causeway/backend"
	"causeway/wire"
)

// byName is a row by its columns' names.
func byName(t *testing.T, columns []wire.Column, row []string) map[string]string {
	t.Helper()
	if len(row) != len(columns) {
		t.Fatalf("%d values in %d columns", len(row), len(columns))
	}
	got := map[string]string{}
	for i, c := range columns {
		got[c.Name] = row[i]
	}
	return got
}

func wantValues(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %q, want %q", name, got[name], value)
		}
	}
}

// laggingReplica is a replica with something to show in every column.
func laggingReplica(now time.Time) *backend.Node {
	live := &backend.Live{}
	live.InFlight.Store(12)
	live.Picks.Store(123456789)
	return &backend.Node{
		Addr: "10.120.130.140:3306", Role: backend.RoleReplica, Up: true, Weight: 2, Version: "9.7.4-commercial", QueryP95: 3 * time.Millisecond, Slow: true, Live: live,
		Clock:  backend.Clock{Known: true, Offset: -1500 * time.Millisecond},
		Limits: []backend.Limit{{Name: "F0", Excluded: "lag p95 was 1s, the limit is 500ms"}, {Name: "F1", Share: 37}, {Name: "F2", Share: 100}},
		Lag: backend.Lag{
			SampledAt: now, SourceAt: now, ReceivedAt: now, OldAfter: time.Second, IOThread: "Yes", SQLThread: "Yes", Workers: 4, WorkersBusy: 2, ReceivedUnapp: 1204,
			ApplyP95: -1, ApplyP99: 2 * time.Second, Position: 3250 * time.Millisecond, Delay: time.Hour, Transport: 20 * time.Millisecond,
		},
	}
}

func TestServerRow(t *testing.T) {
	now := time.Now()
	n := laggingReplica(now)
	wantValues(t, byName(t, serverColumns, serverRow(n, now)), map[string]string{
		"Server": "10.120.130.140:3306", "State": "up", "Lag": "3.25s", "Excluded_for": "F0", "In_flight": "12", "Health": "delayed on purpose",
	})
	wantValues(t, byName(t, lagColumns, lagRow(n, now)), map[string]string{
		"Lag": "3.25s", "Transport_lag": "20ms", "Apply_lag_p95": "unknown", "Apply_lag_p99": "2s", "Clock_offset": "-1.500s", "Threads": "io=Yes sql=Yes",
		"Workers": "2/4 busy", "Unapplied": "1204", "Query_p95": "3ms (slow: more than 1.5 times the source's)",
		"Limits": "F0: excluded, lag p95 was 1s, the limit is 500ms; F1: slow start, 37 %; F2: within",
		"Health": "delayed on purpose: SOURCE_DELAY is 1h0m0s, 1204 transactions received and not applied",
	})
	n.Limits = []backend.Limit{{Name: "F0", Excluded: "lag p95 was 1s, the limit is 500ms", Returns: now.Add(12300 * time.Millisecond)}, {Name: "F1", Share: 100}}
	wantValues(t, byName(t, lagColumns, lagRow(n, now)), map[string]string{
		"Limits": "F0: recovering, 12s left (lag p95 was 1s, the limit is 500ms); F1: within",
	})
	n.Limits = []backend.Limit{{Name: "F0", Excluded: "the source's position is not known", Unjudged: true}} // what was seen before is not the lag now
	wantValues(t, byName(t, serverColumns, serverRow(n, now)), map[string]string{"Lag": "unknown"})
	wantValues(t, byName(t, lagColumns, lagRow(n, now)), map[string]string{"Lag": "unknown", "Transport_lag": "unknown"})
	n.Limits = []backend.Limit{{Name: "F0", Share: 100, Held: true}} // nor while there is no source, though it goes on serving
	wantValues(t, byName(t, serverColumns, serverRow(n, now)), map[string]string{"Lag": "unknown", "Excluded_for": ""})
	wantValues(t, byName(t, lagColumns, lagRow(n, now)), map[string]string{"Lag": "unknown", "Limits": "F0: within, when there was a source"})
	n = laggingReplica(now)
	n.Lag.SourceAt = now.Add(-3 * time.Second) // nor is what the source was compared with before it was lost
	wantValues(t, byName(t, serverColumns, serverRow(n, now)), map[string]string{"Lag": "unknown", "Excluded_for": "F0"})
	wantValues(t, byName(t, lagColumns, lagRow(n, now)), map[string]string{"Lag": "unknown", "Transport_lag": "unknown", "Unapplied": "1204"})
	source := &backend.Node{Role: backend.RoleSource, Up: true, Live: &backend.Live{}}
	wantValues(t, byName(t, lagColumns, lagRow(source, now)), map[string]string{"Lag": "", "Threads": "", "Health": "", "Clock_offset": "unknown"})
	wantValues(t, byName(t, serverColumns, serverRow(source, now)), map[string]string{"Lag": "", "Excluded_for": "", "Health": ""})
}

// What was seen of a server that does not answer any more is not shown as if it
// were so now.
func TestOldSampleIsNotShownAsCurrent(t *testing.T) {
	now := time.Now()
	n := laggingReplica(now)
	n.Lag.SampledAt = now.Add(-8 * time.Second)
	row := byName(t, lagColumns, lagRow(n, now))
	wantValues(t, row, map[string]string{"Lag": "unknown", "Apply_lag_p99": "unknown", "Workers": "unknown", "Unapplied": "unknown", "Threads": "unknown; 8s ago: io=Yes sql=Yes"})
	wantValues(t, byName(t, serverColumns, serverRow(n, now)), map[string]string{"Lag": "unknown", "Health": "lag unknown"})
	n.Lag.SampledAt = time.Time{}
	wantValues(t, byName(t, lagColumns, lagRow(n, now)), map[string]string{"Threads": "unknown"})
	n.Up, n.Exclude, n.Lag.SampledAt = false, "down: no answer in time", now
	wantValues(t, byName(t, serverColumns, serverRow(n, now)), map[string]string{"Lag": "unknown", "State": "down: no answer in time"})
}

// The table of the mysql client fits 160 columns while all servers are up,
// whatever keeps a replica behind.
func TestServersFitAScreen(t *testing.T) {
	now := time.Now()
	for name, change := range map[string]func(*backend.Node){
		"delayed":    func(*backend.Node) {},
		"error":      func(n *backend.Node) { n.Lag.SQLThread, n.Lag.SQLError = "No", "1062: "+strings.Repeat("long ", 50) },
		"connecting": func(n *backend.Node) { n.Lag.IOThread = "Connecting" },
		"silent": func(n *backend.Node) {
			n.Lag.Delay, n.Lag.ReceivedAt, n.Lag.Transport = 0, now.Add(-time.Hour), time.Hour
		},
		"in the middle": func(n *backend.Node) {
			n.Lag.ReceivedAt, n.Lag.Transport, n.Lag.Receiving = now.Add(-time.Hour), time.Hour, sourceUUID+":77"
		},
		"one transaction": func(n *backend.Node) {
			n.Lag.Blocker = backend.Blocker{GTID: sourceUUID + ":77", For: time.Hour, Waiting: 3}
		},
		"source not known": func(n *backend.Node) { n.Lag.SourceAt = time.Time{} },
		"old":              func(n *backend.Node) { n.Lag.SampledAt = now.Add(-time.Hour) },
		"out of all": func(n *backend.Node) {
			for i := range n.Limits {
				n.Limits[i].Excluded = "why"
			}
		},
		"several": func(n *backend.Node) { n.Lag.IOThread, n.Lag.SQLThread, n.Lag.Denied = "No", "No", "1142" },
	} {
		n := laggingReplica(now)
		change(n)
		row, width := serverRow(n, now), 1
		for i, c := range serverColumns {
			width += max(len(c.Name), len(row[i])) + 3
		}
		if width > 160 {
			t.Errorf("%s: %d columns: %q", name, width, row)
		}
	}
}

func TestBriefly(t *testing.T) {
	for want, texts := range map[string][]string{
		"": nil, "ok": {"ok"}, "applier stopped": {"applier stopped (START REPLICA SQL_THREAD starts it): 1 transaction received and not applied"},
		"3.2s behind": {"3.2s behind: 2 of 4 workers busy"}, "silent link (+2)": {"silent link: the receiver", "b", "c"},
	} {
		if got := briefly(texts); got != want {
			t.Errorf("%q: %q, want %q", texts, got, want)
		}
	}
}

func TestShowLike(t *testing.T) {
	l := startLab(t, 1)
	k := l.client()
	for sql, want := range map[string]string{
		"SHOW CAUSEWAY STATUS LIKE 'ver%'": "Version", "show causeway status like 'Writes\\_w%';": "Writes_waiting", "SHOW CAUSEWAY STATUS LIKE \"Up_ime\"": "Uptime",
		"SHOW CAUSEWAY CLASSES LIKE 'F1'": "F1", "SHOW CAUSEWAY STATUS LIKE 'Class F_'": "Class F0 Class F1 Class F2", "SHOW CAUSEWAY STATUS LIKE 'it''s.'": "",
	} {
		r := k.query(sql)
		var names []string
		for _, row := range r.rows {
			names = append(names, row[0])
		}
		if got := strings.Join(names, " "); got != want || r.err != nil {
			t.Errorf("%s: %q, %v; want %q", sql, got, r.err, want)
		}
	}
	if r := k.query("SHOW CAUSEWAY LAG"); len(r.rows) != 2 || r.err != nil {
		t.Errorf("SHOW CAUSEWAY LAG: %v", r)
	}
	for _, sql := range []string{"SHOW CAUSEWAY STATUS LIKE", "SHOW CAUSEWAY STATUS LIKE 7", "SHOW CAUSEWAY STATUS LIKE 'a' 'b'", "SHOW CAUSEWAY NOSUCH", "SHOW CAUSEWAY STATUS WHERE a"} {
		k.wantError(wire.ErrParse, "it knows SHOW CAUSEWAY STATUS", sql)
	}
}
