package failover

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"causeway/tests/check"
)

// freshClasses have bounds that are longer than a loss takes to be noticed.
const freshClasses = `
[[class]]
name = "LIST"
consistency = "bounded"
max_staleness = "6s"
on_lag = ["stale"]
[[class]]
name = "STRICT"
consistency = "bounded"
max_staleness = "6s"
on_lag = ["error"]
[[class]]
name = "ANY"
consistency = "eventual"
on_lag = ["error"]
`

// TestFreshWithoutSource: while there is no source, a read is served without a mark
// for as long as positions prove its bound, and one without a bound for ever.
func TestFreshWithoutSource(t *testing.T) {
	lay(t)
	ctx := check.Patience(t)
	p := start(t, shared.Addrs(), config(t, wait)+freshClasses)
	c := p.app()
	check.Until(t, "replicas serve under each limit", func() bool {
		return served(ctx, c, "LIST") == "" && served(ctx, c, "STRICT") == "" && served(ctx, c, "ANY") == ""
	})
	old := shared.Source()
	check.Must(t, old.Kill())
	t.Cleanup(func() { check.Must(t, old.StartNode()) })
	for lost := time.Now(); time.Since(lost) < 4*time.Second; time.Sleep(20 * time.Millisecond) {
		for _, class := range []string{"LIST", "STRICT", "ANY"} {
			if got := served(ctx, c, class); got != "" {
				t.Fatalf("%s after %v: %s", class, time.Since(lost), got)
			}
		}
	}
	check.Until(t, "the bound is passed", func() bool { return strings.Contains(served(ctx, c, "LIST"), "old") })
	if got := served(ctx, c, "STRICT"); !strings.Contains(got, "fresh enough") {
		t.Errorf("beyond its bound: %q", got)
	}
	if got := served(ctx, c, "ANY"); got != "" {
		t.Errorf("without a bound: %s", got)
	}
}

// served reads in a class, and returns its error or warning, "" if it has none.
func served(ctx context.Context, c *sql.Conn, class string) string {
	var n int
	if err := c.QueryRowContext(ctx, "SELECT COUNT(*) FROM t /*causeway_class='"+class+"'*/").Scan(&n); err != nil {
		return err.Error()
	}
	var level, text string
	switch err := c.QueryRowContext(ctx, "SHOW WARNINGS").Scan(&level, &n, &text); err {
	case nil:
		return text
	case sql.ErrNoRows:
		return ""
	default:
		return err.Error()
	}
}
