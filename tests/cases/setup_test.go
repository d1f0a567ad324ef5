package cases

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/tests/cluster"
)

// pool is a Causeway with its own idea of how many connections to a node it may have.
type pool struct {
	name     string
	size     int    // connections to each node, if they are as few as a case needs
	lines    string // of the configuration
	causeway *cluster.Causeway
}

// pools are the Causeways: each case runs through the wide one and through the
// one with as few connections as it needs. Over one connection to each node for
// all its sessions a case shows that nothing of one is left for another; over
// many, that none is where another's was.
var pools = []*pool{
	{name: "wide", lines: "\n[pool]\nmax_connections = 64\nprepared_statements = 50\n"},
	{name: "one", size: 1, lines: "\n[pool]\nmax_connections = 1\nmin_idle = 0\nwait = \"5s\"\nprepared_statements = 50\n"},
	{name: "two", size: 2, lines: "\n[pool]\nmax_connections = 2\nmin_idle = 0\nwait = \"5s\"\nprepared_statements = 50\n"},
}

// patient makes Causeway wait for a replica rather than go to the source, so
// that the scripts' reads run on replicas even on a slow machine. The second
// user is for sessions that are somebody else.
const patient = `
[[users]]
name = "other"
password = "other_pw"

[routing]
wait = "3s"
max_wait = "10s"
`

// lab is the cluster and its Causeways; they start with the first test that
// needs them, as the check of the list needs none.
var lab struct {
	cluster *cluster.Cluster
	stops   []func()
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, stop := range slices.Backward(lab.stops) {
		stop()
	}
	os.Exit(code)
}

var starting = sync.OnceValue(func() error {
	c, stop, err := cluster.StartShared(cluster.Options{})
	if err != nil {
		return fmt.Errorf("no MySQL cluster: %w", err)
	}
	lab.cluster, lab.stops = c, append(lab.stops, stop)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	account := "CREATE USER other@'127.0.0.1' IDENTIFIED BY 'other_pw'; GRANT ALL ON cases.* TO other@'127.0.0.1'; GRANT ALL ON cases2.* TO other@'127.0.0.1'"
	if err := c.Source().Exec(ctx, account); err != nil {
		return err
	}
	for _, p := range pools {
		cw, stop, err := cluster.StartSharedCauseway(c, patient+p.lines)
		if err != nil {
			return fmt.Errorf("no Causeway: %w", err)
		}
		p.causeway = cw
		lab.stops = append(lab.stops, func() {
			if err := stop(); err != nil {
				fmt.Fprintln(os.Stderr, "causeway did not end well:", err)
			}
		})
	}
	return nil
})

// start starts cluster and Causeways, once.
func start(t *testing.T) {
	t.Helper()
	if err := starting(); err != nil {
		t.Fatal(err)
	}
}

// schema is laid before the first case and after each that changed more than
// rows; rows is all that the others need.
var schema = []string{
	"DROP DATABASE IF EXISTS cases",
	"DROP DATABASE IF EXISTS cases2",
	"DROP DATABASE IF EXISTS cases3",
	"CREATE DATABASE cases CHARACTER SET utf8mb4",
	"CREATE DATABASE cases2 CHARACTER SET utf8mb4",
	"CREATE TABLE cases.t (id INT AUTO_INCREMENT PRIMARY KEY, v INT, s VARCHAR(50))",
	"CREATE TABLE cases2.t LIKE cases.t",
	"CREATE TABLE cases.words (id INT PRIMARY KEY, s VARCHAR(50) CHARACTER SET utf8mb4, l VARCHAR(50) CHARACTER SET latin1)",
	"CREATE TABLE cases.times (id INT PRIMARY KEY, ts TIMESTAMP NULL)",
	"CREATE TABLE cases.blobs (id INT PRIMARY KEY, b LONGBLOB, x LONGTEXT)",
	"CREATE TABLE cases.child (id INT PRIMARY KEY, t_id INT, FOREIGN KEY (t_id) REFERENCES cases.t (id))",
	"CREATE PROCEDURE cases.put(val INT) INSERT INTO cases.t (v) VALUES (val)",
	"CREATE PROCEDURE cases.two_results(INOUT n INT) BEGIN SELECT id FROM cases.t ORDER BY id LIMIT 2; SELECT 'second', n; SET n = n + 1; END",
	"CREATE PROCEDURE cases.temporary() CREATE TEMPORARY TABLE cases.made (id INT) SELECT 5 AS id",
	"CREATE PROCEDURE cases.zone() SET time_zone = '+09:00'",
	"CREATE PROCEDURE cases.off() SET autocommit = 0",
	"CREATE FUNCTION cases.plus_one(n INT) RETURNS INT DETERMINISTIC NO SQL RETURN n + 1",
	"CREATE FUNCTION cases.writes(n INT) RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO cases.t (v) VALUES (n); RETURN n; END",
}

