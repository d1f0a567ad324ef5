package cluster

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Accounts that every cluster has, on all nodes. Root has no password.
const (
	AppUser         = "app"
	AppPassword     = "app_pw"
	MonitorUser     = "monitor"
	MonitorPassword = "monitor_pw"
)

// Options of a cluster; the zero value is a source with two replicas of four
// applier workers each.
type Options struct {
	Replicas   int      // 0: two; NoReplicas: none
	Workers    int      // applier workers of each replica; 0: four
	BufferPool string   // of each node; "": 128M
	Durable    bool     // sync logs at each commit
	NoGTID     bool     // gtid_mode=OFF; no Promote, Attach
	Group      bool     // one single-primary group (Group Replication) instead of source and replicas
	Set        []string // mysqld options of each node, as OPTION=VALUE
}

// NoReplicas as Options.Replicas is a source alone.
const NoReplicas = -1

// Cluster is a source and its replicas.
type Cluster struct {
	// Dir holds all of the cluster; each node's folder in it has the node's name.
	Dir string

	nodes   []*Node
	noGTID  bool
	serving []func() error // ends of the Causeways that Serve started

	mu     sync.Mutex
	source *Node
}

// Start starts a cluster of the test's own and ends it with the test.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	c, stop, err := StartShared(o)
	if err != nil {
		t.Fatalf("no MySQL cluster: %v", err)
	}
	t.Cleanup(stop)
	return c
}

// StartShared starts a cluster for a whole package's tests, from TestMain. The
// function that it returns ends the cluster and removes its data.
func StartShared(o Options) (*Cluster, func(), error) {
	dir, err := os.MkdirTemp("", "causeway-cluster-")
	if err != nil {
		return nil, nil, err
	}
	c := &Cluster{Dir: dir}
	stop := func() {
		c.close()
		_, _ = c.script("down")
		_ = os.RemoveAll(dir)
	}
	if err := c.up(o.filled()); err != nil {
		stop()
		return nil, nil, err
	}
	return c, stop, nil
}

func (o Options) filled() Options {
	switch {
	case o.Replicas == 0:
		o.Replicas = 2
	case o.Replicas < 0:
		o.Replicas = 0
	}
	if o.Workers == 0 {
		o.Workers = 4
	}
	if o.BufferPool == "" {
		o.BufferPool = "128M"
	}
	return o
}

// up tries several port ranges: another process may take a port between the
// look and the start.
func (c *Cluster) up(o Options) error {
	args := []string{"--base", "", "up", "--owner", strconv.Itoa(os.Getpid()),
		"--replicas", strconv.Itoa(o.Replicas), "--workers", strconv.Itoa(o.Workers), "--buffer-pool", o.BufferPool}
	if o.Durable {
		args = append(args, "--durable")
	}
	ports := o.Replicas + 1
	if o.Group {
		args, ports = append(args, "--group"), 2*ports // each member has one more for the group's own talk
	}
	if o.NoGTID {
		args = append(args, "--no-gtid")
		c.noGTID = true
	}
	for _, option := range o.Set {
		args = append(args, "--set", option)
	}
	var errs []error
	for range 3 {
		base := FreeBase(ports)
		args[1] = strconv.Itoa(base)
		_, err := c.script(args...)
		if err == nil {
			return c.open(base, o.Replicas)
		}
		errs = append(errs, err)
		_, _ = c.script("down")
	}
	return errors.Join(errs...)
}

func (c *Cluster) open(base, replicas int) error {
	for i := range replicas + 1 {
		n, err := newNode(c, i, base+1+i)
		if err != nil {
			return err
		}
		c.nodes = append(c.nodes, n)
	}
	c.source = c.nodes[0]
	return nil
}

func (c *Cluster) close() {
	for _, n := range c.nodes {
		_ = n.DB.Close()
	}
}

// script runs scripts/cluster for this cluster and returns what it printed;
// the error tells what it said.
func (c *Cluster) script(args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(filepath.Join(Root(), "scripts", "cluster"), append([]string{"--dir", c.Dir}, args...)...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// The first start may have to download MySQL.
	stop := time.AfterFunc(10*time.Minute, func() { _ = cmd.Process.Kill() })
	defer stop.Stop()
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("scripts/cluster %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String(), nil
}

// FreeBase returns a number after which n ports in a row are free, below the
// range from which the kernel gives ports to clients.
func FreeBase(n int) int {
	for range 1000 {
		base := 20000 + rand.IntN(12000)
		if portsFree(base+1, n) {
			return base
		}
	}
	return 20000
}

func portsFree(first, n int) bool {
	for port := first; port < first+n; port++ {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return false
		}
		_ = l.Close()
	}
	return true
}

// Source is the node that takes writes now: the first one, until Promote.
func (c *Cluster) Source() *Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.source
}

