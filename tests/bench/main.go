package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"causeway/tests/rig"
)

// options are the command line.
type options struct {
	script  string
	threads []int
	modes   []string
	only    []string
	time    time.Duration
	rounds  int
	rows    int
	split   bool
	check   bool
	limit   float64
	atLeast float64
}

func main() { rig.Main("bench", run) }

func run(ctx context.Context, args []string) error {
	opts, err := parseOptions(args)
	if err != nil {
		return err
	}
	field, err := newField(ctx, opts)
	if err != nil {
		return err
	}
	defer field.close()
	report, err := measure(ctx, opts, field)
	if err != nil {
		return err
	}
	report.print(os.Stdout)
	if opts.check {
		err = report.check(opts.limit)
	}
	if opts.atLeast > 0 {
		err = errors.Join(err, report.checkShared(opts.atLeast))
	}
	return err
}

func parseOptions(args []string) (options, error) {
	var o options
	var threads, modes, only string
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.StringVar(&threads, "threads", "8", "sysbench threads, several with commas")
	fs.StringVar(&o.script, "script", pointSelect, "sysbench's script; with any other one throughput is counted in transactions")
	fs.StringVar(&modes, "modes", "disable,auto", "--db-ps-mode values: disable is the text protocol, auto prepared statements")
	fs.StringVar(&only, "only", "", "contenders to run, with commas, of "+strings.Join(names, ",")+" (default the first five)")
	fs.DurationVar(&o.time, "time", 8*time.Second, "length of one run")
	fs.IntVar(&o.rounds, "rounds", 3, "interleaved rounds")
	fs.IntVar(&o.rows, "rows", 10000, "rows in the table")
	fs.BoolVar(&o.split, "split-cores", false, "half of the cores for the servers, the other half for clients and proxies, as on machines of their own")
	fs.BoolVar(&o.check, "check", false, "fail if Causeway's CPU per query is over the limit")
	fs.Float64Var(&o.limit, "limit", 1.1, "with --check: highest allowed ratio of Causeway's CPU per query to the relay's")
	fs.Float64Var(&o.atLeast, "at-least", 0, "fail if causeway-16 has less than this share of direct's throughput")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	for _, t := range strings.Split(threads, ",") {
		n, err := strconv.Atoi(t)
		if err != nil || n < 1 {
			return o, fmt.Errorf("--threads %s: a number above 0 is needed", threads)
		}
		o.threads = append(o.threads, n)
	}
	if o.time < time.Second || o.rounds < 1 {
		return o, fmt.Errorf("--time must be at least 1s and --rounds at least 1")
	}
	o.modes = strings.Split(modes, ",")
	o.only = standard
	if only != "" {
		o.only = strings.Split(only, ",")
	}
	for _, name := range o.only {
		if !slices.Contains(names, name) {
			return o, fmt.Errorf("--only %s: there is no contender %q, only %s", only, name, strings.Join(names, ", "))
		}
	}
	return o, nil
}

// measure runs every contender once a round, one after the other, for each
// number of threads and each protocol.
func measure(ctx context.Context, o options, f *field) (*report, error) {
	rep := &report{opts: o}
	total := len(o.threads) * len(o.modes) * o.rounds * len(f.contenders)
	for _, threads := range o.threads {
		for _, mode := range o.modes {
			s := rep.section(threads, mode)
			for round := range o.rounds {
				for _, c := range f.contenders {
					total--
					fmt.Fprintf(os.Stderr, "round %d of %d, %d threads, ps-mode %-7s  %-9s (%v left)\n",
						round+1, o.rounds, threads, mode, c.name, time.Duration(total+1)*o.time)
					if err := f.cluster.WaitCaughtUp(ctx); err != nil { // what the last run wrote
						return nil, err
					}
					m, err := c.measure(ctx, f.sysbench(threads, mode, o.time))
					if err != nil {
						return nil, err
					}
					s.add(c.name, m)
				}
			}
		}
	}
	return rep, nil
}

// measure runs sysbench once through the contender.
func (c *contender) measure(ctx context.Context, bench rig.Sysbench) (measurement, error) {
	bench.Addr = c.addr
	before, err := c.cpu()
	if err != nil {
		return measurement{}, err
	}
	r, err := bench.Run(ctx)
	if err != nil {
		return measurement{}, fmt.Errorf("%s: %w", c.name, err)
	}
	after, err := c.cpu()
	if err != nil {
		return measurement{}, err
	}
	if r.Queries == 0 || r.Reconnects > 0 || r.Ignored > 0 && bench.Script == pointSelect {
		return measurement{}, fmt.Errorf("%s: %d queries, %d reconnects, %d ignored errors", c.name, r.Queries, r.Reconnects, r.Ignored)
	}
	return measurement{
		perSec: r.TrxPerSec,
		avgMS:  r.AvgMS,
		cpuUS:  float64((after - before).Nanoseconds()) / 1e3 / float64(r.Queries),
	}, nil
}
