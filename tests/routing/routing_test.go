package routing

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"causeway/tests/cluster"
)

// TestTable sends every statement of the table, each on a connection of its
// own, and then asks the nodes' general logs which of them got it.
func TestTable(t *testing.T) {
	rows := table()
	if len(rows) < 250 {
		t.Fatalf("%d statements: the table lost some", len(rows))
	}
	logs := openLogs(t)
	for i, r := range rows {
		r.send(t, i)
	}
	seen := logs.read(t)
	for i, r := range rows {
		r.check(t, i, seen)
	}
	t.Logf("%d statements", len(rows))
}

// mark is what a statement is found by; before counts the statements sent
// ahead of it, the row's own has -1.
func mark(i, before int) string {
	if before < 0 {
		return fmt.Sprintf("rt%04dx", i)
	}
	return fmt.Sprintf("rt%04db%d", i, before)
}

func marked(text, m string) string {
	if strings.Contains(text, "{m}") {
		return strings.ReplaceAll(text, "{m}", m)
	}
	verb, rest, ok := strings.Cut(text, " ")
	if !ok || strings.ContainsAny(verb, "(;/") {
		return "/* " + m + " */ " + text
	}
	return verb + " /* " + m + " */ " + rest // comments around a prepared text do not count
}

// send runs the row's statements through Causeway.
func (r row) send(t *testing.T, i int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, end, err := connect(ctx, proxy.Addr, "cases")
	if err != nil {
		t.Fatalf("row %d: %v", i, err)
	}
	defer end()
	for n, text := range r.before {
		text, mayFail := strings.CutPrefix(text, "-")
		if _, err := conn.ExecContext(ctx, marked(text, mark(i, n))); err != nil && !mayFail {
			t.Errorf("row %d: before it, %s: %v", i, text, err)
		}
	}
	got := number(t, i, r.run(ctx, conn, marked(r.sql, mark(i, -1))))
	if r.errno != anyError && got != r.errno {
		t.Errorf("row %d: %q %v: error %d, want %d", i, r.sql, r.before, got, r.errno)
	}
}

// run sends the row's own statement, in the protocol that it asks for.
func (r row) run(ctx context.Context, conn *sql.Conn, text string) error {
	if r.args == nil {
		_, err := conn.ExecContext(ctx, text)
		return err
	}
	stmt, err := conn.PrepareContext(ctx, text)
	if err != nil {
		return err
	}
	defer stmt.Close()
	_, err = stmt.ExecContext(ctx, r.args...)
	return err
}

// number is the server's error number; any other error ends the test.
func number(t *testing.T, i int, err error) uint16 {
	t.Helper()
	var my *mysql.MySQLError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &my):
		return my.Number
	}
	t.Errorf("row %d: %v", i, err)
	return 0
}

// check compares where the row's statement was seen with where it belongs.
func (r row) check(t *testing.T, i int, seen map[string][]*cluster.Node) {
	t.Helper()
	got := seen[mark(i, -1)]
	ok := false
	switch r.to {
	case nobody:
		ok = len(got) == 0
	case source:
		ok = len(got) == 1 && got[0] == nodes.Source()
	case replica:
		ok = len(got) == 1 && got[0] != nodes.Source()
	case last:
		before := seen[mark(i, len(r.before)-1)]
		ok = len(got) == 1 && slices.Equal(got, before)
	}
	if !ok {
		t.Errorf("row %d: %q after %v: went to %v, want %s%s", i, r.sql, r.before, names(got), r.to, r.lastOf(i, seen))
	}
}

func (r row) lastOf(i int, seen map[string][]*cluster.Node) string {
	if r.to != last {
		return ""
	}
	return fmt.Sprintf(" (%v)", names(seen[mark(i, len(r.before)-1)]))
}

func names(ns []*cluster.Node) []string {
	all := []string{}
	for _, n := range ns {
		all = append(all, n.Name)
	}
	return all
}

// logs are the general logs of all nodes.
type logs map[*cluster.Node]*cluster.GeneralLog

func openLogs(t *testing.T) logs {
	all := logs{}
	for _, n := range nodes.Nodes() {
		all[n] = n.LogStatements(t)
	}
	return all
}

var markPattern = regexp.MustCompile(`rt\d{4}(?:x|b\d+)`)

// read finds the marks of clients' statements. What a replica's own threads
// run, they got by replication.
func (l logs) read(t *testing.T) map[string][]*cluster.Node {
	t.Helper()
	seen := map[string][]*cluster.Node{}
	for n, log := range l {
		entries, err := log.Entries()
		if err != nil {
			t.Fatal(err)
		}
		appliers := replicationThreads(t, n)
		prepared := binary(entries)
		for _, e := range entries {
			want := "Query"
			m := markPattern.FindString(e.Text)
			if prepared[m] {
				want = "Execute"
			}
			if m != "" && e.Command == want && !appliers[e.Thread] && !slices.Contains(seen[m], n) {
				seen[m] = append(seen[m], n)
			}
		}
	}
	return seen
}

// binary finds the marks of statements of the binary protocol: their text is
// prepared, and no query.
func binary(entries []cluster.LogEntry) map[string]bool {
	queries, prepares := map[string]bool{}, map[string]bool{}
	for _, e := range entries {
		m := markPattern.FindString(e.Text)
		switch e.Command {
		case "Query":
			queries[m] = true
		case "Prepare":
			prepares[m] = true
		}
	}
	for m := range queries {
		delete(prepares, m)
	}
	return prepares
}

func replicationThreads(t *testing.T, n *cluster.Node) map[uint64]bool {
	t.Helper()
	text, err := n.Value(context.Background(),
		"SELECT COALESCE(GROUP_CONCAT(processlist_id), '') FROM performance_schema.threads WHERE name LIKE 'thread/sql/replica%'")
	if err != nil {
		t.Fatal(err)
	}
	all := map[uint64]bool{}
	for _, id := range strings.Split(text, ",") {
		var v uint64
		if _, err := fmt.Sscan(id, &v); err == nil {
			all[v] = true
		}
	}
	return all
}