// Elected waits until the group has a primary that is not the node that was the
// source, notes it as the source and returns it.
func (c *Cluster) Elected(ctx context.Context) (*Node, error) {
	old := c.Source()
	for ctx.Err() == nil {
		for _, n := range c.nodes {
			if n != old && n.leadsGroup(ctx) {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.source = n
				return n, nil
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil, fmt.Errorf("the group has elected nobody in %s's place: %w", old.Name, ctx.Err())
}

// Replica returns the node that is called replica<i>, i from 1, whatever its
// role is now.
func (c *Cluster) Replica(i int) *Node { return c.nodes[i] }

// Nodes are all nodes in the order of their ports, the first source first.
func (c *Cluster) Nodes() []*Node { return append([]*Node(nil), c.nodes...) }

// Replicas are the nodes that are not the source now.
func (c *Cluster) Replicas() []*Node {
	source := c.Source()
	var replicas []*Node
	for _, n := range c.nodes {
		if n != source {
			replicas = append(replicas, n)
		}
	}
	return replicas
}

// Addrs are the addresses of all nodes, for a Causeway's configuration.
func (c *Cluster) Addrs() []string {
	var addrs []string
	for _, n := range c.nodes {
		addrs = append(addrs, n.Addr)
	}
	return addrs
}

// CA is the file with the certificate that signed every node's own.
func (c *Cluster) CA() string { return filepath.Join(c.nodes[0].Dir, "data", "ca.pem") }

// WaitCaughtUp waits until every replica has executed all that the source has
// at the call. A paused, frozen or dead replica makes it wait until ctx ends.
func (c *Cluster) WaitCaughtUp(ctx context.Context) error {
	if c.noGTID {
		return c.waitPosition(ctx)
	}
	want, err := c.Source().Executed(ctx)
	if err != nil {
		return err
	}
	for _, n := range c.Replicas() {
		if err := n.WaitExecuted(ctx, want); err != nil {
			return err
		}
	}
	return nil
}

// waitPosition is WaitCaughtUp by positions in the source's binary log.
func (c *Cluster) waitPosition(ctx context.Context) error {
	var file, at, skip sql.NullString
	if err := c.Source().DB.QueryRowContext(ctx, "SHOW BINARY LOG STATUS").Scan(&file, &at, &skip, &skip, &skip); err != nil {
		return err
	}
	for _, n := range c.Replicas() {
		for {
			reached, err := n.Value(ctx, "SELECT SOURCE_POS_WAIT(?, ?, 1)", file.String, at.String)
			if err == nil && ctx.Err() != nil {
				err = fmt.Errorf("%s has not reached %s:%s: %w", n.Name, file.String, at.String, ctx.Err())
			}
			if err != nil {
				return err
			}
			if reached != "" && reached != "-1" { // NULL: its applier stands
				break
			}
		}
	}
	return nil
}

// Heal undoes Freeze, Pause and Lag on all nodes, and waits until all replicas
// have caught up: for tests that share a cluster.
func (c *Cluster) Heal(ctx context.Context) error {
	for _, n := range c.nodes {
		if err := n.Thaw(); err != nil {
			return err
		}
	}
	for _, n := range c.Replicas() {
		if err := n.Lag(ctx, 0); err != nil {
			return err
		}
	}
	return c.WaitCaughtUp(ctx)
}

// Promote makes n the source: a running old source is made read only first and
// follows, a dead one stays as it is.
func (c *Cluster) Promote(n *Node) error { return c.promote(n) }

// PromoteCutOff is Promote when the old source runs and cannot be reached: it
// stays as it is, writable.
func (c *Cluster) PromoteCutOff(n *Node) error { return c.promote(n, "--cut-off") }

func (c *Cluster) promote(n *Node, options ...string) error {
	if _, err := c.script(append([]string{"promote", n.Name}, options...)...); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.source = n
	return nil
}