// tables are the tables with their rows, in the order in which they are filled.
var tables = []struct{ name, word, rows string }{
	{"cases.child", "child", ""},
	{"cases.t", "t", "(1, 10, 'one'), (2, 20, 'two'), (3, 30, 'three'), (4, 40, 'four'), (5, 50, 'five')"},
	{"cases2.t", "cases2", "(1, 1000, 'other')"},
	{"cases.words", "words", "(1, 'é', 'é'), (2, '日本', '?'), (3, '🙂', 'ü')"},
	{"cases.times", "times", "(1, '2024-05-06 07:08:09')"},
	{"cases.blobs", "blobs", ""},
}

// traces is what a case may leave behind, rather too much than too little.
type traces struct {
	schema bool
	tables map[string]bool // by word
	ids    bool            // the tables' next ids: bringing them back is DDL
}

// touched is what the case before may have left.
var touched = traces{schema: true}

// statements are what brings schema and rows back.
func (t traces) statements() []string {
	var rows, ids []string
	for _, table := range tables {
		if !t.schema && !t.tables[table.word] {
			continue
		}
		rows = append(rows, "DELETE FROM "+table.name)
		if table.rows != "" {
			rows = append(rows, "INSERT INTO "+table.name+" VALUES "+table.rows)
		}
		if t.ids && !t.schema && strings.HasSuffix(table.name, ".t") {
			ids = append(ids, "ALTER TABLE "+table.name+" AUTO_INCREMENT = 1") // MySQL makes it the next after the largest
		}
	}
	if t.schema {
		return slices.Concat(schema, rows)
	}
	if len(rows) == 0 {
		return nil
	}
	return slices.Concat([]string{"BEGIN"}, rows, []string{"COMMIT"}, ids)
}

// lay brings schema and rows back and waits until all nodes have them. What
// comes is what the next case will leave.
func lay(t *testing.T, comes traces) {
	t.Helper()
	stmts := touched.statements()
	touched = comes
	if len(stmts) == 0 {
		return
	}
	lab.cluster.Lay(t, stmts...)
}

var (
	schemaWords = regexp.MustCompile(`(?i)\b(create|drop|alter|rename|truncate)\b`)
	temporary   = regexp.MustCompile(`(?i)\b(create|drop) temporary table\b`)
	insertWords = regexp.MustCompile(`(?i)\b(insert|replace|load|put|writes)\b`)
	changeWords = regexp.MustCompile(`(?i)\b(insert|replace|load|put|writes|update|delete)\b`)
)

// traces tells what the case may leave behind: a function only what it does to t.
func (c theCase) traces() traces {
	t := traces{ids: c.run != nil, tables: map[string]bool{"t": c.run != nil}}
	var texts strings.Builder
	for _, s := range c.steps {
		t.schema = t.schema || schemaWords.MatchString(temporary.ReplaceAllString(s.name, ""))
		t.ids = t.ids || insertWords.MatchString(s.name)
		texts.WriteString(s.name + "\n")
	}
	if changeWords.MatchString(texts.String()) {
		for _, table := range tables {
			t.tables[table.word] = table.word == "t" || strings.Contains(texts.String(), table.word)
		}
	}
	return t
}
