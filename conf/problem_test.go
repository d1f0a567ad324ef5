package conf

import (
	"errors"
	"strings"
	"testing"
)

// patched is fiveLines with old replaced by new.
func patched(old, new string) string {
	if !strings.Contains(fiveLines, old) {
		panic("fiveLines has no " + old)
	}
	return strings.Replace(fiveLines, old, new, 1)
}

// listening is fiveLines with one more line in [listen].
func listening(line string) string { return patched("[listen]", "[listen]\n"+line) }

func TestProblems(t *testing.T) {
	const user = "[[users]]\nname = \"app\"\npassword = \"app_pw\"\n"
	cases := []struct {
		name, text string
		want       []string // pieces of the one line of the error
	}{
		// unknown keys
		{"near key", fiveLines + "\n[routing]\npolcy = \"weighted\"", []string{"line 18: routing.polcy: is no option", `"routing.policy"`}},
		{"key of another table", fiveLines + "\n[routing]\nqps = 3", []string{"routing.qps: is no option", `"fallback.qps"`}},
		{"key at the top", "max_wait = \"1s\"\n" + fiveLines, []string{"line 1: max_wait: is no option", `"routing.max_wait"`}},
		{"near table", fiveLines + "\n[limit]\nlogin_timeout = \"1s\"", []string{"line 17: limit: is no option", `"limits"`}},
		{"key of a class", fiveLines + "\n[routing]\nmonotonic = true", []string{"routing.monotonic: is no option", "[[class]] monotonic"}},
		{"no store", fiveLines + "\n[token]\nstore_down = \"refuse\"", []string{"token.store_down: is \"refuse\"", "token.store.redis"}},
		{"store without a place", fiveLines + "\n[token.store]\ncluster = true", []string{"token.store.redis: is missing"}},
		{"far key", fiveLines + "\n[routing]\nzzzzzzzz = 1", []string{"routing.zzzzzzzz: is no option", "docs/configuration.md"}},
		{"near key of a user", fiveLines + "max_conections = 3", []string{"users[1].max_conections", `"max_connections"`}},
		{"far key of a user", fiveLines + "zzzzzzzz = 3", []string{"users[1].zzzzzzzz", "a user has name, password"}},
		{"upper case", patched("mysql =", "MySQL ="), []string{"listen.MySQL: is no option", `"listen.mysql"`}},

		// wrong types
		{"table as string", "tls = \"yes\"\n" + fiveLines, []string{"tls: this string is no table", "[tls]"}},
		{"users as table", patched("[[users]]", "[users]"), []string{"users: this table is no array of tables", "[[users]]"}},
		{"users as list of strings", "users = [\"app\"]\n" + patched(user, ""), []string{"users: this array is no array of tables"}},
		{"address as number", patched(`"127.0.0.1:6033"`, "6033"), []string{"line 3: listen.mysql: 6033 is no address", "host:port"}},
		{"servers as string", patched(`["127.0.0.1:3311", "127.0.0.1:3312", "127.0.0.1:3313"]`, `"127.0.0.1:3311"`), []string{"cluster.servers", "is no list"}},
		{"server as number", patched(`"127.0.0.1:3312"`, "3312"), []string{"cluster.servers: 3312 in the list is no string"}},
		{"duration as number", fiveLines + "[routing]\nwait = 10", []string{"routing.wait: 10 has no unit", `"10ms"`}},
		{"size as number", fiveLines + "[limits]\nmax_allowed_packet = 67108864", []string{"limits.max_allowed_packet: 67108864 has no unit", `"64MB"`}},
		{"boolean as string", fiveLines + "[tls]\nrequired = \"yes\"", []string{`tls.required: "yes" is no boolean`, "true or false"}},
		{"number as string", fiveLines + "[fallback]\nqps = \"many\"", []string{`fallback.qps: "many" is not possible`}},
		{"integer as float", fiveLines + "[limits]\ntoken_intervals = 1.5", []string{"limits.token_intervals: 1.5 is not possible"}},
		{"weights as list", fiveLines + "[cluster.weights]\n\"127.0.0.1:3311\" = \"2\"", []string{`the weight "2" of "127.0.0.1:3311"`}},
		{"date", fiveLines + "[log]\nlevel = 2026-01-01", []string{"log.level: this date-time is not known"}},

		// the store
		{"store without a name", fiveLines + "[token.store]\nredis = \"r:1\"", []string{"token.store.name: is missing"}},
		{"store without this one", fiveLines + "[token.store]\nredis = \"r:1\"\nname = \"a\"\nproxies = [\"b\"]", []string{"token.store.proxies", `"a"`}},
		{"store of two", fiveLines + "[token.store]\nredis = \"r:1, q:1\"\nname = \"a\"\nproxies = [\"a\"]", []string{"token.store.redis: has several addresses"}},
		{"store of both kinds", fiveLines + "[token.store]\nredis = \"r:1\"\nsentinel = \"m\"\ncluster = true\nname = \"a\"\nproxies = [\"a\"]", []string{"token.store.cluster: is true beside"}},
		{"store with a long lease", fiveLines + "[routing]\nmax_wait = \"1s\"\n[token.store]\nredis = \"r:1\"\nlease = \"600ms\"\nname = \"a\"\nproxies = [\"a\"]", []string{"token.store.lease", "max_wait"}},
		{"store with a long timeout", fiveLines + "[token.store]\nredis = \"r:1\"\ntimeout = \"300ms\"\nname = \"a\"\nproxies = [\"a\"]", []string{"token.store.timeout"}},
		{"store nowhere", fiveLines + "[token.store]\nname = \"a\"", []string{"token.store.redis: is missing"}},

		// impossible values
		{"no port", patched("127.0.0.1:6033", "127.0.0.1"), []string{"listen.mysql", "is no host:port"}},
		{"port too large", patched("127.0.0.1:6033", "127.0.0.1:66033"), []string{"has no port from 1 to 65535"}},
		{"server without host", patched("127.0.0.1:3312", ":3312"), []string{`":3312" names no host`}},
		{"server with port 0", patched("127.0.0.1:3312", "db:0"), []string{`"db:0" has no port`}},
		{"server as URL", patched("127.0.0.1:3312", "mysql://db:3306"), []string{`"mysql://db:3306"`}},
		{"server twice", patched("127.0.0.1:3312", "127.0.0.1:3311"), []string{"named twice"}},
		{"server is Causeway", patched("127.0.0.1:3312", "127.0.0.1:6033"), []string{"Causeway's own listen.mysql"}},
		{"http is mysql", patched("127.0.0.1:6080", "127.0.0.1:6033"), []string{"listen.http: is the address of listen.mysql"}},
		{"no servers", patched(`["127.0.0.1:3311", "127.0.0.1:3312", "127.0.0.1:3313"]`, "[]"), []string{"cluster.servers: no server is named"}},
		{"weight of a stranger", fiveLines + "[cluster.weights]\n\"127.0.0.1:1\" = 2", []string{"cluster.weights", "none of cluster.servers"}},
		{"zone of a stranger", fiveLines + "[cluster.zones]\n\"127.0.0.1:1\" = \"a\"", []string{"cluster.zones", "none of cluster.servers"}},
		{"zone without a name", fiveLines + "[cluster.zones]\n\"127.0.0.1:3311\" = \"\"", []string{`the zone "" of "127.0.0.1:3311"`}},
		{"zones as tables", fiveLines + "[cluster.zones.x]\ny = 1", []string{"of \"x\" is no name", "zones = {"}},
		{"looser limit for other zones", fiveLines + "[[class]]\nname = \"F1\"\nzone_lag_limit = \"3s\"", []string{"class[1].zone_lag_limit", `"3s" is more than`, `"2s"`}},
		{"weight below 0", fiveLines + "[cluster.weights]\n\"127.0.0.1:3311\" = -1", []string{"the weight -1 of"}},
		{"duration below 0", fiveLines + "[routing]\nwait = \"-1s\"", []string{"out of range"}},
		{"duration without a unit", fiveLines + "[routing]\nwait = \"10\"", []string{`"10" is no time with a unit`}},
		{"watch too long", fiveLines + "[monitor2]", []string{`monitor2: is no option; did you mean "monitor"`}},
		{"size too small", fiveLines + "[limits]\nmax_allowed_packet = \"1KB\"", []string{`"1KB" is out of range`, `"1MB"`, `"1GB"`}},
		{"size too large", fiveLines + "[limits]\nmax_allowed_packet = \"2GB\"", []string{"out of range"}},
		{"size without a unit", fiveLines + "[limits]\nmax_allowed_packet = \"64\"", []string{"is no size with a unit"}},
		{"qps below 0", fiveLines + "[fallback]\nqps = -1", []string{"fallback.qps: -1"}},
		{"qps not a number", fiveLines + "[fallback]\nqps = nan", []string{"fallback.qps: NaN"}},
		{"unknown compression", listening(`compression = ["lz4"]`), []string{"listen.compression", `"lz4" is not known`, `"zlib", "zstd"`}},
		{"compression twice", listening(`compression = ["zlib", "zlib"]`), []string{`"zlib" is named twice`}},
		{"compression no list", listening(`compression = "zlib"`), []string{`"zlib" is no list`}},
		{"no networks", listening(`proxy_protocol = ["localhost", "10.0.0.0/33", "10.0.0.1", "::ffff:10.0.0.0/104"]`),
			[]string{"listen.proxy_protocol", `"localhost" is no`, `"10.0.0.0/33" is no`, `"::ffff:10.0.0.0/104" is no`}},
		{"no burst", fiveLines + "[fallback]\nburst = 0", []string{"fallback.burst", "lets no read through"}},
		{"unknown policy", fiveLines + "[routing]\npolicy = \"random\"", []string{`"random" is not known`, `"round_robin", "weighted", "least_in_flight", "latency"`}},
		{"max_wait below wait", fiveLines + "[routing]\nwait = \"2s\"", []string{"routing.max_wait", "shorter than routing.wait"}},
		{"more idle than open", patched("[[users]]", "[pool]\nmin_idle = 5\nmax_connections = 3\n[[users]]"), []string{"pool.min_idle", "more than pool.max_connections"}},
		{"position slower than probe", patched("[[users]]", "position_interval = \"1s\"\n[[users]]"), []string{"monitor.position_interval", "longer than monitor.interval"}},
		{"window shorter than two probes", patched("[[users]]", "lag_window = \"1s\"\ninterval = \"600ms\"\n[[users]]"), []string{"monitor.lag_window", "less than two looks"}},
		{"probe shorter than watch", patched("[[users]]", "timeout = \"60ms\"\n[[users]]"), []string{"monitor.watch_timeout", "not shorter than monitor.timeout"}},
		{"certificate without key", fiveLines + "[tls]\ncert = \"c.pem\"", []string{"tls.key: is missing"}},
		{"key without certificate", fiveLines + "[tls]\nkey = \"k.pem\"", []string{"tls.cert: is missing"}},
		{"no such certificate", fiveLines + "[tls]\ncert = \"c.pem\"\nkey = \"k.pem\"", []string{"tls.cert: cannot be used", "no such file"}},
		{"no such authority", fiveLines + "[backend]\ntls = \"verify\"\nca = \"c.pem\"", []string{"backend.ca: cannot be read"}},
		{"name without verify", fiveLines + "[backend]\nserver_name = \"db\"", []string{"backend.server_name", `no effect with backend.tls = "preferred"`}},

		// missing or doubled things
		{"no monitor user", patched(`user = "monitor"`, ""), []string{"monitor.user: is missing"}},
		{"empty monitor user", patched(`user = "monitor"`, `user = ""`), []string{"monitor.user: is empty"}},
		{"no monitor password", patched(`password = "monitor_pw"`, ""), []string{"monitor.password: is missing"}},
		{"no users", patched(user, ""), []string{"users: is missing", "[[users]]"}},
		{"empty list of users", "users = []\n" + patched(user, ""), []string{"users: is missing"}},
		{"user without a name", patched("name = \"app\"\n", ""), []string{"users[1].name: is missing"}},
		{"user twice", fiveLines + user, []string{"users[2].name", "name of users[1] too"}},
		{"user without a password", patched("password = \"app_pw\"\n", ""), []string{"users[1].password: is missing"}},
		{"two passwords", fiveLines + "password_env = \"APP\"", []string{"users[1].password_env: is one password too many beside users[1].password"}},
		{"empty password_env", patched(`password = "app_pw"`, `password_env = ""`), []string{"users[1].password_env: is empty"}},
		{"unset password_env", patched(`password = "app_pw"`, `password_env = "NOBODY"`), []string{"users[1].password_env", "not set"}},
		{"no password file", patched(`password = "app_pw"`, `password_file = "nofile"`), []string{"users[1].password_file: cannot be read: no such file"}},
		{"folder as password file", patched(`password = "app_pw"`, `password_file = "."`), []string{"users[1].password_file: cannot be read"}},
		{"device as password file", patched(`password = "app_pw"`, `password_file = "/dev/zero"`), []string{"users[1].password_file: the file is longer"}},
		{"user above the limit", fiveLines + "max_connections = 20000", []string{"users[1].max_connections", "above limits.max_connections"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := load(t, c.text, nil)
			var all *Problems
			if !errors.As(err, &all) {
				t.Fatalf("error %v", err)
			}
			if len(all.List) != 1 {
				t.Errorf("%d problems, want 1:\n%v", len(all.List), err)
			}
			for _, piece := range c.want {
				if !strings.Contains(err.Error(), piece) {
					t.Errorf("no %q in %v", piece, err)
				}
			}
		})
	}
}

