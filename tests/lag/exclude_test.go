package lag

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/backend"
	"causeway/balance"
	"causeway/gtid"
	"causeway/replicamon"
	"causeway/tests/check"
	"causeway/tests/cluster"
)

// TestExclusion: a replica that lags leaves the limit that it is over, keeps
// serving under the other one and for tokens that it covers, and comes back by
// way of the slow start after the recovery window, once.
func TestExclusion(t *testing.T) {
	shared.HealAfter(t)
	ctx := limited(t)
	lay(ctx, t, "CREATE TABLE lagtest.w (id INT PRIMARY KEY AUTO_INCREMENT)")
	const recovery = 2 * time.Second
	m := watch(ctx, t, func(o *replicamon.Options) {
		o.LagLimits = []replicamon.LagLimit{{Name: "strict", P95: 700 * time.Millisecond}, {Name: "loose", P95: time.Hour}}
		o.Interval, o.RecoveryWindow, o.SlowStart = 50*time.Millisecond, recovery, 2*time.Second
		o.Timeout = 10 * time.Second // a slow machine's late probes are no unknown lag
	})
	slow, quick := shared.Replica(1), shared.Replica(2)
	within := func(n *backend.Node) bool { return n.Limits[0] == backend.Limit{Name: "strict", Share: 100} }
	until(ctx, t, "both are within", func() bool { return within(node(m, slow)) && within(node(m, quick)) })
	every(ctx, t, 20*time.Millisecond, func() error { return writeOn(ctx) })
	unlock := block(ctx, t, slow, "lagtest.w")
	until(ctx, t, "excluded for its lag", func() bool { return strings.HasPrefix(node(m, slow).Limits[0].Excluded, "lag p9") })
	v := m.View()
	if l := v.Node(slow.Addr).Limits[1]; l != (backend.Limit{Name: "loose", Share: 100}) {
		t.Errorf("under the other limit: %+v", l)
	}
	pick := func(need balance.Need) *backend.Node {
		need.Now = time.Now()
		n, _ := balance.Pick(balance.RoundRobin, []*backend.Node{v.Node(slow.Addr)}, need, 0)
		return n
	}
	if pick(balance.Need{Limit: 0}) != nil {
		t.Error("a read without a token got the excluded replica")
	}
	text, err := slow.Executed(ctx)
	check.Must(t, err)
	until(ctx, t, "the monitor knows its position", func() bool {
		v = m.View()
		return v.Node(slow.Addr).Position.Contains(gtid.MustParse(text))
	})
	if pick(balance.Need{Limit: 0, Token: gtid.MustParse(text)}) == nil {
		t.Error("a read whose token it covers did not")
	}

	unlock()
	ended := time.Now()
	shares, last := []uint8{}, uint8(0)
	until(ctx, t, "back with all its weight", func() bool {
		l := node(m, slow).Limits[0]
		switch {
		case l.Excluded != "": // yet, or again: a slow machine has lag of its own
			shares, last = nil, 0
		case l.Share != last:
			last = l.Share
			shares = append(shares, last)
		}
		return last == 100
	})
	if time.Since(ended) < recovery {
		t.Errorf("back after %v, before the recovery window had passed", time.Since(ended))
	}
	for i := range shares {
		if i > 0 && shares[i] < shares[i-1] {
			t.Errorf("the slow start goes back: %v", shares)
		}
	}
	if len(shares) < 2 {
		t.Errorf("no slow start: %v", shares)
	}
}

// block keeps a replica's workers from a table until it is told to unlock.
func block(ctx context.Context, t *testing.T, n *cluster.Node, table string) (unlock func()) {
	t.Helper()
	conn, err := n.DB.Conn(ctx)
	check.Must(t, err)
	_, err = conn.ExecContext(ctx, "LOCK TABLES "+table+" READ")
	check.Must(t, err)
	unlock = sync.OnceFunc(func() {
		_, err := conn.ExecContext(context.Background(), "UNLOCK TABLES")
		check.Must(t, err)
		check.Must(t, conn.Close())
	})
	t.Cleanup(unlock)
	return unlock
}
