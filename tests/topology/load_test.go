package topology

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"causeway/tests/check"
)

const clients = 16

// writers are clients that write a row and read it back at once, every fourth of
// them in a READ ONLY transaction, without a pause.
type writers struct {
	t    *testing.T
	stop chan struct{}
	wg   sync.WaitGroup

	reads, stale atomic.Int64
	mu           sync.Mutex
	errs         []error
}

func (p *proxy) load() *writers {
	l := &writers{t: p.T, stop: make(chan struct{})}
	db := p.app()
	for i := range clients {
		l.wg.Go(func() { l.client(db, int64(i)) })
	}
	l.await(5 * clients)
	return l
}

// await waits for so many more reads.
func (l *writers) await(n int64) {
	l.t.Helper()
	goal := l.reads.Load() + n
	check.Until(l.t, "clients read", func() bool { return l.reads.Load() >= goal })
}

func (l *writers) client(db *sql.DB, id int64) {
	conn, err := db.Conn(context.Background())
	if err != nil {
		l.failed(err)
		return
	}
	defer conn.Close()
	for seq := int64(1); ; seq++ {
		select {
		case <-l.stop:
			return
		default:
		}
		if err := l.once(conn, id*1_000_000_000+seq, id%4 == 3); err != nil {
			l.failed(err)
			return
		}
	}
}

func (l *writers) once(conn *sql.Conn, row int64, inTrx bool) error {
	ctx := context.Background()
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("INSERT INTO t VALUES (%d, 1)", row)); err != nil {
		return err
	}
	texts := []string{fmt.Sprintf("SELECT v FROM t WHERE id = %d", row)}
	if inTrx {
		if _, err := conn.ExecContext(ctx, "START TRANSACTION READ ONLY"); err != nil {
			return err
		}
		texts = append(texts, texts[0], texts[0])
	}
	for _, text := range texts {
		var v int
		switch err := conn.QueryRowContext(ctx, text).Scan(&v); err {
		case nil:
		case sql.ErrNoRows:
			l.stale.Add(1)
		default:
			return err
		}
		l.reads.Add(1)
	}
	if inTrx {
		_, err := conn.ExecContext(ctx, "COMMIT")
		return err
	}
	return nil
}

func (l *writers) failed(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errs = append(l.errs, err)
}

// end stops the clients: none may have got an error, or missed its own write.
func (l *writers) end() {
	l.t.Helper()
	close(l.stop)
	l.wg.Wait()
	l.t.Logf("%d reads", l.reads.Load())
	if len(l.errs) > 0 || l.stale.Load() > 0 {
		l.t.Errorf("%d stale reads, errors: %v", l.stale.Load(), l.errs)
	}
}
