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
)

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
	for asleep := false; !asleep; {
		select {
		case err := <-ended:
			return fmt.Errorf("the statement ended before KILL: %w", err)
		default:
		}
		if asleep, err = sleeps(ctx, c, id); err != nil {
			return err
		}
	}
	_, err = c.ExecContext(ctx, fmt.Sprintf("KILL %d", id))
	return err
}

// sleeps looks for a connection that runs its SELECT SLEEP.
func sleeps(ctx context.Context, c *sql.Conn, id int64) (bool, error) {
	rows, err := c.QueryContext(ctx, "SHOW PROCESSLIST")
	if err != nil {
		return false, err
	}
	defer rows.Close()
	found := false
	for rows.Next() {
		var one int64
		var user, host, schema, command, seconds, state, info sql.NullString
		if err := rows.Scan(&one, &user, &host, &schema, &command, &seconds, &state, &info); err != nil {
			return false, err
		}
		found = found || one == id && strings.HasPrefix(state.String, "executing on") && strings.HasPrefix(strings.ToLower(info.String), "select sleep")
	}
	return found, rows.Err()
}
