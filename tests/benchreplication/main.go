package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"causeway/tests/cluster"
	"causeway/tests/rig"
)

// options are the command line.
type options struct {
	time     time.Duration // of load for each setting in each round
	rounds   int
	clients  int
	overload float64
	sync     time.Duration
	workers  []int
	plot     string
	data     string
}

func main() { rig.Main("bench-replication", command) }

func command(ctx context.Context, args []string) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	c, stop, err := cluster.StartShared(cluster.Options{Replicas: 1})
	if err != nil {
		return err
	}
	defer stop()
	r, err := measure(ctx, o, c, rig.Say)
	if err != nil {
		return err
	}
	if err := errors.Join(r.print(os.Stdout), r.draw(o.plot), r.writeData(o.data)); err != nil {
		return err
	}
	fmt.Printf("\nThe plot is in %s, the samples are in %s.\n", o.plot, o.data)
	return nil
}

func parseOptions(args []string) (o options, err error) {
	var workers string
	fs := flag.NewFlagSet("benchreplication", flag.ContinueOnError)
	fs.DurationVar(&o.time, "time", 15*time.Second, "length of the load for each setting in each round")
	fs.IntVar(&o.rounds, "rounds", 3, "interleaved rounds")
	fs.IntVar(&o.clients, "clients", 16, "clients that write")
	fs.Float64Var(&o.overload, "overload", 1.5, "load, as a multiple of what one worker applies")
	fs.DurationVar(&o.sync, "sync", 2*time.Millisecond, "how long each group commit of the replica waits, in a disk's place")
	fs.StringVar(&workers, "workers", "1,2,4", "numbers of workers, with commas")
	fs.StringVar(&o.plot, "plot", "replication.png", "where the plot goes")
	fs.StringVar(&o.data, "data", "replication.csv", "where all samples go")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	for _, w := range strings.Split(workers, ",") {
		n, err := strconv.Atoi(w)
		if err != nil || n < 1 || n > 1024 {
			return o, fmt.Errorf("--workers %s: numbers from 1 to 1024 are needed", workers)
		}
		o.workers = append(o.workers, n)
	}
	switch {
	case o.time < time.Second || o.rounds < 1 || o.clients < 1:
		return o, fmt.Errorf("--time must be at least 1s, --rounds and --clients at least 1")
	case o.overload <= 0:
		return o, fmt.Errorf("--overload must be above 0")
	case o.sync < 0 || o.sync > time.Second:
		return o, fmt.Errorf("--sync must be between 0s and 1s")
	}
	return o, nil
}
