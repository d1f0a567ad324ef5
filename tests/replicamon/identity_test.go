package replicamon

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"

	"causeway/backend"
	"causeway/gtid"
	"causeway/replicamon"
	"causeway/tests/check"
	"causeway/tests/cluster"
)

func trust(t *testing.T, c *cluster.Cluster) *tls.Config {
	t.Helper()
	pem, err := os.ReadFile(c.CA())
	check.Must(t, err)
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		t.Fatal("no certificate in " + c.CA())
	}
	// Certificates that a server makes for itself name no host: the chain is
	// checked, the name is not.
	return &tls.Config{InsecureSkipVerify: true, VerifyConnection: func(s tls.ConnectionState) error {
		_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: pool})
		return err
	}}
}

// forwarder is an address behind which servers can be exchanged.
type forwarder struct {
	l      net.Listener
	mu     sync.Mutex
	target string
	conns  map[net.Conn]bool
	wg     sync.WaitGroup
}

func forward(t *testing.T, target string) *forwarder {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.Must(t, err)
	f := &forwarder{l: l, target: target, conns: map[net.Conn]bool{}}
	f.wg.Go(f.accept)
	t.Cleanup(func() { _ = l.Close(); f.cut(); f.wg.Wait() })
	return f
}

func (f *forwarder) accept() {
	for {
		in, err := f.l.Accept()
		if err != nil {
			return
		}
		f.mu.Lock()
		target := f.target
		f.mu.Unlock()
		out, err := net.Dial("tcp", target)
		if err != nil {
			_ = in.Close()
			continue
		}
		f.mu.Lock()
		f.conns[in], f.conns[out] = true, true
		f.mu.Unlock()
		pipe := func(a, b net.Conn) { _, _ = io.Copy(a, b); _ = a.Close(); _ = b.Close() }
		f.wg.Go(func() { pipe(in, out) })
		f.wg.Go(func() { pipe(out, in) })
	}
}

// switchTo sends new connections elsewhere. cut breaks the old ones.
func (f *forwarder) switchTo(target string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.target = target
}

func (f *forwarder) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.conns {
		_ = c.Close()
	}
	clear(f.conns)
}

// A node that comes back with less than it had serves nothing until it covers
// what the source had at that moment.
func TestRestartWithFewerTransactions(t *testing.T) {
	shared.HealAfter(t)
	r := watchOver(t, shared.Addrs(), nil)
	r.allServe()
	n := shared.Replica(1)
	write(t, shared)
	check.Must(t, shared.WaitCaughtUp(r.ctx))
	less := executed(t, n)
	check.Must(t, n.Exec(r.ctx, "STOP REPLICA"))
	full := write(t, shared)
	check.Must(t, n.Exec(r.ctx, "START REPLICA"))
	check.Must(t, n.WaitExecuted(r.ctx, full.Line()))
	r.until("it serves with all", func(v *backend.View) bool { return v.Node(n.Addr).Usable() && v.Node(n.Addr).Position.Contains(full) })

	check.Must(t, n.Exec(r.ctx, "SET PERSIST_ONLY skip_replica_start = ON; STOP REPLICA; SET GLOBAL super_read_only = OFF; SET sql_log_bin = 0; "+
		"DELETE FROM test.m ORDER BY id DESC LIMIT 1; SET sql_log_bin = 1; RESET BINARY LOGS AND GTIDS; RESET REPLICA; SET GLOBAL gtid_purged = ?", less.Line()))
	check.Must(t, n.Kill())
	check.Must(t, n.StartNode())
	check.Must(t, n.Exec(r.ctx, "RESET PERSIST skip_replica_start"))
	v := r.until("it is back", func(v *backend.View) bool { return v.Node(n.Addr).Up && v.Node(n.Addr).Position.Equal(less) })
	r.samples(10)
	v = r.View()
	if p := v.Node(n.Addr); p.Usable() || p.Incarnation.Generation < 2 {
		t.Fatalf("serves with %v of %v, generation %d", p.Position, full, p.Incarnation.Generation)
	}
	if _, ok := r.Wait(r.ctx, replicamon.Wait{Need: less, Until: v.SourceAsked, Addr: n.Addr}); ok {
		t.Error("an excluded node covers nothing, not even what it has")
	}
	check.Must(t, n.Exec(r.ctx, "START REPLICA"))
	v = r.until("it serves again", func(v *backend.View) bool { return v.Node(n.Addr).Usable() })
	if !v.Node(n.Addr).Position.Contains(full) {
		t.Errorf("serves with %v", v.Node(n.Addr).Position)
	}
}

