package sysbench

import (
	"context"
	"os"
	"testing"
	"time"

	"causeway/tests/cluster"
	"causeway/tests/rig"
)

const threads = 16

// duration is the length of one run: short, unless SYSBENCH_TIME says more
// (make sysbench: 60s).
func duration(t *testing.T) time.Duration {
	text := os.Getenv("SYSBENCH_TIME")
	if text == "" {
		return 8 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second {
		t.Fatalf("SYSBENCH_TIME=%s: a duration such as 60s is needed", text)
	}
	return d
}

// TestSysbench is one cluster, one Causeway and four runs: two scripts in both
// protocols. That nothing fails is sysbench's word, where the reads went is
// the servers'.
func TestSysbench(t *testing.T) {
	ctx := t.Context()
	length := duration(t)
	tools, err := rig.Tools(ctx)
	if err != nil {
		t.Fatal(err)
	}
	c := cluster.Start(t, cluster.Options{})
	causeway := cluster.StartCauseway(t, c, "")

	bench := rig.Sysbench{
		Tools: tools, Addr: causeway.Addr, User: cluster.AppUser, Password: cluster.AppPassword,
		Script: "oltp_point_select", PSMode: "disable", Threads: threads, Tables: 4, Rows: 10000, Time: length,
	}
	// Through Causeway as well: DDL, big multi-row inserts and reads in one.
	if err := bench.Prepare(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.WaitCaughtUp(ctx); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"disable", "auto"} {
		bench.PSMode = mode
		t.Run("point_select/"+mode, func(t *testing.T) { pointSelect(t, c, bench) })
		t.Run("read_write/"+mode, func(t *testing.T) { readWrite(t, c, bench) })
	}
}

// setupCommands is how many commands of its own a client's session may cost:
// logins, the trackers, the state of each of its connections to a node.
const setupCommands = 40

// pointSelect: the reads run on the replicas, evenly, and each of them is one
// command there: nothing is asked besides.
func pointSelect(t *testing.T, c *cluster.Cluster, bench rig.Sysbench) {
	bench.Script = "oltp_point_select"
	all := total(t.Context(), t, c)
	s, r := run(t, c, bench)
	all = total(t.Context(), t, c) - all
	t.Logf("%.0f queries/s, avg %.2f ms; reads on the source %d, on the replicas %d; %d commands for %d queries",
		r.QueriesPerSec, r.AvgMS, s.source, s.replicas, all, r.Queries)
	if r.Ignored != 0 {
		t.Errorf("%d errors that sysbench ignored: a point select can have none", r.Ignored)
	}
	// Within 3 % of each other: 1.5 % from their mean.
	if err := s.check(0.95, 0.015); err != nil {
		t.Error(err)
	}
	if extra := all - r.Queries; extra > threads*setupCommands {
		t.Errorf("%d more commands ran on the nodes than sysbench sent: %d for each client", extra, extra/threads)
	}
}

// readWrite: transactions, which run on the source as a whole. Deadlocks are
// MySQL's own; sysbench repeats such a transaction and counts it.
func readWrite(t *testing.T, c *cluster.Cluster, bench rig.Sysbench) {
	bench.Script = "oltp_read_write"
	s, r := run(t, c, bench)
	t.Logf("%.0f queries/s, avg %.2f ms, %d deadlocks repeated; reads on the source %d, on the replicas %d",
		r.QueriesPerSec, r.AvgMS, r.Ignored, s.source, s.replicas)
	if bench.PSMode == "disable" && s.source < r.Queries/2 {
		t.Errorf("%d reads on the source: the transactions of %d queries did not all run there", s.source, r.Queries)
	}
	if r.Ignored*1000 > r.Queries {
		t.Errorf("%d deadlocks in %d queries: more than MySQL gives with these tables", r.Ignored, r.Queries)
	}
	if err := c.WaitCaughtUp(t.Context()); err != nil {
		t.Error(err)
	}
}

// run runs sysbench and returns what each node counted meanwhile.
func run(t *testing.T, c *cluster.Cluster, bench rig.Sysbench) (shares, rig.SysbenchResult) {
	t.Helper()
	ctx := t.Context()
	before := selects(ctx, t, c)
	r, err := bench.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	after := selects(ctx, t, c)
	if r.Queries == 0 || r.Reconnects != 0 {
		t.Errorf("%d queries, %d reconnects: a connection was lost", r.Queries, r.Reconnects)
	}
	s := shares{source: after[0] - before[0]}
	for i := range c.Replicas() {
		s.replicas = append(s.replicas, after[i+1]-before[i+1])
	}
	return s, r
}

// total is the number of all commands that the application's connections have
// run on all nodes.
func total(ctx context.Context, t *testing.T, c *cluster.Cluster) int64 {
	t.Helper()
	var sum int64
	for _, n := range c.Nodes() {
		count, err := rig.Statements(ctx, n, cluster.AppUser)
		if err != nil {
			t.Fatal(err)
		}
		sum += count
	}
	return sum
}

// selects asks each node how many reads the application's connections have run.
func selects(ctx context.Context, t *testing.T, c *cluster.Cluster) []int64 {
	t.Helper()
	var all []int64
	for _, n := range c.Nodes() {
		count, err := rig.Selects(ctx, n, cluster.AppUser)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, count)
	}
	return all
}
