package replicamon

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"causeway/backend"
	"causeway/gtid"
)

// quiet makes the position probe so slow that only the watch can wake.
var quiet = Options{PositionInterval: time.Hour, Interval: time.Hour}

func TestWatchWakesWhenTheReplicaApplies(t *testing.T) {
	bubble(t, quiet, func(t *testing.T, c *fakeCluster) {
		began := time.Now()
		done := make(chan *backend.View, 1)
		go func() {
			v, ok := c.WaitCovered(t.Context(), gs("1:11"), began.Add(time.Second))
			if !ok {
				v = nil
			}
			done <- v
		}()
		time.Sleep(30 * time.Millisecond)
		c.server("b").apply("1:11")
		v := <-done
		if d := time.Since(began); d != 30*time.Millisecond {
			t.Errorf("woken after %v, applied after 30ms", d)
		}
		if v == nil || !v.Node("b").Position.Contains(gs("1:11")) || v.Node("c").Position.Contains(gs("1:11")) {
			t.Error("the view does not show what was waited for")
		}
	})
}

func TestWaitThatNeedsNoWait(t *testing.T) {
	bubble(t, quiet, func(t *testing.T, c *fakeCluster) {
		for _, need := range []gtid.Set{{}, gs("1:3-7"), gs("1:1-10")} {
			if _, ok := c.WaitCovered(t.Context(), need, time.Now().Add(time.Second)); !ok {
				t.Errorf("%v is covered", need)
			}
		}
		if _, ok := c.WaitCovered(t.Context(), gs("1:11"), time.Now()); ok {
			t.Error("covered without a wait")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, ok := c.WaitCovered(ctx, gs("1:11"), time.Now().Add(time.Hour)); ok {
			t.Error("covered after the context's end")
		}
		if n := c.server("b").count("await"); n != 0 {
			t.Errorf("%d waits were sent", n)
		}
	})
}

// A stopped applier gives no error, only the timeout; nobody watches after it.
func TestWaitEndsAtItsDeadline(t *testing.T) {
	bubble(t, quiet, func(t *testing.T, c *fakeCluster) {
		began := time.Now()
		if _, ok := c.WaitCovered(t.Context(), gs("1:11"), began.Add(250*time.Millisecond)); ok {
			t.Error("covered")
		}
		if d := time.Since(began); d != 250*time.Millisecond {
			t.Errorf("ended after %v", d)
		}
		time.Sleep(time.Second)
		sent := c.server("b").count("await")
		if sent < 3 || sent > 4 {
			t.Errorf("%d waits for 250ms in steps of at most 100ms", sent)
		}
		time.Sleep(time.Minute)
		if now := c.server("b").count("await"); now != sent {
			t.Errorf("%d waits while nobody waits", now-sent)
		}
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	bubble(t, quiet, func(t *testing.T, c *fakeCluster) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		began := time.Now()
		if _, ok := c.WaitCovered(ctx, gs("1:11"), began.Add(time.Hour)); ok || time.Since(began) != 20*time.Millisecond {
			t.Errorf("covered %v after %v", ok, time.Since(began))
		}
		if c.queue.len() != 0 {
			t.Error("it still stands in the queue")
		}
	})
}

func TestThousandWaiters(t *testing.T) {
	bubble(t, quiet, func(t *testing.T, c *fakeCluster) {
		const n = 1000
		var wg sync.WaitGroup
		var met atomic.Int64
		for i := range n {
			wg.Go(func() {
				need := gs(fmt.Sprintf("1:%d", 11+i))
				v, ok := c.WaitCovered(t.Context(), need, time.Now().Add(time.Minute))
				if !ok {
					return
				}
				met.Add(1)
				if !v.Node("b").Position.Contains(need) && !v.Node("c").Position.Contains(need) {
					t.Errorf("woken for %v too early", need)
				}
			})
		}
		synctest.Wait()
		if got := c.queue.len(); got != n {
			t.Errorf("%d wait", got)
		}
		for i := range n {
			c.server([]string{"b", "c"}[i%2]).apply(fmt.Sprintf("1:%d", 11+i))
			if i%10 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		wg.Wait()
		if met.Load() != n || c.queue.len() != 0 {
			t.Errorf("%d met, %d left", met.Load(), c.queue.len())
		}
	})
}

// One lost GTID must not hide the needs of others behind it.
func TestUnmetNeedHidesNobody(t *testing.T) {
	bubble(t, quiet, func(t *testing.T, c *fakeCluster) {
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, ok := c.WaitCovered(t.Context(), gs("7:1"), time.Now().Add(10*time.Second)); ok {
				t.Error("a GTID that nobody has was covered")
			}
		})
		synctest.Wait()
		var slowest time.Duration
		for i := 11; i < 31; i++ {
			began := time.Now()
			wg.Go(func() {
				time.Sleep(5 * time.Millisecond)
				c.server("b").apply(fmt.Sprintf("1:%d", i))
			})
			if _, ok := c.WaitCovered(t.Context(), gs(fmt.Sprintf("1:%d", i)), began.Add(time.Second)); !ok {
				t.Fatalf("1:%d was applied", i)
			}
			slowest = max(slowest, time.Since(began))
		}
		if slowest > 110*time.Millisecond {
			t.Errorf("the slowest waited %v", slowest)
		}
		wg.Wait()
	})
}

func TestTooManyWaiters(t *testing.T) {
	o := quiet
	o.MaxWaiters = 2
	bubble(t, o, func(t *testing.T, c *fakeCluster) {
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { c.WaitCovered(t.Context(), gs("1:11"), time.Now().Add(time.Second)) })
		}
		synctest.Wait()
		began := time.Now()
		if _, ok := c.WaitCovered(t.Context(), gs("1:11"), began.Add(time.Second)); ok || time.Since(began) > 0 {
			t.Errorf("covered %v after %v", ok, time.Since(began))
		}
		wg.Wait()
	})
}

