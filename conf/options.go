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
	row("listen.class", text(`"F1"`), func(c *Config) *string { return &c.Listen.Class }, `""`,
		"The class of the reads that nothing narrower gives one. Empty: `routing.default_class`."),
	row("listen.compression", subset(CompressionZlib, CompressionZstd), func(c *Config) *[]string { return &c.Listen.Compression }, `["zlib", "zstd"]`,
		"How packets to and from a client are compressed if it asks for that: any of `\"zlib\"` and `\"zstd\"`. `[]`: never. Connections to servers are not compressed."),
	row("listen.proxy_protocol", networkList(), func(c *Config) *[]netip.Prefix { return &c.Listen.ProxyProtocol }, "[]",
		"Balancers: connections from these addresses and networks must begin with a header of the PROXY protocol (version 1 or 2), which names the client's address. Nobody else's header is accepted."),

	row("cluster.servers", serverList(), func(c *Config) *[]string { return &c.Cluster.Servers }, "",
		"Every MySQL server of the cluster. Which one is the source is found out and followed."),
	row("cluster.weights", weightTable(), func(c *Config) *map[string]int { return &c.Cluster.Weights }, "{}",
		"Share of the reads by server. One that is not named has 1; one with 0 is read from only when no other replica can answer.").live(),
	row("cluster.zone", text(`"a"`), func(c *Config) *string { return &c.Cluster.Zone }, `""`,
		"The zone (availability zone, data centre) that this Causeway stands in. Replicas of that zone are read from first, all others only when none of it qualifies. Empty: zones make no difference."),
	row("cluster.zones", zoneTable(), func(c *Config) *map[string]string { return &c.Cluster.Zones }, "{}",
		"The zone of each server. One that is not named is in none, and so in another than Causeway's."),
	row("cluster.discover", boolean(), func(c *Config) *bool { return &c.Cluster.Discover }, "false",
		"Also use the replicas that the source tells of (SHOW REPLICAS, for which the monitor's account needs REPLICATION SLAVE, and the members of its group). Each must report its address by `report_host`, and serves once it is seen to replicate from the source. `weights` and `zones` may name them."),
	row("cluster.allow_filtered", boolean(), func(c *Config) *bool { return &c.Cluster.AllowFiltered }, "false",
		"Read from replicas with replication filters too. Their gtid_executed names transactions whose rows they may not have, so a read there can miss its own write."),

	row("cluster.state_file", text(`"/var/lib/causeway/state.json"`), func(c *Config) *string { return &c.Cluster.StateFile }, `""`,
		"File that keeps over restarts which deposed sources are fenced. Its folder must be writable. Empty: they are forgotten at a restart. A relative path starts at the configuration's folder."),
	row("cluster.failover_wait", duration(0, 10*time.Minute), func(c *Config) *time.Duration { return &c.Cluster.FailoverWait }, `"10s"`,
		"How long what needs the source waits for one while none serves, counted from the lost one's last answer; then it fails with an error."),
	row("cluster.warmup", duration(0, time.Hour), func(c *Config) *time.Duration { return &c.Cluster.Warmup }, `"60s"`,
		"How long the warm-up after a change of the source lasts. `0s`: none."),
	row("cluster.warmup_allow", nameList(`["F1", "F2"]`), func(c *Config) *[]string { return &c.Cluster.WarmupAllow }, `["F1", "F2"]`,
		"Classes whose reads go to replicas during the warm-up although no GTID proves them. Reads of others that have no token go to the source as far as the fallback budget allows."),
	row("cluster.pause_limit", duration(time.Second, time.Hour), func(c *Config) *time.Duration { return &c.Cluster.PauseLimit }, `"60s"`,
		"How long CAUSEWAY PAUSE WRITES holds writes at most, unless it says so itself (FOR n SECONDS)."),
	row("cluster.pause_end", oneOf(PauseResume, PauseFail), func(c *Config) *string { return &c.Cluster.PauseEnd }, `"resume"`,
		"What happens to writes when a pause has reached its limit: they go on, or fail until CAUSEWAY RESUME."),

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
	row("monitor.lag_window", duration(time.Second, 10*time.Minute), func(c *Config) *time.Duration { return &c.Monitor.LagWindow }, `"30s"`,
		"How much of the past the quantiles of a replica's apply lag are taken from."),
	row("monitor.recovery_window", duration(time.Second, 10*time.Minute), func(c *Config) *time.Duration { return &c.Monitor.RecoveryWindow }, `"60s"`,
		"How long a replica that was over a lag limit must be within it, without a break, before it serves under it again."),
	row("monitor.slow_start", duration(0, 10*time.Minute), func(c *Config) *time.Duration { return &c.Monitor.SlowStart }, `"30s"`,
		"How long such a replica then takes from a tenth of its weight to all of it. `0s`: it has all of it at once."),

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
	row("routing.default_class", text(`"F0"`), func(c *Config) *string { return &c.Routing.DefaultClass }, `"F0"`,
		"The class of a read that nothing gives another."),
	row("routing.wait", duration(0, time.Minute), func(c *Config) *time.Duration { return &c.Routing.Wait }, `"10ms"`,
		"How long a read waits for a replica to have what it must see before the source is asked.").live(),
	row("routing.max_wait", duration(0, 10*time.Minute), func(c *Config) *time.Duration { return &c.Routing.MaxWait }, `"1s"`,
		"How long it waits for a replica once the fallback budget is empty; then it gets an error that names the budget.").live(),
	row("routing.max_staleness", duration(0, day), func(c *Config) *time.Duration { return &c.Routing.MaxStaleness }, `"2s"`,
		"How stale a read of a session that has written nothing may be. `0s`: any age.").live(),
	row("routing.scope", oneOf(ScopeSession, ScopeUser, ScopeProxy, ScopeCarried), func(c *Config) *string { return &c.Routing.Scope }, `"session"`,
		"Whose writes a read sees for sure: those of its own connection, all of the same account, or all through this Causeway. `carried` is for applications that hand in a token with each request on pooled connections: another token than the last one means another user, and what the connection has written for others before is not waited for. An application with a pool that carries neither token nor key needs `user` or `proxy`."),
	row("routing.sticky", duration(0, day), func(c *Config) *time.Duration { return &c.Routing.Sticky }, `"0s"`,
		"For how long after a commit the reads of its scope (connection, key, `routing.scope`) go to the source, as far as the fallback budget goes; beyond that they go by their token, as ever. A rollback or a read-only transaction opens no window. With it a source with `gtid_mode = OFF` is accepted: windows are then all that is promised. `0s`: none."),
	row("routing.on_lost_write", oneOf(LostError, LostForget), func(c *Config) *string { return &c.Routing.OnLostWrite }, `"error"`,
		"What a session is told whose acknowledged write a failover lost: one error, or nothing. SHOW CAUSEWAY LOST, the metrics and the log tell in any case."),
	row("routing.audit_sample", number(0, 1), func(c *Config) *float64 { return &c.Routing.AuditSample }, "0",
		"The part of the reads of sessions with writes whose replica is asked, right before and on the same connection, what it has executed: one round trip more for each. `causeway_read_your_writes_violation_count` counts those that lacked a write: it must stay 0. 1: all."),
	row("routing.unsafe_skip_token_check", boolean(), func(c *Config) *bool { return &c.Routing.UnsafeSkipTokenCheck }, "false",
		"For tests only: sends reads to replicas without asking whether they have the session's writes. Gives up the promise of Causeway."),

	row("fallback.qps", number(0, 10*maxLimit), func(c *Config) *float64 { return &c.Fallback.QPS }, "1000",
		"Reads a second that the source takes over when no replica can answer. 0: none.").live(),
	row("fallback.burst", number(0, 10*maxLimit), func(c *Config) *float64 { return &c.Fallback.Burst }, "2000",
		"How many such reads may come at once after a quiet time.").live(),

	row("token.secret", secretList(), func(c *Config) *[]Secret { return &c.Token.Secrets }, `[]`,
		"The secret that signs the tokens of SELECT @causeway_token, of at least 16 bytes: clients can pass them on, but not make them up, and sets of GTIDs without a signature are refused. A list of several: the first signs, all are taken. Empty: tokens are plain sets."),
	row("token.secret_file", text(`"/etc/causeway/token.secret"`), func(c *Config) *string { return &c.Token.SecretFile }, `""`,
		"File with such secrets instead, one a line. A relative path starts at the configuration's folder."),
	row("token.max_keys", integer(1, 100*maxLimit), func(c *Config) *int { return &c.Token.MaxKeys }, "100000",
		"Keys (`causeway_key`) that are remembered, those written under last. A read under a forgotten key asks for more than it need, never for less."),
	row("token.key_ttl", duration(time.Second, 365*day), func(c *Config) *time.Duration { return &c.Token.KeyTTL }, `"1h"`,
		"How long after the last write under it a key is remembered."),
	row("token.store_down", oneOf(StoreWait, StoreRefuse), func(c *Config) *string { return &c.Token.StoreDown }, `"wait"`,
		"What happens to a write under a key or a wide scope while `[token.store]` cannot be reached: it is acknowledged once the others know (about one `token.store.lease` later, for the first ones), or refused before it runs, as is the COMMIT of what was written before the store went away; ROLLBACK never is."),
	row("token.store.redis", text(`"10.0.0.9:6379"`), func(c *Config) *string { return &c.Token.Store.Redis }, `""`,
		"Redis or Valkey over which several Causeways share keys and the scopes `user` and `proxy`: the address of the server, or of Sentinels or Cluster nodes, separated by commas. Empty: nothing is shared. See docs/shared-keys.md."),
	row("token.store.sentinel", text(`"mymaster"`), func(c *Config) *string { return &c.Token.Store.Sentinel }, `""`,
		"The addresses are Sentinels, which know the server by this name."),
	row("token.store.cluster", boolean(), func(c *Config) *bool { return &c.Token.Store.Cluster }, "false",
		"The addresses are nodes of a Redis Cluster. All keys are in one slot."),
	row("token.store.user", text(`"causeway"`), func(c *Config) *string { return &c.Token.Store.User }, `""`,
		"The account. Empty: `default`."),
	row("token.store.password", secret(), func(c *Config) *Secret { return &c.Token.Store.Password }, `""`,
		"Its password, in the file itself. None of the three: none is sent."),
	row("token.store.password_file", text(`"/etc/causeway/redis.password"`), func(c *Config) *string { return &c.Token.Store.PasswordFile }, `""`,
		"File with its password. A relative path starts at the configuration's folder."),
	row("token.store.password_env", text(`"REDIS_PASSWORD"`), func(c *Config) *string { return &c.Token.Store.PasswordEnv }, `""`,
		"Environment variable with its password."),
	row("token.store.sentinel_password", secret(), func(c *Config) *Secret { return &c.Token.Store.SentinelPassword }, `""`,
		"The Sentinels' own password."),
	row("token.store.tls", oneOf(TLSDisabled, TLSRequired, TLSVerify), func(c *Config) *string { return &c.Token.Store.TLS }, `"disabled"`,
		"`required` encrypts, `verify` also checks the server's certificate and name."),
	row("token.store.ca", text(`"/etc/causeway/redis-ca.pem"`), func(c *Config) *string { return &c.Token.Store.CA }, `""`,
		"PEM file with the authorities that `verify` trusts. Empty: the system's."),
	row("token.store.prefix", text(`"causeway"`), func(c *Config) *string { return &c.Token.Store.Prefix }, `"causeway"`,
		"What all keys in the store begin with. Causeways of another MySQL cluster need another one."),
	row("token.store.name", text(`"a"`), func(c *Config) *string { return &c.Token.Store.Name }, `""`,
		"The name of this Causeway. No two that run may have one name."),
	row("token.store.proxies", nameList(`["a", "b"]`), func(c *Config) *[]string { return &c.Token.Store.Proxies }, "[]",
		"The names of all Causeways that share the store, the same in each one's configuration. While one of them is away, reads under keys are served as `global` by the others."),
	row("token.store.lease", duration(100*time.Millisecond, time.Minute), func(c *Config) *time.Duration { return &c.Token.Store.Lease }, `"400ms"`,
		"How long the others trust that this Causeway publishes what it acknowledges. When the store is lost, its first writes under keys wait about that long."),
	row("token.store.timeout", duration(10*time.Millisecond, 10*time.Second), func(c *Config) *time.Duration { return &c.Token.Store.Timeout }, `"100ms"`,
		"How long the store may take for an answer."),

	row("brownout.wait", duration(0, 10*time.Minute), func(c *Config) *time.Duration { return &c.Brownout.Wait }, `"1s"`,
		"When a read has waited so long for a connection to a replica, or got none, reads of the lowest class are refused with error 3168. Above half of `pool.wait` it counts as that. `0s`: none ever is."),
	row("brownout.step", duration(100*time.Millisecond, time.Hour), func(c *Config) *time.Duration { return &c.Brownout.Step }, `"5s"`,
		"How long that must go on before the next class is refused too. The class with the highest priority never is, nor is a read that must see its session's writes."),
	row("brownout.recover", duration(100*time.Millisecond, time.Hour), func(c *Config) *time.Duration { return &c.Brownout.Recover }, `"10s"`,
		"How long no read may have waited for half of `brownout.wait` before a class is admitted again. Where it comes back at once this doubles, up to eight times."),

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
	row("admin", boolean(), func(u *User) *bool { return &u.Admin }, "false",
		"May steer the proxy: CAUSEWAY PAUSE WRITES, RESUME, SET SOURCE, ADD SERVER, REMOVE SERVER and SET WEIGHT. Others get error 1227."),
	row("class", text(`"F1"`), func(u *User) *string { return &u.Class }, `""`,
		"The class of this user's reads, if no statement, session or rule names another. Empty: the listener's."),
	row("max_class", text(`"F1"`), func(u *User) *string { return &u.MaxClass }, `""`,
		"A class of a higher priority than this one is lowered to it, whoever named it. Reads that must see the session's own writes are F0 all the same."),
	row("scope", oneOf("", ScopeSession, ScopeUser, ScopeProxy, ScopeCarried), func(u *User) *string { return &u.Scope }, `""`,
		"As `routing.scope`, for this user. Empty: `routing.scope`."),
	row("idle_in_transaction", duration(0, 365*day), func(u *User) *time.Duration { return &u.IdleInTransaction }, `"0s"`,
		"How long a connection of this user may be idle inside a transaction before it is closed with an error. `0s`: as long as the server lets it."),
	row("idle_pinned", duration(0, 365*day), func(u *User) *time.Duration { return &u.IdlePinned }, `"0s"`,
		"The same for one that keeps its server connection for another reason (temporary tables, locks, ...; see SHOW CAUSEWAY PINS)."),
}
