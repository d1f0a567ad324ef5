package soak

import (
	"context"
	"database/sql"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"causeway/tests/rig"

	"github.com/go-sql-driver/mysql"
)

// setup starts a cluster with the tables that the tests use, and Causeway.
func setup(t *testing.T, name string) (*rig.Cluster, *rig.Causeway) {
	t.Helper()
	ctx := t.Context()
	cluster, err := rig.StartCluster(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	if err := createTables(ctx, cluster.DB(cluster.Source)); err != nil {
		t.Fatal(err)
	}
	if err := cluster.CatchUp(ctx); err != nil {
		t.Fatal(err)
	}
	causeway, err := rig.StartCauseway(ctx, t.TempDir(), cluster, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !causeway.Alive() {
			t.Error("Causeway ended before the test did")
		}
		_ = causeway.Stop()
		if t.Failed() {
			t.Log("the end of Causeway's log:\n" + causeway.Tail())
		}
	})
	return cluster, causeway
}

// createTables makes app.number with the numbers 0 to 999, from which a cross
// join streams as many rows as one likes, and app.soak with a row a worker.
func createTables(ctx context.Context, db *sql.DB) error {
	for _, stmt := range []string{
		"DROP TABLE IF EXISTS app.number, app.soak",
		"CREATE TABLE app.number (n INT PRIMARY KEY)",
		"INSERT INTO app.number WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 999) SELECT n FROM r",
		"CREATE TABLE app.soak (id INT PRIMARY KEY, v BIGINT NOT NULL)",
		"INSERT INTO app.soak SELECT n, 0 FROM app.number",
	} {
		if _, err := db.ExecContext(ctx, stmt); err != nil {
			return err
		}
	}
	return nil
}

// dialer lets a test keep hold of the socket under a database handle.
type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// openAs returns a handle of at most one connection through Causeway.
func openAs(addr, password string, dial dialer) (*sql.DB, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.DBName = rig.AppUser, password, "app"
	cfg.Net, cfg.Addr = "tcp", addr
	cfg.Logger = quiet{}
	if dial != nil {
		cfg.DialFunc = dial
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	return db, nil
}

// quiet drops what the driver says about the sockets that a test cuts.
type quiet struct{}

func (quiet) Print(...any) {}

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

// eventually asks until ok says yes, and fails with what it said last.
func eventually(t *testing.T, limit time.Duration, ok func() (bool, string)) {
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
		time.Sleep(200 * time.Millisecond)
	}
}
