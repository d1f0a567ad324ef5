package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"causeway/tests/check"
)

var shared *Cluster

func TestMain(m *testing.M) {
	Main(m, Options{Set: []string{"table_open_cache_instances=1"}}, Keep(&shared))
}

func value(t *testing.T, n *Node, query string) string {
	t.Helper()
	v, err := n.Value(check.Patience(t), query)
	check.Must(t, err)
	return v
}

// What the other tests build on: see the rules for test clusters.
func TestSettings(t *testing.T) {
	for variable, want := range map[string]string{
		"gtid_mode":                        "ON",
		"enforce_gtid_consistency":         "ON",
		"log_replica_updates":              "1",
		"replica_parallel_workers":         "4",
		"replica_preserve_commit_order":    "1",
		"max_connections":                  "1200",
		"session_track_gtids":              "OFF",
		"sync_binlog":                      "0",
		"innodb_flush_log_at_trx_commit":   "2",
		"local_infile":                     "1",
		"max_allowed_packet":               strconv.Itoa(128 << 20),
		"performance_schema":               "1",
		"log_bin_trust_function_creators":  "1",
		"innodb_buffer_pool_size":          strconv.Itoa(128 << 20),
		"innodb_use_native_aio":            "0",
		"secure_file_priv":                 "",
		"binlog_format":                    "ROW",
		"skip_name_resolve":                "1",
		"table_open_cache_instances":       "1",
		"innodb_redo_log_capacity":         strconv.Itoa(256 << 20),
		"require_secure_transport":         "0",
		"super_read_only + 10 * read_only": "",
	} {
		for i, n := range shared.Nodes() {
			query := "SELECT @@global." + variable
			if strings.Contains(variable, "+") {
				query = "SELECT @@super_read_only + 10 * @@read_only"
				want = []string{"0", "11", "10"}[i] // only the last replica lets a privileged user write
			}
			if got := value(t, n, query); got != want {
				t.Errorf("%s: %s = %q, want %q", n.Name, variable, got, want)
			}
		}
	}
}

// No node has a transaction of its own: all came from the source.
func TestNoErrantTransactions(t *testing.T) {
	check.Must(t, shared.WaitCaughtUp(check.Patience(t)))
	want, err := shared.Source().Executed(check.Patience(t))
	check.Must(t, err)
	if want == "" {
		t.Error("the source has executed nothing")
	}
	for _, n := range shared.Replicas() {
		if got, err := n.Executed(check.Patience(t)); err != nil || got != want {
			t.Errorf("%s has executed %s, %v; the source %s", n.Name, got, err, want)
		}
	}
}

func TestAccounts(t *testing.T) {
	for _, n := range shared.Nodes() {
		db := OpenApp(t, n.Addr, "app")
		if _, err := db.Exec("SELECT 1"); err != nil {
			t.Errorf("%s: %v", n.Name, err)
		}
		for _, schema := range []string{"app", "test", "sbtest"} {
			if got := value(t, n, "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = '"+schema+"'"); got != "1" {
				t.Errorf("%s has no schema %s", n.Name, schema)
			}
		}
	}
}

func TestPauseAndLag(t *testing.T) {
	ctx := check.Patience(t)
	source, replica := shared.Source(), shared.Replica(1)
	check.Must(t, source.Exec(ctx, "CREATE TABLE app.pause (a INT PRIMARY KEY)"))
	check.Must(t, shared.WaitCaughtUp(ctx))
	check.Must(t, replica.Pause(ctx))
	check.Must(t, replica.Exec(ctx, "DO 1"))
	check.Must(t, source.Exec(ctx, "INSERT INTO app.pause VALUES (1); INSERT INTO app.pause VALUES (2)"))
	check.Must(t, shared.Replica(2).WaitExecuted(ctx, executed(t, source)))
	if got := value(t, replica, "SELECT COUNT(*) FROM app.pause"); got != "0" {
		t.Errorf("a paused replica has %s rows", got)
	}
	check.Must(t, replica.Resume(ctx))
	check.Must(t, shared.WaitCaughtUp(ctx))
	if got := value(t, replica, "SELECT COUNT(*) FROM app.pause"); got != "2" {
		t.Errorf("a resumed replica has %s rows", got)
	}

	check.Must(t, replica.Lag(ctx, 3600))
	if got := value(t, replica, "SELECT DESIRED_DELAY FROM performance_schema.replication_applier_configuration"); got != "3600" {
		t.Errorf("delay %s", got)
	}
	check.Must(t, source.Exec(ctx, "INSERT INTO app.pause VALUES (3)"))
	short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	if err := shared.WaitCaughtUp(short); err == nil {
		t.Error("a replica with an hour's delay caught up at once")
	}
	check.Must(t, shared.Heal(ctx))
}

func executed(t *testing.T, n *Node) string {
	t.Helper()
	set, err := n.Executed(check.Patience(t))
	check.Must(t, err)
	return set
}

func TestFreeze(t *testing.T) {
	ctx := check.Patience(t)
	replica := shared.Replica(2)
	check.Must(t, replica.Exec(ctx, "DO 1"))
	check.Must(t, replica.Freeze())
	short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	if err := replica.Exec(short, "DO 1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a frozen node answered: %v", err)
	}
	check.Must(t, replica.Thaw())
	check.Must(t, replica.Exec(ctx, "DO 1"))
	check.Must(t, shared.Heal(ctx))
}

