package replicamon

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"causeway/backend"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMonitorView(t *testing.T) {
	bubble(t, Options{Weights: map[string]int{"b": 5}, Defaults: []string{"sql_mode"}}, func(t *testing.T, c *fakeCluster) {
		first := c.View()
		if first.Node("b").Weight != 5 || first.Node("c").Weight != 1 || first.Node("nosuch") != nil {
			t.Error("weights or addresses are wrong")
		}
		c.server("a").set(func(f *fakeServer) { f.vars = map[string]string{"sql_mode": "ANSI_QUOTES"} })
		c.until(t, func(v *backend.View) bool { return v.Node("a").Defaults["sql_mode"] == "ANSI_QUOTES" })
		v := c.View()
		if v.Seq <= first.Seq || v.Node("a").Live != first.Node("a").Live || v.Node("a").Version != "8.0.36" {
			t.Error("sequence, live part or version")
		}
		if v.SourcePosition.Line() != gs("1:1-10").Line() || time.Since(v.SourceAsked) > time.Second {
			t.Errorf("source position %v asked %v ago", v.SourcePosition, time.Since(v.SourceAsked))
		}
	})
}

// A hung node must not hold up the others, and is found out within two timeouts.
func TestHungNode(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, c *fakeCluster) {
		c.server("b").set(func(f *fakeServer) { f.hung = true })
		began := time.Now()
		c.until(t, func(v *backend.View) bool { return !v.Node("b").Up })
		if d := time.Since(began); d > 2500*time.Millisecond {
			t.Errorf("found out after %v", d)
		}
		c.server("a").apply("1:11")
		c.server("c").apply("1:11")
		began = time.Now()
		c.until(t, func(v *backend.View) bool { return v.Node("c").Position.Contains(gs("1:11")) })
		if d := time.Since(began); d > 200*time.Millisecond {
			t.Errorf("the other replica was seen after %v", d)
		}
		c.server("b").set(func(f *fakeServer) { f.hung = false })
		c.until(t, func(v *backend.View) bool { return v.Node("b").Usable() })
		if g := c.View().Node("b").Incarnation.Generation; g != 1 {
			t.Errorf("generation %d: a frozen server did not restart", g)
		}
	})
}

func TestDeadNode(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, c *fakeCluster) {
		c.server("b").set(func(f *fakeServer) { f.dead = true })
		began := time.Now()
		v := c.until(t, func(v *backend.View) bool { return !v.Node("b").Up })
		if d := time.Since(began); d > 200*time.Millisecond {
			t.Errorf("found out after %v", d)
		}
		if why := v.Node("b").Exclude; why != "down: connection refused" {
			t.Error(why)
		}
		c.server("b").set(func(f *fakeServer) {
			f.dead, f.born, f.executed = false, time.Now(), gs("1:1-7")
		})
		v = c.until(t, func(v *backend.View) bool { return v.Node("b").Up })
		if v.Node("b").Usable() {
			t.Error("serves before it covers the source")
		}
		time.Sleep(5 * time.Second)
		if n := c.View().Node("b"); n.Usable() || n.Incarnation.Generation != 2 {
			t.Errorf("usable %v, generation %d", n.Usable(), n.Incarnation.Generation)
		}
		c.server("b").apply("1:1-10")
		c.until(t, func(v *backend.View) bool { return v.Node("b").Usable() })
	})
}

func TestKilledConnectionIsNoDeadNode(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, c *fakeCluster) {
		c.replace("b", c.server("b").twin())
		seq := c.View().Seq
		c.until(t, func(v *backend.View) bool { return v.Seq > seq+20 })
		if n := c.View().Node("b"); !n.Usable() || n.Incarnation.Generation != 1 {
			t.Errorf("usable %v, generation %d, %s", n.Usable(), n.Incarnation.Generation, n.Exclude)
		}
	})
}

// twin is the same server over new connections.
func (f *fakeServer) twin() *fakeServer {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &fakeServer{uuid: f.uuid, version: f.version, born: f.born, conns: f.conns, executed: f.executed, st: f.st,
		changed: make(chan struct{}), asked: map[string]int{}}
}

func TestForeignNodeBehindTheAddress(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, c *fakeCluster) {
		home := c.server("b").twin()
		c.replace("b", newFake(8, "9:1-999", replicaOf(9)))
		c.until(t, func(v *backend.View) bool { return strings.HasPrefix(v.Node("b").Exclude, "foreign") })
		c.replace("b", home)
		c.server("a").apply("1:11")
		c.until(t, func(v *backend.View) bool { return strings.HasPrefix(v.Node("b").Exclude, "joining: waits until") })
		time.Sleep(3 * time.Second)
		if c.View().Node("b").Usable() {
			t.Error("serves before it covers the source")
		}
		home.apply("1:11")
		c.until(t, func(v *backend.View) bool { return v.Node("b").Usable() })
	})
}