// Another cluster's node behind the same address serves nothing, also while
// old connections still lead to the right one.
func TestForeignNodeBehindTheAddress(t *testing.T) {
	foreign := cluster.Start(t, cluster.Options{Replicas: 1})
	write(t, foreign)
	check.Must(t, foreign.WaitCaughtUp(t.Context()))
	home := shared.Replica(1)
	f := forward(t, home.Addr)
	addr := f.l.Addr().String()
	r := watchOver(t, []string{shared.Source().Addr, addr, shared.Replica(2).Addr}, nil)
	r.allServe()
	uuid := r.View().Node(addr).Incarnation.ServerUUID

	for _, stranger := range []struct{ addr, why string }{
		{foreign.Replica(1).Addr, "foreign: replicates from "},
		{foreign.Source().Addr, "writable, but not the source"},
	} {
		f.switchTo(stranger.addr)
		// Sessions would see the stranger on new connections: one of them reports.
		r.Report(addr, r.View().Node(addr).Incarnation.Generation, "another server_uuid")
		v := r.until("the stranger is known as such", func(v *backend.View) bool {
			return strings.HasPrefix(v.Node(addr).Exclude, stranger.why)
		})
		if v.Source.Addr != shared.Source().Addr || v.Epoch != 0 {
			t.Errorf("source %s epoch %d", v.Source.Addr, v.Epoch)
		}
		r.samples(5)
		if r.View().Node(addr).Usable() {
			t.Error("a stranger serves")
		}
		f.cut()
		r.samples(5)
		if r.View().Node(addr).Usable() {
			t.Error("a stranger serves")
		}
	}

	shared.HealAfter(t)
	check.Must(t, home.Pause(r.ctx))
	need := write(t, shared)
	f.switchTo(home.Addr)
	f.cut()
	r.until("the replica is back", func(v *backend.View) bool { return v.Node(addr).Incarnation.ServerUUID == uuid && v.Node(addr).Up })
	r.samples(5)
	if n := r.View().Node(addr); n.Usable() || n.Position.Contains(need) {
		t.Errorf("serves before it covers: %v", n.Position)
	}
	check.Must(t, home.Resume(r.ctx))
	v := r.until("it serves again", func(v *backend.View) bool { return v.Node(addr).Usable() })
	if n := v.Node(addr); !n.Position.Contains(need) || n.Incarnation.Generation < 4 {
		t.Errorf("position %v, generation %d", n.Position, n.Incarnation.Generation)
	}
}

// Errant transactions are told, and prove nothing.
func TestErrantTransaction(t *testing.T) {
	r := watchOver(t, shared.Addrs(), nil)
	r.allServe()
	n := shared.Replica(2) // read_only, not super_read_only: root may write
	before := executed(t, n)
	check.Must(t, n.Exec(r.ctx, "CREATE TABLE test.errant (id INT)"))
	t.Cleanup(func() {
		check.Must(t, n.Exec(context.Background(), "SET sql_log_bin = 0; DROP TABLE test.errant"))
	})
	errant := executed(t, n).Subtract(before)
	v := r.until("the errant transaction is known", func(v *backend.View) bool { return !v.Node(n.Addr).Errant.IsEmpty() })
	if p := v.Node(n.Addr); !p.Usable() || !errant.Contains(gtid.MustParse(p.Errant.Line())) {
		t.Errorf("errant %v, excluded %q", p.Errant, p.Exclude)
	}
	need := write(t, shared)
	if _, ok := r.WaitCovered(r.ctx, need, soon()); !ok {
		t.Error("not covered")
	}
}
