package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"causeway/tests/cluster"
	"causeway/tests/rig"
)

// options are the command line.
type options struct {
	time        time.Duration // that counts, of each mode under each lag in each round
	warmUp      time.Duration
	rounds      int
	users       int
	connections int
	think       time.Duration // of a user between two turns, on average
	writes      float64       // share of the turns in which a user writes
	plot, data  string
	check       bool
}

func main() { rig.Main("bench-consistency", command) }

func command(ctx context.Context, args []string) error {
	o, chosen, under, err := parseOptions(args)
	if err != nil {
		return err
	}
	c, stop, err := cluster.StartShared(cluster.Options{})
	if err != nil {
		return err
	}
	defer stop()
	r, err := measure(ctx, o, chosen, under, c, rig.Say)
	if err != nil {
		return err
	}
	if err := errors.Join(r.print(os.Stdout), r.draw(o.plot), r.writeData(o.data)); err != nil {
		return err
	}
	fmt.Printf("\nThe plot is in %s, the figures of each round are in %s.\n", o.plot, o.data)
	if faults := r.judge(); o.check && len(faults) > 0 {
		return errors.New(strings.Join(faults, "\n"))
	}
	return nil
}

func parseOptions(args []string) (o options, chosen []mode, under []lag, err error) {
	var only, onlyLags string
	fs := flag.NewFlagSet("benchconsistency", flag.ContinueOnError)
	fs.DurationVar(&o.time, "time", 20*time.Second, "what counts of each mode under each lag in each round")
	fs.DurationVar(&o.warmUp, "warm-up", 10*time.Second, "what does not, before; at least the longest sticky window")
	fs.IntVar(&o.rounds, "rounds", 1, "interleaved rounds")
	fs.IntVar(&o.users, "users", 100, "users")
	fs.IntVar(&o.connections, "connections", 20, "connections that the users share")
	fs.DurationVar(&o.think, "think", time.Second, "pause of a user between two turns, on average")
	fs.Float64Var(&o.writes, "writes", 0.1, "share of the turns in which a user writes")
	fs.StringVar(&only, "modes", "", "modes to run, with commas (default all): "+names(modes, nameOfMode))
	fs.StringVar(&onlyLags, "lags", usual, "lags to run, with commas, of "+names(lags, nameOfLag))
	fs.StringVar(&o.plot, "plot", "consistency.png", "where the plot goes")
	fs.StringVar(&o.data, "data", "consistency.csv", "where the figures of each round go")
	fs.BoolVar(&o.check, "check", false, "fail if a mode did not keep its promise, or tokens cost the source more than a third of what a window of 3 s does")
	if err := fs.Parse(args); err != nil {
		return o, nil, nil, err
	}
	switch {
	case o.time < time.Second || o.warmUp < 0 || o.rounds < 1 || o.think < 0:
		return o, nil, nil, fmt.Errorf("--time must be at least 1s, --rounds at least 1, --warm-up and --think not negative")
	case o.users < 2 || o.connections < 2:
		return o, nil, nil, fmt.Errorf("--users and --connections must be at least 2: reads need another connection than writes")
	case o.writes <= 0 || o.writes > 1:
		return o, nil, nil, fmt.Errorf("--writes must be above 0 and at most 1")
	}
	if chosen, err = choose(modes, nameOfMode, only, "--modes"); err != nil {
		return o, nil, nil, err
	}
	under, err = choose(lags, nameOfLag, onlyLags, "--lags")
	return o, chosen, under, err
}

func nameOfMode(m mode) string { return m.name }
func nameOfLag(l lag) string   { return l.name }

func names[T any](all []T, name func(T) string) string {
	var list []string
	for _, one := range all {
		list = append(list, name(one))
	}
	return strings.Join(list, ",")
}

// choose returns those that a list names, all if it is empty.
func choose[T any](all []T, name func(T) string, list, option string) (chosen []T, err error) {
	if list == "" {
		return all, nil
	}
	for _, wanted := range strings.Split(list, ",") {
		n := len(chosen)
		for _, one := range all {
			if name(one) == wanted {
				chosen = append(chosen, one)
			}
		}
		if len(chosen) == n {
			return nil, fmt.Errorf("%s: there is no %q, only %s", option, wanted, names(all, name))
		}
	}
	return chosen, nil
}
