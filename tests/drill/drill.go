package main

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"causeway/tests/cluster"
	"causeway/tests/rig"
)

// drill is one run, on a cluster that is there already.
type drill struct {
	plan     plan
	cluster  *cluster.Cluster
	causeway *cluster.Causeway
	windows  bool                             // this Causeway has lag limits
	say      func(format string, args ...any) // progress
	began    time.Time
	phase    atomic.Int32
	starts   [phaseCount]time.Duration // since began; the phases' own goroutine writes them

	clock   clock
	journal journal
	watched watched
}

// spare is for all that waits for a condition: a drill that takes so much longer
// than its plan hangs.
const spare = 5 * time.Minute

// run starts Causeway, runs all phases and returns what was seen.
func run(ctx context.Context, p plan, c *cluster.Cluster, say func(string, ...any)) (_ *evidence, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.total+spare)
	defer cancel()
	d := &drill{plan: p, cluster: c, say: say}
	if err := c.Source().Exec(ctx, layout()); err != nil {
		return nil, err
	}
	if err := c.WaitCaughtUp(ctx); err != nil {
		return nil, err
	}
	if d.windows, err = hasWindows(); err != nil {
		return nil, err
	}
	cw, stop, err := cluster.StartSharedCauseway(c, p.config(d.windows))
	if err != nil {
		return nil, err
	}
	defer func() {
		if end := stop(); err == nil {
			err = end
		}
	}()
	d.causeway = cw
	if err := d.play(ctx); err != nil {
		return nil, fmt.Errorf("%w\nthe end of causeway's log:\n%s", err, cw.LogTail(20))
	}
	return d.evidence(), nil
}

// play runs the load, those who watch, and the phases, and ends all of them.
func (d *drill) play(ctx context.Context) error {
	d.began = time.Now()
	clocked, stopClock := context.WithCancel(ctx)
	defer stopClock()
	tickers, clocked := errgroup.WithContext(clocked)
	tickers.Go(func() error { return d.clock.run(clocked, d.cluster.Source()) })

	all, loaded := errgroup.WithContext(clocked)
	loaded, stopLoad := context.WithCancel(loaded)
	defer stopLoad()
	id := 0
	for k := range kind(kindCount) {
		for range kinds[k].clients {
			me := id
			all.Go(func() error { return d.serve(loaded, k, me) })
			id++
		}
	}
	all.Go(func() error { return d.watch(loaded) })
	all.Go(func() error { return d.watchLimits(loaded) })
	all.Go(func() error {
		defer stopLoad()
		return d.phases(loaded)
	})
	err := all.Wait()
	stopClock()
	if end := tickers.Wait(); end != nil {
		return end
	}
	return err
}

// phases changes the delay of the replicas, one after the other, so that never
// both appliers stand still at once: the change stops them for a moment.
func (d *drill) phases(ctx context.Context) error {
	for ph := range phase(phaseCount) {
		d.enter(ph)
		switch ph {
		case surge:
			if err := d.delay(ctx, behind); err != nil {
				return err
			}
		case recovery:
			if err := d.delay(ctx, 0); err != nil {
				return err
			}
			if err := d.cluster.WaitCaughtUp(ctx); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d.plan.length(ph)):
		}
		if ph == recovery {
			if err := d.awaitReturn(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// longestReturn is how much longer than its plan the recovery may take on a busy
// machine. What is not back by then is for the judgement to tell.
const longestReturn = time.Minute

// awaitReturn waits until no replica is excluded under any limit.
func (d *drill) awaitReturn(ctx context.Context) error {
	c, err := dial(d.causeway.Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	for began := time.Now(); time.Since(began) < longestReturn; {
		servers, err := serverTable(c)
		if err != nil || !anyExcluded(servers) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(limitsEvery):
		}
	}
	return nil
}

func (d *drill) enter(ph phase) {
	d.starts[ph] = time.Since(d.began)
	d.phase.Store(int32(ph))
	d.say("%-8s  %v", ph, d.plan.length(ph))
}

// delay lags all replicas and returns when Causeway has seen each of them as a
// replica that has that delay and may serve.
func (d *drill) delay(ctx context.Context, seconds int) error {
	for _, n := range d.cluster.Replicas() {
		if err := n.Lag(ctx, seconds); err != nil {
			return err
		}
		if err := d.awaitDelay(ctx, n, seconds); err != nil {
			return err
		}
	}
	return nil
}

func (d *drill) awaitDelay(ctx context.Context, n *cluster.Node, seconds int) error {
	node := fmt.Sprintf("node=%q", n.Addr)
	for {
		m, err := rig.ReadMetrics(ctx, d.causeway.HTTP)
		if err != nil {
			return err
		}
		if m.Sum("causeway_replica_configured_delay_seconds", node) == float64(seconds) && m.Sum("causeway_node_usable", node) == 1 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("Causeway has not seen %s with a delay of %d s: %w", n.Name, seconds, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// evidence is what a run has seen: all that table, plot and judgement need.
type evidence struct {
	plan    plan
	starts  [phaseCount]time.Duration
	end     time.Duration
	reads   []read
	samples []sample
	changes []change
	nodes   []string // the replicas' addresses
	windows bool     // this Causeway has lag limits ...
	limits  bool     // ... and showed them
}

func (d *drill) evidence() *evidence {
	slices.SortFunc(d.journal.reads, func(a, b read) int { return int(a.at - b.at) })
	var nodes []string
	for _, n := range d.cluster.Replicas() {
		nodes = append(nodes, n.Addr)
	}
	return &evidence{
		plan: d.plan, starts: d.starts, end: time.Since(d.began), reads: d.journal.reads,
		samples: d.watched.samples, changes: d.watched.changes, limits: d.watched.limits, windows: d.windows, nodes: nodes,
	}
}
