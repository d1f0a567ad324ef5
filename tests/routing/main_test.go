package routing

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"causeway/classifier/cases"
	"causeway/tests/cluster"
)

// patience makes replicas qualify on a slow machine too: this test is about
// where statements belong, not about lag.
const patience = `
[routing]
wait = "5s"
max_wait = "10s"
max_staleness = "1m"
`

var (
	nodes *cluster.Cluster
	proxy *cluster.Causeway
)

func TestMain(m *testing.M) {
	cluster.Main(m, cluster.Options{}, func(c *cluster.Cluster) (err error) {
		nodes = c
		if err := load(c); err != nil {
			return err
		}
		if proxy, err = c.Serve(patience); err != nil {
			return err
		}
		return awaitReplicas()
	})
}

// load makes the tables of the cases on the source and waits for the replicas.
func load(c *cluster.Cluster) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, n := range c.Nodes() {
		// log_raw: the general log has texts as they came, also those with
		// passwords and those that do not parse
		if err := n.Exec(ctx, "SET GLOBAL log_bin_trust_function_creators = 1, GLOBAL log_raw = ON"); err != nil {
			return err
		}
	}
	conn, end, err := connect(ctx, c.Source().Addr, "")
	if err != nil {
		return err
	}
	defer end()
	for _, q := range append([]string{"CREATE DATABASE cases", "USE cases"}, cases.Schema...) {
		if _, err := conn.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	return c.WaitCaughtUp(ctx)
}

// awaitReplicas waits until every replica was read from: Causeway is ready for
// clients before the replicas have proved where they are. Only here is its own
// word taken, for the node that a read went to.
func awaitReplicas() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, end, err := connect(ctx, proxy.Addr, "cases")
	if err != nil {
		return err
	}
	defer end()
	missing := map[string]bool{}
	for _, n := range nodes.Replicas() {
		missing[n.Addr] = true
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for len(missing) > 0 {
		select {
		case <-ctx.Done():
			return fmt.Errorf("never read from: %v", missing)
		case <-tick.C:
		}
		if _, err := conn.ExecContext(ctx, "SELECT a FROM t"); err != nil {
			return err
		}
		var name, node string
		if err := conn.QueryRowContext(ctx, "SHOW CAUSEWAY ROUTE").Scan(&name, &node); err != nil {
			return err
		}
		delete(missing, node)
	}
	return nil
}

// connect opens one connection that can send several statements in a text.
func connect(ctx context.Context, addr, schema string) (*sql.Conn, func(), error) {
	cfg := cluster.AppConfig(addr, schema)
	cfg.MultiStatements = true
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, nil, err
	}
	db := sql.OpenDB(connector)
	conn, err := db.Conn(ctx)
	if err != nil {
		_ = db.Close()
		return nil, nil, err
	}
	return conn, func() { _ = conn.Close(); _ = db.Close() }, nil
}
