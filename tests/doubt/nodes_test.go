package doubt

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/doubt/forward"
	"causeway/tests/session/raw"
)

const (
	watched  = 3 * time.Second  // how long a node must serve nothing
	patience = 40 * time.Second // how long anything that must happen may take
)

// whoami makes a table that names the node that answers, and one whose value
// only grows. A node's name is written past replication and the binary log.
func whoami(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	check.Must(t, c.Source().Exec(t.Context(), "DROP DATABASE IF EXISTS doubt; CREATE DATABASE doubt; "+
		"CREATE TABLE doubt.node (name VARCHAR(20)); INSERT INTO doubt.node VALUES ('source'); "+
		"CREATE TABLE doubt.age (v INT); INSERT INTO doubt.age VALUES (1)"))
	check.Must(t, c.WaitCaughtUp(check.Patience(t)))
	for _, n := range c.Replicas() {
		name(t, n, n.Name)
	}
}

func name(t *testing.T, n *cluster.Node, name string) {
	t.Helper()
	guard, err := n.Value(t.Context(), "SELECT @@super_read_only")
	check.Must(t, err)
	check.Must(t, n.Exec(t.Context(), "SET GLOBAL super_read_only = 0; SET sql_log_bin = 0; UPDATE doubt.node SET name = '"+name+
		"'; SET sql_log_bin = 1; SET GLOBAL super_read_only = "+guard))
}

// older writes until the source is n transactions older.
func older(t *testing.T, c *cluster.Cluster, n int) {
	t.Helper()
	for range n {
		check.Must(t, c.Source().Exec(t.Context(), "UPDATE doubt.age SET v = v + 1"))
	}
}

// asker reads who answers, on an old session and on new ones.
type asker struct {
	cw  *cluster.Causeway
	old *raw.Client
}

func newAsker(t *testing.T, cw *cluster.Causeway) *asker {
	t.Helper()
	a := &asker{cw: cw}
	a.old = a.dial(t)
	t.Cleanup(func() { a.old.Close() })
	return a
}

func (a *asker) dial(t *testing.T) *raw.Client {
	t.Helper()
	c, err := raw.Dial(raw.Options{Addr: a.cw.Addr, User: cluster.AppUser, Password: cluster.AppPassword, DB: "doubt", Caps: raw.Modern})
	check.Must(t, err)
	return c
}

// ask reads once on the old session and once on a new one. It returns who
// answered and how old their data is.
func (a *asker) ask(t *testing.T) (names []string, ages []int) {
	t.Helper()
	fresh := a.dial(t)
	defer fresh.Quit()
	for _, c := range []*raw.Client{a.old, fresh} {
		answer, err := c.Query("SELECT name, v FROM node, age")
		if err == nil {
			err = answer.Err()
		}
		check.Must(t, err)
		row := answer[0].Rows[0]
		var age int
		_, err = fmt.Sscan(string(row[1]), &age)
		check.Must(t, err)
		names, ages = append(names, string(row[0])), append(ages, age)
	}
	return names, ages
}

// serves waits until a node answers.
func (a *asker) serves(t *testing.T, node string) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		names, _ := a.ask(t)
		if names[0] == node || names[1] == node {
			return
		}
	}
	t.Fatalf("%s served nothing within %v:\n%s", node, patience, a.servers(t))
}

// silent wants a node to serve nothing for a while.
func (a *asker) silent(t *testing.T, node string) {
	t.Helper()
	reads := 0
	for end := time.Now().Add(watched); time.Now().Before(end); reads += 2 {
		names, ages := a.ask(t)
		if names[0] == node || names[1] == node {
			t.Fatalf("read %d was answered by %v (of age %v):\n%s", reads, names, ages, a.servers(t))
		}
	}
	if reads < 20 {
		t.Errorf("only %d reads in %v", reads, watched)
	}
}

func (a *asker) servers(t *testing.T) string {
	t.Helper()
	answer, err := a.old.Query("SHOW CAUSEWAY SERVERS")
	check.Must(t, err)
	return answer.String()
}

// TestReplicaWithOlderData: a replica comes back with a copy of its data from
// before. It serves nothing until it covers what the source has.
func TestReplicaWithOlderData(t *testing.T) {
	c := shared
	whoami(t, c)
	node := c.Replica(1)
	cw := cluster.StartCauseway(t, c, quickReturn+plainBackends)
	a := newAsker(t, cw)
	a.serves(t, node.Name)

	withoutReplication(t, node)
	check.Must(t, node.Kill())
	data, backup := filepath.Join(node.Dir, "data"), filepath.Join(node.Dir, "older")
	sockets, err := filepath.Glob(filepath.Join(data, "*.sock*"))
	check.Must(t, err)
	for _, s := range sockets { // left behind by the killed server
		check.Must(t, os.Remove(s))
	}
	check.Must(t, os.CopyFS(backup, os.DirFS(data)))
	check.Must(t, node.StartNode())
	check.Must(t, node.Exec(t.Context(), "START REPLICA"))
	older(t, c, 50)
	check.Must(t, c.WaitCaughtUp(check.Patience(t)))
	a.serves(t, node.Name)

	check.Must(t, node.Kill())
	check.Must(t, os.RemoveAll(data))
	check.Must(t, os.Rename(backup, data))
	check.Must(t, node.StartNode())
	a.silent(t, node.Name)
	older(t, c, 5)
	a.silent(t, node.Name)

	_, ages := a.ask(t)
	check.Must(t, node.Exec(t.Context(), "START REPLICA"))
	a.serves(t, node.Name)
	a.neverOlder(t, node.Name, ages[0])
}

