package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"causeway/conf"
	"causeway/server"
	"causeway/token"
)

// deadServers is a configuration of servers that nobody listens for.
func deadServers(t *testing.T, extra string) *conf.Config {
	t.Helper()
	cfg, err := conf.Load(configFile(t, goodConfig+extra), func(string) string { return "app_pw" })
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// logBuffer collects log lines from many goroutines.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// running starts a proxy in front of dead servers and returns it once it
// accepts clients.
func running(t *testing.T, log io.Writer) (p *proxy, stop func() error) {
	t.Helper()
	cfg := deadServers(t, "")
	p, err := assemble(cfg, zerolog.New(log))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.listen(cfg.Listen); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.run(ctx, reloader{}) }()
	t.Cleanup(cancel)
	deadline := time.Now().Add(30 * time.Second)
	for !p.listening.Load() {
		if time.Now().After(deadline) {
			t.Fatal("does not accept clients")
		}
		time.Sleep(time.Millisecond)
	}
	return p, func() error { cancel(); return <-done }
}

func TestServeWithoutServers(t *testing.T) {
	var log logBuffer
	p, stop := running(t, &log)
	resp, err := http.Get("http://" + p.httpPort.Addr().String() + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(body), "neither a source nor a usable replica") {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	if resp, err = http.Get("http://" + p.httpPort.Addr().String() + "/metrics"); err != nil {
		t.Fatal(err)
	}
	body, _ = io.ReadAll(resp.Body)
	resp.Body.Close()
	for _, name := range []string{"causeway_build_info{", "go_goroutines", "process_open_fds"} {
		if !strings.Contains(string(body), name) {
			t.Errorf("no %s in the metrics", name)
		}
	}
	nc, err := net.Dial("tcp", p.mysqlPort.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(nc)
	nc.Close()
	if len(answer) < 5 || answer[4] != 0xff {
		t.Errorf("a MySQL client got %q, want an ERR packet", answer)
	}
	if err := stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	for _, piece := range []string{"accepting clients", "draining", "stopped"} {
		if !strings.Contains(log.String(), piece) {
			t.Errorf("no %q in the log:\n%s", piece, log.String())
		}
	}
	if strings.Contains(log.String(), "monitor_pw") || strings.Contains(log.String(), "app_pw") {
		t.Errorf("the log shows a password:\n%s", log.String())
	}
}

func TestLogLinesAreJSON(t *testing.T) {
	var log logBuffer
	_, stop := running(t, &log)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(log.String()), "\n") {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %s", line)
		}
	}
}

func TestTakenPort(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	for _, c := range []struct {
		key    string
		listen conf.Listen
	}{
		{"listen.mysql", conf.Listen{MySQL: ln.Addr().String()}},
		{"listen.http", conf.Listen{MySQL: "127.0.0.1:0", HTTP: ln.Addr().String()}},
	} {
		cfg := deadServers(t, "")
		cfg.Listen = c.listen
		err := serve(context.Background(), cfg, zerolog.Nop(), reloader{})
		if err == nil || !strings.Contains(err.Error(), c.key) {
			t.Errorf("error %v, want %s", err, c.key)
		}
	}
}

// TestStopBeforeTheFirstLook ends a start at once.
func TestStopBeforeTheFirstLook(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := serve(ctx, deadServers(t, ""), zerolog.Nop(), reloader{}); err != nil {
		t.Errorf("serve: %v", err)
	}
}

