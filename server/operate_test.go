package server

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// TestNamedSourceLacks: an operator who names a server that has not got all that clients
// were told of is obeyed and warned, and the log tells which.
func TestNamedSourceLacks(t *testing.T) {
	for name, unknown := range map[string]bool{"compared": false, "not to be compared yet": true} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			l := startLab(t, 1, admins, func(o *Options) { o.Log = zerolog.New(zerolog.SyncWriter(&log)).Level(zerolog.WarnLevel) })
			root, k := l.clientAs("root", "root_pw"), l.client()
			k.run("INSERT INTO t VALUES (1)")
			l.apply()
			k.run("INSERT INTO t VALUES (2)", "INSERT INTO t VALUES (3)") // the replica does not get them
			lost := l.source.position().Subtract(l.r().position()).Line()
			l.publish(unclear)
			l.mon.noFresh.Store(unknown)
			seen := l.swap()
			l.mon.whenNamed(func() { seen() })
			r := root.query("CAUSEWAY SET SOURCE 'x:1'")
			if r.err != nil || r.ok.Warnings != 1 {
				t.Fatalf("%d warnings: %v", r.ok.Warnings, r.err)
			}
			want := "x:1 is the source, and lacks 2 acknowledged writes: " + lost
			if unknown {
				want = "it is not known yet whether it has all"
			}
			rows := root.query("SHOW WARNINGS").rows
			if len(rows) != 1 || rows[0][0] != "Warning" || rows[0][1] != "3168" || !strings.Contains(rows[0][2], want) {
				t.Errorf("SHOW WARNINGS: %q, want %s", rows, want)
			}
			l.mon.noFresh.Store(false)
			for end := time.Now().Add(loginTimeout); len(root.query("SHOW CAUSEWAY LOST").rows) == 0; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("never listed")
				}
			}
			l.mon.whenNamed(nil)
			if r := root.query("CAUSEWAY SET SOURCE 'x:1'"); r.ok.Warnings != 0 || r.err != nil {
				t.Errorf("named again: %d warnings, %v", r.ok.Warnings, r.err)
			}
			if err := l.stop(); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(log.String(), `"lacks_acknowledged":2,"gtids":"`+lost) == unknown {
				t.Errorf("logged %s", log.String())
			}
		})
	}
}

// TestNamedSourceHasAll: there is nothing to warn of.
func TestNamedSourceHasAll(t *testing.T) {
	l := startLab(t, 1, admins)
	root, k := l.clientAs("root", "root_pw"), l.client()
	k.run("INSERT INTO t VALUES (1)")
	l.apply()
	l.publish(unclear)
	seen := l.swap()
	l.mon.whenNamed(func() { seen() })
	if r := root.query("CAUSEWAY SET SOURCE 'x:1'"); r.ok.Warnings != 0 || r.err != nil {
		t.Errorf("%d warnings, %v", r.ok.Warnings, r.err)
	}
	if rows := root.query("SHOW WARNINGS").rows; len(rows) != 0 {
		t.Errorf("SHOW WARNINGS: %q", rows)
	}
}
