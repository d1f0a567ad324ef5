package clients

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"causeway/tests/cluster"
	"causeway/tests/rig"
)

// patient makes Causeway wait for a replica rather than go to the source, so
// that the clients' reads run on replicas even on a slow machine; many read on one
// connection what they wrote on another, hence the scope.
const patient = "[routing]\nwait = \"3s\"\nmax_wait = \"10s\"\nscope = \"user\"\n\n[limits]\nmax_allowed_packet = \"128MB\"\n"

// replicaReads is how many reads replicas must have answered for each client:
// a Causeway that sends everything to the source would differ in nothing.
const replicaReads = 5

// runLimit is for one run of one client, its start included.
const runLimit = 4 * time.Minute

// set says how much each client does: all, or what CI does, short.
func set() string { return cmp.Or(os.Getenv("CAUSEWAY_CLIENTS_SET"), "short") }

// clients are those named by the environment, or else all there are.
func clients(t *testing.T) []string {
	t.Helper()
	names := os.Getenv("CAUSEWAY_CLIENTS")
	if names == "" {
		var err error
		if names, err = rig.Output(t.Context(), "scripts/clients", "list"); err != nil {
			t.Fatal(err)
		}
	}
	return strings.Fields(names)
}

func TestClients(t *testing.T) {
	names := clients(t)
	rig.InstallClients(t, names...)
	c := cluster.Start(t, cluster.Options{})
	cw := cluster.StartCauseway(t, c, patient)
	for _, name := range names {
		t.Run(name, func(t *testing.T) { bothWays(t, c, cw, name) })
	}
}

func bothWays(t *testing.T, c *cluster.Cluster, cw *cluster.Causeway, name string) {
	direct := observe(t, c, name, c.Source().Addr)
	for _, b := range direct.broken() {
		t.Errorf("the check itself is broken: %s", b)
	}
	before := rig.OnReplicas(t, cw.HTTP)
	through := observe(t, c, name, cw.Addr)
	reads := rig.OnReplicas(t, cw.HTTP) - before
	used := 0
	for _, d := range compare(direct, through) {
		if a := allowed(allowances, name+"/"+d.name); a != nil {
			used++
			t.Logf("allowed: %s (%s)", d.name, a.reason)
			continue
		}
		t.Errorf("differs: %v", d)
	}
	t.Logf("%d checks, %d allowed differences, %.0f statements answered by replicas", len(direct), used, reads)
	if reads < replicaReads {
		t.Errorf("replicas answered %.0f statements of this client, wanted are at least %d", reads, replicaReads)
	}
}

// observe lays the schemas anew and runs a client against one address.
func observe(t *testing.T, c *cluster.Cluster, name, addr string) seen {
	t.Helper()
	lay(t, c)
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	cmd := rig.Client(ctx, addr, name)
	cmd.Env = append(cmd.Env, "CW_SET="+set(), "CW_TMP="+t.TempDir())
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	t.Logf("%s: %.1f s", addr, time.Since(start).Seconds())
	s, parseErr := parseSeen(stdout.Bytes())
	if err := errors.Join(err, parseErr); err != nil {
		t.Fatalf("%s at %s: %v\nthe end of what it said:\n%s\n%s", name, addr, err, tail(stdout.String()), tail(stderr.String()))
	}
	return s
}

// lay makes both schemas as schema.sql has them and waits until all nodes have them.
func lay(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	file, err := os.Open("schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd := exec.CommandContext(ctx, filepath.Join(cluster.Root(), "scripts", "cluster"), "--dir", c.Dir, "sql", c.Source().Name)
	cmd.Stdin = file
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("schema.sql: %v\n%s", err, out)
	}
	if err := c.WaitCaughtUp(ctx); err != nil {
		t.Fatal(err)
	}
}

func tail(s string) string {
	const limit = 3000
	if len(s) > limit {
		s = fmt.Sprintf("... (%d bytes)\n%s", len(s), s[len(s)-limit:])
	}
	return s
}
