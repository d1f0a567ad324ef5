package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"causeway/tests/cluster"
	"causeway/tests/rig"
)

// names are the contenders in the order in which they run. Nobody else speaks
// TLS here, so Causeway is told not to; causeway-tls, with TLS to the servers,
// runs only when it is named, as does causeway-16, with 16 connections to each
// server.
var (
	names    = []string{"direct", "relay", "haproxy", "router", "causeway", "causeway-tls", "causeway-16"}
	standard = names[:5]
)

// pointSelect is the script that has no transactions, and no deadlocks.
const pointSelect = "oltp_point_select"

// contender is one way from sysbench to a server.
type contender struct {
	name string
	addr string
	pid  int // 0: no proxy in between
}

func (c *contender) cpu() (time.Duration, error) {
	if c.pid == 0 {
		return 0, nil
	}
	return rig.CPU(c.pid)
}

// field is all that a run needs: the cluster, the tools and the contenders,
// which stay up for the whole run.
type field struct {
	dir        string // logs, configurations, binaries
	tools      string
	rows       int
	script     string
	cluster    *cluster.Cluster
	contenders []*contender
	stops      []func() // what ends all of it, in the order of the starts
}

func newField(ctx context.Context, o options) (_ *field, err error) {
	f := &field{rows: o.rows, script: o.script}
	var cores []int // the servers', nil for all
	if o.split {
		servers, others, err := rig.SplitCores()
		if err == nil {
			err = rig.Confine(os.Getpid(), others)
		}
		if err != nil {
			return nil, fmt.Errorf("--split-cores: %w", err)
		}
		cores = servers
	}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	if f.dir, err = os.MkdirTemp("", "causeway-bench-"); err != nil {
		return nil, err
	}
	f.stops = append(f.stops, func() { os.RemoveAll(f.dir) })
	if f.tools, err = rig.Tools(ctx); err != nil {
		return nil, err
	}
	if err := f.startCluster(ctx, cores); err != nil {
		return nil, err
	}
	for _, name := range names {
		if !slices.Contains(o.only, name) {
			continue
		}
		c, err := f.start(ctx, name)
		if err != nil {
			return nil, err
		}
		f.contenders = append(f.contenders, c)
	}
	return f, nil
}

// startCluster starts a source with two replicas, on the given cores if there are
// any, and fills sysbench's table.
func (f *field) startCluster(ctx context.Context, cores []int) error {
	c, stop, err := cluster.StartShared(cluster.Options{})
	if err != nil {
		return err
	}
	f.cluster, f.stops = c, append(f.stops, stop)
	for _, n := range c.Nodes() {
		if cores == nil {
			break
		}
		pid, err := n.Pid()
		if err == nil {
			err = rig.Confine(pid, cores)
		}
		if err != nil {
			return err
		}
	}
	bench := f.sysbench(1, "disable", time.Second)
	bench.Addr = c.Source().Addr
	if err := bench.Prepare(ctx); err != nil {
		return err
	}
	return c.WaitCaughtUp(ctx)
}

// sysbench is the same command for every contender.
func (f *field) sysbench(threads int, mode string, length time.Duration) rig.Sysbench {
	return rig.Sysbench{
		Tools: f.tools, User: cluster.AppUser, Password: cluster.AppPassword,
		Script: f.script, PSMode: mode, Threads: threads,
		Tables: 1, Rows: f.rows, Time: length,
	}
}

func (f *field) close() {
	for _, stop := range slices.Backward(f.stops) {
		stop()
	}
}

func (f *field) start(ctx context.Context, name string) (*contender, error) {
	switch name {
	case "direct":
		return &contender{name: name, addr: f.source()}, nil
	case "causeway":
		return f.startCauseway(name, "[backend]\ntls = \"disabled\"\n")
	case "causeway-16":
		return f.startCauseway(name, "[backend]\ntls = \"disabled\"\n[pool]\nmax_connections = 16\n")
	case "causeway-tls":
		return f.startCauseway(name, "[backend]\ntls = \"required\"\n")
	default:
		return f.startPeer(ctx, name)
	}
}

func (f *field) startCauseway(name, config string) (*contender, error) {
	cw, stop, err := cluster.StartSharedCauseway(f.cluster, config)
	if err != nil {
		return nil, err
	}
	f.stops = append(f.stops, func() { _ = stop() })
	return &contender{name: name, addr: cw.Addr, pid: cw.Pid}, nil
}

// source is the address that every contender but Causeway leads to.
func (f *field) source() string { return f.cluster.Source().Addr }

func (f *field) startPeer(ctx context.Context, name string) (*contender, error) {
	addr, err := rig.FreeAddr()
	if err != nil {
		return nil, err
	}
	start := map[string]func(context.Context, string) (*rig.Proc, error){
		"relay": f.startRelay, "haproxy": f.startHAProxy, "router": f.startRouter,
	}[name]
	proc, err := start(ctx, addr)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f.stops = append(f.stops, func() { _ = proc.Stop() })
	if err := proc.AwaitPort(addr, 30*time.Second); err != nil {
		return nil, err
	}
	return &contender{name: name, addr: addr, pid: proc.Pid()}, nil
}

func (f *field) startRelay(ctx context.Context, addr string) (*rig.Proc, error) {
	program, err := rig.Build(ctx, f.dir, "./tests/bench/relay")
	if err != nil {
		return nil, err
	}
	return rig.Start(f.dir, "relay-run", program, addr, f.source())
}

const haproxyConfig = `defaults
    mode tcp
    timeout connect 5s
    timeout client 1h
    timeout server 1h
listen mysql
    bind %s
    server source %s
`

func (f *field) startHAProxy(_ context.Context, addr string) (*rig.Proc, error) {
	path := filepath.Join(f.dir, "haproxy.cfg")
	if err := os.WriteFile(path, fmt.Appendf(nil, haproxyConfig, addr, f.source()), 0o644); err != nil {
		return nil, err
	}
	return rig.Start(f.dir, "haproxy", filepath.Join(f.tools, "haproxy"), "-db", "-f", path)
}

// Plain routing: bytes are passed on, the router opens no packet after the
// handshake, since TLS, sharing of connections and splitting are all off.
const routerConfig = `[DEFAULT]
logging_folder = %[1]s
runtime_folder = %[1]s
data_folder = %[1]s
plugin_folder = %[2]s
[logger]
level = WARNING
[routing:bench]
bind_address = 127.0.0.1
bind_port = %[3]s
destinations = %[4]s
routing_strategy = first-available
protocol = classic
client_ssl_mode = PASSTHROUGH
server_ssl_mode = AS_CLIENT
max_connect_errors = 4294967295
`

func (f *field) startRouter(ctx context.Context, addr string) (*rig.Proc, error) {
	program, plugins, err := rig.Router(ctx)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(f.dir, "router.conf")
	conf := fmt.Appendf(nil, routerConfig, f.dir, plugins, addr[len("127.0.0.1:"):], f.source())
	if err := os.WriteFile(path, conf, 0o644); err != nil {
		return nil, err
	}
	return rig.Start(f.dir, "router", program, "--config", path)
}
