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
	failed map[string]int // those that did not end as they should
	faults []error        // the first ones of each kind
}

// worker is one client. Only its own goroutine uses it.
type worker struct {
	id   int
	addr string
	rng  *rand.Rand
	db   *sql.DB
	// c is the lasting connection. Not db itself: that would quietly connect
	// again when the connection is lost.
	c     *sql.Conn
	wrote bool  // c has written: from then on it reads its own writes
	v     int64 // what the worker's row holds
}

func newLoad(addr string, workers int) *load {
	return &load{addr: addr, workers: workers, think: 20 * time.Millisecond, done: map[string]int{}, failed: map[string]int{}}
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
	w := &worker{id: id, addr: l.addr, rng: rand.New(rand.NewPCG(uint64(id), 2))}
	defer w.disconnect()
	for ctx.Err() == nil {
		k := pick(w.rng.IntN(totalWeight))
		// A piece of work is finished even when the time is up, so that an
		// interrupted answer is never mistaken for a fault.
		err := k.do(context.WithoutCancel(ctx), w)
		l.note(k.name, err, w)
		if err != nil {
			w.disconnect() // a fault shows once, not at each later step
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
	if err == nil {
		return
	}
	if l.failed[kind]++; l.failed[kind] <= 3 {
		l.faults = append(l.faults, fmt.Errorf("%s worker %d, %s: %w", time.Now().Format(time.TimeOnly), w.id, kind, err))
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
	// Where the row stands is known for sure from the source, which a locking
	// read goes to: a fault may have left that open, another load was here before.
	w.wrote = false
	row := w.c.QueryRowContext(ctx, fmt.Sprintf("SELECT v FROM soak WHERE id = %d FOR UPDATE", w.id))
	if err := row.Scan(&w.v); err != nil {
		return nil, err
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
