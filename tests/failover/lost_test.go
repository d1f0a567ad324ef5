package failover

import (
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/rig"
)

// TestLost: a write that no replica has received dies with the source. It is
// reported, exactly, and its session is told once. The old source comes back
// with it, writable, after a restart of Causeway, and serves nothing.
func TestLost(t *testing.T) { again(t, testLost) }

func testLost(t *testing.T) {
	lay(t)
	ctx := check.Patience(t)
	extra := config(t, 10*time.Second)
	cw, stop, err := cluster.StartSharedCauseway(shared, extra)
	check.Must(t, err)
	p, old := &proxy{cluster.Operate(t, cw)}, shared.Source()
	k := p.app()
	exec := func(sql string) error { _, err := k.ExecContext(ctx, sql); return err }
	check.Must(t, exec("INSERT INTO t VALUES (1, 1)"))
	check.Must(t, shared.WaitCaughtUp(ctx))
	for _, n := range shared.Replicas() {
		check.Must(t, stopReceiving(ctx, n))
	}
	before, err := old.Executed(ctx)
	check.Must(t, err)
	check.Must(t, exec("INSERT INTO t VALUES (2, 2)"))
	gtid, err := old.Value(ctx, "SELECT GTID_SUBTRACT(@@global.gtid_executed, ?)", before)
	check.Must(t, err)
	check.Must(t, old.Kill())
	check.Must(t, shared.Promote(shared.Replicas()[0]))
	check.Until(t, "the loss is noticed", func() bool { return len(p.lost()) > 0 })
	if lost := p.lost(); len(lost) != 1 || lost[0] != gtid {
		t.Errorf("lost %v, want %s", lost, gtid)
	}
	if err := exec("INSERT INTO t VALUES (3, 3)"); err == nil || !strings.Contains(err.Error(), gtid) {
		t.Errorf("the session was told %v", err)
	}
	check.Must(t, exec("INSERT INTO t VALUES (4, 4)"))
	m := rig.MustMetrics(t, p.HTTP)
	for name, want := range map[string]float64{"causeway_lost_writes_total": 1, "causeway_failover_total": 1, "causeway_warmup_active": 1, "causeway_source_unclear": 0} {
		if got := m.Sum(name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	check.Must(t, stop())

	p = start(t, shared.Addrs(), extra)
	check.Must(t, old.StartNode())
	if ro, err := old.Value(ctx, "SELECT @@global.read_only"); err != nil || ro != "0" {
		t.Fatalf("the old source came back with read_only = %s %v", ro, err)
	}
	refusesAll(t, p, old)
	rejoinErrant(t, p, old)
}

// refusesAll checks that a deposed source gets neither reads nor writes.
func refusesAll(t *testing.T, p *proxy, old *cluster.Node) {
	t.Helper()
	log := old.LogStatements(t)
	check.Until(t, "the deposed source is fenced", func() bool { return strings.HasPrefix(p.state(old), "excluded: fenced") })
	ctx := check.Patience(t)
	for range 20 {
		k := p.app()
		for _, sql := range []string{"SELECT v FROM t WHERE id = 2 /* probe */", "INSERT /* probe */ INTO t VALUES (5, 5)", "DELETE /* probe */ FROM t WHERE id = 5", "SELECT v FROM t WHERE id = 4 /* probe */"} {
			_, err := k.ExecContext(ctx, sql)
			check.Must(t, err)
		}
		check.Must(t, k.Close())
	}
	if n := log.Count(t, "probe"); n != 0 {
		t.Errorf("the deposed source got %d statements", n)
	}
}

// rejoinErrant: replicating is not enough for a source that has transactions
// of its own; once the source has them too, it serves again.
func rejoinErrant(t *testing.T, p *proxy, old *cluster.Node) {
	t.Helper()
	check.Must(t, old.Attach())
	check.Until(t, "it is said why it does not serve", func() bool { return strings.Contains(p.state(old), "transactions of its own") })
	rejoin(t, old)
	check.Until(t, "all serve again", p.allUp)
}

// TestTwoWritable: of two equal nodes none is the source until an operator says
// which; with a replica to tell them apart it is the one that it follows.
func TestTwoWritable(t *testing.T) { again(t, testTwoWritable) }

func testTwoWritable(t *testing.T) {
	lay(t)
	ctx := check.Patience(t)
	source, other := shared.Source(), shared.Replicas()[0]
	two := start(t, []string{source.Addr, other.Addr}, config(t, 200*time.Millisecond))
	three := start(t, shared.Addrs(), config(t, 10*time.Second))
	k, k3 := two.app(), three.app()
	_, err := k.ExecContext(ctx, "INSERT INTO t VALUES (1, 1)")
	check.Must(t, err)
	check.Must(t, shared.WaitCaughtUp(ctx))
	trx, err := k.BeginTx(ctx, nil)
	check.Must(t, err)
	_, err = trx.ExecContext(ctx, "INSERT INTO t VALUES (2, 2)")
	check.Must(t, err)
	logs := []*cluster.GeneralLog{source.LogStatements(t), other.LogStatements(t)}
	check.Must(t, other.Exec(ctx, "STOP REPLICA; RESET REPLICA ALL; SET GLOBAL super_read_only = OFF; SET GLOBAL read_only = OFF"))
	t.Cleanup(func() { rejoin(t, other) })

	check.Until(t, "the alert", func() bool {
		return strings.HasPrefix(two.Status("Source"), "none: more than one server is writable")
	})
	if _, err := trx.ExecContext(ctx, "INSERT INTO t VALUES (3, 3) /* unclear */"); err == nil || !strings.Contains(err.Error(), "more than one server is writable") {
		t.Errorf("in a transaction: %v", err)
	}
	if _, err := two.app().ExecContext(ctx, "INSERT INTO t VALUES (3, 3) /* unclear */"); err == nil || !strings.Contains(err.Error(), "more than one server is writable") {
		t.Errorf("a new session: %v", err)
	}
	for i, log := range logs {
		if n := log.Count(t, "unclear"); n != 0 {
			t.Errorf("server %d got %d writes while it was not clear", i, n)
		}
	}
	if _, err := two.DB.ExecContext(ctx, "CAUSEWAY SET SOURCE '127.0.0.1:1'"); err == nil || !strings.Contains(err.Error(), "is no server of this cluster") {
		t.Errorf("an unknown server: %v", err)
	}
	cfg := cluster.AppConfig(two.Addr, "failover") // a schema that no server can be asked for
	cfg.User, cfg.Passwd = cluster.OperatorUser, cluster.OperatorPassword
	_, err = cluster.Open(t, cfg).ExecContext(ctx, "CAUSEWAY SET SOURCE '"+source.Addr+"'")
	check.Must(t, err)
	check.Until(t, "it is the source", func() bool { return two.Status("Source") == source.Addr })
	if state := two.state(other); !strings.HasPrefix(state, "excluded: fenced") {
		t.Errorf("the other is %s", state)
	}
	check.Must(t, trx.Commit()) // nothing was lost by the alert
	_, err = k.ExecContext(ctx, "INSERT INTO t VALUES (4, 4) /* named */")
	check.Must(t, err)
	_, err = k3.ExecContext(ctx, "INSERT INTO t VALUES (5, 5) /* followed */")
	check.Must(t, err)
	if three.Status("Source") != source.Addr || logs[0].Count(t, "followed") != 1 || logs[1].Count(t, "followed") != 0 || logs[1].Count(t, "named") != 0 {
		t.Errorf("with a replica that follows one of them: source %s, state of the other %s", three.Status("Source"), three.state(other))
	}
	namesOneThatLacks(t, two, other)
}

// namesOneThatLacks: an operator names a server without two writes that clients were told
// of, is obeyed, and warned.
func namesOneThatLacks(t *testing.T, p *proxy, n *cluster.Node) {
	t.Helper()
	ctx := check.Patience(t)
	operator, err := p.DB.Conn(ctx)
	check.Must(t, err)
	defer operator.Close()
	_, err = operator.ExecContext(ctx, "CAUSEWAY SET SOURCE '"+n.Addr+"'")
	check.Must(t, err)
	var level, code, message string
	check.Must(t, operator.QueryRowContext(ctx, "SHOW WARNINGS").Scan(&level, &code, &message))
	_, set, _ := strings.Cut(message, "lacks 2 acknowledged writes: ")
	set, _, _ = strings.Cut(set, ";")
	lost := p.lost()
	if level != "Warning" || !slices.Equal(singles(set), lost) || len(lost) != 2 {
		t.Errorf("%s %s: %s; lost %v", level, code, message, lost)
	}
	if p.Status("Source") != n.Addr {
		t.Errorf("the source is %s", p.Status("Source"))
	}
}
