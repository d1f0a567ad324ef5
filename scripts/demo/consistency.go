package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
)

// phases of the main part: what is done at which share of its length.
var phases = []struct {
	at   float64
	name string
	do   string // on replica1
}{
	{0, "both appliers run", ""},
	{0.25, "replica1's is stopped", "STOP REPLICA SQL_THREAD"},
	{0.65, "both run again", "START REPLICA SQL_THREAD"},
}

// columns of the main part's lines.
const columns = "%4s  %-22s %7s %7s %9s %9s %9s %7s %12s\n"

// showConsistency counts, second after second, who answered the reads and how
// many missed their own write.
func (d *demo) showConsistency(ctx context.Context) error {
	l, err := newLoad(d)
	if err != nil {
		return err
	}
	defer l.close()
	if err := l.prepare(ctx); err != nil {
		return err
	}
	applier, err := openRoot(d.base + 2)
	if err != nil {
		return err
	}
	defer applier.Close()
	// However this ends, the replica goes on applying.
	defer func() { _, _ = applier.Exec("START REPLICA SQL_THREAD") }()

	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- l.run(running) }()
	err = d.watch(ctx, l, applier, done)
	stop()
	if loadErr := <-done; err == nil {
		err = loadErr
	}
	if err != nil {
		return err
	}
	return d.sum(l)
}

// openRoot opens the administrator's connections to one node.
func openRoot(port int) (*sql.DB, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr = "root", "tcp", loopback(port)
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// watch goes through the phases and prints a line every two seconds.
func (d *demo) watch(ctx context.Context, l *load, applier *sql.DB, done chan error) error {
	fmt.Fprint(d.out, "  stale: reads that missed their own write; in brackets, of the same reads sent straight to a replica.\n\n")
	fmt.Fprintf(d.out, "  "+columns, "", "", "writes", "reads", "source", "replica1", "replica2", "stale", "(without)")
	start, phase := time.Now(), 0
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		// A phase begins right after a line, so that no line has two.
		past := time.Since(start)
		for phase+1 < len(phases) && past >= time.Duration(phases[phase+1].at*float64(d.length)) {
			phase++
			if _, err := applier.ExecContext(ctx, phases[phase].do); err != nil {
				return fmt.Errorf("%s on replica1: %w", phases[phase].do, err)
			}
		}
		if past >= d.length {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-done:
			done <- err
			return errors.Join(errors.New("the load ended early"), err)
		case <-tick.C:
		}
		d.line(time.Since(start), phases[phase].name, l)
	}
}

// line shows the two seconds that ended just now.
func (d *demo) line(past time.Duration, phase string, l *load) {
	t, _ := l.take()
	num := func(n int) string { return fmt.Sprint(n) }
	fmt.Fprintf(d.out, "  "+columns, fmt.Sprintf("%ds", int(past.Seconds()+0.5)), phase, num(t.writes), num(t.reads),
		num(t.by[loopback(d.base+1)]), num(t.by[loopback(d.base+2)]), num(t.by[loopback(d.base+3)]),
		num(t.stale), "("+num(t.directStale)+")")
}

// sum says what came out, and is an error if a promise was broken.
func (d *demo) sum(l *load) error {
	_, all := l.take()
	onReplicas := all.reads - all.by[loopback(d.base+1)]
	fmt.Fprintf(d.out, `
  %d writes, each read back at once by its session.
  Through Causeway:    %d of %d reads on replicas (%d after waiting for one), %d stale.
  Without it:          the same reads straight from the replicas, taken in turn: %d of %d stale.
`, all.writes, onReplicas, all.reads, all.waited, all.stale, all.directStale, all.direct)
	switch {
	case all.reads == 0:
		return errors.New("nothing was read")
	case all.stale > 0:
		return fmt.Errorf("%d reads missed their own write", all.stale)
	}
	return nil
}