// TestAllAtOnce has a mistake of every sort: each is told, in file order.
func TestAllAtOnce(t *testing.T) {
	_, err := load(t, `
[listen]
mysql = 6033
htp = "127.0.0.1:6080"

[cluster]
servers = [1]

[monitor]
password = false
interval = 5

[[users]]
name = "a"
password = "x"
[[users]]
name = "a"

[routing]
policy = "best"
`, nil)
	var all *Problems
	if !errors.As(err, &all) {
		t.Fatal(err)
	}
	want := []struct {
		line int
		key  string
	}{
		{3, "listen.mysql"}, {4, "listen.htp"}, {7, "cluster.servers"}, {9, "monitor.user"}, {10, "monitor.password"},
		{11, "monitor.interval"}, {16, "users[2].password"}, {17, "users[2].name"}, {20, "routing.policy"},
	}
	for i, w := range want {
		if i >= len(all.List) || all.List[i].Line != w.line || all.List[i].Key != w.key {
			t.Fatalf("problem %d: want line %d: %s\n%v", i+1, w.line, w.key, err)
		}
	}
	if len(all.List) != len(want) {
		t.Errorf("%d problems, want %d:\n%v", len(all.List), len(want), err)
	}
	for i, line := range strings.Split(err.Error(), "\n") {
		if !strings.HasPrefix(line, all.Path+": line ") {
			t.Errorf("line %d of the error: %q", i+1, line)
		}
	}
}

