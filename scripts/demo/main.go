// Command demo shows Causeway's main job on a real MySQL cluster in about a
// minute, and leaves everything running to be tried out:
//
//	go run ./scripts/demo up      (make demo)
//	go run ./scripts/demo down    (make demo-down)
//
// It owns one folder, .cluster/demo: the cluster's data, Causeway's
// configuration and log. It runs in the repository's folder
// and expects bin/causeway to be built. It exits with 1
// if a read missed its own write or anything failed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

const usage = "usage: demo up|down [--dir DIR] [--base PORT] [--mysql PORT] [--http PORT] [--seconds N] [--causeway PROGRAM]"

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	fs := flag.NewFlagSet("demo", flag.ContinueOnError)
	d := &demo{out: os.Stdout}
	fs.StringVar(&d.dir, "dir", ".cluster/demo", "folder of the demo")
	fs.IntVar(&d.base, "base", 3310, "the source listens on the next port, the replicas after it")
	fs.IntVar(&d.mysqlPort, "mysql", 6033, "Causeway's port for MySQL clients")
	fs.IntVar(&d.httpPort, "http", 6080, "Causeway's port for /metrics and /readyz")
	fs.StringVar(&d.program, "causeway", "bin/causeway", "the program to show")
	seconds := fs.Int("seconds", 28, "length of the main part")
	if err := fs.Parse(args[1:]); err != nil {
		return err
	}
	d.length = time.Duration(*seconds) * time.Second
	switch args[0] {
	case "up":
		return d.up(ctx)
	case "down":
		return d.down()
	}
	return errors.New(usage)
}
