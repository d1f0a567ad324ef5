package main

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"causeway/tests/cluster"
)

// rowsEach are the rows of one client: no two clients write the same, so that
// all transactions that are committed together can be applied together.
const rowsEach = 2000

func layout(ctx context.Context, source *cluster.Node, clients int) error {
	err := source.Exec(ctx, `CREATE DATABASE IF NOT EXISTS bench;
		CREATE TABLE IF NOT EXISTS bench.account (id INT PRIMARY KEY, changes INT NOT NULL, note VARCHAR(100) NOT NULL)`)
	if err != nil {
		return err
	}
	return source.Exec(ctx, `SET SESSION cte_max_recursion_depth = 1000000;
		INSERT IGNORE INTO bench.account WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?) SELECT i, 0, '' FROM n`,
		clients*rowsEach)
}

// load writes on the source: each client changes rows of its own, one in each
// transaction. perSec is all clients' together; 0: as many as they can.
type load struct {
	source  *cluster.Node
	clients int
	perSec  float64
}

// run writes for so long. A client that is late does not wait, so that the rate
// holds if the source can hold it.
func (l load) run(ctx context.Context, length time.Duration) error {
	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for id := range l.clients {
		group.Go(func() error {
			conn, err := l.source.DB.Conn(ctx)
			if err != nil {
				return err
			}
			defer conn.Close()
			return l.client(ctx, conn, id, began, length)
		})
	}
	return group.Wait()
}

func (l load) client(ctx context.Context, conn *sql.Conn, id int, began time.Time, length time.Duration) error {
	var pause time.Duration
	if l.perSec > 0 {
		pause = time.Duration(float64(l.clients) / l.perSec * float64(time.Second))
	}
	due := began.Add(pause * time.Duration(id) / time.Duration(l.clients))
	for n := 0; time.Since(began) < length; n++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Until(due)):
		}
		row := id*rowsEach + rand.IntN(rowsEach)
		_, err := conn.ExecContext(ctx, "UPDATE bench.account SET changes = changes + 1, note = ? WHERE id = ?", fmt.Sprint("change ", n), row)
		if err != nil {
			return fmt.Errorf("the load: %w", err)
		}
		due = due.Add(pause)
	}
	return nil
}