func TestSyntaxError(t *testing.T) {
	_, err := load(t, "[listen]\nmysql = 127.0.0.1:6033\n", nil)
	if err == nil || !strings.Contains(err.Error(), "line 2: broken TOML") {
		t.Errorf("error %v", err)
	}
}

func TestNoFile(t *testing.T) {
	_, err := Load(t.TempDir()+"/none.toml", nil)
	if err == nil || !strings.Contains(err.Error(), "none.toml") {
		t.Errorf("error %v", err)
	}
}

// TestNoSecretInErrors writes a password in every wrong way that was thought of.
func TestNoSecretInErrors(t *testing.T) {
	const pw = "hunter2secret"
	for _, line := range []string{
		`password = hunter2secret`, `password = "hunter2secret`, `password = 'hunter2secret"`, `password = ["hunter2secret"]`,
		`password = { a = "hunter2secret" }`, `pasword = "hunter2secret"`, `password = "hunter2secret" x`, `password = "\hunter2secret"`,
		`password_env = "hunter2secret"`, `password_file = "hunter2secret"`, `password = """hunter2secret`, "password = \"\"\"\nhunter2secret\n\"",
		"password =\nhunter2secret", `password : hunter2secret`, `password hunter2secret`,
	} {
		_, err := load(t, patched(`password = "app_pw"`, line), nil)
		if err == nil {
			t.Errorf("%s: no error", line)
		} else if strings.Contains(err.Error(), pw) {
			t.Errorf("%s: shown in %v", line, err)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(fiveLines)
	f.Add("[[users]]\n[users.x]\na.b.c = 1")
	f.Add("users = [[{}]]")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := parse("c.toml", []byte(text), func(string) string { return "" }); (c == nil) == (err == nil) {
			t.Fatalf("config %v, error %v", c, err)
		}
	})
}
