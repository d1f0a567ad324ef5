package main

import (
	"crypto/tls"
	"fmt"
	"time"

	"causeway/backend"
	"causeway/balance"
	"causeway/classifier"
	"causeway/conf"
	"causeway/replicamon"
	"causeway/server"
)

// monitorOptions says whom the monitor watches, as whom and how often.
func monitorOptions(cfg *conf.Config, toServers *tls.Config, optional bool) replicamon.Options {
	m := cfg.Monitor
	return replicamon.Options{
		Servers: cfg.Cluster.Servers, Weights: cfg.Cluster.Weights, AllowFiltered: cfg.Cluster.AllowFiltered,
		User: m.User, Password: m.Password.Reveal(), TLS: toServers, TLSOptional: optional,
		Interval: m.Interval, PositionInterval: m.PositionInterval, Timeout: m.Timeout, WatchTimeout: m.WatchTimeout,
		Defaults: append(backend.TrackerNames(), classifier.TrackedVariables...),
	}
}

// serverOptions says what the front end is made of, but for the monitor, the
// log and the registry.
func serverOptions(cfg *conf.Config, toServers *tls.Config) (server.Options, error) {
	policy, err := balance.ParsePolicy(cfg.Routing.Policy)
	if err != nil {
		return server.Options{}, err
	}
	toClients, err := server.TLSConfig(cfg.TLS.Cert, cfg.TLS.Key)
	if err != nil {
		return server.Options{}, err
	}
	v, _ := buildVersion()
	return server.Options{
		Users:      accounts(cfg.Users),
		Classifier: classifier.New(classifier.Options{ReadOnlyFunctions: cfg.Classifier.ReadOnlyFunctions, CacheEntries: cfg.Classifier.CacheEntries}),
		Backend: &backend.Config{TLSMode: cfg.Backend.TLS, TLSConfig: toServers, ConnectTimeout: cfg.Backend.ConnectTimeout,
			TrackedVariables: classifier.TrackedVariables},
		Pool: backend.PoolOptions{
			Max: cfg.Pool.MaxConnections, MinIdle: cfg.Pool.MinIdle, IdleTimeout: cfg.Pool.IdleTimeout, Lifetime: cfg.Pool.Lifetime,
			Wait: cfg.Pool.Wait, Queue: cfg.Pool.Queue, Statements: cfg.Pool.PreparedStatements,
		},
		Budget:     balance.NewBudget(cfg.Fallback.QPS, cfg.Fallback.Burst, time.Now()),
		BudgetText: fmt.Sprintf("qps=%g, burst=%g", cfg.Fallback.QPS, cfg.Fallback.Burst),
		Policy:     policy,

		Wait: cfg.Routing.Wait, MaxWait: cfg.Routing.MaxWait, MaxStaleness: cfg.Routing.MaxStaleness,
		SkipTokenCheck: cfg.Routing.UnsafeSkipTokenCheck,

		MaxConnections: cfg.Limits.MaxConnections, MaxAllowedPacket: cfg.Limits.MaxAllowedPacket,
		TokenIntervals: cfg.Limits.TokenIntervals, LoginTimeout: cfg.Limits.LoginTimeout, DrainTimeout: cfg.Limits.DrainTimeout,

		TLS: toClients, TLSRequired: cfg.TLS.Required,
		Compression: cfg.Listen.Compression, Proxies: cfg.Listen.ProxyProtocol,
		Version: v,
	}, nil
}

func accounts(users []conf.User) []server.User {
	list := make([]server.User, len(users))
	for i, u := range users {
		list[i] = server.User{Name: u.Name, Password: u.Password.Reveal(), MaxConnections: u.MaxConnections,
			IdleInTransaction: u.IdleInTransaction, IdlePinned: u.IdlePinned}
	}
	return list
}