func TestWaitForOneNode(t *testing.T) {
	bubble(t, quiet, func(t *testing.T, c *fakeCluster) {
		done := make(chan bool, 1)
		began := time.Now()
		go func() {
			_, ok := c.Wait(t.Context(), Wait{Need: gs("1:11"), Until: began.Add(time.Second), Addr: "c"})
			done <- ok
		}()
		synctest.Wait()
		c.server("b").apply("1:11")
		time.Sleep(50 * time.Millisecond)
		select {
		case <-done:
			t.Error("woken by another replica")
		default:
		}
		if n := c.server("b").count("await"); n != 0 {
			t.Errorf("%d waits sent to a replica that nobody waits for", n)
		}
		c.server("c").apply("1:11")
		if !<-done || time.Since(began) != 50*time.Millisecond {
			t.Errorf("after %v", time.Since(began))
		}
	})
}

func TestUntrustedNeed(t *testing.T) {
	bubble(t, quiet, func(t *testing.T, c *fakeCluster) {
		began := time.Now()
		if _, ok := c.Wait(t.Context(), Wait{Need: gs("1:999"), Until: began.Add(time.Second), Untrusted: true}); ok {
			t.Error("covered")
		}
		if n := c.server("b").count("await"); n != 0 || time.Since(began) > 0 {
			t.Errorf("%d waits, %v, for what the source has not", n, time.Since(began))
		}
		c.server("a").apply("1:11") // newer than the monitor's sample
		go func() {
			time.Sleep(10 * time.Millisecond)
			c.server("b").apply("1:11")
		}()
		if _, ok := c.Wait(t.Context(), Wait{Need: gs("1:11"), Until: began.Add(time.Second), Untrusted: true}); !ok {
			t.Error("the source has it: it must be waited for")
		}
	})
}

// A replica that dies with a wait on it, or that is excluded, wakes nobody.
func TestWatchOnADyingReplica(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, c *fakeCluster) {
		done := make(chan bool, 1)
		go func() {
			_, ok := c.WaitCovered(t.Context(), gs("1:11"), time.Now().Add(5*time.Second))
			done <- ok
		}()
		synctest.Wait()
		c.server("b").set(func(f *fakeServer) { f.dead = true })
		c.server("c").set(func(f *fakeServer) { f.st.channels = nil; f.executed = gs("1:1-20 3:1") })
		time.Sleep(2 * time.Second)
		// c covers the need but was found to replicate from nowhere: whether it
		// woke before that is a matter of order, so only the rest is asserted.
		<-done
		v := c.View()
		if v.Node("b").Usable() || v.Node("c").Usable() {
			t.Error("a dead or an excluded node is usable")
		}
		if _, ok := c.WaitCovered(t.Context(), gs("1:12"), time.Now().Add(time.Second)); ok {
			t.Error("an excluded node covers nothing")
		}
	})
}

