package lag

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
)

// TestHealth stages everything that keeps a replica behind, one after the
// other, and wants each told in its own words, and the other replica well.
func TestHealth(t *testing.T) {
	shared.HealAfter(t)
	cw := cluster.StartCauseway(t, shared, "")
	db := cluster.OpenApp(t, cw.Addr, "")
	n, other := shared.Replica(1), shared.Replica(2)
	for _, tt := range []struct {
		name  string
		stage func(ctx context.Context, t *testing.T) // its cleanups end the trouble
		want  string                                  // a regular expression
		other string                                  // of the other replica's
	}{
		{"stopped applier", func(ctx context.Context, t *testing.T) {
			check.Must(t, n.Pause(ctx))
			undo(t, n, "START REPLICA SQL_THREAD")
			write(ctx, t)
		}, `^applier stopped .*: [1-9]\d* transactions? received and not applied$`, `^ok$`},
		{"stopped receiver", func(ctx context.Context, t *testing.T) {
			check.Must(t, n.Exec(ctx, "STOP REPLICA IO_THREAD"))
			undo(t, n, "START REPLICA IO_THREAD")
		}, `^receiver stopped .*: nothing is received$`, `^ok$`},
		{"replication error", duplicate(n), `^replication error, the applier has stopped: 1062: .*Duplicate entry.*received and not applied$`, `^ok$`},
		{"delayed on purpose", func(ctx context.Context, t *testing.T) {
			check.Must(t, n.Lag(ctx, 600))
			t.Cleanup(func() { check.Must(t, n.Lag(context.Background(), 0)) })
			write(ctx, t)
		}, `^delayed on purpose: SOURCE_DELAY is 10m0s, [1-9]\d* transactions? received and not applied$`, `^ok$`},
		{"one huge transaction", huge(n), `^applying one transaction for [1-9].*: worker \d+ holds [0-9a-f-]{36}:\d+ .*; [1-3] workers? waits? to commit behind it$`, `^ok$`},
		{"silent link", func(ctx context.Context, t *testing.T) {
			k := reroute(ctx, t, n)
			write(ctx, t)
			check.Must(t, shared.WaitCaughtUp(ctx)) // over the link
			untilHealth(ctx, t, db, n, `^ok$`)
			k.hold()
			every(ctx, t, 50*time.Millisecond, func() error { return writeOn(ctx) })
		}, `^silent link: the receiver says it runs, but nothing was received for .* while the source went on`, `^ok$`},
		{"connecting", func(ctx context.Context, t *testing.T) {
			k := reroute(ctx, t, n)
			write(ctx, t)
			check.Must(t, shared.WaitCaughtUp(ctx)) // over the link
			untilHealth(ctx, t, db, n, `^ok$`)
			k.cut()
		}, `^receiver is connecting to its source, nothing is received: 2003: `, `^ok$`},
		{"unknown", func(_ context.Context, t *testing.T) {
			check.Must(t, shared.Source().Freeze())
			t.Cleanup(func() { check.Must(t, shared.Source().Thaw()) })
		}, `^lag unknown: the source's position was last read .* ago$`, `^lag unknown: the source's position was last read .* ago$`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx := limited(t)
			lay(ctx, t, "CREATE TABLE lagtest.w (id INT PRIMARY KEY AUTO_INCREMENT)", "CREATE TABLE lagtest.d (id INT PRIMARY KEY)",
				"CREATE TABLE lagtest.h (id INT PRIMARY KEY, v INT)")
			untilHealth(ctx, t, db, n, `^ok$`)
			tt.stage(ctx, t)
			row := untilHealth(ctx, t, db, n, tt.want)
			t.Logf("%s: %s", tt.name, row["Health"])
			if brief := briefHealth(ctx, t, db, n); brief == "" || brief == "ok" || !strings.HasPrefix(row["Health"], brief) {
				t.Errorf("in short: %q", brief)
			}
			if got := lagOf(ctx, t, db, other.Addr)["Health"]; !regexp.MustCompile(tt.other).MatchString(got) {
				t.Errorf("the other replica: %q", got)
			}
		})
	}
}

// briefHealth is what SHOW CAUSEWAY SERVERS says of a node, without the number of
// other causes.
func briefHealth(ctx context.Context, t *testing.T, db cluster.Queryer, n *cluster.Node) string {
	t.Helper()
	rows, err := cluster.Servers(ctx, db)
	check.Must(t, err)
	for _, row := range rows {
		if row["Server"] == n.Addr {
			brief, _, _ := strings.Cut(row["Health"], " (+")
			return brief
		}
	}
	return ""
}

// untilHealth waits until SHOW CAUSEWAY LAG says so of the node.
func untilHealth(ctx context.Context, t *testing.T, db cluster.Queryer, n *cluster.Node, want string) map[string]string {
	t.Helper()
	re, last := regexp.MustCompile(want), ""
	var row map[string]string
	for ctx.Err() == nil {
		if row = lagOf(ctx, t, db, n.Addr); re.MatchString(row["Health"]) {
			return row
		}
		if row["Health"] != last {
			last = row["Health"]
			t.Logf("meanwhile: %s", last)
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("health never was %q; the row: %v", want, row)
	return nil
}

func undo(t *testing.T, n *cluster.Node, query string) {
	t.Helper()
	t.Cleanup(func() { check.Must(t, n.Exec(context.Background(), query)) })
}

func writeOn(ctx context.Context) error {
	return shared.Source().Exec(ctx, "INSERT INTO lagtest.w VALUES (NULL)")
}

func write(ctx context.Context, t *testing.T) { t.Helper(); check.Must(t, writeOn(ctx)) }

// duplicate puts a row on the replica alone that the source then writes too.
func duplicate(n *cluster.Node) func(context.Context, *testing.T) {
	const alone = "SET GLOBAL super_read_only = OFF; SET sql_log_bin = 0; "
	return func(ctx context.Context, t *testing.T) {
		super, err := n.Value(ctx, "SELECT @@global.super_read_only")
		check.Must(t, err)
		back := "; SET sql_log_bin = 1; SET GLOBAL read_only = ON; SET GLOBAL super_read_only = " + super
		check.Must(t, n.Exec(ctx, alone+"INSERT INTO lagtest.d VALUES (7)"+back))
		undo(t, n, alone+"DELETE FROM lagtest.d"+back+"; START REPLICA SQL_THREAD")
		check.Must(t, shared.Source().Exec(ctx, "INSERT INTO lagtest.d VALUES (7)"))
	}
}

// huge lets a worker get into the middle of a transaction of many rows: the
// last one is locked on the replica. What is written after it must wait.
func huge(n *cluster.Node) func(context.Context, *testing.T) {
	return func(ctx context.Context, t *testing.T) {
		src := shared.Source()
		check.Must(t, src.Exec(ctx, "INSERT INTO lagtest.h WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i, 0 FROM n"))
		check.Must(t, shared.WaitCaughtUp(ctx))
		lock, err := n.DB.Conn(ctx)
		check.Must(t, err)
		t.Cleanup(func() {
			_, err := lock.ExecContext(context.Background(), "ROLLBACK")
			check.Must(t, err)
			check.Must(t, lock.Close())
		})
		for _, q := range []string{"BEGIN", "SELECT * FROM lagtest.h WHERE id = 1000 FOR SHARE"} {
			_, err := lock.ExecContext(ctx, q)
			check.Must(t, err)
		}
		check.Must(t, src.Exec(ctx, "UPDATE lagtest.h SET v = 1"))
		for range 5 {
			write(ctx, t)
		}
	}
}