// While old connections still lead to the right server, a session's report is
// what shows the wrong one.
func TestReroutedAddress(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, c *fakeCluster) {
		home := c.reroute("b", newFake(8, "9:1-999", replicaOf(9)))
		time.Sleep(5 * time.Second)
		c.Report("b", 1, "another server_uuid")
		c.until(t, func(v *backend.View) bool { return strings.HasPrefix(v.Node("b").Exclude, "foreign") })
		for range 50 {
			time.Sleep(100 * time.Millisecond)
			if c.View().Node("b").Usable() {
				t.Fatal("serves")
			}
		}
		c.reroute("b", home)
		c.Report("b", c.View().Node("b").Incarnation.Generation, "another server_uuid")
		c.until(t, func(v *backend.View) bool { return v.Node("b").Usable() })
		if g := c.View().Node("b").Incarnation.Generation; g != 3 {
			t.Errorf("generation %d", g)
		}
	})
}

// A status that comes first from the new server starts the same search.
func TestStatusSeesAnotherServerFirst(t *testing.T) {
	bubble(t, Options{PositionInterval: time.Hour}, func(t *testing.T, c *fakeCluster) {
		c.server("b").set(func(f *fakeServer) { f.uuid, f.st.uuid = u(8), u(8) })
		c.until(t, func(v *backend.View) bool { return v.Node("b").Incarnation.ServerUUID == u(8) })
		if n := c.View().Node("b"); n.Usable() || n.Incarnation.Generation != 2 {
			t.Errorf("usable %v, generation %d", n.Usable(), n.Incarnation.Generation)
		}
	})
}

func TestReportProbesAtOnce(t *testing.T) {
	bubble(t, Options{PositionInterval: time.Hour}, func(t *testing.T, c *fakeCluster) {
		b := c.server("b")
		dials := b.count("dial")
		c.Report("nosuch", 1, "test")
		c.Report("b", 99, "old news")
		synctest.Wait()
		if b.count("dial") != dials {
			t.Error("probed for old news")
		}
		b.set(func(f *fakeServer) { f.dead = true })
		for range 1000 {
			c.Report("b", 1, "connection refused")
		}
		c.until(t, func(v *backend.View) bool { return !v.Node("b").Up })
		if n := b.count("dial") - dials; n > 5 {
			t.Errorf("%d connects for one burst of reports", n)
		}
	})
}

func TestRefusedVersion(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, c *fakeCluster) {
		old := newFake(2, "1:1-10", replicaOf(1))
		old.version = "5.7.44-log"
		c.replace("b", old)
		v := c.until(t, func(v *backend.View) bool { return strings.HasPrefix(v.Node("b").Exclude, "refused") })
		if why := v.Node("b").Exclude; !strings.Contains(why, "8.0.22 or later") {
			t.Error(why)
		}
		if old.count("position") > 0 {
			t.Error("asked a server that it refused")
		}
	})
}

func TestMetrics(t *testing.T) {
	bubble(t, Options{LagLimits: []LagLimit{{Name: "F1", P95: time.Second}}}, func(t *testing.T, c *fakeCluster) {
		c.server("c").set(func(f *fakeServer) { f.clockOff = 3 * time.Second })
		for range 50 {
			c.live[1].Times.Add(999 * time.Microsecond)
		}
		c.until(t, func(v *backend.View) bool {
			return v.Replicas[0].QueryP95 > 0 && v.Replicas[1].Clock.Offset > time.Second
		})
		c.until(t, func(v *backend.View) bool {
			return v.Replicas[0].Limits[0].Share == 100 && v.Replicas[1].Limits[0].Share == 100
		})
		reg := prometheus.NewPedanticRegistry()
		if err := reg.Register(collector{c.Monitor}); err != nil {
			t.Fatal(err)
		}
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				name := f.GetName()
				for _, l := range m.GetLabel() {
					name += " " + l.GetValue()
				}
				got[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
		for name, want := range map[string]float64{
			"causeway_node_role a source": 1, "causeway_node_role a replica": 0, "causeway_node_role b replica": 1,
			"causeway_node_up a": 1, "causeway_node_usable b": 1, "causeway_replica_io_running b": 1,
			"causeway_replica_sql_running c": 1, "causeway_replica_position_lag_seconds b": 0,
			"causeway_replica_apply_lag_seconds b 0.5": 0, "causeway_replica_apply_lag_seconds b 0.95": 0,
			"causeway_replica_apply_lag_seconds c 0.99": 0, "causeway_node_clock_offset_seconds c": 3,
			"causeway_node_clock_offset_seconds a": 0, "causeway_replica_query_latency_seconds b 0.95": 0.001024,
			"causeway_replica_transport_lag_seconds b": 0, "causeway_oldest_replay_age_seconds b": 0, "causeway_replica_workers_busy b": 0, "causeway_replica_worker_blocked_seconds b": 0,
			"causeway_replica_pool_excluded_count all": 0, "causeway_replica_pool_excluded_count F1": 0,
			"causeway_node_position_transactions c": 10, "causeway_source_epoch": 0,
			"causeway_probe_failures_total position": 0, "causeway_watch_waiters": 0,
		} {
			if v, ok := got[name]; !ok || v != want {
				t.Errorf("%s is %v (there: %v), want %v", name, v, ok, want)
			}
		}
		if _, ok := got["causeway_replica_io_running a"]; ok {
			t.Error("the source has metrics of a replica")
		}
	})
}