// After the source lost transactions, numbers that somebody waits for may come
// to name others: nobody may be woken by those.
func TestNewEpochLetsWaitersGo(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, c *fakeCluster) {
		began := time.Now()
		done := make(chan bool, 1)
		go func() {
			v, ok := c.WaitCovered(t.Context(), gs("1:11"), began.Add(time.Hour))
			done <- ok || v.Epoch != 1
		}()
		synctest.Wait()
		c.server("a").set(func(f *fakeServer) { f.executed = gs("") })
		if <-done || time.Since(began) > time.Second {
			t.Errorf("let go after %v", time.Since(began))
		}
	})
}

func TestWaitersAreLetGoAtTheEnd(t *testing.T) {
	done := make(chan bool, 1)
	bubble(t, quiet, func(t *testing.T, c *fakeCluster) {
		go func() {
			_, ok := c.WaitCovered(context.Background(), gs("1:11"), time.Now().Add(time.Hour))
			done <- ok
		}()
		synctest.Wait()
	})
	if <-done {
		t.Error("covered")
	}
}

func TestFreshSource(t *testing.T) {
	bubble(t, quiet, func(t *testing.T, c *fakeCluster) {
		a := c.server("a")
		time.Sleep(time.Millisecond) // two questions of one moment cannot be told apart, and the clock stands still here
		a.apply("1:11")
		began := time.Now()
		set, asked, err := c.FreshSource(t.Context())
		if err != nil || !set.Contains(gs("1:11")) || asked.Before(began) {
			t.Fatalf("%v asked %v %v", set, asked.Sub(began), err)
		}
		if v := c.View(); !v.SourcePosition.Contains(gs("1:11")) || v.SourceAsked.Before(asked) {
			t.Error("the answer is not in the view")
		}
		// While one question is under way, all that come share the next one.
		before := a.count("position")
		a.set(func(f *fakeServer) { f.hung = true })
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				if i > 0 {
					time.Sleep(time.Duration(i) * time.Millisecond)
				}
				called := time.Now()
				if _, asked, err := c.FreshSource(t.Context()); err != nil || asked.Before(called) {
					t.Errorf("asked %v after the call, %v", asked.Sub(called), err)
				}
			})
		}
		time.Sleep(200 * time.Millisecond)
		a.set(func(f *fakeServer) { f.hung = false })
		wg.Wait()
		if n := a.count("position") - before; n != 2 {
			t.Errorf("%d questions for 100 callers", n)
		}
	})
}

func TestFreshSourceFails(t *testing.T) {
	bubble(t, quiet, func(t *testing.T, c *fakeCluster) {
		a := c.server("a")
		a.set(func(f *fakeServer) { f.hung = true })
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, _, err := c.FreshSource(ctx); err == nil {
			t.Error("a hung source answered")
		}
		if _, _, err := c.FreshSource(t.Context()); kindOf(err) != errSilent || err == nil {
			t.Errorf("%v", err)
		}
		a.set(func(f *fakeServer) { f.hung = false })
		if _, _, err := c.FreshSource(t.Context()); err != nil {
			t.Errorf("after it came back: %v", err)
		}
		// A stranger at the source's address is not believed.
		c.replace("a", newFake(9, "9:1-99", writable))
		if set, _, err := c.FreshSource(t.Context()); err == nil {
			t.Errorf("a stranger was believed: %v", set)
		}
		c.until(t, func(v *backend.View) bool { return v.Source == nil })
		if _, _, err := c.FreshSource(t.Context()); err != ErrNoSource {
			t.Errorf("%v", err)
		}
	})
}

func BenchmarkPublish(b *testing.B) {
	s := benchState()
	m := newMonitor(Options{Servers: []string{"a", "b", "c"}, MaxWaiters: 2000}, nopLog, nil)
	m.state = s
	for i := range 1000 {
		m.queue.add(&waiter{need: gs(fmt.Sprintf("1:%d", 1000000+i)), until: time.Now().Add(time.Hour)})
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		now := time.Now()
		m.apply((*m.probes.Load())[1], answered{gen: 1, pos: position{asked: now, answered: now, uuid: u(2), readOnly: true,
			executed: gtid.MustParse(fmt.Sprintf("%s:1-%d", u(1), 10+i%100000))}})
	}
}

var nopLog = zerolog.Nop()

func benchState() state {
	m := &sim{s: newState(Options{Servers: []string{"a", "b", "c"}}), now: time.Now().Add(-time.Hour)}
	for i := range 3 {
		m.connect(i, i+1, "1:1-10", i > 0)
	}
	m.status(0, writable)
	m.status(1, replicaOf(1))
	m.status(2, replicaOf(1))
	m.answer(0, 1, "1:1-10")
	return m.s
}
