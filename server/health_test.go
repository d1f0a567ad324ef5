package server

import (
	"strings"
	"testing"
	"time"

	"causeway/backend"
	"causeway/gtid"
)

func TestHealth(t *testing.T) {
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	const uuid77 = "3e11fa47-71ca-11e1-9e33-c80aa9429562:77"
	for _, tt := range []struct {
		name   string
		change func(*backend.Lag)
		want   string
	}{
		{"healthy", func(*backend.Lag) {}, "ok"},
		{"a little behind", func(l *backend.Lag) { l.Position, l.ReceivedUnapp = 900*time.Millisecond, 5 }, "ok"},
		{"behind", func(l *backend.Lag) { l.Position, l.ReceivedUnapp, l.WorkersBusy = 3210*time.Millisecond, 1204, 2 },
			"3.2s behind: 2 of 4 workers busy, 1204 transactions received and not applied"},
		{"one huge transaction", func(l *backend.Lag) {
			l.Position, l.ReceivedUnapp = 12*time.Second, 9
			l.Blocker = backend.Blocker{Worker: 2, GTID: uuid77, For: 12345 * time.Millisecond, Waiting: 3}
		}, "applying one transaction for 12s: worker 2 holds " + uuid77 + "; 3 workers wait to commit behind it"},
		{"one waits", func(l *backend.Lag) {
			l.Blocker = backend.Blocker{Worker: 2, GTID: uuid77, For: 2 * time.Second, Waiting: 1, Stalled: true, Doing: "Waiting for table metadata lock"}
		}, "applying one transaction for 2s: worker 2 holds " + uuid77 + " (Waiting for table metadata lock); 1 worker waits to commit behind it"},
		{"the coordinator waits", func(l *backend.Lag) {
			l.Blocker = backend.Blocker{Worker: 1, GTID: uuid77, For: 2 * time.Second, Stalled: true}
		}, "applying one transaction for 2s: worker 1 holds " + uuid77 + "; the next transactions depend on it"},
		{"a transaction that has just begun", func(l *backend.Lag) { l.Blocker = backend.Blocker{Worker: 1, GTID: uuid77, For: time.Millisecond} }, "ok"},
		{"stopped applier", func(l *backend.Lag) { l.SQLThread, l.ReceivedUnapp = "No", 1 },
			"applier stopped (START REPLICA SQL_THREAD starts it): 1 transaction received and not applied"},
		{"stopped, with what a worker held last", func(l *backend.Lag) {
			l.SQLThread, l.Blocker = "No", backend.Blocker{Worker: 1, GTID: uuid77, For: time.Minute, Waiting: 2}
		}, "applier stopped (START REPLICA SQL_THREAD starts it): 0 transactions received and not applied"},
		{"replication error", func(l *backend.Lag) { l.SQLThread, l.ReceivedUnapp, l.SQLError = "No", 3, "1062: Duplicate entry" },
			"replication error, the applier has stopped: 1062: Duplicate entry; 3 transactions received and not applied"},
		{"stopped receiver", func(l *backend.Lag) { l.IOThread = "No" }, "receiver stopped (START REPLICA IO_THREAD starts it): nothing is received"},
		{"receiver error", func(l *backend.Lag) { l.IOThread, l.IOError = "No", "13114: purged" }, "replication error, the receiver has stopped: 13114: purged"},
		{"connecting", func(l *backend.Lag) { l.IOThread, l.IOError = "Connecting", "2003: refused" },
			"receiver is connecting to its source, nothing is received: 2003: refused"},
		{"connecting, first try", func(l *backend.Lag) { l.IOThread = "Connecting" }, "receiver is connecting to its source, nothing is received"},
		{"all stopped", func(l *backend.Lag) { l.IOThread, l.SQLThread = "No", "No" },
			"applier stopped (START REPLICA SQL_THREAD starts it): 0 transactions received and not applied; receiver stopped (START REPLICA IO_THREAD starts it): nothing is received"},
		{"delayed", func(l *backend.Lag) { l.Delay, l.Position, l.ReceivedUnapp = 5*time.Second, 5*time.Second, 40 },
			"delayed on purpose: SOURCE_DELAY is 5s, 40 transactions received and not applied"},
		{"silent link", func(l *backend.Lag) {
			l.Transport, l.Position, l.ReceivedAt = 6*time.Second, 6*time.Second, ago(8*time.Second)
		},
			"silent link: the receiver says it runs, but nothing was received for 8s while the source went on"},
		{"silent for longer than is remembered", func(l *backend.Lag) { l.Transport, l.Position, l.ReceivedAt = -1, -1, ago(time.Hour) },
			"lag unknown: further behind than is remembered of the source's position; silent link: the receiver says it runs, but nothing was received for 1h0m0s while the source went on"},
		{"in the middle of a transaction", func(l *backend.Lag) {
			l.Transport, l.Position, l.ReceivedAt, l.Receiving = 6*time.Second, 6*time.Second, ago(8*time.Second), uuid77
		}, "nothing whole was received for 8s, though the receiver says it runs: it is in the middle of " + uuid77 + ", or its link is dead"},
		{"an idle source is no silent link", func(l *backend.Lag) { l.ReceivedAt = ago(time.Hour) }, "ok"},
		{"the first write after an idle time is none either", func(l *backend.Lag) {
			l.ReceivedAt, l.Transport, l.Position = ago(time.Hour), 100*time.Millisecond, 100*time.Millisecond
		}, "ok"},
		{"never looked at", func(l *backend.Lag) { l.SampledAt = time.Time{} }, "lag unknown: its replication was not looked at yet"},
		{"an old look", func(l *backend.Lag) {
			l.SampledAt, l.Failed, l.SQLThread = ago(8*time.Second), "SHOW REPLICA STATUS: no answer in time", "No"
		},
			"lag unknown: the newest look at its replication is 8s old (SHOW REPLICA STATUS: no answer in time)"},
		{"no source", func(l *backend.Lag) { l.SourceAt, l.Position, l.Transport = time.Time{}, -1, -1 }, "lag unknown: the source's position is not known"},
		{"a source that is silent", func(l *backend.Lag) {
			l.SourceAt, l.ReceivedAt, l.Transport = ago(20*time.Second), ago(21*time.Second), 4*time.Second
		},
			"lag unknown: the source's position was last read 20s ago"},
		{"clock ahead", func(l *backend.Lag) { l.ClockShift = 5 * time.Second },
			"its clock is 5s ahead of the source's: lags by commit timestamps that others compute are off by that (Causeway takes it off)"},
		{"clock behind", func(l *backend.Lag) { l.ClockShift = -700 * time.Millisecond },
			"its clock is 700ms behind the source's: lags by commit timestamps that others compute are off by that (Causeway takes it off)"},
		{"clock not compared", func(l *backend.Lag) { l.ClockShift, l.ShiftKnown = time.Hour, false }, "ok"},
		{"no right to look", func(l *backend.Lag) { l.Denied = "1142" }, "workers unknown: the monitor's account needs SELECT on performance_schema.*"},
	} {
		n := &backend.Node{Role: backend.RoleReplica, Lag: backend.Lag{
			SampledAt: ago(400 * time.Millisecond), SourceAt: ago(90 * time.Millisecond), ReceivedAt: ago(time.Second), OldAfter: 2500 * time.Millisecond,
			IOThread: "Yes", SQLThread: "Yes", Workers: 4, ShiftKnown: true,
		}}
		tt.change(&n.Lag)
		if got := health(n, now); got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", tt.name, got, tt.want)
		}
	}
	if got := health(&backend.Node{Role: backend.RoleSource}, now); got != "" {
		t.Errorf("a source is %q", got)
	}
}

// What is known of the node, and not of its lag, is in its health, too.
func TestHealthOfNode(t *testing.T) {
	now := time.Now()
	n := laggingReplica(now)
	n.Lag.Delay, n.Lag.Transport, n.Lag.Position, n.Lag.ReceivedUnapp, n.Lag.ReceivedAt = 0, -1, 0, 0, now.Add(-time.Minute)
	n.Clock = backend.Clock{}
	n.Exclude = "replicates from 10.0.0.1:3306, which is not the source"
	n.Errant = gtid.MustParse("3e11fa47-71ca-11e1-9e33-c80aa9429562:7-8")
	if got, want := health(n, now), n.Exclude+"; holds 2 transactions that the source does not have (errant): 3e11fa47-71ca-11e1-9e33-c80aa9429562:7-8"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	n.Role = backend.RoleUnknown // a deposed source that is fenced
	if got, want := health(n, now), "holds 2 transactions that the source does not have (errant): 3e11fa47-71ca-11e1-9e33-c80aa9429562:7-8"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	n.Role = backend.RoleReplica
	n.Exclude, n.Errant = "", gtid.Set{}
	if got := health(n, now); !strings.HasPrefix(got, "silent link") {
		t.Errorf("%q", got)
	}
}
