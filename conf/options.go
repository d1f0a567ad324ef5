package conf

import (
	"math"
	"net/netip"
	"time"
)

// option is one row of the table: everything known about one key. T is what
// it is set in: Config, or User for the keys of [[users]].
type option[T any] struct {
	key    string // dotted
	takes  string // kind of value, for the reference
	def    string // default in TOML; "" if there is none
	doc    string // one or two sentences, for the reference
	reload bool   // a running Causeway may take a new value
	set    func(dst *T, v any) *fault
}

// row ties a key to its kind and its field.
func row[T, V any](key string, k kind[V], field func(*T) *V, def, doc string) option[T] {
	return option[T]{key: key, takes: k.name, def: def, doc: doc, set: func(dst *T, v any) *fault {
		value, f := k.parse(v)
		if f == nil {
			*field(dst) = value
		}
		return f
	}}
}

// live marks an option that may change on reload.
func (o option[T]) live() option[T] { o.reload = true; return o }

const (
	maxLimit = 1_000_000
	day      = 24 * time.Hour
)

// options are the keys of the file but for [[users]], in the order of the
// example and of the reference.
var options = []option[Config]{
	row("listen.mysql", listenAddress(`"127.0.0.1:6033"`), func(c *Config) *string { return &c.Listen.MySQL }, `"127.0.0.1:6033"`,
		"Where MySQL clients connect. An empty host is every interface."),
	row("listen.http", optionalAddress(`"127.0.0.1:6080"`), func(c *Config) *string { return &c.Listen.HTTP }, `""`,
		"Where /metrics, /healthz and /readyz answer. Empty: nowhere. They need no password, so keep the address private."),
	row("listen.compression", subset(CompressionZlib, CompressionZstd), func(c *Config) *[]string { return &c.Listen.Compression }, `["zlib", "zstd"]`,
		"How packets to and from a client are compressed if it asks for that: any of `\"zlib\"` and `\"zstd\"`. `[]`: never. Connections to servers are not compressed."),
	row("listen.proxy_protocol", networkList(), func(c *Config) *[]netip.Prefix { return &c.Listen.ProxyProtocol }, "[]",
		"Balancers: connections from these addresses and networks must begin with a header of the PROXY protocol (version 1 or 2), which names the client's address. Nobody else's header is accepted."),

	row("cluster.servers", serverList(), func(c *Config) *[]string { return &c.Cluster.Servers }, "",
		"Every MySQL server of the cluster. Which one is the source is found out and followed."),
	row("cluster.weights", weightTable(), func(c *Config) *map[string]int { return &c.Cluster.Weights }, "{}",
		"Share of the reads by server. One that is not named has 1; one with 0 is read from only when no other replica can answer.").live(),
	row("cluster.allow_filtered", boolean(), func(c *Config) *bool { return &c.Cluster.AllowFiltered }, "false",
		"Read from replicas with replication filters too. Their gtid_executed names transactions whose rows they may not have, so a read there can miss its own write."),

	row("monitor.user", text(`"monitor"`), func(c *Config) *string { return &c.Monitor.User }, "",
		"The account that probes every server."),
	row("monitor.password", secret(), func(c *Config) *Secret { return &c.Monitor.Password }, "",
		"Its password, in the file itself."),
	row("monitor.password_file", text(`"/etc/causeway/monitor.password"`), func(c *Config) *string { return &c.Monitor.PasswordFile }, `""`,
		"File with its password; one newline at the end is dropped. A relative path starts at the configuration's folder."),
	row("monitor.password_env", text(`"MONITOR_PASSWORD"`), func(c *Config) *string { return &c.Monitor.PasswordEnv }, `""`,
		"Environment variable with its password."),
	row("monitor.interval", duration(50*time.Millisecond, time.Minute), func(c *Config) *time.Duration { return &c.Monitor.Interval }, `"500ms"`,
		"How often each server's role, replication threads, filters and lag are looked at.").live(),
	row("monitor.position_interval", duration(10*time.Millisecond, time.Minute), func(c *Config) *time.Duration { return &c.Monitor.PositionInterval }, `"100ms"`,
		"How often each server's gtid_executed is read when nobody waits for it.").live(),
	row("monitor.timeout", duration(50*time.Millisecond, time.Minute), func(c *Config) *time.Duration { return &c.Monitor.Timeout }, `"1s"`,
		"A probe that takes longer has failed, and the server counts as down.").live(),
	row("monitor.watch_timeout", duration(10*time.Millisecond, 100*time.Millisecond), func(c *Config) *time.Duration { return &c.Monitor.WatchTimeout }, `"100ms"`,
		"How long one WAIT_FOR_EXECUTED_GTID_SET may sit on a replica before it is asked again.").live(),

	row("tls.cert", text(`"/etc/causeway/cert.pem"`), func(c *Config) *string { return &c.TLS.Cert }, `""`,
		"PEM file with the certificate that clients see. Empty: one is made at every start."),
	row("tls.key", text(`"/etc/causeway/key.pem"`), func(c *Config) *string { return &c.TLS.Key }, `""`,
		"PEM file with its private key."),
	row("tls.required", boolean(), func(c *Config) *bool { return &c.TLS.Required }, "false",
		"Refuse clients that do not use TLS."),

	row("backend.tls", oneOf(TLSDisabled, TLSPreferred, TLSRequired, TLSVerify), func(c *Config) *string { return &c.Backend.TLS }, `"preferred"`,
		"TLS to the servers: never, where the server can (on the same host only for clients that use TLS), always, or always with a checked certificate."),
	row("backend.ca", text(`"/etc/causeway/ca.pem"`), func(c *Config) *string { return &c.Backend.CA }, `""`,
		"PEM file with the authorities that `verify` trusts. Empty: the system's. The certificates that MySQL makes itself name no host, so `verify` refuses them."),
	row("backend.server_name", text(`"db.example.org"`), func(c *Config) *string { return &c.Backend.ServerName }, `""`,
		"The name that `verify` expects in the certificates. Empty: the host of the server's address."),
	row("backend.connect_timeout", duration(10*time.Millisecond, time.Minute), func(c *Config) *time.Duration { return &c.Backend.ConnectTimeout }, `"2s"`,
		"How long a new connection to a server may take, login included.").live(),

	row("pool.max_connections", integer(1, maxLimit), func(c *Config) *int { return &c.Pool.MaxConnections }, "100",
		"Connections to one server, of all users together. Keep it below the server's own `max_connections`."),
	row("pool.min_idle", integer(0, maxLimit), func(c *Config) *int { return &c.Pool.MinIdle }, "2",
		"Connections to one server that stay open though nobody needs them now."),
	row("pool.idle_timeout", duration(time.Second, day), func(c *Config) *time.Duration { return &c.Pool.IdleTimeout }, `"5m"`,
		"A connection beyond `min_idle` that nobody used for so long is closed."),
	row("pool.lifetime", duration(time.Second, 365*day), func(c *Config) *time.Duration { return &c.Pool.Lifetime }, `"1h"`,
		"An older connection is closed as soon as nobody uses it."),
	row("pool.wait", duration(10*time.Millisecond, 10*time.Minute), func(c *Config) *time.Duration { return &c.Pool.Wait }, `"5s"`,
		"How long a statement waits for a connection when `max_connections` are in use; then it gets error 1040."),
	row("pool.queue", integer(1, 10*maxLimit), func(c *Config) *int { return &c.Pool.Queue }, "10000",
		"Statements that may wait for connections to one server; one more gets error 1040 at once."),
	row("pool.prepared_statements", integer(1, maxLimit), func(c *Config) *int { return &c.Pool.PreparedStatements }, "200",
		"Prepared statements kept on one connection; the one not used for longest is closed. Times `max_connections` it must stay below the servers' `max_prepared_stmt_count`."),

	row("routing.policy", oneOf(PolicyRoundRobin, PolicyWeighted, PolicyLeastInFlight, PolicyLatency), func(c *Config) *string { return &c.Routing.Policy }, `"round_robin"`,
		"How one of several replicas that may answer is chosen.").live(),
	row("routing.wait", duration(0, time.Minute), func(c *Config) *time.Duration { return &c.Routing.Wait }, `"10ms"`,
		"How long a read waits for a replica to have what it must see before the source is asked.").live(),
	row("routing.max_wait", duration(0, 10*time.Minute), func(c *Config) *time.Duration { return &c.Routing.MaxWait }, `"1s"`,
		"How long it waits for a replica once the fallback budget is empty; then it gets an error that names the budget.").live(),
	row("routing.max_staleness", duration(0, day), func(c *Config) *time.Duration { return &c.Routing.MaxStaleness }, `"2s"`,
		"How stale a read of a session that has written nothing may be. `0s`: any age.").live(),
	row("routing.unsafe_skip_token_check", boolean(), func(c *Config) *bool { return &c.Routing.UnsafeSkipTokenCheck }, "false",
		"For tests only: sends reads to replicas without asking whether they have the session's writes. Gives up the promise of Causeway."),

	row("fallback.qps", number(0, 10*maxLimit), func(c *Config) *float64 { return &c.Fallback.QPS }, "1000",
		"Reads a second that the source takes over when no replica can answer. 0: none.").live(),
	row("fallback.burst", number(0, 10*maxLimit), func(c *Config) *float64 { return &c.Fallback.Burst }, "2000",
		"How many such reads may come at once after a quiet time.").live(),

	row("classifier.read_only_functions", nameList(`["app.price_of"]`), func(c *Config) *[]string { return &c.Classifier.ReadOnlyFunctions }, "[]",
		"Stored functions that write nothing and lock nothing. A SELECT that calls any other stored function goes to the source.").live(),
	row("classifier.cache_entries", integer(16, 10*maxLimit), func(c *Config) *int { return &c.Classifier.CacheEntries }, "10000",
		"How many different statements (by digest) are remembered, so that none of them is parsed again."),

	row("limits.max_connections", integer(1, maxLimit), func(c *Config) *int { return &c.Limits.MaxConnections }, "10000",
		"Clients connected at once; one more gets error 1040.").live(),
	row("limits.max_allowed_packet", size(1<<20, 1<<30), func(c *Config) *int { return &c.Limits.MaxAllowedPacket }, `"64MB"`,
		"Largest command that a client may send; a larger one gets error 1153.").live(),
	row("limits.token_intervals", integer(1, 100_000), func(c *Config) *int { return &c.Limits.TokenIntervals }, "64",
		"Intervals that a session's token may have before it is widened to whole prefixes. It is never shortened.").live(),
	row("limits.login_timeout", duration(100*time.Millisecond, 10*time.Minute), func(c *Config) *time.Duration { return &c.Limits.LoginTimeout }, `"10s"`,
		"How long a client may take to log in.").live(),
	row("limits.drain_timeout", duration(0, day), func(c *Config) *time.Duration { return &c.Limits.DrainTimeout }, `"30s"`,
		"How long a stop waits for running statements and open transactions before their connections are closed.").live(),

	row("log.level", oneOf("debug", "info", "warn", "error"), func(c *Config) *string { return &c.Log.Level }, `"info"`,
		"The least serious messages that are logged.").live(),
	row("log.format", oneOf(LogAuto, LogConsole, LogJSON), func(c *Config) *string { return &c.Log.Format }, `"auto"`,
		"`auto` is for people on a terminal and JSON elsewhere."),
}

