package conf

import (
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// fiveLines is the configuration of the README.
const fiveLines = `
[listen]
mysql = "127.0.0.1:6033"
http = "127.0.0.1:6080"

[cluster]
servers = ["127.0.0.1:3311", "127.0.0.1:3312", "127.0.0.1:3313"]

[monitor]
user = "monitor"
password = "monitor_pw"

[[users]]
name = "app"
password = "app_pw"
`

// load writes text to a file and loads it, with env as the environment.
func load(t *testing.T, text string, env map[string]string) (*Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(path, func(k string) string { return env[k] })
}

func TestFiveLines(t *testing.T) {
	c, err := load(t, fiveLines, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Users) != 1 || c.Users[0].Name != "app" || c.Users[0].Password.Reveal() != "app_pw" {
		t.Errorf("users: %+v", c.Users)
	}
	if len(c.Warnings) > 0 {
		t.Errorf("warnings: %q", c.Warnings)
	}
}

func TestDefaults(t *testing.T) {
	got, err := load(t, patched("http = \"127.0.0.1:6080\"\n", ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		Listen: Listen{MySQL: "127.0.0.1:6033", Compression: []string{"zlib", "zstd"}, ProxyProtocol: []netip.Prefix{}},
		Cluster: Cluster{Servers: []string{"127.0.0.1:3311", "127.0.0.1:3312", "127.0.0.1:3313"}, Weights: map[string]int{}, Zones: map[string]string{},
			FailoverWait: 10 * time.Second, Warmup: time.Minute, WarmupAllow: []string{"F1", "F2"}, PauseLimit: time.Minute, PauseEnd: PauseResume},
		Users:   []User{{Name: "app", Password: NewSecret("app_pw")}},
		Backend: Backend{TLS: TLSPreferred, ConnectTimeout: 2 * time.Second},
		Pool:    Pool{100, 2, 5 * time.Minute, time.Hour, 5 * time.Second, 10000, 200},
		Routing: Routing{Policy: PolicyRoundRobin, DefaultClass: "F0", Wait: 10 * time.Millisecond, MaxWait: time.Second, MaxStaleness: 2 * time.Second, Scope: ScopeSession, OnLostWrite: LostError},
		Token: Token{MaxKeys: 100000, KeyTTL: time.Hour, StoreDown: StoreWait,
			Store: TokenStore{Password: NewSecret(""), SentinelPassword: NewSecret(""), TLS: TLSDisabled, Prefix: "causeway", Lease: 400 * time.Millisecond, Timeout: 100 * time.Millisecond, Proxies: []string{}}},
		Classes:    withLagLimits(builtIn(Routing{Wait: 10 * time.Millisecond, MaxWait: time.Second, MaxStaleness: 2 * time.Second})),
		Fallback:   Fallback{QPS: 1000, Burst: 2000},
		Brownout:   Brownout{time.Second, 5 * time.Second, 10 * time.Second},
		Classifier: Classifier{ReadOnlyFunctions: []string{}, CacheEntries: 10000},
		Limits:     Limits{MaxConnections: 10000, MaxAllowedPacket: 64 << 20, TokenIntervals: 64, LoginTimeout: 10 * time.Second, DrainTimeout: 30 * time.Second},
		Log:        Log{Level: "info", Format: LogAuto},
		Monitor: Monitor{User: "monitor", Password: NewSecret("monitor_pw"), Interval: 500 * time.Millisecond,
			PositionInterval: 100 * time.Millisecond, Timeout: time.Second, WatchTimeout: 100 * time.Millisecond,
			LagWindow: 30 * time.Second, RecoveryWindow: time.Minute, SlowStart: 30 * time.Second},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestEveryFieldIsSet changes every option and looks whether the Config follows,
// so that no row of the table can set another row's field.
func TestEveryFieldIsSet(t *testing.T) {
	text := `
[listen]
mysql = ":1"
http = "[::1]:2"
compression = ["zstd"]
proxy_protocol = ["10.1.2.3/8", "192.0.2.7", "fd00::/8"]
[cluster]
servers = ["db1:3306", "[fe80::1]:3306"]
weights = { "db1:3306" = 0 }
zone = "z1"
zones = { "db1:3306" = "z1" }
discover = true
allow_filtered = true
state_file = "s.json"
failover_wait = "31s"
warmup = "32s"
warmup_allow = ["F2"]
pause_limit = "33s"
pause_end = "fail"
[monitor]
user = "m"
password_env = "M"
interval = "3s"
position_interval = "4ms"
timeout = "5s"
watch_timeout = "60ms"
lag_window = "31s"
recovery_window = "32s"
slow_start = "33s"
[[users]]
name = "u"
password_file = "u.pw"
max_connections = 7
admin = true
scope = "user"
idle_in_transaction = "27s"
idle_pinned = "28s"
[[users]]
name = "v"
password = ""
[backend]
tls = "verify"
server_name = "db"
connect_timeout = "8s"
[tls]
required = true
[pool]
max_connections = 21
min_idle = 3
idle_timeout = "22s"
lifetime = "23s"
wait = "24ms"
queue = 25
prepared_statements = 26
[routing]
policy = "latency"
wait = "9ms"
max_wait = "11s"
max_staleness = "0s"
scope = "proxy"
sticky = "3s"
on_lost_write = "forget"
audit_sample = 0.25
unsafe_skip_token_check = true
[fallback]
qps = 12.5
burst = 13
[token]
secret = "0123456789abcdef"
max_keys = 34
key_ttl = "35s"
store_down = "refuse"
[token.store]
redis = "r1:1, r2:2"
cluster = true
user = "ru"
password_env = "M"
sentinel_password = "spw"
tls = "required"
prefix = "cw"
name = "n1"
proxies = ["n1", "n2"]
lease = "401ms"
timeout = "102ms"
[brownout]
wait = "34s"
step = "35s"
recover = "36s"
[classifier]
read_only_functions = ["f", "app.g"]
cache_entries = 140
[limits]
max_connections = 15
max_allowed_packet = "16 mb"
token_intervals = 17
login_timeout = "18s"
drain_timeout = "19s"
[log]
level = "debug"
format = "json"
`
	text = strings.Replace(text, `"4ms"`, `"40ms"`, 1)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "u.pw"), "u pw \n", 0o600)
	write(t, filepath.Join(dir, "c.toml"), text, 0o600)
	got, err := Load(filepath.Join(dir, "c.toml"), func(k string) string { return "env of " + k })
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		Listen: Listen{":1", "[::1]:2", []string{"zstd"}, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"),
			netip.MustParsePrefix("192.0.2.7/32"), netip.MustParsePrefix("fd00::/8")}, ""},
		Cluster: Cluster{[]string{"db1:3306", "[fe80::1]:3306"}, map[string]int{"db1:3306": 0}, "z1", map[string]string{"db1:3306": "z1"}, true, true, filepath.Join(dir, "s.json"),
			31 * time.Second, 32 * time.Second, []string{"F2"}, 33 * time.Second, PauseFail},
		Monitor: Monitor{"m", NewSecret("env of M"), "", "M", 3 * time.Second, 40 * time.Millisecond, 5 * time.Second, 60 * time.Millisecond,
			31 * time.Second, 32 * time.Second, 33 * time.Second},
		Users: []User{{Name: "u", Password: NewSecret("u pw "), PasswordFile: "u.pw", MaxConnections: 7, Admin: true, Scope: ScopeUser,
			IdleInTransaction: 27 * time.Second, IdlePinned: 28 * time.Second},
			{Name: "v", Password: NewSecret("")}},
		Backend:  Backend{TLS: TLSVerify, ServerName: "db", ConnectTimeout: 8 * time.Second},
		TLS:      TLS{Required: true},
		Pool:     Pool{21, 3, 22 * time.Second, 23 * time.Second, 24 * time.Millisecond, 25, 26},
		Routing:  Routing{PolicyLatency, "F0", 9 * time.Millisecond, 11 * time.Second, 0, ScopeProxy, 3 * time.Second, LostForget, .25, true},
		Classes:  withLagLimits(builtIn(Routing{Wait: 9 * time.Millisecond, MaxWait: 11 * time.Second})),
		Fallback: Fallback{12.5, 13},
		Token: Token{Secrets: []Secret{NewSecret("0123456789abcdef")}, MaxKeys: 34, KeyTTL: 35 * time.Second, StoreDown: StoreRefuse,
			Store: TokenStore{"r1:1, r2:2", "", true, "ru", NewSecret("env of M"), "", "M", NewSecret("spw"), TLSRequired, "",
				"cw", "n1", []string{"n1", "n2"}, 401 * time.Millisecond, 102 * time.Millisecond}},
		Brownout:   Brownout{34 * time.Second, 35 * time.Second, 36 * time.Second},
		Classifier: Classifier{[]string{"f", "app.g"}, 140},
		Limits:     Limits{15, 16 << 20, 17, 18 * time.Second, 19 * time.Second},
		Log:        Log{"debug", LogJSON},
		Warnings:   []string{"routing.unsafe_skip_token_check: sessions may miss their own writes"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got.Cluster.Weight("db1:3306") != 0 || got.Cluster.Weight("[fe80::1]:3306") != 1 {
		t.Error("Weight")
	}
}

func TestPasswordFile(t *testing.T) {
	cases := []struct {
		name, content string
		mode          os.FileMode
		want          string // password
		warned        bool
		failed        bool
	}{
		{"newline", "pw\n", 0o600, "pw", false, false},
		{"no newline", "pw", 0o600, "pw", false, false},
		{"one newline only", "pw\n\n", 0o600, "pw\n", false, false},
		{"carriage return", "pw\r\n", 0o600, "pw", false, false},
		{"group may read", "pw", 0o640, "pw", false, false},
		{"all may read", "pw", 0o644, "pw", true, false},
		{"empty", "\n", 0o600, "", false, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "pw")
			write(t, file, c.content, c.mode)
			write(t, filepath.Join(dir, "c.toml"), patched(`password = "app_pw"`, "password_file = \""+file+"\""), 0o600)
			cfg, err := Load(filepath.Join(dir, "c.toml"), os.Getenv)
			if (err != nil) != c.failed {
				t.Fatalf("error %v", err)
			}
			if err != nil {
				return
			}
			if got := cfg.Users[0].Password.Reveal(); got != c.want {
				t.Errorf("password %q, want %q", got, c.want)
			}
			if (len(cfg.Warnings) == 1) != c.warned {
				t.Errorf("warnings %q", cfg.Warnings)
			}
		})
	}
}

