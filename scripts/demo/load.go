package main

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	sessions = 8
	// pause between two rounds of a session: this shows who answers, not how
	// much the machine can do.
	thinking = 4 * time.Millisecond
)

// tally counts what the sessions saw.
type tally struct {
	writes, reads, stale int
	by                   map[string]int // reads by the address of the node that answered
	waited               int            // reads that waited for a replica
	direct, directStale  int            // the same reads, sent straight to a replica
}

// load is the sessions' work on one table: each writes its own row and reads it
// back through Causeway, so each read's right answer is known. As the control,
// the same read goes straight to a replica, the two taken in turn.
type load struct {
	through  *sql.DB
	replicas []*sql.DB

	mu    sync.Mutex
	since tally // since the last take
	all   tally
}

func newLoad(d *demo) (*load, error) {
	l := &load{since: tally{by: map[string]int{}}, all: tally{by: map[string]int{}}}
	for _, port := range []int{d.mysqlPort, d.base + 2, d.base + 3} {
		db, err := open(port)
		if err != nil {
			l.close()
			return nil, err
		}
		db.SetMaxIdleConns(sessions)
		if l.through == nil {
			l.through = db
		} else {
			l.replicas = append(l.replicas, db)
		}
	}
	return l, nil
}

func (l *load) close() {
	for _, db := range append(l.replicas, l.through) {
		if db != nil {
			_ = db.Close()
		}
	}
}

// prepare makes the table with a row for each session, and waits until the
// replicas have it: the control reads there know no waiting.
func (l *load) prepare(ctx context.Context) error {
	for _, statement := range []string{
		"DROP TABLE IF EXISTS counters",
		"CREATE TABLE counters (id INT PRIMARY KEY, n INT)",
		"INSERT INTO counters VALUES (0,0),(1,0),(2,0),(3,0),(4,0),(5,0),(6,0),(7,0)",
	} {
		if _, err := l.through.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	for _, db := range l.replicas {
		for {
			var n int
			err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM counters").Scan(&n)
			if err == nil && n == sessions {
				break
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return nil
}

// run works until ctx ends; any error but that end is returned.
func (l *load) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for id := range sessions {
		group.Go(func() error {
			err := l.session(ctx, id)
			if ctx.Err() != nil {
				return nil
			}
			return err
		})
	}
	return group.Wait()
}

func (l *load) session(ctx context.Context, id int) error {
	conn, err := l.through.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for n := 1; ctx.Err() == nil; n++ {
		if _, err := conn.ExecContext(ctx, "UPDATE counters SET n = ? WHERE id = ?", n, id); err != nil {
			return fmt.Errorf("a write: %w", err)
		}
		direct := l.replicas[(n+id)%len(l.replicas)]
		if err := l.readBack(ctx, conn, direct, id, n); err != nil {
			return err
		}
		time.Sleep(thinking)
	}
	return nil
}

// readBack reads the row through Causeway and then straight from a replica, and
// asks Causeway who answered. The control goes last: the replica can only
// profit from that.
func (l *load) readBack(ctx context.Context, conn *sql.Conn, direct *sql.DB, id, want int) error {
	const read = "SELECT n FROM counters WHERE id = ?"
	var got, straight int
	if err := conn.QueryRowContext(ctx, read, id).Scan(&got); err != nil {
		return fmt.Errorf("a read: %w", err)
	}
	route, err := askRoute(ctx, conn)
	if err != nil {
		return err
	}
	if err := direct.QueryRowContext(ctx, read, id).Scan(&straight); err != nil {
		return fmt.Errorf("a read straight from a replica: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range []*tally{&l.since, &l.all} {
		t.writes++
		t.reads++
		t.direct++
		t.by[route["Node"]]++
		if got != want {
			t.stale++
		}
		if straight != want {
			t.directStale++
		}
		if route["Reason"] == "token_waited" {
			t.waited++
		}
	}
	return nil
}

// take returns the counts since the last call, and all.
func (l *load) take() (since, all tally) {
	l.mu.Lock()
	defer l.mu.Unlock()
	since, all = l.since, l.all
	l.since = tally{by: map[string]int{}}
	return since, all
}
