package tokens

import (
	"strings"
	"testing"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/session/raw"
	"causeway/wire"
)

var shared *cluster.Cluster

func TestMain(m *testing.M) { cluster.Main(m, cluster.Options{}, cluster.Keep(&shared)) }

// budget is so large that no read is refused while both appliers stand.
const budget = `
[fallback]
qps = 100000
burst = 100000
[routing]
max_wait = "5s"
`

// pairs is how many writes with a read each way does; few by default.
func pairs(t *testing.T) int {
	return check.Number(t, "TOKENS_PAIRS", 120)
}

// lay makes tables and routines that all nodes know.
func lay(t *testing.T) {
	t.Helper()
	check.Must(t, shared.Source().Exec(t.Context(), strings.Join([]string{
		"SET GLOBAL log_bin_trust_function_creators = 1",
		"DROP DATABASE IF EXISTS tok", "CREATE DATABASE tok", "USE tok",
		"CREATE TABLE r (id INT PRIMARY KEY, v BIGINT NOT NULL)",
		"CREATE PROCEDURE put(i INT, x BIGINT) REPLACE INTO tok.r VALUES (i, x)",
		"CREATE PROCEDURE put_and_fail(i INT, x BIGINT) BEGIN REPLACE INTO tok.r VALUES (i, x); SIGNAL SQLSTATE '45000'; END",
		"CREATE FUNCTION put_f(i INT, x BIGINT) RETURNS BIGINT DETERMINISTIC BEGIN REPLACE INTO tok.r VALUES (i, x); RETURN x; END",
	}, ";\n")))
	shared.MustHeal(t)
}

func dial(t *testing.T, addr string, attrs map[string]string) *raw.Client {
	t.Helper()
	return cluster.OpenRaw(t, raw.Options{Addr: addr, DB: "tok",
		Caps: raw.Modern | wire.CapQueryAttributes | wire.CapMultiStatements, Attrs: attrs, AllTrackers: true})
}

// refused wants an error with that text.
func refused(t *testing.T, c *raw.Client, sql, text string) {
	t.Helper()
	a, err := c.Query(sql)
	check.Must(t, err)
	if a.Err() == nil || !strings.Contains(a.Err().Error(), text) {
		t.Errorf("%.80s: %v, want %q", sql, a.Err(), text)
	}
}