// userOptions are the keys of each [[users]] table.
var userOptions = []option[User]{
	row("name", text(`"app"`), func(u *User) *string { return &u.Name }, "",
		"The MySQL account. It must exist on every server, with this password.").live(),
	row("password", secret(), func(u *User) *Secret { return &u.Password }, "",
		"Its password, in the file itself.").live(),
	row("password_file", text(`"/etc/causeway/app.password"`), func(u *User) *string { return &u.PasswordFile }, `""`,
		"File with its password; one newline at the end is dropped. A relative path starts at the configuration's folder.").live(),
	row("password_env", text(`"APP_PASSWORD"`), func(u *User) *string { return &u.PasswordEnv }, `""`,
		"Environment variable with its password.").live(),
	row("max_connections", integer(0, math.MaxInt32), func(u *User) *int { return &u.MaxConnections }, "0",
		"Connections that this user may have at once; one more gets error 1226. 0: only `limits.max_connections` counts.").live(),
	row("idle_in_transaction", duration(0, 365*day), func(u *User) *time.Duration { return &u.IdleInTransaction }, `"0s"`,
		"How long a connection of this user may be idle inside a transaction before it is closed with an error. `0s`: as long as the server lets it."),
	row("idle_pinned", duration(0, 365*day), func(u *User) *time.Duration { return &u.IdlePinned }, `"0s"`,
		"The same for one that keeps its server connection for another reason (temporary tables, locks, ...; see SHOW CAUSEWAY PINS)."),
}
