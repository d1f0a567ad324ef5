package crowd

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"causeway/tests/cluster"
)

var shared *cluster.Cluster

func TestMain(m *testing.M) { cluster.Main(m, cluster.Options{}, prepare) }

func prepare(c *cluster.Cluster) error {
	ctx := context.Background()
	for _, stmt := range []string{
		"DROP TABLE IF EXISTS app.crowd, app.crowd_log",
		"CREATE TABLE app.crowd (id INT PRIMARY KEY, v BIGINT NOT NULL)",
		"CREATE TABLE app.crowd_log (id BIGINT AUTO_INCREMENT PRIMARY KEY, who INT NOT NULL, KEY (who))",
		"INSERT INTO app.crowd WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 999) SELECT n, 0 FROM r",
	} {
		if err := c.Source().Exec(ctx, stmt); err != nil {
			return err
		}
	}
	shared = c
	return c.WaitCaughtUp(ctx)
}

// sized reads the size of the run.
func sized(t *testing.T) (clients, active int, length time.Duration) {
	t.Helper()
	number := func(name string, fallback int) int {
		text := os.Getenv(name)
		if text == "" {
			return fallback
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return n
	}
	length = 10 * time.Second
	if text := os.Getenv("CROWD_DURATION"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	return number("CROWD_CLIENTS", 1000), number("CROWD_ACTIVE", 60), length
}
