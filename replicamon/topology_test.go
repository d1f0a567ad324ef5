package replicamon

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"causeway/backend"
	"causeway/gtid"
)

// server puts a server behind an address that nobody was behind.
func (c *fakeCluster) listen(addr string, f *fakeServer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.servers[addr] = f
}

func (c *fakeCluster) serves(t *testing.T, addr string) {
	t.Helper()
	c.until(t, func(v *backend.View) bool { n := v.Node(addr); return n.Usable() && n.Role == backend.RoleReplica })
}

func TestAddAndRemove(t *testing.T) {
	bubble(t, Options{Zone: "here", Zones: map[string]string{"e:1": "there"}, Weights: map[string]int{"e:1": 7}}, func(t *testing.T, c *fakeCluster) {
		c.listen("d:1", newFake(4, "1:1-10", replicaOf(1)))
		c.listen("e:1", newFake(5, "1:1-10", replicaOf(1)))
		seq := c.View().Seq
		if err := errors.Join(c.AddServer("d:1", 3, "here"), c.AddServer("e:1", -1, "")); err != nil {
			t.Fatal(err)
		}
		c.serves(t, "d:1")
		c.serves(t, "e:1")
		v := c.View()
		d, e := v.Node("d:1"), v.Node("e:1")
		if d.Weight != 3 || d.Zone != "here" || d.Far || d.Origin != backend.FromStatement || e.Weight != 7 || e.Zone != "there" || !e.Far || !v.Node("b").Far {
			t.Errorf("%+v\n%+v", d, e)
		}
		if v.Seq <= seq {
			t.Errorf("the number of the view went from %d to %d", seq, v.Seq)
		}
		// One in the middle goes: the others' probes still speak for their own nodes.
		if err := c.RemoveServer("b"); err != nil {
			t.Fatal(err)
		}
		if c.View().Node("b") != nil || len(c.View().Replicas) != 3 {
			t.Error("b is still there")
		}
		c.server("c").apply("1:11")
		c.server("d:1").apply("1:12")
		c.server("a").apply("1:11-12")
		c.until(t, func(v *backend.View) bool {
			return v.Node("a").Position.Equal(gs("1:1-12")) && v.Node("c").Position.Equal(gs("1:1-11")) &&
				v.Node("d:1").Position.Equal(gs("1:1-10 1:12")) && v.Node("e:1").Position.Equal(gs("1:1-10"))
		})
		asked := c.server("b").count("position")
		time.Sleep(time.Minute)
		if n := c.server("b").count("position"); n != asked {
			t.Errorf("b is still asked, %d times", n-asked)
		}
		if _, ok := c.Wait(t.Context(), Wait{Need: gs("1:11"), Until: time.Now().Add(time.Second)}); !ok {
			t.Error("no waiter is served any more")
		}
		c.server("d:1").apply("1:11")
		c.server("d:1").set(func(f *fakeServer) { f.st.channels = nil; f.st.readOnly = false })
		c.server("a").set(func(f *fakeServer) { f.dead = true })
		c.until(t, func(v *backend.View) bool { return v.Source != nil && v.Source.Addr == "d:1" })
		if err := c.RemoveServer("a"); err != nil {
			t.Errorf("the lost source, which has a successor: %v", err)
		}
		if v := c.View(); v.Source == nil || v.Source.Addr != "d:1" {
			t.Errorf("the source is %+v", v.Source)
		}
	})
}

