package monotonic

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/rig"
)

const (
	clients = 8
	reads   = 2000 // of all clients together
	behind  = 2    // seconds
)

var shared *cluster.Cluster

func TestMain(m *testing.M) { cluster.Main(m, cluster.Options{}, cluster.Keep(&shared)) }

// config has reads of any age, and a class that reads from the source.
const config = `
[fallback]
qps = 1000000
burst = 1000000
[[class]]
name = "F1"
max_staleness = "20s"
lag_limit = "20s"
monotonic = %v
[[class]]
name = "there"
consistency = "source"
`

func TestMonotonicReads(t *testing.T) {
	for _, by := range []string{"session", "key"} {
		t.Run(by, func(t *testing.T) {
			r := play(t, true, by)
			if n := r.back.Load(); n > 0 {
				t.Errorf("%d of %d reads went back in time", n, r.done.Load())
			}
			if r.onReplicas < reads/4 {
				t.Errorf("replicas answered %.0f reads only", r.onReplicas)
			}
		})
	}
}

// TestWithoutTheOption: the same reads must be seen to go back.
func TestWithoutTheOption(t *testing.T) {
	if r := play(t, false, "session"); r.back.Load() == 0 {
		t.Errorf("none of %d reads went back in time: the test cannot see it", r.done.Load())
	}
}

type result struct {
	done, back atomic.Int64
	onReplicas float64
}

// play raises the counter while clients read it until they have read enough.
func play(t *testing.T, on bool, by string) *result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for _, sql := range []string{"CREATE DATABASE IF NOT EXISTS test", "CREATE TABLE IF NOT EXISTS test.counter (id INT PRIMARY KEY, n BIGINT)", "REPLACE INTO test.counter VALUES (1, 0)"} {
		check.Must(t, shared.Source().Exec(ctx, sql))
	}
	check.Must(t, shared.WaitCaughtUp(ctx))
	check.Must(t, shared.Replica(2).Lag(ctx, behind))
	t.Cleanup(func() { shared.Replica(2).Lag(context.Background(), 0) })
	cw := cluster.StartCauseway(t, shared, fmt.Sprintf(config, on))
	writing, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() {
		for writing.Err() == nil {
			shared.Source().Exec(writing, "UPDATE test.counter SET n = n + 1 WHERE id = 1")
			time.Sleep(5 * time.Millisecond)
		}
	})
	defer work.Wait()
	defer stop()
	var r result
	var readers sync.WaitGroup
	for i := range clients {
		readers.Go(func() { r.read(ctx, t, cluster.OpenApp(t, cw.Addr, "test"), i, by) })
	}
	readers.Wait()
	r.onReplicas = rig.OnReplicas(t, cw.HTTP)
	t.Logf("%s, monotonic %v: %d reads, %.0f statements on replicas, %d steps back", by, on, r.done.Load(), r.onReplicas, r.back.Load())
	return &r
}

// read is one client: one connection, or a new one for each read under one key.
func (r *result) read(ctx context.Context, t *testing.T, db *sql.DB, id int, by string) {
	rng := rand.New(rand.NewPCG(1, uint64(id)))
	tags := "causeway_class='F1'"
	if by == "key" {
		tags += fmt.Sprintf(",causeway_key='%d'", id)
	}
	db.SetMaxOpenConns(1)
	last := int64(-1)
	for r.done.Add(1) <= reads {
		if by == "key" {
			db.SetMaxIdleConns(0)
		}
		query := "SELECT n FROM counter WHERE id = 1 /*" + tags + "*/"
		if rng.IntN(10) == 0 {
			query = "SELECT n FROM counter WHERE id = 1 /*causeway_class='there'" + tags[len("causeway_class='F1'"):] + "*/"
		}
		var n int64
		if err := db.QueryRowContext(ctx, query).Scan(&n); err != nil {
			t.Errorf("client %d: %v", id, err)
			return
		}
		if n < last {
			r.back.Add(1)
		}
		last = max(last, n)
		time.Sleep(time.Duration(rng.IntN(4)) * time.Millisecond)
	}
}
