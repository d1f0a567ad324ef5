package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"causeway/tests/rig"
)

// names are the contenders in the order in which they run.
var names = []string{"direct", "relay", "haproxy", "router", "causeway"}

// contender is one way from sysbench to a server.
type contender struct {
	name string
	addr string
	proc *rig.Proc // nil: no proxy in between
}

func (c *contender) cpu() (time.Duration, error) {
	if c.proc == nil {
		return 0, nil
	}
	return c.proc.CPU()
}

// field is all that a run needs: the cluster, the tools and the contenders,
// which stay up for the whole run.
type field struct {
	dir        string // logs, configurations, binaries
	tools      string
	rows       int
	cluster    *rig.Cluster
	contenders []*contender
}

func newField(ctx context.Context, o options) (_ *field, err error) {
	f := &field{rows: o.rows}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	if f.dir, err = os.MkdirTemp("", "causeway-bench-"); err != nil {
		return nil, err
	}
	if f.tools, err = rig.Tools(ctx); err != nil {
		return nil, err
	}
	if f.cluster, err = rig.StartCluster(ctx, "bench"); err != nil {
		return nil, err
	}
	bench := f.sysbench(1, "disable", time.Second)
	bench.Addr = f.cluster.Source
	if err := bench.Prepare(ctx); err != nil {
		return nil, err
	}
	if err := f.cluster.CatchUp(ctx); err != nil {
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

// sysbench is the same command for every contender.
func (f *field) sysbench(threads int, mode string, length time.Duration) rig.Sysbench {
	return rig.Sysbench{
		Tools: f.tools, User: rig.AppUser, Password: rig.AppPassword,
		Script: "oltp_point_select", PSMode: mode, Threads: threads,
		Tables: 1, Rows: f.rows, Time: length,
	}
}

func (f *field) close() {
	for _, c := range f.contenders {
		if c.proc != nil {
			_ = c.proc.Stop()
		}
	}
	if f.cluster != nil {
		f.cluster.Stop()
	}
	if f.dir != "" {
		os.RemoveAll(f.dir)
	}
}

func (f *field) start(ctx context.Context, name string) (*contender, error) {
	if name == "direct" {
		return &contender{name: name, addr: f.cluster.Source}, nil
	}
	if name == "causeway" {
		cw, err := rig.StartCauseway(ctx, f.dir, f.cluster, "")
		if err != nil {
			return nil, err
		}
		return &contender{name: name, addr: cw.Addr, proc: cw.Proc}, nil
	}
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
	c := &contender{name: name, addr: addr, proc: proc}
	if err := proc.AwaitPort(addr, 30*time.Second); err != nil {
		_ = proc.Stop()
		return nil, err
	}
	return c, nil
}

func (f *field) startRelay(ctx context.Context, addr string) (*rig.Proc, error) {
	program, err := rig.Build(ctx, f.dir, "./tests/bench/relay")
	if err != nil {
		return nil, err
	}
	return rig.Start(f.dir, "relay-run", program, addr, f.cluster.Source)
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
	if err := os.WriteFile(path, fmt.Appendf(nil, haproxyConfig, addr, f.cluster.Source), 0o644); err != nil {
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
	conf := fmt.Appendf(nil, routerConfig, f.dir, plugins, addr[len("127.0.0.1:"):], f.cluster.Source)
	if err := os.WriteFile(path, conf, 0o644); err != nil {
		return nil, err
	}
	return rig.Start(f.dir, "router", program, "--config", path)
}