func TestRefusedChanges(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, c *fakeCluster) {
		for _, x := range []struct {
			got  error
			want string
		}{
			{c.AddServer("b:1:1", -1, ""), "no address"},
			{c.AddServer("nohost", -1, ""), "no address"},
			{c.AddServer(":3306", -1, ""), "no address"},
			{c.RemoveServer("a"), "is the source: promote"},
			{c.RemoveServer("x:1"), "no server of this cluster"},
		} {
			if x.got == nil || !strings.Contains(x.got.Error(), x.want) {
				t.Errorf("%v, want %q", x.got, x.want)
			}
		}
		c.listen("d:1", newFake(4, "1:1-10", replicaOf(1)))
		if err := c.AddServer("d:1", 1, ""); err != nil {
			t.Fatal(err)
		}
		if err := c.AddServer("D:1", 1, ""); err == nil || !strings.Contains(err.Error(), "already") {
			t.Errorf("added twice: %v", err)
		}
		// The source that was lost, as long as no other took its place.
		c.server("a").set(func(f *fakeServer) { f.dead = true })
		c.until(t, func(v *backend.View) bool { return !v.Source.Usable() })
		if err := c.RemoveServer("a"); err == nil {
			t.Error("the lost source was removed")
		}
	})
}

// A name that leads to another server is noticed though the old one goes on
// answering, and nobody opens a connection; a number needs no second look.
func TestMovedName(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, c *fakeCluster) {
		for _, addr := range []string{"db.example:1", "10.0.0.9:1"} {
			c.listen(addr, newFake(4, "1:1-10", replicaOf(1)))
			if err := c.AddServer(addr, 1, ""); err != nil {
				t.Fatal(err)
			}
			c.serves(t, addr)
			before := c.server(addr)
			asked, began := before.count("dial"), time.Now()
			c.reroute(addr, newFake(5, "1:1-10", replicaOf(1)))
			if addr == "10.0.0.9:1" {
				time.Sleep(10 * time.Minute)
				if n := c.View().Node(addr); n.Incarnation.ServerUUID != u(4) || before.count("dial") != asked {
					t.Errorf("%s was connected to again", addr)
				}
				continue
			}
			time.Sleep(nameHolds / 2)
			c.until(t, func(v *backend.View) bool { return v.Node(addr).Incarnation.ServerUUID == u(5) })
			if d := time.Since(began); d > nameHolds+time.Second {
				t.Errorf("noticed after %v", d)
			}
			c.serves(t, addr)
			if err := c.RemoveServer(addr); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// What is configured and was taken out can be put back.
func TestPutBack(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, c *fakeCluster) {
		c.listen("b:1", newFake(4, "1:1-10", replicaOf(1)))
		c.opts.Servers = append(c.opts.Servers, "b:1")
		if err := c.AddServer("b:1", -1, ""); err != nil {
			t.Fatal(err)
		}
		c.serves(t, "b:1")
		if err := c.RemoveServer("b:1"); err != nil {
			t.Fatal(err)
		}
		if err := c.AddServer("b:1", 0, ""); err != nil {
			t.Fatal(err)
		}
		c.serves(t, "b:1")
		if n := c.View().Node("b:1"); n.Origin != backend.FromConfig || n.CurrentWeight() != 0 {
			t.Errorf("%v, weight %d", n.Origin, n.CurrentWeight())
		}
	})
}

