package replicamon

import (
	"context"
	"database/sql"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"causeway/backend"
	"causeway/gtid"
	"causeway/replicamon"
	"causeway/tests/check"
	"causeway/tests/cluster"
)

var shared *cluster.Cluster

func TestMain(m *testing.M) { cluster.Main(m, cluster.Options{}, cluster.Keep(&shared)) }

// rig is a running monitor of a test and its metrics.
type rig struct {
	*replicamon.Monitor
	t   *testing.T
	ctx context.Context
	reg *prometheus.Registry
}

// watchOver runs a monitor of addrs until the test ends.
func watchOver(t *testing.T, addrs []string, change func(*replicamon.Options)) *rig {
	t.Helper()
	o := replicamon.Options{Servers: addrs, User: cluster.MonitorUser, Password: cluster.MonitorPassword,
		Defaults: []string{"sql_mode", "time_zone", "max_allowed_packet"}}
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	r := &rig{t: t, ctx: ctx, reg: prometheus.NewPedanticRegistry()}
	var err error
	if r.Monitor, err = replicamon.New(o, zerolog.New(zerolog.NewTestWriter(t)), r.reg); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = r.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return r
}

// until waits for a view that fits.
func (r *rig) until(what string, fits func(*backend.View) bool) *backend.View {
	r.t.Helper()
	for r.ctx.Err() == nil {
		if v := r.View(); fits(v) {
			return v
		}
		time.Sleep(2 * time.Millisecond)
	}
	for _, n := range r.View().Nodes {
		r.t.Logf("%s %v up=%v exclude=%q position=%s lag=%+v", n.Addr, n.Role, n.Up, n.Exclude, n.Position.Line(), n.Lag)
	}
	r.t.Fatalf("never: %s", what)
	return nil
}

// samples waits until the source was asked n times more.
func (r *rig) samples(n int) {
	r.t.Helper()
	for range n {
		last := r.View().SourceAsked
		r.until("another sample of the source", func(v *backend.View) bool { return v.SourceAsked.After(last) })
	}
}

func (r *rig) allServe() *backend.View {
	r.t.Helper()
	return r.until("all serve", func(v *backend.View) bool {
		for _, n := range v.Nodes {
			if !n.Usable() {
				return false
			}
		}
		return v.Source.Usable() && len(v.Replicas) == len(v.Nodes)-1
	})
}

// metric reads one value, by its name and its node label ("" if it has none).
func (r *rig) metric(name, node string) float64 {
	r.t.Helper()
	families, err := r.reg.Gather()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name && (node == "" || m.GetLabel()[0].GetValue() == node) {
				return m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	r.t.Fatalf("no metric %s of %q", name, node)
	return 0
}

// write commits a row on the source and returns the position that holds it.
func write(t *testing.T, c *cluster.Cluster) gtid.Set {
	t.Helper()
	check.Must(t, c.Source().Exec(t.Context(), "CREATE TABLE IF NOT EXISTS test.m (id INT PRIMARY KEY AUTO_INCREMENT)"))
	check.Must(t, c.Source().Exec(t.Context(), "INSERT INTO test.m VALUES (NULL)"))
	return executed(t, c.Source())
}

func executed(t *testing.T, n *cluster.Node) gtid.Set {
	t.Helper()
	text, err := n.Executed(t.Context())
	check.Must(t, err)
	set, err := gtid.Parse(text)
	check.Must(t, err)
	return set
}

// count asks a node for a number.
func count(ctx context.Context, db *sql.DB, query string, args ...any) (int, error) {
	var text string
	if err := db.QueryRowContext(ctx, query, args...).Scan(&text); err != nil {
		return 0, err
	}
	return strconv.Atoi(text)
}
