package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"causeway/tests/cluster"
	"causeway/tests/rig"
)

// options are the command line.
type options struct {
	time time.Duration
	plot string
}

func main() { rig.Main("drill", command) }

func command(ctx context.Context, args []string) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	c, stop, err := cluster.StartShared(cluster.Options{})
	if err != nil {
		return err
	}
	defer stop()
	e, err := run(ctx, plan{o.time}, c, rig.Say)
	if err != nil {
		return err
	}
	return e.report(o.plot)
}

// report prints and draws what was seen; its error is the verdict.
func (e *evidence) report(plotFile string) error {
	fmt.Printf("%v of lag surge in %v, %d clients, a budget of %d fallbacks a second and %d at once\n\n",
		worth, e.plan.total, clientCount(), budgetQPS, budgetBurst)
	if err := e.print(os.Stdout); err != nil {
		return err
	}
	if err := e.draw(plotFile); err != nil {
		return err
	}
	fmt.Printf("\nThe plot is in %s.\n", plotFile)
	if !e.windows {
		fmt.Println("This Causeway has no lag limits; exclusion is judged by State of SHOW CAUSEWAY SERVERS alone.")
	}
	if text := e.verdict(); text != "" {
		return errors.New("these promises were not kept:\n" + text)
	}
	fmt.Println("All promises were kept.")
	return nil
}

// shortest leaves the surge time to be 3 s deep.
const shortest = 20 * time.Second

func parseOptions(args []string) (o options, err error) {
	fs := flag.NewFlagSet("drill", flag.ContinueOnError)
	fs.DurationVar(&o.time, "time", 2*time.Minute, "how long ten minutes' worth of drill takes")
	fs.StringVar(&o.plot, "plot", "drill.png", "where the plot goes")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.time < shortest || o.time > worth {
		return o, fmt.Errorf("--time must be between %v and %v", shortest, worth)
	}
	return o, nil
}
