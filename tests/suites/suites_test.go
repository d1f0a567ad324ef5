package suites

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/tests/cluster"
	"causeway/tests/rig"
)

// suite is one published test suite.
type suite struct {
	name    string
	client  string   // the folder of its client.sh
	schemas []string // what it needs, with the words that CREATE DATABASE takes; laid anew for each run
	atLeast int      // so many tests must pass directly: a suite that fails as a whole compares equal
	reads   float64  // so many statements must replicas answer; few, as Python's drivers switch autocommit off
}

var all = []suite{
	{name: "pymysql", client: "python", schemas: []string{"test1 CHARACTER SET utf8mb4", "test2 CHARACTER SET utf8mb4"}, atLeast: 150, reads: 1},
	{name: "mysqlclient", client: "python", schemas: []string{"test CHARACTER SET utf8mb4"}, atLeast: 160},
	{name: "sqlalchemy", client: "python", schemas: []string{"test CHARACTER SET utf8mb4", "test_schema CHARACTER SET utf8mb4"}, atLeast: 2300, reads: 1},
}

// patient makes Causeway wait for a replica rather than go to the source, so
// that reads run on replicas even on a slow machine.
const patient = "[routing]\nwait = \"3s\"\nmax_wait = \"10s\"\n\n[limits]\nmax_allowed_packet = \"128MB\"\n"

// fresh is a Causeway that lets nobody see old data: a connection that has not
// written reads from a replica only if that is known to be at most 1 ms old.
const fresh = `[routing]
max_staleness = "1ms"
wait = "1ms"
[limits]
max_allowed_packet = "128MB"
[fallback]
qps = 1000000
burst = 1000000
`

// runLimit is for one run of one suite.
const runLimit = 15 * time.Minute

// wanted are the suites that CAUSEWAY_SUITES names.
func wanted(t *testing.T, names []string) []suite {
	t.Helper()
	if slices.Equal(names, []string{"all"}) {
		return all
	}
	var list []suite
	for _, name := range names {
		i := slices.IndexFunc(all, func(s suite) bool { return s.name == name })
		if i < 0 {
			t.Fatalf("no suite %q", name)
		}
		list = append(list, all[i])
	}
	return list
}

func TestSuites(t *testing.T) {
	list := wanted(t, strings.Fields(os.Getenv("CAUSEWAY_SUITES")))
	if len(list) == 0 {
		return // they take long, and CI runs tests/clients
	}
	install(t, list)
	c := cluster.Start(t, cluster.Options{})
	cw := cluster.StartCauseway(t, c, patient)
	for _, s := range list {
		t.Run(s.name, func(t *testing.T) { bothWays(t, c, cw, s) })
	}
}

// install fetches and builds what is missing; its progress goes to stderr.
func install(t *testing.T, list []suite) {
	t.Helper()
	var names []string
	for _, s := range list {
		if name := "suites/" + s.client; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	rig.InstallClients(t, names...)
}

func bothWays(t *testing.T, c *cluster.Cluster, cw *cluster.Causeway, s suite) {
	direct := run(t, c, s, c.Source().Addr)
	for name, r := range direct.result {
		if strings.HasPrefix(r, failed) {
			t.Logf("fails directly: %s\n%s", name, clip(direct.text[name]))
		}
	}
	if n := direct.count(passed); n < s.atLeast {
		t.Fatalf("%d tests pass directly, wanted are at least %d", n, s.atLeast)
	}
	before := rig.OnReplicas(t, cw.HTTP)
	list := compare(direct, run(t, c, s, cw.Addr))
	if n := rig.OnReplicas(t, cw.HTTP) - before; n < s.reads {
		t.Errorf("replicas answered %.0f statements, wanted are at least %.0f", n, s.reads)
	} else {
		t.Logf("replicas answered %.0f statements", n)
	}
	again := judge(t, s, list)
	if len(again) == 0 {
		return
	}
	later := compare(direct, run(t, c, s, cluster.StartCauseway(t, c, fresh).Addr))
	for _, d := range later {
		if slices.ContainsFunc(again, func(a difference) bool { return a.name == d.name }) {
			t.Errorf("differs also where nobody sees old data: %v", d)
		}
	}
}

// judge reports the differences that are not allowed, and returns those that
// are only as long as reads on other connections may be old.
func judge(t *testing.T, s suite, list []difference) []difference {
	t.Helper()
	var again []difference
	for _, d := range list {
		if a := allowed(allowances, s.name+"/"+d.name); a != nil {
			t.Logf("allowed: %s (%s)", d.name, a.reason)
		} else if a := allowed(stale, s.name+"/"+d.name); a != nil {
			t.Logf("may read old data: %s (%s)", d.name, a.reason)
			again = append(again, d)
		} else {
			t.Errorf("differs: %v", d)
		}
	}
	return again
}

// run lays the schemas anew and runs a suite against one address.
func run(t *testing.T, c *cluster.Cluster, s suite, addr string) *outcome {
	t.Helper()
	lay(t, c, s.schemas)
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	cmd := rig.Client(ctx, addr, "suites/"+s.client)
	report := filepath.Join(t.TempDir(), "report.xml")
	cmd.Env = append(cmd.Env, "CW_TMP="+t.TempDir(), "CW_SUITE="+s.name, "CW_REPORT="+report)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	start := time.Now()
	runErr := cmd.Run() // a suite of which a test failed ends with an error, too
	o, err := readReport(report)
	if err != nil {
		t.Fatalf("%s at %s: %v (%v)\nthe end of what it said:\n%s", s.name, addr, err, runErr, clip(output.String()))
	}
	t.Logf("%s: %v, %.1f s", addr, o, time.Since(start).Seconds())
	return o
}

// lay makes the schemas anew and waits until all nodes have them.
func lay(t *testing.T, c *cluster.Cluster, schemas []string) {
	t.Helper()
	var stmts []string
	for _, schema := range schemas {
		name, _, _ := strings.Cut(schema, " ")
		stmts = append(stmts, "DROP DATABASE IF EXISTS "+name, "CREATE DATABASE "+schema)
	}
	c.Lay(t, stmts...)
}
