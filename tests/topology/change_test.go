package topology

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"causeway/tests/check"
)

// TestAddAndRemove: under load a replica comes and another goes, and comes back;
// no client notices.
func TestAddAndRemove(t *testing.T) {
	lay(t)
	first, second := shared.Replica(1), shared.Replica(2)
	p := start(t, "", shared.Source(), first)
	l := p.load()
	p.Run("CAUSEWAY ADD SERVER '%s' WEIGHT 2 ZONE 'x'", second.Addr)
	p.serves(second)
	if row := p.node(second.Addr); row["From"] != "statement" || row["Weight"] != "2" || row["Zone"] != "x" || row["Role"] != "replica" {
		t.Errorf("%v", row)
	}
	check.Until(t, "the new one is read from", func() bool { return p.reads(second) > 0 })

	p.Run("CAUSEWAY REMOVE SERVER '%s'", first.Addr)
	if p.node(first.Addr) != nil {
		t.Error("the removed one is still listed")
	}
	check.Until(t, "its connections are closed", func() bool {
		n, err := first.Value(check.Patience(t), "SELECT COUNT(*) FROM performance_schema.processlist WHERE USER IN ('app', 'ops', 'monitor')")
		check.Must(t, err)
		return n == "0"
	})
	check.Until(t, "its metrics are gone", func() bool { return p.mentions(first.Addr) == 0 })
	l.await(20 * clients)
	p.Run("CAUSEWAY ADD SERVER '%s'", first.Addr)
	p.serves(first)
	if row := p.node(first.Addr); row["From"] != "configuration" {
		t.Errorf("put back: %v", row)
	}
	check.Until(t, "it is read from again", func() bool { return p.reads(first) > 0 })
	l.await(20 * clients)
	l.end()
}

// TestRefusals: what would leave the cluster without its source is refused, and
// so is what only an operator may ask.
func TestRefusals(t *testing.T) {
	lay(t)
	p := start(t, "", shared.Source(), shared.Replica(1))
	for sql, want := range map[string]string{
		"CAUSEWAY REMOVE SERVER '" + shared.Source().Addr + "'":   "is the source: promote another server first",
		"CAUSEWAY REMOVE SERVER '" + shared.Replica(2).Addr + "'": "is no server of this cluster",
		"CAUSEWAY ADD SERVER '" + shared.Replica(1).Addr + "'":    "already",
		"CAUSEWAY ADD SERVER 'x'":                                 "no address",
	} {
		var refused *mysql.MySQLError
		if _, err := p.DB.ExecContext(check.Patience(t), sql); !errors.As(err, &refused) || !strings.Contains(refused.Message, want) {
			t.Errorf("%s: %v, want %q", sql, err, want)
		}
	}
	var refused *mysql.MySQLError
	if _, err := p.app().ExecContext(check.Patience(t), "CAUSEWAY REMOVE SERVER 'x:1'"); !errors.As(err, &refused) || refused.Number != 1227 {
		t.Errorf("by an application: %v", err)
	}
}

// TestWeight: weights hold at once, and 0 drains.
func TestWeight(t *testing.T) {
	lay(t)
	first, second := shared.Replica(1), shared.Replica(2)
	p := start(t, "", shared.Source(), first, second)
	db := p.app()
	db.SetMaxOpenConns(1)
	read := func(times int) (a, b int) {
		t.Helper()
		a, b = p.reads(first), p.reads(second)
		for range times {
			_, err := db.ExecContext(check.Patience(t), "SELECT v FROM t WHERE id = 1")
			check.Must(t, err)
		}
		return p.reads(first) - a, p.reads(second) - b
	}
	p.Run("CAUSEWAY SET WEIGHT '%s' = 0", first.Addr)
	if a, b := read(40); a != 0 || b == 0 {
		t.Errorf("weight 0 against 1: %d and %d reads", a, b)
	}
	p.Run("CAUSEWAY SET WEIGHT '%s' = 3", first.Addr)
	if a, b := read(400); a <= b || b == 0 {
		t.Errorf("weight 3 against 1: %d and %d reads", a, b)
	}
}
