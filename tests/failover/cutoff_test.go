package failover

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
)

// cutOff are the ways to the source: Causeway's own, and each replica's. Others
// than they still reach it.
type cutOff struct {
	toCauseway *cluster.Link
	toReplicas []*cluster.Link
}

// leadOver makes Causeway and the replicas reach the source over links, and
// returns the addresses for Causeway, in the order of the nodes.
func leadOver(t *testing.T, source *cluster.Node) (*cutOff, []string) {
	t.Helper()
	k := &cutOff{toCauseway: newLink(t, source.Addr)}
	for _, n := range shared.Replicas() {
		link := newLink(t, source.Addr)
		check.Must(t, link.Lead(t.Context(), n))
		k.toReplicas = append(k.toReplicas, link)
	}
	check.Must(t, shared.WaitCaughtUp(check.Patience(t)))
	addrs := shared.Addrs()
	for i, addr := range addrs {
		if addr == source.Addr {
			addrs[i] = k.toCauseway.Addr()
		}
	}
	return k, addrs
}

func newLink(t *testing.T, to string) *cluster.Link {
	t.Helper()
	link, err := cluster.NewLink(to)
	check.Must(t, err)
	t.Cleanup(link.Close)
	return link
}

func (k *cutOff) cutReplicas() {
	for _, link := range k.toReplicas {
		link.Cut()
	}
}

func (k *cutOff) mend() {
	k.toCauseway.Mend()
	for _, link := range k.toReplicas {
		link.Mend()
	}
}

// TestCutOff: the source runs on, writable, and can be reached neither by
// Causeway nor by its replicas; another is promoted; then the way is open again.
// In every third round, the first among them, the replicas' links are cut first,
// so that writes which were acknowledged are on the old source alone. Somebody
// writes there meanwhile: transactions that nobody else has.
func TestCutOff(t *testing.T) {
	rounds(t, func(t *testing.T, i int) outcome {
		lay(t)
		old, early := shared.Source(), i%3 == 0
		k, addrs := leadOver(t, old)
		p := start(t, addrs, config(t, 30*time.Second))
		l := p.load()
		k.cutReplicas()
		if early {
			l.Await(clients)
			l.note = "replicas cut off first"
		}
		k.toCauseway.Cut()
		check.Until(t, "it is down", func() bool { return strings.HasPrefix(p.stateAt(k.toCauseway.Addr()), "down") })
		check.Must(t, old.Exec(check.Patience(t), "INSERT INTO failover.t VALUES (-1, 0)"))
		l.resumed(func() { check.Must(t, shared.PromoteCutOff(shared.Replicas()[0])) })
		l.Await(5 * clients)
		check.Must(t, old.Exec(check.Patience(t), "INSERT INTO failover.t VALUES (-2, 0)")) // it is writable
		k.mend()
		check.Until(t, "the old source is seen again", func() bool { return strings.HasPrefix(p.stateAt(k.toCauseway.Addr()), "excluded: fenced") })
		log := old.LogStatements(t)
		l.Phase.Store(2) // what was on the way to it arrives now
		l.Await(10 * clients)
		o := l.end(p)
		reportedExactly(t, p, o, early)
		if n := log.Count(t, "phase 2"); n != 0 {
			t.Errorf("%d statements went to the deposed source", n)
		}
		strays(t, p)
		rejoin(t, old)
		check.Until(t, "all serve again", func() bool {
			return p.stateAt(k.toCauseway.Addr()) == "up" && p.Status("Source") == shared.Source().Addr
		})
		return o
	})
}

// strays checks that what was written on the old source behind Causeway's back is
// read by nobody.
func strays(t *testing.T, p *proxy) {
	t.Helper()
	for i := range 20 {
		var n int
		check.Must(t, p.app().QueryRowContext(check.Patience(t), fmt.Sprintf("SELECT COUNT(*) FROM t WHERE id < 0 AND %d = %d", i, i)).Scan(&n))
		if n != 0 {
			t.Errorf("a read saw %d rows that only the deposed source has", n)
		}
	}
}

// TestPromotedBesideLiveSource: whoever promotes cannot reach the source, Causeway can:
// its clients keep it busy, so that it is ahead of the promoted server for ever.
func TestPromotedBesideLiveSource(t *testing.T) {
	again(t, func(t *testing.T) {
		lay(t)
		old, next := shared.Source(), shared.Replicas()[0]
		p := start(t, shared.Addrs(), config(t, 10*time.Second))
		l := p.load()
		l.Await(2 * clients)
		check.Must(t, shared.PromoteCutOff(next))
		check.Until(t, "the promoted one is the source", func() bool { return p.Status("Source") == next.Addr })
		log := old.LogStatements(t)
		l.Phase.Store(2)
		l.Await(10 * clients)
		o := l.end(p)
		if o.missing != o.lost {
			t.Errorf("%d acknowledged writes are missing, %d were reported: %v", o.missing, o.lost, p.Show("LOST"))
		}
		if n := log.Count(t, "phase 2"); n != 0 {
			t.Errorf("%d statements went to the deposed source", n)
		}
		rejoin(t, old)
		check.Until(t, "all serve again", p.allUp)
	})
}
