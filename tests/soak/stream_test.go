package soak

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"causeway/tests/cluster"
	"causeway/tests/rig"
)

// growthLimit is how much the process may grow while it relays a result of any
// size: its buffers are there before, the rest is the runtime's own noise.
const growthLimit = 768 << 10

// shapes of a result of many megabytes.
var shapes = []struct {
	name     string
	rowBytes int
}{
	{"rows of 1 KB", 1000},
	{"rows of 1 MB", 1000_000},
	{"rows of 20 MB, each in two packets", 20_000_000},
}

// A result streams: STREAM_MB megabytes (5000 by make soak) pass through a
// process that does not grow.
func TestBigResultDoesNotGrowTheProcess(t *testing.T) {
	total := intSetting(t, "STREAM_MB", 300) * 1000_000
	causeway := startEager(t)
	for _, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			db, conn, err := connect(t.Context(), causeway.Addr, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			// The same in small first: this connection's buffers come to be.
			stream(t, conn, shape.rowBytes, max(3, 10_000_000/shape.rowBytes))
			watch := watchRSS(t, causeway)
			stream(t, conn, shape.rowBytes, total/shape.rowBytes)
			grown, base := watch.stop()
			t.Logf("%d MB relayed; the process of %d KB grew by %d KB", total/1000_000, base>>10, grown>>10)
			if grown > growthLimit {
				t.Errorf("the process grew by %d KB, allowed are %d", grown>>10, growthLimit>>10)
			}
		})
	}
}

// startEager starts a Causeway whose collector runs at every 10 % of growth: what
// it holds is then hardly more than what it needs, and growth is seen.
func startEager(t *testing.T) *cluster.Causeway {
	t.Helper()
	t.Setenv("GOGC", "10")
	return cluster.StartCauseway(t, shared, "")
}

// bigSelect streams rows of one size: nothing is sorted or kept by the server.
func bigSelect(rowBytes, rows int) string {
	return fmt.Sprintf("SELECT REPEAT('x', %d) FROM number a, number b, number c LIMIT %d", rowBytes, rows)
}

// stream reads such a result to its end.
func stream(t *testing.T, conn *sql.Conn, rowBytes, rows int) {
	t.Helper()
	result, err := conn.QueryContext(t.Context(), bigSelect(rowBytes, rows))
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	if n := readRows(t, result, rowBytes, -1); n != rows {
		t.Fatalf("%d rows came, not %d", n, rows)
	}
}

// readRows reads up to limit rows (all for -1), checks their size and returns
// their number.
func readRows(t *testing.T, result *sql.Rows, rowBytes, limit int) int {
	t.Helper()
	var row sql.RawBytes
	n := 0
	for n != limit && result.Next() {
		if err := result.Scan(&row); err != nil {
			t.Fatal(err)
		}
		if len(row) != rowBytes {
			t.Fatalf("row %d has %d bytes, not %d", n, len(row), rowBytes)
		}
		n++
	}
	if err := result.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}

// rssWatch follows a process's memory.
type rssWatch struct {
	base    int64
	highest atomic.Int64
	cancel  context.CancelFunc
	done    chan struct{}
}

// watchRSS begins a watch once the collector has run some times: until its first
// cycles a young process grows by itself. Reading /metrics makes the garbage.
func watchRSS(t *testing.T, causeway *cluster.Causeway) *rssWatch {
	t.Helper()
	eventually(t, time.Minute, 0, func() (bool, string) {
		m, err := rig.ReadMetrics(t.Context(), causeway.HTTP)
		if err != nil {
			return false, err.Error()
		}
		cycles := m.Sum("go_gc_duration_seconds_count")
		return cycles >= 5, fmt.Sprintf("the collector has run %.0f times", cycles)
	})
	base, err := rig.RSS(causeway.Pid)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w := &rssWatch{base: base, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if rss, err := rig.RSS(causeway.Pid); err == nil && rss > w.highest.Load() {
					w.highest.Store(rss)
				}
			}
		}
	}()
	return w
}

// stop ends the watch and returns by how much the process had grown at its
// highest, and from where.
func (w *rssWatch) stop() (grown, base int64) {
	w.cancel()
	<-w.done
	return w.highest.Load() - w.base, w.base
}
