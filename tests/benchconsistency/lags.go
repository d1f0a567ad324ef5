package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"causeway/tests/cluster"
	"causeway/tests/consistency/lab"
)

// lag is one state of the replicas.
type lag struct {
	name string
	// enter brings the replicas there.
	enter func(context.Context, *cluster.Cluster) error
	// keep runs while the workload does, if there is something to do; each mode
	// gets the same seed, and with it the same schedule.
	keep func(ctx context.Context, c *cluster.Cluster, seed uint64) error
}

var lags = []lag{
	{name: "none"},
	{name: "1s", enter: delay(1)},
	{name: "stopping", keep: stopping},
	{name: "5s", enter: delay(5)},
}

// usual are those that run if none is named. With 5s a window of 3 s is too short.
const usual = "none,1s,stopping"

// stopped is for tests: nothing is applied at all.
var stopped = lag{name: "stopped", enter: func(ctx context.Context, c *cluster.Cluster) error {
	for _, n := range c.Replicas() {
		if err := n.Pause(ctx); err != nil {
			return err
		}
	}
	return nil
}}

// delay holds each transaction back on all replicas (SOURCE_DELAY).
func delay(seconds int) func(context.Context, *cluster.Cluster) error {
	return func(ctx context.Context, c *cluster.Cluster) error {
		for _, n := range c.Replicas() {
			if err := n.Lag(ctx, seconds); err != nil {
				return err
			}
		}
		return nil
	}
}

// stopping stops and starts the appliers of two replicas at random, at times both.
func stopping(ctx context.Context, c *cluster.Cluster, seed uint64) error {
	replicas := c.Replicas()
	if len(replicas) != 2 {
		return fmt.Errorf("%d replicas, two are needed", len(replicas))
	}
	chaos := lab.Chaos{
		Appliers: [2]lab.Applier{replicas[0], replicas[1]}, Account: lab.NewAccount(2, time.Now),
		Plan: lab.DefaultPlan, Rand: rand.New(rand.NewPCG(seed, 5)),
	}
	return chaos.Run(ctx)
}
