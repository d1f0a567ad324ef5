package rig

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"
)

// The application's account on every cluster of scripts/cluster.
const (
	AppUser     = "app"
	AppPassword = "app_pw"
)

// Cluster is a real source with two replicas, started by scripts/cluster and
// taken down by Stop, or when this process has ended.
type Cluster struct {
	Source   string // host:port
	Replicas []string

	dir  string
	keep bool
	dbs  map[string]*sql.DB
}

// bases are the ports of each test's cluster, so that tests can run side by
// side with each other and with a demo.
var bases = map[string]int{"bench": 13310, "sysbench": 13320, "driver": 13330, "soak": 13340, "stream": 13350}

// StartCluster starts the cluster of one of the tests in bases. With
// CAUSEWAY_RIG_KEEP set, the cluster stays up afterwards and is taken as it is
// the next time, which saves the start while one works on a test.
func StartCluster(ctx context.Context, name string) (*Cluster, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	base, ok := bases[name]
	if !ok {
		return nil, fmt.Errorf("rig: no ports for a cluster %q", name)
	}
	c := &Cluster{
		Source:   loopback(base + 1),
		Replicas: []string{loopback(base + 2), loopback(base + 3)},
		dir:      filepath.Join(root, ".cluster", name),
		keep:     os.Getenv("CAUSEWAY_RIG_KEEP") != "",
		dbs:      map[string]*sql.DB{},
	}
	args := []string{"--dir", c.dir, "--base", strconv.Itoa(base), "up"}
	if !c.keep {
		args = append(args, "--owner", strconv.Itoa(os.Getpid()))
	}
	if _, err := Output(ctx, "scripts/cluster", args...); err != nil {
		return nil, err
	}
	for _, addr := range c.Nodes() {
		if c.dbs[addr], err = open(addr); err != nil {
			c.Stop()
			return nil, err
		}
	}
	return c, nil
}

// open returns root's handle of one node.
func open(addr string) (*sql.DB, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr = "root", "tcp", addr
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// Stop takes the cluster down and removes its data.
func (c *Cluster) Stop() {
	for _, db := range c.dbs {
		db.Close()
	}
	if c.keep {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := Output(ctx, "scripts/cluster", "--dir", c.dir, "down"); err != nil {
		fmt.Fprintln(os.Stderr, "rig:", err)
	}
}

// Nodes returns all addresses, the source first.
func (c *Cluster) Nodes() []string { return append([]string{c.Source}, c.Replicas...) }

// DB returns root's handle of the node at addr; it lives until Stop.
func (c *Cluster) DB(addr string) *sql.DB { return c.dbs[addr] }

// CatchUp returns once both replicas have applied all that the source has.
func (c *Cluster) CatchUp(ctx context.Context) error {
	var set string
	if err := c.DB(c.Source).QueryRowContext(ctx, "SELECT @@GLOBAL.gtid_executed").Scan(&set); err != nil {
		return fmt.Errorf("source: %w", err)
	}
	for _, addr := range c.Replicas {
		var late int
		err := c.DB(addr).QueryRowContext(ctx, "SELECT WAIT_FOR_EXECUTED_GTID_SET(?, 120)", set).Scan(&late)
		if err != nil {
			return fmt.Errorf("replica %s: %w", addr, err)
		}
		if late != 0 {
			return fmt.Errorf("replica %s has not caught up within 120 s", addr)
		}
	}
	return nil
}

// Status reads global status counters of one node, such as Com_select.
func (c *Cluster) Status(ctx context.Context, addr string, names ...string) (map[string]int64, error) {
	out := map[string]int64{}
	for _, name := range names {
		var ignored string
		var value int64
		row := c.DB(addr).QueryRowContext(ctx, "SHOW GLOBAL STATUS WHERE Variable_name = '"+name+"'")
		if err := row.Scan(&ignored, &value); err != nil {
			return nil, fmt.Errorf("%s on %s: %w", name, addr, err)
		}
		out[name] = value
	}
	return out, nil
}
