package replicamon

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"causeway/gtid"
	"causeway/replicamon"
	"causeway/tests/check"
	"causeway/tests/cluster"
)

// The wait ends when the replica applies, not at the next poll: between most
// waits' begin and end nobody polled at all.
func TestWatchNeedsNoPoll(t *testing.T) {
	r := watchOver(t, shared.Addrs(), func(o *replicamon.Options) { o.PositionInterval = 3 * time.Second })
	r.allServe()
	const rounds = 30
	unpolled := 0
	for range rounds {
		asked := r.View().SourceAsked
		need := write(t, shared)
		v, ok := r.WaitCovered(r.ctx, need, soon())
		if !ok {
			t.Fatal("not covered")
		}
		covered := false
		for _, n := range v.Replicas {
			covered = covered || n.Usable() && n.Position.Contains(need)
		}
		if !covered {
			t.Error("woken without cover")
		}
		if v.SourceAsked.Equal(asked) {
			unpolled++
		}
	}
	if unpolled < rounds/2 {
		t.Errorf("only %d of %d waits ended without a poll", unpolled, rounds)
	}
	if r.metric("causeway_watch_wakeups_total", "") == 0 {
		t.Error("the watch woke nobody")
	}
}

// Read your writes, as a session does it: write, wait, read on a node that the
// view says covers it. With appliers that stop now and then.
func TestReadYourWrites(t *testing.T) {
	shared.HealAfter(t)
	r := watchOver(t, shared.Addrs(), nil)
	r.allServe()
	write(t, shared)
	byAddr := map[string]*cluster.Node{}
	for _, n := range shared.Nodes() {
		n.DB.SetMaxIdleConns(50)
		byAddr[n.Addr] = n
	}
	stop := make(chan struct{})
	var wg, trouble sync.WaitGroup
	trouble.Go(func() {
		for i := 0; ; i++ {
			n := shared.Replica(1 + i%2)
			if n.Pause(r.ctx) != nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
			_ = n.Resume(r.ctx)
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	var reads, stale atomic.Int64
	for range 32 {
		wg.Go(func() {
			for range 15 {
				id, need, err := insert(r.ctx)
				if err != nil {
					t.Error(err)
					return
				}
				v, ok := r.WaitCovered(r.ctx, need, soon())
				if !ok {
					t.Error("not covered")
					return
				}
				for _, n := range v.Replicas {
					if !n.Usable() || !n.Position.Contains(need) {
						continue
					}
					got, err := count(r.ctx, byAddr[n.Addr].DB, "SELECT COUNT(*) FROM test.m WHERE id = ?", id)
					if err != nil {
						t.Error(err)
						return
					}
					reads.Add(1)
					if got != 1 {
						stale.Add(1)
					}
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	trouble.Wait()
	t.Logf("%d reads on covered replicas", reads.Load())
	if reads.Load() < 32*15 || stale.Load() > 0 {
		t.Errorf("%d reads, %d stale", reads.Load(), stale.Load())
	}
}

// insert commits a row and returns its id, and the source's position after it.
func insert(ctx context.Context) (int64, gtid.Set, error) {
	res, err := shared.Source().DB.ExecContext(ctx, "INSERT INTO test.m VALUES (NULL)")
	if err != nil {
		return 0, gtid.Set{}, err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return 0, gtid.Set{}, err
	}
	text, err := shared.Source().Executed(ctx)
	if err != nil {
		return 0, gtid.Set{}, err
	}
	set, err := gtid.Parse(text)
	return id, set, err
}

func TestFreshSource(t *testing.T) {
	r := watchOver(t, shared.Addrs(), nil)
	r.allServe()
	for range 20 {
		need := write(t, shared)
		called := time.Now()
		set, asked, err := r.FreshSource(r.ctx)
		check.Must(t, err)
		if !set.Contains(need) || asked.Before(called) {
			t.Errorf("asked %v after the call; has the write: %v", asked.Sub(called), set.Contains(need))
		}
	}
}
