package replicamon

import (
	"net"
	"strings"
	"testing"

	"causeway/backend"
	"causeway/gtid"
	"causeway/replicamon"
	"causeway/tests/check"
	"causeway/tests/cluster"
)

func TestRolesAreFound(t *testing.T) {
	addrs := shared.Addrs()
	addrs[0], addrs[2] = addrs[2], addrs[0] // the order in the config says nothing
	r := watchOver(t, addrs, nil)
	v := r.allServe()
	if v.Source.Addr != shared.Source().Addr || v.Source != v.Nodes[2] || v.Source.Role != backend.RoleSource {
		t.Errorf("source is %s", v.Source.Addr)
	}
	v = r.until("defaults of all", func(v *backend.View) bool {
		for _, n := range v.Nodes {
			if n.Defaults["time_zone"] != "SYSTEM" {
				return false
			}
		}
		return true
	})
	for _, n := range v.Nodes {
		if n.Charset != 255 || n.Version == "" || n.Incarnation.Generation != 1 || n.Incarnation.ServerUUID == "" ||
			n.Incarnation.StartTime.IsZero() || len(n.Defaults) != 3 || n.FreshAsOf.IsZero() {
			t.Errorf("%s: %+v", n.Addr, n)
		}
	}
	for _, n := range v.Replicas {
		l := n.Lag
		if l.IOThread != "Yes" || l.SQLThread != "Yes" || l.Workers != 4 || l.Channels != 1 || l.LastError != "" || l.Delay != 0 {
			t.Errorf("%s: %+v", n.Addr, l)
		}
		if r.metric("causeway_replica_workers", n.Addr) != 4 || r.metric("causeway_node_up", n.Addr) != 1 {
			t.Error("metrics")
		}
	}
}

func TestWrongPassword(t *testing.T) {
	r := watchOver(t, shared.Addrs(), func(o *replicamon.Options) { o.Password = "wrong" })
	r.until("refused words", func(v *backend.View) bool {
		return strings.Contains(v.Nodes[0].Exclude, "account is refused") && !v.Nodes[0].Up && v.Source == nil
	})
}

func TestNotMySQL(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.Must(t, err)
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("\x03\x00\x00\x00\x0aHT"))
			_ = c.Close()
		}
	}()
	r := watchOver(t, append(shared.Addrs(), l.Addr().String()), nil)
	r.until("the real ones serve, the other one is down", func(v *backend.View) bool {
		return v.Source.Usable() && v.Nodes[1].Usable() && v.Nodes[2].Usable() && strings.HasPrefix(v.Nodes[3].Exclude, "down: connect")
	})
}

func TestTLS(t *testing.T) {
	r := watchOver(t, shared.Addrs(), func(o *replicamon.Options) { o.TLS = trust(t, shared) })
	r.allServe()
}

func TestFilters(t *testing.T) {
	r := watchOver(t, shared.Addrs(), nil)
	allowed := watchOver(t, shared.Addrs(), func(o *replicamon.Options) { o.AllowFiltered = true })
	r.allServe()
	allowed.allServe()
	shared.HealAfter(t)
	n := shared.Replica(2)
	filter := func(f string) {
		check.Must(t, n.Exec(t.Context(), "STOP REPLICA SQL_THREAD; CHANGE REPLICATION FILTER "+f+"; START REPLICA SQL_THREAD"))
	}
	filter("REPLICATE_IGNORE_DB = (nosuch)")
	r.until("excluded for its filter", func(v *backend.View) bool {
		return v.Node(n.Addr).Exclude == "replication filters: Replicate_Ignore_DB=nosuch" && v.Node(shared.Replica(1).Addr).Usable()
	})
	allowed.samples(10)
	if !allowed.View().Node(n.Addr).Usable() {
		t.Error("excluded though filters are allowed")
	}
	filter("REPLICATE_IGNORE_DB = ()")
	r.allServe()
}

