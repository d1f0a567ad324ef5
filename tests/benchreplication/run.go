package main

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"causeway/tests/cluster"
)

// setting is how the replica applies.
type setting struct {
	workers int
	ordered bool // replica_preserve_commit_order
}

func (s setting) String() string {
	plural, order := "s", "order preserved"
	if s.workers == 1 {
		plural = ""
	}
	if !s.ordered {
		order = "order free"
	}
	return fmt.Sprintf("%d worker%s, %s", s.workers, plural, order)
}

// settings are all of a run, in the order in which a round has them.
func (o options) settings() (all []setting) {
	for _, w := range o.workers {
		all = append(all, setting{w, true}, setting{w, false})
	}
	return all
}

// bench is one run, on a cluster that is there already.
type bench struct {
	opts            options
	source, replica *cluster.Node
	say             func(format string, args ...any)
}

// measure finds the load and runs all settings, one after the other, in each round.
func measure(ctx context.Context, o options, c *cluster.Cluster, say func(string, ...any)) (*report, error) {
	b := &bench{o, c.Source(), c.Replica(1), say}
	if err := layout(ctx, b.source, o.clients); err != nil {
		return nil, err
	}
	if err := b.replica.Exec(ctx, "SET GLOBAL binlog_group_commit_sync_delay = ?", o.sync.Microseconds()); err != nil {
		return nil, err
	}
	alone, err := b.alone(ctx)
	if err != nil {
		return nil, err
	}
	r := &report{opts: o, alone: alone, load: o.overload * alone, outcomes: map[setting][]outcome{}}
	say("one worker applies %.0f transactions a second; the load is %.0f", alone, r.load)
	for round := range o.rounds {
		for _, s := range o.settings() {
			got, err := b.play(ctx, s, r.load)
			if err != nil {
				return nil, fmt.Errorf("%v: %w", s, err)
			}
			say("round %d of %d  %-26s lag %v on average, %v at most; recovered in %v",
				round+1, o.rounds, s, ms(got.average), ms(got.highest), ms(got.recovery))
			r.outcomes[s] = append(r.outcomes[s], got)
		}
	}
	return r, nil
}

// apply restarts the applier with a setting.
func (b *bench) apply(ctx context.Context, s setting) error {
	return b.replica.Exec(ctx, `STOP REPLICA SQL_THREAD;
		SET GLOBAL replica_parallel_workers = ?, GLOBAL replica_preserve_commit_order = ?;
		START REPLICA SQL_THREAD`, s.workers, s.ordered)
}

// catchUp waits until the replica has all that the source has now.
func (b *bench) catchUp(ctx context.Context) error {
	want, err := b.source.Executed(ctx)
	if err != nil {
		return err
	}
	return b.replica.WaitExecuted(ctx, want)
}

// tries of alone: what disturbs the machine makes a worker slower, never quicker.
const tries = 3

// alone is how many transactions a second one worker applies when nothing else
// happens, the best of some tries.
func (b *bench) alone(ctx context.Context) (best float64, err error) {
	if err := b.apply(ctx, setting{1, true}); err != nil {
		return 0, err
	}
	for range tries {
		perSec, err := b.backlog(ctx)
		if err != nil {
			return 0, err
		}
		best = max(best, perSec)
	}
	return best, nil
}

// backlog is how quickly the replica applies what was written while its applier stood.
func (b *bench) backlog(ctx context.Context) (perSec float64, err error) {
	if err := b.catchUp(ctx); err != nil {
		return 0, err
	}
	if err := b.replica.Pause(ctx); err != nil {
		return 0, err
	}
	before, err := b.mark(ctx, b.source.DB, time.Now())
	if err != nil {
		return 0, err
	}
	if err := (load{b.source, b.opts.clients, 0}).run(ctx, 300*time.Millisecond); err != nil {
		return 0, err
	}
	after, err := b.mark(ctx, b.source.DB, time.Now())
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := b.replica.Resume(ctx); err != nil {
		return 0, err
	}
	if err := b.catchUp(ctx); err != nil {
		return 0, err
	}
	return float64(after.last-before.last) / time.Since(began).Seconds(), nil
}

// play runs the load once under a setting, and waits until the replica has
// recovered from it.
func (b *bench) play(ctx context.Context, s setting, perSec float64) (outcome, error) {
	if err := b.apply(ctx, s); err != nil {
		return outcome{}, err
	}
	if err := b.catchUp(ctx); err != nil {
		return outcome{}, err
	}
	var marks []mark
	var samples []sample
	var length, recovery time.Duration
	began := time.Now()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	group, watching := errgroup.WithContext(watching)
	group.Go(func() (err error) { marks, err = b.watchSource(watching, began); return err })
	group.Go(func() (err error) { samples, err = b.watchReplica(watching, began); return err })
	group.Go(func() error {
		defer stop()
		if err := (load{b.source, b.opts.clients, perSec}).run(watching, b.opts.time); err != nil {
			return err
		}
		length = time.Since(began)
		err := b.catchUp(watching)
		recovery = time.Since(began) - length
		return err
	})
	if err := group.Wait(); err != nil {
		return outcome{}, err
	}
	return summarise(marks, samples, length, recovery), nil
}

// every is the time between two looks at a server.
const every = 50 * time.Millisecond

// watch looks at a server again and again until ctx ends, and once after that,
// over one connection.
func watch(ctx context.Context, n *cluster.Node, look func(*sql.Conn) error) error {
	conn, err := n.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for ctx.Err() == nil {
		if err := look(conn); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	return look(conn)
}

// row is a *sql.DB or a *sql.Conn.
type row interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// mark asks the source for its position; the time is that of the question.
func (b *bench) mark(ctx context.Context, q row, began time.Time) (mark, error) {
	at := time.Since(began)
	var set string
	if err := q.QueryRowContext(context.WithoutCancel(ctx), "SELECT @@global.gtid_executed").Scan(&set); err != nil {
		return mark{}, err
	}
	_, last, err := ends(set)
	return mark{at, last}, err
}

func (b *bench) watchSource(ctx context.Context, began time.Time) (marks []mark, err error) {
	err = watch(ctx, b.source, func(c *sql.Conn) error {
		m, err := b.mark(ctx, c, began)
		marks = append(marks, m)
		return err
	})
	return marks, err
}

// watchReplica asks the replica for both of its positions; the time is that of
// the answer.
func (b *bench) watchReplica(ctx context.Context, began time.Time) (samples []sample, err error) {
	err = watch(ctx, b.replica, func(c *sql.Conn) error {
		var received, executed string
		err := c.QueryRowContext(context.WithoutCancel(ctx), `SELECT RECEIVED_TRANSACTION_SET, @@global.gtid_executed
			FROM performance_schema.replication_connection_status WHERE CHANNEL_NAME = ''`).Scan(&received, &executed)
		if err != nil {
			return err
		}
		s := sample{at: time.Since(began)}
		if s.applied, _, err = ends(executed); err != nil {
			return err
		}
		if _, s.received, err = ends(received); err != nil {
			return err
		}
		// What was applied did arrive, also before the receiver last started.
		s.received = max(s.received, s.applied)
		samples = append(samples, s)
		return nil
	})
	return samples, err
}