// TestOptionsReachTheParts changes each option and looks for it where it is
// used; an option that is read and then dropped would be a lie.
func TestOptionsReachTheParts(t *testing.T) {
	cfg := deadServers(t, `
[[class]]
name = "F1"
priority = 5
on_lag = ["stale"]
on_lag_empty = ["stale"]
budget_share = 0.5
lag_limit = "21s"
promote_on_token = false
timeout = "22s"
max_staleness = "23s"
[[rule]]
name = "r"
digest = "d"
regex = "x"
table = "t"
user = "app"
schema = "s"
client = "10.0.0.0/8"
class = "F2"
max_class = "F1"
timeout = "24s"
comment = "c"
[[rule]]
name = "source"
schema = "s"
target = "source"
[[rule]]
name = "deny"
schema = "s"
deny = true
[routing]
default_class = "F2"
policy = "latency"
wait = "9ms"
max_wait = "11s"
max_staleness = "12s"
unsafe_skip_token_check = true
[fallback]
qps = 13
burst = 14
[limits]
max_connections = 15
max_allowed_packet = "16MB"
token_intervals = 17
login_timeout = "18s"
drain_timeout = "19s"
[tls]
required = true
[backend]
tls = "required"
connect_timeout = "7s"
`)
	cfg.Listen.Class = "F1"
	o, err := serverOptions(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	qps, burst := o.Budget.Rate()
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"policy", o.Policy.String(), "latency"}, {"wait", o.Classes[0].OnLag[0].String(), "wait:9ms"}, {"max_wait", o.MaxWait, 11 * time.Second},
		{"max_staleness", o.Classes[0].MaxStaleness, 12 * time.Second}, {"unsafe_skip_token_check", o.SkipTokenCheck, true},
		{"qps", qps, 13.0}, {"burst", burst, 14.0}, {"budget text", o.BudgetText, "qps=13, burst=14"},
		{"max_connections", o.MaxConnections, 15}, {"max_allowed_packet", o.MaxAllowedPacket, 16 << 20},
		{"token_intervals", o.TokenIntervals, 17}, {"login_timeout", o.LoginTimeout, 18 * time.Second},
		{"drain_timeout", o.DrainTimeout, 19 * time.Second}, {"tls.required", o.TLSRequired, true},
		{"backend.tls", o.Backend.TLSMode, "required"}, {"connect_timeout", o.Backend.ConnectTimeout, 7 * time.Second},
		{"F1", o.Classes[1].Name + " " + o.Classes[1].Consistency.String(), "F1 bounded"}, {"index", o.Classes[1].Index, 1}, {"priority", o.Classes[1].Priority, 5},
		{"on_lag", len(o.Classes[1].OnLag), 1}, {"on_lag stale", o.Classes[1].OnLag[0].Kind, server.StepStale}, {"on_lag_empty", len(o.Classes[1].OnLagEmpty), 1},
		{"budget_share", o.Classes[1].BudgetShare, 0.5}, {"share of empty tokens", o.Classes[0].EmptyShare, 0.5}, {"lag_limit", o.Classes[1].LagLimit, 21 * time.Second},
		{"promote_on_token", o.Classes[1].PromoteOnToken, false}, {"class timeout", o.Classes[1].Timeout, 22 * time.Second},
		{"class staleness", o.Classes[1].MaxStaleness, 23 * time.Second},
		{"default_class", o.DefaultClass, "F2"}, {"listen.class", o.ListenClass, "F1"},
		{"rule", o.Rules[0].Name + o.Rules[0].Digest + o.Rules[0].Table + o.Rules[0].User + o.Rules[0].Schema + o.Rules[0].Comment, "rdtappsc"},
		{"rule regex", o.Rules[0].Regex.String(), "(?i)x"}, {"rule client", o.Rules[0].Client.String(), "10.0.0.0/8"}, {"rule classes", o.Rules[0].Class + o.Rules[0].MaxClass, "F2F1"},
		{"rule timeout", o.Rules[0].Timeout, 24 * time.Second}, {"rule target", o.Rules[1].ToSource, true}, {"rule deny", o.Rules[2].Deny, true},
		{"user", o.Users[0].Name, "app"}, {"password", o.Users[0].Password, "app_pw"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	cfg.Cluster.AllowFiltered = true
	m := monitorOptions(cfg, nil, true)
	if m.User != "monitor" || m.Password != "monitor_pw" || !m.AllowFiltered || !m.TLSOptional || m.Weights["127.0.0.1:2"] != 3 ||
		m.Interval != 500*time.Millisecond || m.PositionInterval != 100*time.Millisecond || m.Timeout != time.Second || m.WatchTimeout != 100*time.Millisecond {
		t.Errorf("monitor: %+v", m)
	}
}

// What conf takes for a secret token takes too, and no less.
func TestSecretLengths(t *testing.T) {
	for n, want := range map[int]bool{token.MinSecret - 1: false, token.MinSecret: true} {
		text := goodConfig + "[token]\nsecret = \"" + strings.Repeat("x", n) + "\"\n"
		cfg, err := conf.Load(configFile(t, text), func(string) string { return "app_pw" })
		if (err == nil) != want {
			t.Errorf("%d bytes: conf says %v", n, err)
		}
		if _, err := token.New([]string{strings.Repeat("x", n)}); (err == nil) != want {
			t.Errorf("%d bytes: token says %v", n, err)
		}
		if cfg == nil {
			continue
		}
		opts, err := serverOptions(cfg, nil)
		if err != nil || !opts.Tokens.Signs() {
			t.Errorf("the secret does not reach the server: %v", err)
		}
	}
}