func TestDiscovery(t *testing.T) {
	bubble(t, Options{Discover: true, ForgetAfter: time.Minute}, func(t *testing.T, c *fakeCluster) {
		ours, foreign := newFake(4, "1:1-10", replicaOf(1)), newFake(5, "9:1-10", replicaOf(9))
		c.listen("d:1", ours)
		c.listen("e:1", foreign)
		both := []hint{{u(2), "elsewhere:1"}, {u(4), "d:1"}, {u(5), "e:1"}}
		c.server("a").set(func(f *fakeServer) { f.hints = both })
		c.serves(t, "d:1")
		v := c.until(t, func(v *backend.View) bool {
			n := v.Node("e:1")
			return n != nil && n.Up && strings.HasPrefix(n.Exclude, "discovered, but")
		})
		if len(v.Nodes) != 5 || v.Node("d:1").Origin != backend.FromDiscovery || v.Node("e:1").Role != backend.RoleUnknown || v.Discovery != "on" {
			t.Errorf("%d nodes, %+v", len(v.Nodes), v.Node("e:1"))
		}
		// Down and still registered: it stays. Gone from there too: it goes, after a while.
		ours.set(func(f *fakeServer) { f.dead = true })
		time.Sleep(3 * time.Minute)
		if c.View().Node("d:1") == nil {
			t.Error("dropped although the source knows it")
		}
		c.server("a").set(func(f *fakeServer) { f.hints = both[2:] })
		c.until(t, func(v *backend.View) bool { return v.Node("d:1") == nil })
		// It comes back, and an operator takes it out: it stays out, until he adds it.
		ours.set(func(f *fakeServer) { f.dead = false })
		c.server("a").set(func(f *fakeServer) { f.hints = both })
		c.serves(t, "d:1")
		if err := c.RemoveServer("d:1"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if c.View().Node("d:1") != nil {
			t.Error("discovered again after its removal")
		}
		if err := c.AddServer("d:1", -1, ""); err != nil {
			t.Fatal(err)
		}
		c.serves(t, "d:1")
		if err := c.AddServer("e:1", 4, "z"); err != nil {
			t.Errorf("to add what was discovered: %v", err)
		}
		if n := c.View().Node("e:1"); n.Origin != backend.FromStatement || n.CurrentWeight() != 4 || n.Zone != "z" {
			t.Errorf("%+v", n)
		}
		c.server("a").set(func(f *fakeServer) { f.hints = []hint{{u(7), ""}} })
		c.until(t, func(v *backend.View) bool { return strings.Contains(v.Discovery, "report_host") })
	})
}

// Nodes that come and go leave nothing behind: no goroutine, no metric.
func TestAddAndRemoveLeakNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers := map[string]*fakeServer{"a": newFake(1, "1:1-10", writable), "b": newFake(2, "1:1-10", replicaOf(1)), "d:1": newFake(4, "1:1-10", replicaOf(1))}
		m := newMonitor(Options{Servers: []string{"a", "b"}}.withDefaults(), zerolog.Nop(), func(ctx context.Context, addr string) (session, error) {
			return servers[addr].dial(ctx)
		})
		c := &fakeCluster{Monitor: m, servers: servers}
		reg := prometheus.NewRegistry()
		reg.MustRegister(collector{m})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- m.Run(ctx) }()
		c.serves(t, "b")
		time.Sleep(time.Minute)
		synctest.Wait()
		goroutines, before := runtime.NumGoroutine(), series(t, reg)
		for range 50 {
			if err := m.AddServer("d:1", 1, ""); err != nil {
				t.Fatal(err)
			}
			c.serves(t, "d:1")
			if _, ok := m.Wait(t.Context(), Wait{Need: gs("1:10"), Until: time.Now().Add(time.Second), Addr: "d:1"}); !ok {
				t.Error("not covered")
			}
			if _, err := m.Held(t.Context(), "d:1", 7); err != nil {
				t.Error(err)
			}
			if series(t, reg) <= before {
				t.Error("the node has no metrics")
			}
			if err := m.RemoveServer("d:1"); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		// The runtime counts a goroutine that has returned until it is cleared away.
		for try := 0; runtime.NumGoroutine() > goroutines && try < 1e6; try++ {
			runtime.Gosched()
		}
		if n := runtime.NumGoroutine(); n > goroutines {
			t.Errorf("%d goroutines before, %d after", goroutines, n)
		}
		if n := series(t, reg); n != before {
			t.Errorf("%d series before, %d after", before, n)
		}
		if len(m.state.nodes) != 2 || len(m.live) != 2 || len(*m.probes.Load()) != 2 || m.locks.s != nil {
			t.Errorf("kept: %d nodes, %d live, %d probes, %v", len(m.state.nodes), len(m.live), len(*m.probes.Load()), m.locks.s)
		}
		if _, err := m.Held(t.Context(), "d:1", 7); err == nil {
			t.Error("a node that is gone was asked")
		}
		if _, ok := m.WaitCovered(t.Context(), gtid.Set{}, time.Now().Add(time.Second)); !ok {
			t.Error("no replica is left")
		}
		cancel()
		<-done
	})
}

func series(t *testing.T, reg *prometheus.Registry) (n int) {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		n += len(f.Metric)
	}
	return n
}