func TestPromotion(t *testing.T) {
	c := cluster.Start(t, cluster.Options{})
	r := watchOver(t, c.Addrs(), nil)
	r.allServe()
	old, heir, other := c.Source(), c.Replica(1), c.Replica(2)
	need := write(t, c)
	check.Must(t, c.WaitCaughtUp(r.ctx))
	check.Must(t, old.Kill())
	v := r.until("the source is lost", func(v *backend.View) bool { return v.Source != nil && !v.Source.Up })
	if !v.Node(heir.Addr).Usable() || !v.Node(other.Addr).Usable() {
		t.Error("replicas do not serve while the source is lost")
	}
	if _, ok := r.WaitCovered(r.ctx, need, soon()); !ok {
		t.Error("replicas cover what they applied, also without a source")
	}
	check.Must(t, c.Promote(heir))
	r.until("the heir is the source", func(v *backend.View) bool {
		return v.Source.Usable() && v.Source.Addr == heir.Addr && v.Node(other.Addr).Usable()
	})
	check.Must(t, old.Attach())
	v = r.allServe()
	if v.Source.Addr != heir.Addr || v.Node(old.Addr).Role != backend.RoleReplica || v.Epoch != 0 {
		t.Errorf("source %s, epoch %d", v.Source.Addr, v.Epoch)
	}
	need = write(t, c)
	if _, ok := r.Wait(r.ctx, replicamon.Wait{Need: need, Until: soon(), Addr: old.Addr}); !ok {
		t.Error("the old source does not follow")
	}
}

// Also what is said of a source whose gtid_mode is not ON.
func TestSourceReset(t *testing.T) {
	c := cluster.Start(t, cluster.Options{Replicas: 1})
	r := watchOver(t, c.Addrs(), nil)
	r.allServe()
	write(t, c)
	check.Must(t, c.WaitCaughtUp(r.ctx))
	r.until("the monitor has seen the write", func(v *backend.View) bool { return v.SourcePosition.Contains(executed(t, c.Source())) })
	replica := c.Replica(1)
	check.Must(t, replica.Exec(r.ctx, "STOP REPLICA"))
	check.Must(t, c.Source().Exec(r.ctx, "RESET BINARY LOGS AND GTIDS"))
	r.until("a new epoch; the replica is barred", func(v *backend.View) bool {
		return v.Epoch == 1 && strings.HasPrefix(v.Node(replica.Addr).Exclude, "holds transactions that the source lost")
	})
	// The source gives the old numbers again: the replica must not seem to cover them.
	for executed(t, c.Source()).Count() < 20 {
		write(t, c)
	}
	r.samples(3)
	if v := r.View(); v.Node(replica.Addr).Usable() {
		t.Error("serves with the old transactions under the new numbers")
	}
	check.Must(t, replica.Exec(r.ctx, "RESET BINARY LOGS AND GTIDS; RESET REPLICA; SET sql_log_bin=0; DROP TABLE test.m; SET sql_log_bin=1; "+
		"SET GLOBAL gtid_purged = ?", gtid.Set{}.Line()))
	r.until("it forgot", func(v *backend.View) bool { return v.Node(replica.Addr).Position.IsEmpty() })
	if err := replica.Exec(r.ctx, "START REPLICA"); err != nil {
		t.Fatal(err)
	}
	// The table was made before the reset, so the rows have nowhere to go: what
	// matters is that it serves only when it covers.
	v := r.until("rebuilt, or stopped by an error", func(v *backend.View) bool {
		return v.Node(replica.Addr).Usable() || v.Node(replica.Addr).Lag.LastError != ""
	})
	if n := v.Node(replica.Addr); n.Usable() && !n.Position.Contains(v.SourcePosition) {
		t.Error("serves before it covers the source")
	}

	// The cluster is of no more use: a last look at one without GTIDs.
	check.Must(t, c.Source().Exec(r.ctx, "SET GLOBAL gtid_mode = ON_PERMISSIVE"))
	r.until("refused with the variable's name", func(v *backend.View) bool {
		return v.Source == nil && strings.Contains(v.Nodes[0].Exclude, "set gtid_mode=ON")
	})
	check.Must(t, c.Source().Exec(r.ctx, "SET GLOBAL gtid_mode = ON"))
	r.until("the source is back", func(v *backend.View) bool { return v.Source.Usable() })
}
