package soak

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// kind is one sort of work. It returns an error only for what should not
// happen: the faults that it causes itself are part of it.
type kind struct {
	name   string
	weight int
	do     func(context.Context, *worker) error
}

// kinds in the mix of a busy application with some bad clients.
var kinds = []kind{
	{"read", 30, read},
	{"write and read back", 20, writeAndReadBack},
	{"transaction", 10, transaction},
	{"rollback", 4, rollback},
	{"prepared", 10, prepared},
	{"result of 2 MB", 3, bigResult},
	{"errors", 8, serverErrors},
	{"session state", 4, sessionState},
	{"reconnect", 6, reconnect},
	{"wrong password", 2, wrongPassword},
	{"cut in a result", 3, cutInResult},
	{"cut in a sleep", 2, cutInSleep},
	{"cut in a write", 2, cutInWrite},
	{"garbage", 3, garbage},
	{"kill", 2, kill},
}

var totalWeight = func() (sum int) {
	for _, k := range kinds {
		sum += k.weight
	}
	return sum
}()

// pick returns the kind that a number below totalWeight falls on.
func pick(n int) kind {
	for _, k := range kinds {
		if n < k.weight {
			return k
		}
		n -= k.weight
	}
	panic("BUG: pick past the last kind")
}

func read(ctx context.Context, w *worker) error {
	c, err := w.conn(ctx)
	if err != nil {
		return err
	}
	var n int
	return c.QueryRowContext(ctx, fmt.Sprintf("SELECT n FROM number WHERE n = %d", w.rng.IntN(1000))).Scan(&n)
}

// writeAndReadBack is the promise itself, under load.
func writeAndReadBack(ctx context.Context, w *worker) error {
	c, err := w.conn(ctx)
	if err != nil {
		return err
	}
	w.v++
	if _, err := c.ExecContext(ctx, fmt.Sprintf("UPDATE soak SET v = %d WHERE id = %d", w.v, w.id)); err != nil {
		return err
	}
	w.wrote = true
	return w.readBack(ctx, c)
}

// readBack fails if the row does not hold what the worker last wrote. A read on
// a connection that has not written yet may be older, never newer.
func (w *worker) readBack(ctx context.Context, c *sql.Conn) error {
	var v int64
	if err := c.QueryRowContext(ctx, fmt.Sprintf("SELECT v FROM soak WHERE id = %d", w.id)).Scan(&v); err != nil {
		return err
	}
	if v > w.v || v < w.v && w.wrote {
		return fmt.Errorf("stale read: %d, written was %d", v, w.v)
	}
	return nil
}

func transaction(ctx context.Context, w *worker) error {
	return w.transaction(ctx, true)
}

func rollback(ctx context.Context, w *worker) error {
	return w.transaction(ctx, false)
}

func (w *worker) transaction(ctx context.Context, commit bool) error {
	c, err := w.conn(ctx)
	if err != nil {
		return err
	}
	tx, err := c.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "UPDATE soak SET v = ? WHERE id = ?", w.v+1, w.id); err != nil {
		return err
	}
	var v int64
	if err := tx.QueryRowContext(ctx, "SELECT v FROM soak WHERE id = ?", w.id).Scan(&v); err != nil {
		return err
	}
	if v != w.v+1 {
		return fmt.Errorf("a transaction reads %d, its own write was %d", v, w.v+1)
	}
	if !commit {
		if err := tx.Rollback(); err != nil {
			return err
		}
		return w.readBack(ctx, c)
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	w.v, w.wrote = w.v+1, true
	return w.readBack(ctx, c)
}

func prepared(ctx context.Context, w *worker) error {
	c, err := w.conn(ctx)
	if err != nil {
		return err
	}
	stmt, err := c.PrepareContext(ctx, "SELECT n FROM number WHERE n BETWEEN ? AND ?")
	if err != nil {
		return err
	}
	defer stmt.Close()
	for range 3 {
		from := w.rng.IntN(900)
		if err := count(stmt.QueryContext(ctx, from, from+9))(10); err != nil {
			return err
		}
	}
	return nil
}

// count reads a result to its end and compares the number of rows.
func count(rows *sql.Rows, err error) func(want int) error {
	return func(want int) error {
		if err != nil {
			return err
		}
		defer rows.Close()
		n := 0
		for rows.Next() {
			n++
		}
		if err := rows.Err(); err != nil {
			return err
		}
		if n != want {
			return fmt.Errorf("%d rows, not %d", n, want)
		}
		return nil
	}
}

func bigResult(ctx context.Context, w *worker) error {
	c, err := w.conn(ctx)
	if err != nil {
		return err
	}
	return count(c.QueryContext(ctx, "SELECT n, REPEAT('x', 2000) FROM number"))(1000)
}

// serverErrors: each statement fails with MySQL's own number, and the
// connection goes on.
func serverErrors(ctx context.Context, w *worker) error {
	c, err := w.conn(ctx)
	if err != nil {
		return err
	}
	for _, bad := range []struct {
		sql  string
		code uint16
	}{
		{"SELECT FROM WHERE", 1064},
		{"SELECT * FROM nosuchtable", 1146},
		{"SELECT nosuchcolumn FROM number", 1054},
		{fmt.Sprintf("INSERT INTO soak VALUES (%d, 0)", w.id), 1062},
		{"CALL nosuchprocedure()", 1305},
	} {
		if _, err := c.ExecContext(ctx, bad.sql); !isError(err, bad.code) {
			return fmt.Errorf("%s: %v, not error %d", bad.sql, err, bad.code)
		}
	}
	return w.readBack(ctx, c)
}

func isError(err error, code uint16) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && e.Number == code
}

// sessionState leaves a connection behind that holds a lock, a temporary table
// and a variable, which must go with it.
func sessionState(ctx context.Context, w *worker) error {
	defer w.disconnect()
	c, err := w.conn(ctx)
	if err != nil {
		return err
	}
	lock := fmt.Sprintf("soak-%d", w.id)
	for _, stmt := range []string{
		"SET @soak = 7, time_zone = '+03:00'",
		"CREATE TEMPORARY TABLE kept (id INT PRIMARY KEY)",
		"INSERT INTO kept VALUES (1), (2)",
	} {
		if _, err := c.ExecContext(ctx, stmt); err != nil {
			return fmt.Errorf("%s: %w", stmt, err)
		}
	}
	var got, v, n int
	row := c.QueryRowContext(ctx, "SELECT GET_LOCK(?, 30), @soak, (SELECT COUNT(*) FROM kept)", lock)
	if err := row.Scan(&got, &v, &n); err != nil {
		return err
	}
	if got != 1 || v != 7 || n != 2 {
		return fmt.Errorf("GET_LOCK %d, variable %d, rows %d, not 1, 7, 2", got, v, n)
	}
	return nil
}

func reconnect(ctx context.Context, w *worker) error {
	w.disconnect()
	return read(ctx, w)
}
