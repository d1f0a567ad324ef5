package soak

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"causeway/tests/cluster"
	"causeway/tests/rig"
)

// patient: how fast a machine that does all this at once answers is not the
// question, so nothing counts as lost before it has had its time. What the pool
// need not keep it closes soon, so that what is left is a leak.
const patient = `[monitor]
timeout = "20s"
[pool]
min_idle = 0
idle_timeout = "1s"
[backend]
connect_timeout = "20s"
`

// A process that leaks shows it here, after many connections came and went.
func TestSoak(t *testing.T) {
	length := durationSetting(t, "SOAK_DURATION", 30*time.Second)
	workers := intSetting(t, "SOAK_CONNECTIONS", 200)
	c, causeway := shared, cluster.StartCauseway(t, shared, patient)

	// One short round first, so that what Causeway keeps for good is there.
	warm := newLoad(causeway.Addr, 4)
	warmed, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	warm.run(warmed)
	cancel()
	before := settle(t, c, causeway)

	l := newLoad(causeway.Addr, workers)
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	memory := make(chan series)
	go func() { memory <- sample(ctx, causeway, length/60) }()
	l.run(ctx)
	rss := <-memory

	for _, name := range slices.Sorted(maps.Keys(l.done)) {
		t.Logf("%7d x %-20s %d failed", l.done[name], name, l.failed[name])
	}
	if err := l.err(); err != nil {
		t.Error(err)
	}
	noLeak(t, c, causeway, before)
	// In half a minute the collector has hardly found its pace yet.
	share, slack := 0.25, 8.0
	if length >= 5*time.Minute {
		share, slack = 0.05, 2.0
	}
	t.Logf("memory in MB, sixty samples: %.1f", rss)
	if err := rss.flat(share, slack); err != nil {
		t.Error("resident memory in MB: ", err)
	}
}

// left is what a client that has gone may leave nothing of.
type left struct {
	goroutines, descriptors float64
	backends                int64 // connections on all servers
}

func look(ctx context.Context, c *cluster.Cluster, causeway *cluster.Causeway) (left, error) {
	m, err := rig.ReadMetrics(ctx, causeway.HTTP)
	if err != nil {
		return left{}, err
	}
	l := left{goroutines: m.Sum("go_goroutines"), descriptors: m.Sum("process_open_fds")}
	if l.goroutines == 0 || l.descriptors == 0 {
		return l, fmt.Errorf("/metrics has no go_goroutines or process_open_fds")
	}
	for _, n := range c.Nodes() {
		connected, err := rig.Connections(ctx, n)
		if err != nil {
			return l, err
		}
		l.backends += connected
	}
	return l, nil
}

// settle waits until two looks in a row agree: all clients' ends are done.
func settle(t *testing.T, c *cluster.Cluster, causeway *cluster.Causeway) left {
	t.Helper()
	var last left
	eventually(t, 30*time.Second, 200*time.Millisecond, func() (bool, string) {
		now, err := look(t.Context(), c, causeway)
		if err != nil {
			return false, err.Error()
		}
		same := now == last
		last = now
		return same, fmt.Sprintf("%+v", now)
	})
	return last
}

// noLeak waits until all is as it was before the load. A few may come and go
// with the monitor's own work.
func noLeak(t *testing.T, c *cluster.Cluster, causeway *cluster.Causeway, before left) {
	t.Helper()
	const few = 5
	eventually(t, 40*time.Second, 200*time.Millisecond, func() (bool, string) {
		now, err := look(t.Context(), c, causeway)
		if err != nil {
			return false, err.Error()
		}
		ok := now.goroutines <= before.goroutines+few && now.descriptors <= before.descriptors+few && now.backends <= before.backends+few
		return ok, fmt.Sprintf("before %+v, now %+v", before, now)
	})
}

// sample reads the resident memory in MB until the context ends.
func sample(ctx context.Context, causeway *cluster.Causeway, every time.Duration) series {
	var s series
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return s
		case <-tick.C:
			if rss, err := rig.RSS(causeway.Pid); err == nil {
				s = append(s, float64(rss)/(1<<20))
			}
		}
	}
}
