package sharedkeys

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/redis"
)

// wantRefused fails unless the statement is error 3168 with that text.
func wantRefused(t *testing.T, c *sql.Conn, text, query string) {
	t.Helper()
	var e *mysql.MySQLError
	if _, err := c.ExecContext(context.Background(), query); !errors.As(err, &e) || e.Number != 3168 || !strings.Contains(e.Message, text) {
		t.Errorf("%s: %v, want 3168 with %q", query, err, text)
	}
}

func session(t *testing.T, cw *cluster.Causeway) (*sql.Conn, func(queries ...string)) {
	t.Helper()
	db := open(t, cw)
	t.Cleanup(func() { db.Close() })
	c, err := db.Conn(context.Background())
	check.Must(t, err)
	return c, func(queries ...string) {
		t.Helper()
		for _, q := range queries {
			if _, err := c.ExecContext(context.Background(), q); err != nil {
				t.Fatalf("%s: %v", q, err)
			}
		}
	}
}

// TestRefuse: with store_down = "refuse" nothing is committed under a key while Redis is
// away, and whatever is open can be ended.
func TestRefuse(t *testing.T) {
	table(t)
	r := redis.Start(t)
	cfg := strings.Replace(config(setups[0], "a", "redis = \""+r.Addr+"\"\n"), "[token.store]", "[token]\nstore_down = \"refuse\"\n[token.store]", 1)
	cfg = strings.Replace(cfg, `proxies = ["a", "b"]`, `proxies = ["a"]`, 1)
	a := cluster.StartCauseway(t, shared, cfg)
	trusted(t, a)
	const key = " /*causeway_key='k'*/"
	k, run := session(t, a)
	_, runOther := session(t, a)
	prepared, runPrepared := session(t, a)
	run("BEGIN", "UPDATE r SET v = 2 WHERE id = 1"+key)
	runPrepared("XA START 'x'", "UPDATE r SET v = 2 WHERE id = 2"+key, "XA END 'x'", "XA PREPARE 'x'"+key)
	r.Kill()
	check.Until(t, "it notices", func() bool { return storeStatus(t, a)["Store"] != "joined" })
	if got := storeStatus(t, a)["Store_trusted"]; got != "no: not_joined" {
		t.Errorf("Store_trusted: %s", got)
	}
	for _, q := range []string{"COMMIT", "BEGIN", "SET autocommit = 1", "CREATE TABLE y (a INT)"} {
		wantRefused(t, k, "ROLLBACK", q)
	}
	wantRefused(t, prepared, "nothing has run", "XA COMMIT 'x'"+key)
	run("SAVEPOINT s", "ROLLBACK TO s", "ROLLBACK")
	runOther("SET innodb_lock_wait_timeout = 2", "UPDATE r SET v = 3 WHERE id = 1") // the row is free
	runPrepared("XA ROLLBACK 'x'" + key)
	run("SET @causeway_key = 'k'", "DO 1", "UNLOCK TABLES", "XA RECOVER", "CREATE TEMPORARY TABLE t (a INT)", "DROP TEMPORARY TABLE t",
		"BEGIN", "SELECT v FROM r FOR UPDATE", "COMMIT", "START TRANSACTION READ ONLY", "SELECT v FROM r", "COMMIT")
	wantRefused(t, k, "nothing has run", "UPDATE r SET v = 4")
	r.Restart()
	trusted(t, a)
	run("UPDATE r SET v = 5 WHERE id = 1")
}

// TestOneName: the second process of a name says why it takes no writes under keys, and
// takes them when the first has ended.
func TestOneName(t *testing.T) {
	table(t)
	r := redis.Start(t)
	cfg := strings.Replace(config(setups[0], "a", "redis = \""+r.Addr+"\"\n"), `proxies = ["a", "b"]`, `proxies = ["a"]`, 1)
	const write = "UPDATE r SET v = 9 WHERE id = 1 /*causeway_key='k'*/"
	var run func(...string)
	t.Run("two", func(first *testing.T) {
		trusted(first, cluster.StartCauseway(first, shared, cfg))
		second := cluster.StartCauseway(t, shared, cfg)
		check.Until(t, "it is refused", func() bool { return strings.Contains(storeStatus(t, second)["Store_error"], "name") })
		var k *sql.Conn
		k, run = session(t, second)
		wantRefused(t, k, "another process holds the lease of this Causeway's name", write)
	})
	run(write)
}
