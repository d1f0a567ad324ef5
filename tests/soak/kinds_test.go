package soak

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

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

func wrongPassword(ctx context.Context, w *worker) error {
	db, err := openAs(w.addr, "wrong", nil)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.PingContext(ctx); !isError(err, 1045) {
		return fmt.Errorf("a wrong password gives %v, not error 1045", err)
	}
	return nil
}

// cut runs a statement on a connection of its own, whose socket the statement's
// function closes when it likes, as a client that dies does.
func (w *worker) cut(ctx context.Context, use func(c *sql.Conn, cut func())) error {
	var socket net.Conn
	db, c, err := connect(ctx, w.addr, func(ctx context.Context, network, addr string) (net.Conn, error) {
		var d net.Dialer
		s, err := d.DialContext(ctx, network, addr)
		socket = s
		return s, err
	})
	if err != nil {
		return err
	}
	defer db.Close()
	defer c.Close()
	use(c, func() { socket.Close() })
	return nil
}

func cutInResult(ctx context.Context, w *worker) error {
	return w.cut(ctx, func(c *sql.Conn, cut func()) {
		rows, err := c.QueryContext(ctx, "SELECT REPEAT('x', 1000) FROM number a, number b")
		if err != nil {
			return
		}
		defer rows.Close()
		for range 5 {
			rows.Next()
		}
		cut()
	})
}

func cutInSleep(ctx context.Context, w *worker) error {
	return w.cutLater(ctx, "SELECT SLEEP(20) FROM number WHERE n = 1")
}

// cutInWrite: MySQL lets a write finish whose client has gone. This one leaves
// the value as it is, so what the worker may read stays known.
func cutInWrite(ctx context.Context, w *worker) error {
	return w.cutLater(ctx, fmt.Sprintf("UPDATE soak SET v = v + 0 * SLEEP(0.02) WHERE id = %d", w.id))
}

// cutLater closes the socket some milliseconds into a statement.
func (w *worker) cutLater(ctx context.Context, stmt string) error {
	return w.cut(ctx, func(c *sql.Conn, cut func()) {
		timer := time.AfterFunc(time.Duration(w.rng.IntN(20))*time.Millisecond, cut)
		defer timer.Stop()
		_, _ = c.ExecContext(ctx, stmt)
	})
}

// garbage sends what no client sends and expects to be thrown out, at the
// latest when it hangs up.
func garbage(ctx context.Context, w *worker) error {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", w.addr)
	if err != nil {
		return err
	}
	defer c.Close()
	switch w.rng.IntN(4) {
	case 0: // hang up at once
	case 1: // half a handshake
		_, _ = c.Write([]byte{60, 0, 0, 1, 0x85, 0xa2})
	case 2: // no MySQL at all
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	case 3: // a length of 16 MB and a wrong sequence number
		_, _ = c.Write(append([]byte{0xff, 0xff, 0xff, 9}, strings.Repeat("z", 3000)...))
	}
	return nil
}

// kill ends another connection of the same user in the middle of a statement, by
// the number that it was told.
func kill(ctx context.Context, w *worker) error {
	db, victim, err := connect(ctx, w.addr, nil)
	if err != nil {
		return err
	}
	defer db.Close()
	var id int64
	if err := victim.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		var slept int
		err := victim.QueryRowContext(ctx, "SELECT SLEEP(20)").Scan(&slept)
		if err == nil && slept == 0 {
			err = errSleptOn
		}
		ended <- err
	}()
	if err := w.killSleeper(ctx, id, ended); err != nil {
		return err
	}
	if err := <-ended; errors.Is(err, errSleptOn) {
		return err
	}
	return nil
}

var errSleptOn = errors.New("the connection slept on after KILL")

// killSleeper waits until the connection sleeps in its statement and kills it.
func (w *worker) killSleeper(ctx context.Context, id int64, ended <-chan error) error {
	c, err := w.conn(ctx)
	if err != nil {
		return err
	}
	for asleep := 0; asleep == 0; {
		select {
		case err := <-ended:
			return fmt.Errorf("the statement ended before KILL: %w", err)
		default:
		}
		err := c.QueryRowContext(ctx, "SELECT COUNT(*) FROM performance_schema.processlist WHERE ID = ? AND INFO LIKE 'SELECT SLEEP%'", id).Scan(&asleep)
		if err != nil {
			return err
		}
	}
	_, err = c.ExecContext(ctx, fmt.Sprintf("KILL %d", id))
	return err
}
