package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"causeway/tests/cluster"
)

// bench is one run of the program, on a cluster that is there already.
type bench struct {
	opts    options
	cluster *cluster.Cluster
	say     func(format string, args ...any)
}

// cell is one mode under one lag in one round.
type cell struct {
	requests []request
	onSource int // reads, by the source's own count
	length   time.Duration
}

// measure looks which modes this Causeway has, and runs these under all lags.
func measure(ctx context.Context, o options, modes []mode, lags []lag, c *cluster.Cluster, say func(string, ...any)) (*report, error) {
	b := &bench{o, c, say}
	if err := lay(ctx, c); err != nil {
		return nil, err
	}
	r := newReport(o, modes, lags)
	if err := b.findAvailable(ctx, r); err != nil {
		return nil, err
	}
	for round := range o.rounds {
		for _, l := range lags {
			if err := b.underLag(ctx, r, l, round); err != nil {
				return nil, fmt.Errorf("lag %s: %w", l.name, err)
			}
		}
	}
	return r, nil
}

// underLag runs all modes while the replicas lag in one way.
func (b *bench) underLag(ctx context.Context, r *report, l lag, round int) error {
	for _, m := range r.modes {
		if r.missing[m.name] != "" {
			continue
		}
		var got cell
		err := b.lagging(ctx, m, l, func(f *forum) (err error) {
			got, err = b.play(ctx, f, l, uint64(round))
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		r.add(l.name, m.name, got)
		s := summarise([]cell{got})
		b.say("round %d of %d  lag %-9s %-20s %5d reads, %4d missed the own write, %5.1f %% on the source",
			round+1, b.opts.rounds, l.name, m.name, s.reads, s.missedOwn, 100*s.onSource)
	}
	return nil
}

// lagging starts a mode's Causeway, lets the replicas lag, and calls do. They
// have caught up when Causeway starts: what it finds missing then it waits for,
// whatever the mode.
func (b *bench) lagging(ctx context.Context, m mode, l lag, do func(*forum) error) (err error) {
	defer func() { err = errors.Join(err, b.cluster.Heal(ctx)) }()
	if err := b.cluster.WaitCaughtUp(ctx); err != nil {
		return err
	}
	f, stop, err := b.open(ctx, m)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if l.enter != nil {
		if err := l.enter(ctx, b.cluster); err != nil {
			return err
		}
	}
	return do(f)
}

// play runs the workload once.
func (b *bench) play(ctx context.Context, f *forum, l lag, seed uint64) (got cell, err error) {
	before, err := b.readsOnSource(ctx)
	if err != nil {
		return got, err
	}
	working, end := context.WithCancel(ctx)
	defer end()
	group, working := errgroup.WithContext(working)
	if l.keep != nil {
		group.Go(func() error { return l.keep(working, b.cluster, seed) })
	}
	group.Go(func() error {
		defer end()
		var err error
		got.requests, err = f.run(ctx, b.opts, seed)
		return err
	})
	if err := group.Wait(); err != nil {
		return got, err
	}
	after, err := b.readsOnSource(ctx)
	got.onSource, got.length = after-before, b.opts.time
	return got, err
}

// open starts the mode's Causeway and connects the application's pool.
func (b *bench) open(ctx context.Context, m mode) (*forum, func() error, error) {
	cw, stop, err := cluster.StartSharedCauseway(b.cluster, m.config())
	if err != nil {
		return nil, nil, err
	}
	size := b.opts.connections
	if m.pinned {
		size = b.opts.users
	}
	p, err := openPool(ctx, cw.Addr, size)
	if err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	return &forum{mode: m, pool: p}, func() error {
		p.close()
		return stop()
	}, nil
}

// run lets all users work for the warm-up and the time that counts, and returns
// the requests of the latter.
func (f *forum) run(ctx context.Context, o options, seed uint64) ([]request, error) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, o.warmUp+o.time)
	defer cancel()
	each := make([][]request, o.users)
	group, ctx := errgroup.WithContext(ctx)
	for id := range o.users {
		u := f.newUser(id, seed)
		group.Go(func() (err error) {
			each[id], err = f.live(ctx, u, o, began.Add(o.warmUp))
			return err
		})
	}
	err := group.Wait()
	var all []request
	for _, requests := range each {
		all = append(all, requests...)
	}
	return all, err
}

func (f *forum) newUser(id int, seed uint64) *user {
	u := &user{id: id, rng: rand.New(rand.NewPCG(seed, uint64(id)))}
	if f.mode.pinned {
		u.conn = f.pool.take(nil)
	}
	return u
}

// live is one user until ctx ends. What began before the warm-up was over is
// not among the requests. A read that fails is a request like others; a write
// that fails ends the run.
func (f *forum) live(ctx context.Context, u *user, o options, warm time.Time) ([]request, error) {
	if u.conn != nil {
		defer f.pool.put(u.conn)
	}
	var done []request
	for {
		select {
		case <-ctx.Done():
			return done, nil
		case <-time.After(time.Duration(u.rng.ExpFloat64() * float64(o.think))):
		}
		counted := time.Now().After(warm)
		for _, r := range f.turn(context.WithoutCancel(ctx), u, o.writes, counted) {
			if r.write && r.err != nil {
				return nil, fmt.Errorf("user %d writes: %w", u.id, r.err)
			}
			if counted {
				done = append(done, r)
			}
		}
	}
}

// turn is a look at a thread, now and then after a comment was posted there. Half
// of the other looks are at the thread in which the user wrote last.
func (f *forum) turn(ctx context.Context, u *user, writes float64, counted bool) []request {
	thread := u.rng.IntN(threads)
	if u.rng.Float64() < writes {
		return []request{f.write(ctx, u, thread), f.read(ctx, u, thread, counted)}
	}
	if !u.wrote.IsZero() && u.rng.IntN(2) == 0 {
		thread = u.place
	}
	return []request{f.read(ctx, u, thread, counted)}
}

// readsOnSource is how many of the reads that count the source has run so far.
func (b *bench) readsOnSource(ctx context.Context) (n int, err error) {
	err = b.cluster.Source().DB.QueryRowContext(ctx, `SELECT COALESCE(SUM(COUNT_STAR), 0) FROM performance_schema.events_statements_summary_by_digest
		WHERE DIGEST_TEXT LIKE ?`, "SELECT%`"+countedAlias+"`%").Scan(&n)
	return n, err
}
