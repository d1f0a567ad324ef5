package main

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"time"

	"causeway/backend"
	"causeway/balance"
	"causeway/classifier"
	"causeway/conf"
	"causeway/replicamon"
	"causeway/server"
	"causeway/token"
)

// monitorOptions says whom the monitor watches, as whom and how often.
func monitorOptions(cfg *conf.Config, toServers *tls.Config, optional bool) replicamon.Options {
	m := cfg.Monitor
	return replicamon.Options{
		Servers: cfg.Cluster.Servers, Weights: cfg.Cluster.Weights, AllowFiltered: cfg.Cluster.AllowFiltered, WithoutGTIDs: cfg.Routing.Sticky > 0, LagLimits: lagLimits(cfg.Classes),
		Zone: cfg.Cluster.Zone, Zones: cfg.Cluster.Zones, Discover: cfg.Cluster.Discover,
		StateFile: cfg.Cluster.StateFile, Warmup: cfg.Cluster.Warmup,
		User: m.User, Password: m.Password.Reveal(), TLS: toServers, TLSOptional: optional,
		Interval: m.Interval, PositionInterval: m.PositionInterval, Timeout: m.Timeout, WatchTimeout: m.WatchTimeout,
		LagWindow: m.LagWindow, RecoveryWindow: m.RecoveryWindow, SlowStart: orNone(m.SlowStart),
		Defaults: append(backend.TrackerNames(), classifier.TrackedVariables...),
	}
}

// orNone turns a configured 0 into what the monitor takes for none.
func orNone(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
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
	classes, err := classesOf(cfg.Classes, cfg.Cluster.WarmupAllow)
	if err != nil {
		return server.Options{}, err
	}
	tokens, err := token.New(revealed(cfg.Token.Secrets))
	if err != nil {
		return server.Options{}, err
	}
	v, _ := buildVersion()
	return server.Options{
		Users:      accounts(cfg.Users, cfg.Routing.Scope),
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
		Zone:       cfg.Cluster.Zone,
		Brownout:   brownoutLimits(cfg),

		Classes: classes, Rules: rulesOf(cfg.Rules), DefaultClass: cfg.Routing.DefaultClass, ListenClass: cfg.Listen.Class,
		Sticky: cfg.Routing.Sticky, MaxWait: cfg.Routing.MaxWait, SkipTokenCheck: cfg.Routing.UnsafeSkipTokenCheck, AuditSample: cfg.Routing.AuditSample,
		FailoverWait: cfg.Cluster.FailoverWait, PauseLimit: cfg.Cluster.PauseLimit,
		PauseEndRefuses: cfg.Cluster.PauseEnd == conf.PauseFail, ForgetLostWrites: cfg.Routing.OnLostWrite == conf.LostForget,

		Tokens: tokens,

		MaxConnections: cfg.Limits.MaxConnections, MaxAllowedPacket: cfg.Limits.MaxAllowedPacket,
		TokenIntervals: cfg.Limits.TokenIntervals, MaxKeys: cfg.Token.MaxKeys, KeyTTL: cfg.Token.KeyTTL,
		StoreDownRefuses: cfg.Token.StoreDown == conf.StoreRefuse,
		LoginTimeout:     cfg.Limits.LoginTimeout, DrainTimeout: cfg.Limits.DrainTimeout,

		TLS: toClients, TLSRequired: cfg.TLS.Required,
		Compression: cfg.Listen.Compression, Proxies: cfg.Listen.ProxyProtocol,
		Version: v,
	}, nil
}

func revealed(secrets []conf.Secret) []string {
	list := make([]string, len(secrets))
	for i, s := range secrets {
		list[i] = s.Reveal()
	}
	return list
}

func accounts(users []conf.User, scope string) []server.User {
	list := make([]server.User, len(users))
	for i, u := range users {
		list[i] = server.User{Name: u.Name, Password: u.Password.Reveal(), MaxConnections: u.MaxConnections,
			Admin: u.Admin, IdleInTransaction: u.IdleInTransaction, IdlePinned: u.IdlePinned, Class: u.Class, MaxClass: u.MaxClass,
			Scope: scopeOf(cmp.Or(u.Scope, scope))}
	}
	return list
}

// scopeOf turns the name of a scope, which conf has checked, into the server's.
func scopeOf(name string) server.Scope {
	s, err := server.ParseScope(name)
	if err != nil {
		panic(err) // the names of conf and server differ: a test finds it
	}
	return s
}
