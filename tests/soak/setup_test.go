package soak

import (
	"context"
	"database/sql"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"causeway/tests/cluster"

	"github.com/go-sql-driver/mysql"
)

// shared is the cluster of all tests here; each has a Causeway of its own.
var shared *cluster.Cluster

func TestMain(m *testing.M) { cluster.Main(m, cluster.Options{}, prepare) }

func prepare(c *cluster.Cluster) error {
	ctx := context.Background()
	if err := createTables(ctx, c.Source()); err != nil {
		return err
	}
	shared = c
	return c.WaitCaughtUp(ctx)
}

// createTables makes app.number with the numbers 0 to 999, from which a cross
// join streams as many rows as one likes, and app.soak with a row a worker.
func createTables(ctx context.Context, n *cluster.Node) error {
	for _, stmt := range []string{
		"DROP TABLE IF EXISTS app.number, app.soak",
		"CREATE TABLE app.number (n INT PRIMARY KEY)",
		"INSERT INTO app.number WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 999) SELECT n FROM r",
		"CREATE TABLE app.soak (id INT PRIMARY KEY, v BIGINT NOT NULL)",
		"INSERT INTO app.soak SELECT n, 0 FROM app.number",
	} {
		if err := n.Exec(ctx, stmt); err != nil {
			return err
		}
	}
	return nil
}

// dialer lets a test keep hold of the socket under a database handle.
type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// openAs returns a handle of at most one connection through Causeway.
func openAs(addr, password string, dial dialer) (*sql.DB, error) {
	cfg := cluster.AppConfig(addr, "app")
	cfg.Passwd = password
	cfg.Logger = &mysql.NopLogger{} // sockets that a test cuts are not worth a line each
	cfg.DialFunc = dial
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	return db, nil
}

// setting reads a whole number or a duration from the environment.
func setting[T any](t *testing.T, name string, fallback T, parse func(string) (T, error)) T {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return fallback
	}
	v, err := parse(text)
	if err != nil {
		t.Fatalf("%s=%s: %v", name, text, err)
	}
	return v
}

func durationSetting(t *testing.T, name string, fallback time.Duration) time.Duration {
	t.Helper()
	return setting(t, name, fallback, time.ParseDuration)
}

func intSetting(t *testing.T, name string, fallback int) int {
	t.Helper()
	return setting(t, name, fallback, strconv.Atoi)
}

// eventually asks until ok says yes, pausing in between, and fails with what it
// said last.
func eventually(t *testing.T, limit, pause time.Duration, ok func() (bool, string)) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for {
		done, words := ok()
		if done {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("still not so after %v: %s", limit, words)
			return
		}
		time.Sleep(pause)
	}
}
