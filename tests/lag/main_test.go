package lag

import (
	"context"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"causeway/backend"
	"causeway/replicamon"
	"causeway/tests/check"
	"causeway/tests/cluster"
)

var shared *cluster.Cluster

func TestMain(m *testing.M) { cluster.Main(m, cluster.Options{}, cluster.Keep(&shared)) }

// limited bounds a test: only a failure gets there.
func limited(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// until waits for what must come.
func until(ctx context.Context, t *testing.T, what string, fits func() bool) {
	t.Helper()
	for !fits() {
		if ctx.Err() != nil {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// lay makes the tables afresh, known to all nodes.
func lay(ctx context.Context, t *testing.T, tables ...string) {
	t.Helper()
	for _, q := range append([]string{"DROP DATABASE IF EXISTS lagtest", "CREATE DATABASE lagtest"}, tables...) {
		check.Must(t, shared.Source().Exec(ctx, q))
	}
	check.Must(t, shared.WaitCaughtUp(ctx))
}

// every runs a statement on the source again and again until the test ends.
func every(ctx context.Context, t *testing.T, pause time.Duration, run func() error) {
	t.Helper()
	ctx, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if err := run(); err != nil && ctx.Err() == nil {
				done <- err
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
		done <- nil
	}()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// watch runs a monitor of the cluster until the test ends.
func watch(ctx context.Context, t *testing.T, change func(*replicamon.Options)) *replicamon.Monitor {
	t.Helper()
	o := replicamon.Options{Servers: shared.Addrs(), User: cluster.MonitorUser, Password: cluster.MonitorPassword}
	if change != nil {
		change(&o)
	}
	m, err := replicamon.New(o, zerolog.New(zerolog.NewTestWriter(t)), nil)
	check.Must(t, err)
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); _ = m.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	until(ctx, t, "all serve", func() bool {
		v := m.View()
		for _, n := range v.Nodes {
			if !n.Usable() {
				return false
			}
		}
		return v.Source.Usable() && len(v.Replicas) == len(v.Nodes)-1
	})
	return m
}

func node(m *replicamon.Monitor, n *cluster.Node) *backend.Node { return m.View().Node(n.Addr) }

// lagOf asks Causeway for what it knows of a node's lag, by column.
func lagOf(ctx context.Context, t *testing.T, db cluster.Queryer, addr string) map[string]string {
	t.Helper()
	rows, err := cluster.Lag(ctx, db)
	check.Must(t, err)
	for _, row := range rows {
		if row["Server"] == addr {
			return row
		}
	}
	t.Fatalf("%s is not shown", addr)
	return nil
}
