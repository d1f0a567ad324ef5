package main

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"causeway/tests/cluster"
)

const (
	threads  = 40 // in the forum
	pageSize = 20 // comments that a read shows, the newest
)

const layout = `CREATE DATABASE IF NOT EXISTS forum;
	CREATE TABLE IF NOT EXISTS forum.comments (
		id BIGINT AUTO_INCREMENT PRIMARY KEY, thread INT NOT NULL, author INT NOT NULL, body VARCHAR(200) NOT NULL,
		KEY (thread, id))`

// forum is one run of the workload.
type forum struct {
	mode    mode
	pool    *pool
	acked   [threads]atomic.Int64 // the highest id of a comment that was acknowledged to anybody
	counted atomic.Bool           // the warm-up is over
}

// user is one of the forum's, his own goroutine's.
type user struct {
	id    int
	rng   *rand.Rand
	conn  *sql.Conn // of his own, if the mode says so
	last  *sql.Conn // that of his last write: his next read uses another
	token string
	wrote time.Time // the last acknowledged write
	place int       // the thread that he last wrote in
	mine  [threads]int64
}

// request is one statement of a user with all that the mode adds to it.
type request struct {
	write     bool
	took      time.Duration
	missedOwn bool // a comment of the user that had been acknowledged to him
	missedAny bool // the newest one of the thread that had been acknowledged to anybody
	err       error
}

// borrow takes a connection for one request, another one than the last.
func (f *forum) borrow(u *user) *sql.Conn {
	if u.conn != nil {
		return u.conn
	}
	return f.pool.take(u.last)
}

func (f *forum) giveBack(u *user, c *sql.Conn) {
	if u.conn == nil {
		f.pool.put(c)
	}
}

// write posts a comment.
func (f *forum) write(ctx context.Context, u *user, thread int) request {
	c := f.borrow(u)
	defer f.giveBack(u, c)
	began := time.Now()
	id, err := f.insert(ctx, c, u, thread)
	if err == nil {
		u.wrote, u.place, u.mine[thread], u.last = time.Now(), thread, id, c
		raise(&f.acked[thread], id)
		if f.mode.carry.written != nil {
			err = f.mode.carry.written(ctx, c, u)
		}
	}
	return request{write: true, took: time.Since(began), err: err}
}

func (f *forum) insert(ctx context.Context, c *sql.Conn, u *user, thread int) (int64, error) {
	if err := f.takeOver(ctx, c, u); err != nil {
		return 0, err
	}
	res, err := c.ExecContext(ctx, f.comment(u, true)+"INSERT INTO forum.comments (thread, author, body) VALUES (?, ?, 'I agree.')", thread, u.id)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// takeOver tells the connection whose it is now.
func (f *forum) takeOver(ctx context.Context, c *sql.Conn, u *user) error {
	if f.mode.carry.before == nil {
		return nil
	}
	return f.mode.carry.before(ctx, c, u)
}

func (f *forum) comment(u *user, write bool) string {
	if f.mode.carry.comment == nil {
		return ""
	}
	return f.mode.carry.comment(u, write)
}

// raise sets v to the greater of itself and to.
func raise(v *atomic.Int64, to int64) {
	for now := v.Load(); now < to && !v.CompareAndSwap(now, to); now = v.Load() {
	}
}

// countedAlias marks the reads that are measured: the source counts them by
// their digest.
const countedAlias = "counted"

func pageQuery(counted bool) string {
	alias := "uncounted"
	if counted {
		alias = countedAlias
	}
	return fmt.Sprintf("SELECT id, author, body FROM forum.comments AS %s WHERE thread = ? ORDER BY id DESC LIMIT %d", alias, pageSize)
}

// read shows a thread and looks for what must be there.
func (f *forum) read(ctx context.Context, u *user, thread int, counted bool) request {
	c := f.borrow(u)
	defer f.giveBack(u, c)
	expected := f.acked[thread].Load()
	began := time.Now()
	ids, err := f.page(ctx, c, u, thread, counted)
	r := request{took: time.Since(began), err: err}
	if err == nil {
		r.missedOwn, r.missedAny = missing(ids, u.mine[thread]), missing(ids, expected)
	}
	return r
}

func (f *forum) page(ctx context.Context, c *sql.Conn, u *user, thread int, counted bool) (ids []int64, err error) {
	if err := f.takeOver(ctx, c, u); err != nil {
		return nil, err
	}
	rows, err := c.QueryContext(ctx, f.comment(u, false)+pageQuery(counted), thread)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, author int64
		var body string
		if err := rows.Scan(&id, &author, &body); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// missing tells whether a page lacks the comment: one that newer ones have
// pushed off a full page is not missing.
func missing(page []int64, id int64) bool {
	if id == 0 || slices.Contains(page, id) {
		return false
	}
	return len(page) < pageSize || page[len(page)-1] < id
}

// lay makes the forum anew, on all servers.
func lay(ctx context.Context, c *cluster.Cluster) error {
	if err := c.Source().Exec(ctx, layout); err != nil {
		return err
	}
	return c.WaitCaughtUp(ctx)
}
