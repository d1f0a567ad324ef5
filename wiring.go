package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"causeway/admin"
	"causeway/backend"
	"causeway/conf"
	"causeway/replicamon"
	"causeway/server"
)

// proxy is all parts of one Causeway.
type proxy struct {
	log       zerolog.Logger
	monitor   *replicamon.Monitor
	front     *server.Server
	http      *admin.Server
	mysqlPort net.Listener
	httpPort  net.Listener // nil: off
	firstLook time.Duration
	// closeStore ends the connections to the store; nil: there is none.
	closeStore func() error
	listening  atomic.Bool
	draining   atomic.Bool
}

// serve runs the proxy until ctx ends and everything is drained.
func serve(ctx context.Context, cfg *conf.Config, log zerolog.Logger, again reloader) error {
	for _, w := range cfg.Warnings {
		log.Warn().Msg(w)
	}
	p, err := assemble(cfg, log)
	if err != nil {
		return fmt.Errorf("causeway: %w", err)
	}
	if err := p.listen(cfg.Listen); err != nil {
		return fmt.Errorf("causeway: %w", err)
	}
	return p.run(ctx, again)
}

// assemble makes the parts and tells each what it needs to know. Nothing runs
// yet and no port is open.
func assemble(cfg *conf.Config, log zerolog.Logger) (*proxy, error) {
	reg := newRegistry()
	toServers, optional, err := backendTLS(cfg.Backend)
	if err != nil {
		return nil, err
	}
	monitor, err := replicamon.New(monitorOptions(cfg, toServers, optional), log, reg)
	if err != nil {
		return nil, err
	}
	p := &proxy{log: log, monitor: monitor, firstLook: cfg.Monitor.Timeout}
	opts, err := serverOptions(cfg, toServers)
	if err != nil {
		return nil, err
	}
	opts.Monitor, opts.Log, opts.Registerer = monitor, log, reg
	if opts.Share, p.closeStore, err = shareOptions(&cfg.Token); err != nil {
		return nil, err
	}
	if p.front, err = server.New(opts); err != nil {
		return nil, err
	}
	p.http = admin.New(admin.Options{View: monitor.View, Status: p.status, Metrics: reg, Log: log, Version: opts.Version})
	return p, nil
}

// newRegistry has the metrics of the process; the parts add theirs.
func newRegistry() *prometheus.Registry {
	reg := prometheus.NewRegistry()
	v, c := buildVersion()
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "causeway_build_info", Help: "Always 1; the labels tell what runs.",
		ConstLabels: prometheus.Labels{"version": v, "commit": c}})
	build.Set(1)
	reg.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return reg
}

// status tells the HTTP side how the MySQL side is.
func (p *proxy) status() admin.Status {
	return admin.Status{Listening: p.listening.Load(), Draining: p.draining.Load()}
}

// listen opens the ports, so that a taken one is an error before anything runs.
func (p *proxy) listen(c conf.Listen) (err error) {
	if p.mysqlPort, err = net.Listen("tcp", c.MySQL); err != nil {
		return fmt.Errorf("listen.mysql: %w", err)
	}
	if c.HTTP == "" {
		return nil
	}
	if p.httpPort, err = net.Listen("tcp", c.HTTP); err != nil {
		p.mysqlPort.Close()
		return fmt.Errorf("listen.http: %w", err)
	}
	return nil
}

// run serves until ctx ends or a part fails. Monitor and HTTP go on while the
// front end drains: its last transactions need the one, and whoever watches the
// drain the other.
func (p *proxy) run(ctx context.Context, again reloader) error {
	behind, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := p.monitor.Run(behind); !errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	})
	if p.httpPort != nil {
		g.Go(func() error { return p.http.Serve(behind, p.httpPort) })
	}
	g.Go(func() error {
		again.run(behind, p.monitor.View, p.log)
		return nil
	})
	g.Go(func() error {
		defer stop()
		return p.runFront(ctx)
	})
	err := g.Wait()
	if p.closeStore != nil {
		_ = p.closeStore() // nothing is under way any more
	}
	p.log.Info().Err(err).Msg("stopped")
	return err
}

func (p *proxy) runFront(ctx context.Context) error {
	p.awaitFirstLook(ctx)
	v, _ := buildVersion()
	started := p.log.Info().Str("version", v).Stringer("mysql", p.mysqlPort.Addr())
	if p.httpPort != nil {
		started = started.Stringer("http", p.httpPort.Addr())
	}
	started.Msg("accepting clients")
	p.listening.Store(true)
	defer p.listening.Store(false)
	drain := sync.OnceFunc(func() {
		p.draining.Store(true)
		p.log.Info().Msg("draining: no new clients, running statements and transactions may finish")
	})
	stop := context.AfterFunc(ctx, drain)
	defer stop()
	err := p.front.Serve(ctx, p.mysqlPort)
	if ctx.Err() != nil {
		drain() // the front end may have heard of the end first, and be done already
	}
	return err
}

// settled tells whether every node's part is known: a source, and no replica
// that is about to join.
func settled(v *backend.View) bool {
	if v.Source == nil {
		return false
	}
	for _, n := range v.Replicas {
		if n.Up && n.Joining {
			return false
		}
		for _, l := range n.Limits {
			if n.Usable() && l.Unjudged {
				return false
			}
		}
	}
	return true
}

// awaitFirstLook gives the monitor the time of one probe to find the source and
// its replicas.
// Clients that connect meanwhile wait in the port's queue instead of getting an
// error; after that time they are told what is missing.
func (p *proxy) awaitFirstLook(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, p.firstLook)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !settled(p.monitor.View()) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
