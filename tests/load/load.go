package load

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
)

// Table is what creates the table in a database.
func Table(database string) []string {
	return []string{"DROP DATABASE IF EXISTS " + database, "CREATE DATABASE " + database,
		"CREATE TABLE " + database + ".t (id BIGINT PRIMARY KEY, v INT NOT NULL)"}
}

// Load is the clients and what they were told.
type Load struct {
	// Phase is in the text of each statement: INSERT /* phase 0 */ and
	// SELECT /* own, phase 0 */.
	Phase atomic.Int64

	t     testing.TB
	db    *sql.DB
	limit time.Duration
	stop  chan struct{}
	wg    sync.WaitGroup

	acks, reads, stale atomic.Int64

	mu    sync.Mutex
	acked []int64
	errs  map[string]int
	since time.Time // the first acknowledgement after it is looked for
	first time.Time
}

// Start starts the clients and waits until they have written. Each Await fails
// after limit.
func Start(t testing.TB, db *sql.DB, clients int, limit time.Duration) *Load {
	t.Helper()
	l := &Load{t: t, db: db, limit: limit, stop: make(chan struct{}), errs: map[string]int{}}
	db.SetMaxIdleConns(clients)
	for i := range clients {
		l.wg.Go(func() { l.client(int64(i)) })
	}
	l.Await(5 * clients)
	return l
}

// Await waits until so many more writes have been acknowledged.
func (l *Load) Await(n int) {
	l.t.Helper()
	goal := l.acks.Load() + int64(n)
	check.Within(l.t, l.limit, "clients write", func() bool { return l.acks.Load() >= goal })
}

// AwaitReads waits until there were so many more writes and so many more reads.
func (l *Load) AwaitReads(n int) {
	l.t.Helper()
	goal := l.reads.Load() + int64(n)
	l.Await(n)
	check.Within(l.t, l.limit, "clients read", func() bool { return l.reads.Load() >= goal })
}

// Mark notes the time: from now on AwaitAck looks for an acknowledged write.
func (l *Load) Mark() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.since, l.first = time.Now(), time.Time{}
}

// AwaitAck waits for the first write that was acknowledged after Mark, and tells
// how long after.
func (l *Load) AwaitAck() (took time.Duration) {
	l.t.Helper()
	check.Within(l.t, l.limit, "writes go on", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		took = l.first.Sub(l.since)
		return !l.first.IsZero()
	})
	return took
}

// Stop stops the clients and returns what they were told.
func (l *Load) Stop() Told {
	close(l.stop)
	l.wg.Wait()
	return Told{Acked: l.acked, Reads: int(l.reads.Load()), Stale: int(l.stale.Load()), Errs: l.errs}
}

func (l *Load) stopped() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

func (l *Load) client(id int64) {
	var conn *sql.Conn
	defer func() {
		if conn != nil {
			conn.Close()
		}
	}()
	for seq := int64(1); !l.stopped(); seq++ {
		if conn == nil {
			var err error
			if conn, err = l.db.Conn(context.Background()); err != nil {
				l.failed("connect", err)
				continue
			}
		}
		if l.once(conn, id, id*1_000_000_000+seq) != nil {
			conn.Close() // with its token: the next one is a session without a write
			conn = nil
		}
	}
}

// once writes a row, every fourth client in a transaction, and reads it back.
func (l *Load) once(conn *sql.Conn, id, row int64) error {
	ctx := context.Background()
	text := fmt.Sprintf("INSERT /* phase %d */ INTO t VALUES (%d, %d)", l.Phase.Load(), row, id)
	if err := write(ctx, conn, text, id%4 == 3); err != nil {
		l.failed("write", err)
		return err
	}
	l.wrote(row)
	var v int64
	err := conn.QueryRowContext(ctx, fmt.Sprintf("SELECT /* own, phase %d */ v FROM t WHERE id = %d", l.Phase.Load(), row)).Scan(&v)
	if errors.Is(err, sql.ErrNoRows) {
		l.stale.Add(1)
	} else if err != nil {
		l.failed("read", err)
		return err
	}
	l.reads.Add(1)
	return nil
}

func write(ctx context.Context, conn *sql.Conn, text string, inTrx bool) error {
	if !inTrx {
		_, err := conn.ExecContext(ctx, text)
		return err
	}
	trx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := trx.ExecContext(ctx, text); err != nil {
		_ = trx.Rollback()
		return err
	}
	return trx.Commit()
}

// wrote notes an acknowledged row.
func (l *Load) wrote(row int64) {
	now := time.Now()
	l.acks.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acked = append(l.acked, row)
	if !l.since.IsZero() && l.first.IsZero() && now.After(l.since) {
		l.first = now
	}
}

func (l *Load) failed(what string, err error) {
	text := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '#'
		}
		return r
	}, err.Error())
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errs[what+": "+text[:min(len(text), 160)]]++
}

// Told is what the clients were told.
type Told struct {
	Acked        []int64 // rows
	Reads, Stale int
	Errs         map[string]int // by text, without numbers
}

// Missing counts the acknowledged rows that a node does not have.
func (o Told) Missing(t testing.TB, n *cluster.Node, table string) (missing int) {
	t.Helper()
	rows, err := n.DB.QueryContext(check.Patience(t), "SELECT id FROM "+table)
	check.Must(t, err)
	defer rows.Close()
	there := map[int64]bool{}
	for rows.Next() {
		var id int64
		check.Must(t, rows.Scan(&id))
		there[id] = true
	}
	check.Must(t, rows.Err())
	for _, id := range o.Acked {
		if !there[id] {
			missing++
		}
	}
	return missing
}