func TestKillAndStart(t *testing.T) {
	ctx := check.Patience(t)
	replica := shared.Replica(1)
	check.Must(t, replica.Kill())
	if err := replica.Exec(ctx, "DO 1"); err == nil {
		t.Error("a dead node answered")
	}
	check.Must(t, shared.Source().Exec(ctx, "CREATE TABLE app.kill_start (a INT PRIMARY KEY)"))
	check.Must(t, replica.StartNode())
	check.Must(t, shared.WaitCaughtUp(ctx))
	if got := value(t, replica, "SELECT @@super_read_only"); got != "1" {
		t.Error("a restarted replica can be written to")
	}
}

func TestGeneralLog(t *testing.T) {
	ctx := check.Patience(t)
	log := shared.Replica(1).LogStatements(t)
	db := OpenApp(t, shared.Replica(1).Addr, "app")
	_, err := db.ExecContext(ctx, "SELECT 1 /* by text */\n+ 1")
	check.Must(t, err)
	var two int
	check.Must(t, db.QueryRowContext(ctx, "SELECT ? + 1 /* prepared */", 1).Scan(&two))
	for statement, want := range map[string]bool{
		"SELECT 1 /* by text */\n+ 1":  true,
		"SELECT ? + 1 /* prepared */":  true,
		"SELECT 1 + 1 /* prepared */":  true,
		"SELECT 1 + 1 /* never run */": false,
	} {
		if saw, err := log.Saw(statement); err != nil || saw != want {
			t.Errorf("saw %q: %v, %v; want %v", statement, saw, err, want)
		}
	}
	check.Must(t, log.Skip())
	if entries, err := log.Entries(); err != nil || len(entries) != 0 {
		t.Errorf("after Skip: %v, %v", entries, err)
	}
}

// A second cluster beside the first one loses its source, gets a new one, and
// takes the old one back as a replica.
func TestPromote(t *testing.T) {
	ctx := check.Patience(t)
	c := Start(t, Options{})
	old, next, other := c.Source(), c.Replica(1), c.Replica(2)

	check.Must(t, c.Promote(next))
	if got := value(t, old, "SELECT @@super_read_only"); got != "1" {
		t.Error("the old source is not fenced")
	}
	check.Must(t, next.Exec(ctx, "CREATE TABLE app.one (a INT PRIMARY KEY)"))
	check.Must(t, c.WaitCaughtUp(ctx))

	check.Must(t, next.Kill())
	check.Must(t, c.Promote(other))
	check.Must(t, other.Exec(ctx, "INSERT INTO app.one VALUES (1)"))
	check.Must(t, old.WaitExecuted(ctx, executed(t, other)))
	check.Must(t, next.StartNode())
	if got := value(t, next, "SELECT @@read_only"); got != "0" {
		t.Error("a dead source came back with another role than it had")
	}
	check.Must(t, next.Attach())
	check.Must(t, c.WaitCaughtUp(ctx))
	if got := value(t, next, "SELECT COUNT(*) FROM app.one"); got != "1" {
		t.Errorf("%s rows on the attached old source", got)
	}
	if got := c.Source(); got != other {
		t.Errorf("source is %s", got.Name)
	}
}

// A cluster ends with the process that wanted it, even if that is killed.
func TestOwner(t *testing.T) {
	owner := exec.Command("sleep", "600")
	check.Must(t, owner.Start())
	c := &Cluster{Dir: t.TempDir() + "/c"}
	_, err := c.script("--base", strconv.Itoa(FreeBase(1)), "up", "--replicas", "0", "--owner", strconv.Itoa(owner.Process.Pid))
	check.Must(t, err)
	pid, err := (&Node{Dir: c.Dir + "/source"}).Pid()
	check.Must(t, err)
	check.Must(t, owner.Process.Kill())
	_ = owner.Wait()
	for deadline := time.Now().Add(time.Minute); alive(pid); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the server outlives its owner")
		}
	}
}

// alive tells whether a process runs; one that nobody waits for stays as a zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// What is typed wrongly is answered with what to type.
func TestScriptErrors(t *testing.T) {
	for args, want := range map[string]string{
		"nonsense":             "no command 'nonsense'",
		"sql nobody x":         "Nodes: source replica1 replica2",
		"pause 1":              "Nodes: source replica1 replica2",
		"lag replica1 x":       "SECONDS wants a whole number",
		"lag replica1":         "usage: lag NODE SECONDS",
		"start source":         "runs already",
		"promote source":       "is the source already",
		"down --everything":    "unknown option '--everything'",
		"up --replicas many":   "--replicas wants a whole number",
		"up --who":             "unknown option '--who'",
		"sql source SELECT(x)": "Unknown column 'x'",
	} {
		if _, err := shared.script(strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
	empty := &Cluster{Dir: t.TempDir()}
	if _, err := empty.script("status"); err == nil || !strings.Contains(err.Error(), "scripts/cluster up") {
		t.Errorf("status without a cluster: %v", err)
	}
}

func TestStatus(t *testing.T) {
	out, err := shared.script("status")
	check.Must(t, err)
	for _, line := range []string{"source", "replica1", "replica2"} {
		if !strings.Contains(out, " "+line+" ") {
			t.Errorf("no %s in\n%s", line, out)
		}
	}
	if strings.Count(out, "running") != 3 || strings.Count(out, "super_read_only") != 1 {
		t.Errorf("status:\n%s", out)
	}
}
