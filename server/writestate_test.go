package server

import (
	"strings"
	"testing"
	"time"

	"causeway/backend"
	"causeway/wire"
)

// TestWritesText: SHOW CAUSEWAY STATUS says that writes are served only while nothing
// speaks against it.
func TestWritesText(t *testing.T) {
	l := startLab(t, 1, patient)
	now := time.Now()
	for _, tt := range []struct {
		tune func(*backend.View)
		want string
	}{
		{func(*backend.View) {}, "served"},
		{unclear, "waiting: no source is known (more than one server is writable: a, b)"},
		{func(v *backend.View) { v.Source.Up, v.Source.Exclude, v.Source.LastAnswer = false, "down: gone", now }, "waiting: the source ADDR is down: gone"},
		{func(v *backend.View) {
			v.Source.Up, v.Source.Exclude, v.Source.LastAnswer = false, "down: gone", now.Add(-2*time.Hour)
		}, "refused: the source ADDR is down: gone"},
		{func(v *backend.View) { v.Source.Exclude = "joining: waits" }, "waiting: the source ADDR does not serve: joining: waits"},
		{func(v *backend.View) { v.Source.Missed = "no answer" }, "waiting: the newest probe of the source ADDR failed: no answer"},
	} {
		l.publish(tt.tune)
		if got, want := l.srv.writesText(now), strings.ReplaceAll(tt.want, "ADDR", l.source.addr()); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	l.publish(noSource)
	l.srv.noSourceSince.Store(int64(-2 * time.Hour))
	if got := l.srv.writesText(now); !strings.HasPrefix(got, "refused: no source is known") {
		t.Errorf("long after the loss: %q", got)
	}
}

// TestWritesTextAfterDial: a client that could not connect to the source knows before
// the monitor does.
func TestWritesTextAfterDial(t *testing.T) {
	l := startLab(t, 1, patient)
	k := l.client()
	k.run("INSERT INTO t VALUES (1)")
	l.source.ln.Close()
	l.source.closeConns()
	k.wantError(wire.ErrServerIsntAvailable, "takes no connection", "INSERT INTO t VALUES (2)")
	if got, want := k.status("Writes"), "waiting: the source "+l.source.addr()+" took no connection: connection refused"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	l.publish(func(v *backend.View) { v.Source.LastAnswer = time.Now() })
	if got := k.status("Writes"); got != "served" {
		t.Errorf("the monitor has had an answer since, and still %q", got)
	}
}

// TestExplainPaused: EXPLAIN CAUSEWAY says what waits while writes are paused.
func TestExplainPaused(t *testing.T) {
	l := startLab(t, 1, admins, func(o *Options) { o.PauseEndRefuses = true })
	root, k, inTrx, reader := l.clientAs("root", "root_pw"), l.client(), l.client(), l.client()
	inTrx.run("BEGIN", "INSERT INTO t VALUES (1)")
	reader.run("START TRANSACTION READ ONLY")
	for _, state := range []string{"", "paused by root for 10m0s more; ", "refused: the pause has reached its limit; CAUSEWAY RESUME lets them go on; "} {
		does := "waits"
		switch {
		case strings.HasPrefix(state, "paused"):
			root.run("CAUSEWAY PAUSE WRITES FOR 600 SECONDS")
		case state != "":
			l.srv.paused.Store(&writePause{by: "root", until: time.Now().Add(-time.Second), refuse: true, source: sourceUUID})
			does = "fails"
		}
		for sql, want := range map[string]string{
			"INSERT INTO t VALUES (1)": "it " + does, "SELECT a FROM t FOR UPDATE": "it " + does, "DROP TABLE t": "it " + does,
			"BEGIN":              "it, or the first statement of its transaction, " + does,
			"SELECT f(a) FROM t": "it " + does,
			"SELECT a FROM t":    "", "SET sql_mode = ''": "", "COMMIT": "", "SHOW CAUSEWAY STATUS": "",
		} {
			if want = state + want; state == "" || strings.HasSuffix(want, "; ") {
				want = ""
			}
			if got := k.explain("Writes", sql); got != want {
				t.Errorf("%s: %q, want %q", sql, got, want)
			}
			if got := inTrx.explain("Writes", sql); got != "" {
				t.Errorf("%s in an open transaction: %q", sql, got)
			}
		}
		if got := reader.explain("Writes", "SELECT a FROM t"); state != "" && got != state+"if it has to go to the source, it "+does {
			t.Errorf("in a READ ONLY transaction: %q", got)
		}
	}
}