// write makes a file of exactly that mode, whatever the umask.
func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestLineIndex(t *testing.T) {
	x := indexLines("a.b = 1\n[t]\n\"c\" = 2 # [no]\n[[u]]\nd = \"\"\"\nd = 9\nx = 1\n\"\"\"\ne = 3\n[[u]]\nd = 4\n[t.s]\nf=5")
	for key, want := range map[string]int{"a.b": 1, "t": 2, "t.c": 3, "u": 4, "u[1].d": 5, "u[1].x": 4, "u[1].e": 9, "u[2].d": 11, "t.s.f": 13, "none": 0, "t.none": 2} {
		if got := x.of(key); got != want {
			t.Errorf("%s: line %d, want %d", key, got, want)
		}
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"wait", "wiat", 2}, {"abc", "abc", 0}} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("%q %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// TestEverybodyIsNoBalancer: it may be meant so, in a closed network.
func TestEverybodyIsNoBalancer(t *testing.T) {
	for networks, warned := range map[string]bool{`"0.0.0.0/0"`: true, `"::/0"`: true, `"10.0.0.0/8"`: false} {
		c, err := load(t, patched("[listen]", "[listen]\nproxy_protocol = ["+networks+"]"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if (len(c.Warnings) == 1 && strings.Contains(c.Warnings[0], "any client can claim any address")) != warned {
			t.Errorf("%s: warnings %q", networks, c.Warnings)
		}
	}
}
