package sharedkeys

import (
	"strings"
	"testing"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/redis"
)

// grown waits until a row of SHOW CAUSEWAY STATUS that begins so has grown.
func grown(t *testing.T, cw *cluster.Causeway, name string, since map[string]string) {
	t.Helper()
	check.Until(t, name+" grows", func() bool {
		for row, value := range storeStatus(t, cw) {
			if strings.HasPrefix(row, name) && value != since[row] {
				return true
			}
		}
		return false
	})
}

// TestStoreFails: 0 stale reads and no waits beyond max_wait while Redis is killed,
// restarted empty, frozen, and cut off from one Causeway alone; and in between the
// store serves.
func TestStoreFails(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			table(t)
			r := redis.Start(t)
			wire := lay(t, r.Addr)
			a := cluster.StartCauseway(t, shared, config(s, "a", "redis = \""+wire.addr()+"\"\n"))
			b := cluster.StartCauseway(t, shared, config(s, "b", "redis = \""+r.Addr+"\"\n"))
			trusted(t, a, b)
			l := begin(t, s, a, b)
			defer l.end()
			for _, fault := range []struct {
				name       string
				make, mend func()
			}{
				{"killed, and restarted empty", r.Kill, r.Restart},
				{"frozen", r.Freeze, r.Thaw},
				{"cut off from a alone", wire.cut, wire.mend},
			} {
				before := storeStatus(t, a)
				grown(t, a, "Shared_reads store", before)
				grown(t, b, "Shared_writes published", storeStatus(t, b))
				t.Log(fault.name)
				before = storeStatus(t, a)
				fault.make()
				grown(t, a, "Shared_writes without", before)
				grown(t, b, "Shared_reads global", storeStatus(t, b))
				fault.mend()
				trusted(t, a, b)
			}
		})
	}
}

// TestRestartedAtOnce: a server that loses all, so quickly that nobody misses it, has
// another life.
func TestRestartedAtOnce(t *testing.T) {
	s := setups[0]
	table(t)
	r := redis.Start(t)
	a := cluster.StartCauseway(t, shared, config(s, "a", "redis = \""+r.Addr+"\"\n"))
	b := cluster.StartCauseway(t, shared, config(s, "b", "redis = \""+r.Addr+"\"\n"))
	trusted(t, a, b)
	l := begin(t, s, a, b)
	defer l.end()
	for range 3 {
		was := r.Info("run_id")
		r.Kill()
		r.Restart()
		check.Until(t, "another run", func() bool { is := r.Info("run_id"); return is != "" && is != was })
		trusted(t, a, b)
		grown(t, a, "Shared_reads store", storeStatus(t, a))
	}
}

// TestSentinel: the server is killed, and another time frozen and thawed when it has
// been replaced, so that it believes itself to be in charge.
func TestSentinel(t *testing.T) {
	s := setups[0]
	table(t)
	first := redis.Start(t)
	second := redis.Start(t, "--replicaof", "127.0.0.1 "+first.Addr[len("127.0.0.1:"):])
	check.Until(t, "the replica is there", func() bool { return second.Info("master_link_status") == "up" })
	sentinel := redis.StartSentinel(t, first)
	check.Until(t, "Sentinel knows the replica", func() bool { return strings.Contains(sentinel.Info("master0"), "slaves=1") })
	at := "redis = \"" + sentinel.Addr + "\"\nsentinel = \"keys\"\n"
	a := cluster.StartCauseway(t, shared, config(s, "a", at))
	b := cluster.StartCauseway(t, shared, config(s, "b", at))
	trusted(t, a, b)
	l := begin(t, s, a, b)
	defer l.end()

	grown(t, a, "Shared_reads store", storeStatus(t, a))
	first.Freeze()
	check.Until(t, "the second takes over", func() bool { return second.Info("role") == "master" })
	first.Thaw()
	trusted(t, a, b)
	grown(t, b, "Shared_reads store", storeStatus(t, b))
	check.Until(t, "the first follows", func() bool { return first.Info("master_link_status") == "up" })
	second.Kill()
	check.Until(t, "the first takes over again", func() bool { return first.Info("role") == "master" })
	trusted(t, a, b)
	grown(t, a, "Shared_reads store", storeStatus(t, a))
}

// TestProcessDies: while one Causeway is away the other serves as global, and trusts
// the store again when it is back.
func TestProcessDies(t *testing.T) {
	s := setups[0]
	table(t)
	r := redis.Start(t)
	at := "redis = \"" + r.Addr + "\"\n"
	b := cluster.StartCauseway(t, shared, config(s, "b", at))
	check.Until(t, "b joins", func() bool { return storeStatus(t, b)["Store"] == "joined" })
	l := begin(t, s, b, b)
	defer l.end()
	grown(t, b, "Shared_reads global leaseless", storeStatus(t, b))
	a := cluster.StartCauseway(t, shared, config(s, "a", at))
	trusted(t, a, b)
	grown(t, b, "Shared_reads store", storeStatus(t, b))
}

// TestUnsharedIsSeen: without a store the other Causeway must miss writes, or the tests
// prove nothing.
func TestUnsharedIsSeen(t *testing.T) {
	s := setups[0]
	table(t)
	a, b := cluster.StartCauseway(t, shared, config(s, "a", "")), cluster.StartCauseway(t, shared, config(s, "b", ""))
	l := begin(t, s, a, b)
	check.Until(t, "a stale read", func() bool { return l.stale.Load() > 0 })
	l.done()
	l.all.Wait()
}
