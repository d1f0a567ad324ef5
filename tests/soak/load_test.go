package soak

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"causeway/tests/cluster"
)

// load runs many workers, each with its own connection and its own row of
// app.soak, which do one kind of work after the other.
type load struct {
	addr    string
	workers int
	think   time.Duration // longest pause between two pieces of work

	mu     sync.Mutex
	done   map[string]int // pieces of work by kind
	faults []error        // what should not have happened, the first ones
}

// worker is one client. Only its own goroutine uses it.
type worker struct {
	id   int
	addr string
	rng  *rand.Rand
	db   *sql.DB
	// c is the lasting connection. Not db itself: that would quietly connect
	// again when the connection is lost.
	c *sql.Conn
	v int64 // what its row holds
	// doubt: at first and after a fault v may be wrong; the next read back takes
	// what it sees.
	doubt bool
}

func newLoad(addr string, workers int) *load {
	return &load{addr: addr, workers: workers, think: 20 * time.Millisecond, done: map[string]int{}}
}

// run works until the context ends and returns once all workers have closed
// their connections.
func (l *load) run(ctx context.Context) {
	var wg sync.WaitGroup
	for id := range l.workers {
		wg.Go(func() { l.work(ctx, id) })
	}
	wg.Wait()
}

func (l *load) work(ctx context.Context, id int) {
	w := &worker{id: id, addr: l.addr, rng: rand.New(rand.NewPCG(uint64(id), 2)), doubt: true}
	defer w.disconnect()
	for ctx.Err() == nil {
		k := pick(w.rng.IntN(totalWeight))
		// A piece of work is finished even when the time is up, so that an
		// interrupted answer is never mistaken for a fault.
		err := k.do(context.WithoutCancel(ctx), w)
		l.note(k.name, err, w)
		if err != nil {
			w.disconnect() // a fault shows once, not at each later step
			w.doubt = true
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(w.rng.Int64N(int64(l.think)))):
		}
	}
}

// note counts one piece of work.
func (l *load) note(kind string, err error, w *worker) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done[kind]++
	if err != nil && len(l.faults) < 20 {
		l.faults = append(l.faults, fmt.Errorf("worker %d, %s: %w", w.id, kind, err))
	}
}

// err returns all faults as one error.
func (l *load) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.faults...)
}

// conn returns the worker's lasting connection, opening it if need be.
func (w *worker) conn(ctx context.Context) (*sql.Conn, error) {
	if w.c != nil {
		return w.c, nil
	}
	var err error
	if w.db, w.c, err = connect(ctx, w.addr, nil); err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return w.c, nil
}

func (w *worker) disconnect() {
	if w.c != nil {
		w.c.Close()
		w.db.Close()
		w.c, w.db = nil, nil
	}
}

// connect opens one connection; closing the handle closes it.
func connect(ctx context.Context, addr string, dial dialer) (*sql.DB, *sql.Conn, error) {
	db, err := openAs(addr, cluster.AppPassword, dial)
	if err != nil {
		return nil, nil, err
	}
	c, err := db.Conn(ctx)
	if err != nil {
		db.Close()
		return nil, nil, err
	}
	return db, c, nil
}