// withoutReplication keeps a node from following when it is started again.
func withoutReplication(t *testing.T, n *cluster.Node) {
	t.Helper()
	check.Must(t, n.Exec(t.Context(), "SET PERSIST_ONLY skip_replica_start = ON"))
	t.Cleanup(func() {
		if err := n.Exec(context.Background(), "RESET PERSIST IF EXISTS skip_replica_start; START REPLICA"); err != nil {
			t.Errorf("%s cannot go on: %v", n.Name, err)
		}
	})
}

// neverOlder wants what a node answers to be no older than that.
func (a *asker) neverOlder(t *testing.T, node string, age int) {
	t.Helper()
	for end := time.Now().Add(watched / 2); time.Now().Before(end); {
		names, ages := a.ask(t)
		for i := range names {
			if ages[i] < age {
				t.Fatalf("%s answered with age %d after %d had been read", names[i], ages[i], age)
			}
		}
	}
}

// TestReplicaThatForgot: a replica is restarted after its gtid_executed was
// reset to a smaller set.
func TestReplicaThatForgot(t *testing.T) {
	c := shared
	whoami(t, c)
	node := c.Replica(2)
	a := newAsker(t, cluster.StartCauseway(t, c, quickReturn+plainBackends))
	a.serves(t, node.Name)
	smaller, err := node.Executed(t.Context())
	check.Must(t, err)
	older(t, c, 20)
	check.Must(t, c.WaitCaughtUp(check.Patience(t)))
	whole, err := node.Executed(t.Context())
	check.Must(t, err)

	withoutReplication(t, node)
	check.Must(t, node.Exec(t.Context(), "STOP REPLICA; RESET BINARY LOGS AND GTIDS; SET GLOBAL gtid_purged = '"+smaller+"'"))
	check.Must(t, node.Kill())
	check.Must(t, node.StartNode())
	a.silent(t, node.Name)
	check.Must(t, node.Exec(t.Context(), "RESET BINARY LOGS AND GTIDS; SET GLOBAL gtid_purged = '"+whole+"'; START REPLICA"))
	a.serves(t, node.Name)
}

// TestStranger: an address leads to a node of another cluster.
func TestStranger(t *testing.T) {
	whoami(t, shared)
	strange := cluster.Start(t, cluster.Options{Replicas: 1})
	whoami(t, strange)
	for _, n := range strange.Nodes() {
		name(t, n, "stranger")
	}
	var addrs []string
	var between []*forward.Forwarder
	for _, n := range shared.Nodes() {
		f := forwarder(t, n.Addr)
		between, addrs = append(between, f), append(addrs, f.Addr())
	}
	a := newAsker(t, cluster.StartCausewayAt(t, addrs, quickReturn+plainBackends))
	for _, cut := range []bool{true, false} {
		for _, n := range strange.Nodes() {
			t.Run(fmt.Sprintf("a %s behind a replica's address, open connections cut: %v", n.Name, cut), func(t *testing.T) {
				strangerBehindReplica(t, a, between[1], n, cut)
			})
		}
	}
	t.Run("a source behind the source's address", func(t *testing.T) { strangerBehindSource(t, a, between[0], strange.Source()) })
}

// strangerBehindReplica moves the address of a replica to a stranger and back.
func strangerBehindReplica(t *testing.T, a *asker, f *forward.Forwarder, stranger *cluster.Node, cut bool) {
	known := shared.Replica(1)
	a.serves(t, known.Name)
	f.SetTarget(stranger.Addr)
	if cut {
		f.CutAll()
	}
	older(t, shared, 3)
	a.silent(t, "stranger")
	f.SetTarget(known.Addr)
	f.CutAll()
	a.serves(t, known.Name)
}

// strangerBehindSource moves the source's address: no write may land in the
// stranger, and no read may come from it.
func strangerBehindSource(t *testing.T, a *asker, f *forward.Forwarder, stranger *cluster.Node) {
	before, err := stranger.Executed(t.Context())
	check.Must(t, err)
	f.SetTarget(stranger.Addr)
	f.CutAll()
	for end := time.Now().Add(watched); time.Now().Before(end); {
		c := a.tryDial()
		if c == nil {
			continue
		}
		if r, err := c.Query("SELECT name, v FROM node, age"); err == nil && r.Err() == nil && r.Value() == "stranger" {
			t.Fatal("the stranger answered a read")
		}
		if r, err := c.Query("UPDATE age SET v = v + 1000"); err == nil && r.Err() == nil {
			t.Fatal("the stranger took a write")
		}
		c.Close()
	}
	after, err := stranger.Executed(t.Context())
	check.Must(t, err)
	if after != before {
		t.Errorf("the stranger executed %s, before %s", after, before)
	}
	f.SetTarget(shared.Source().Addr)
	f.CutAll()
	a.writes(t)
}

// writes waits until a write succeeds on a new session.
func (a *asker) writes(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		c := a.tryDial()
		if c == nil {
			continue
		}
		r, err := c.Query("UPDATE age SET v = v + 1")
		c.Close()
		if err == nil && r.Err() == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("no write succeeded within %v of the source being back", patience)
}

func (a *asker) tryDial() *raw.Client {
	c, err := raw.Dial(raw.Options{Addr: a.cw.Addr, User: cluster.AppUser, Password: cluster.AppPassword, DB: "doubt", Caps: raw.Modern})
	if err != nil {
		time.Sleep(10 * time.Millisecond)
		return nil
	}
	return c
}

// quickReturn lets a replica that was not heard of for a while serve again soon.
const quickReturn = "[monitor]\nrecovery_window = \"1s\"\n"
