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
[routing]
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
	o, err := serverOptions(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	qps, burst := o.Budget.Rate()
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"policy", o.Policy.String(), "latency"}, {"wait", o.Wait, 9 * time.Millisecond}, {"max_wait", o.MaxWait, 11 * time.Second},
		{"max_staleness", o.MaxStaleness, 12 * time.Second}, {"unsafe_skip_token_check", o.SkipTokenCheck, true},
		{"qps", qps, 13.0}, {"burst", burst, 14.0}, {"budget text", o.BudgetText, "qps=13, burst=14"},
		{"max_connections", o.MaxConnections, 15}, {"max_allowed_packet", o.MaxAllowedPacket, 16 << 20},
		{"token_intervals", o.TokenIntervals, 17}, {"login_timeout", o.LoginTimeout, 18 * time.Second},
		{"drain_timeout", o.DrainTimeout, 19 * time.Second}, {"tls.required", o.TLSRequired, true},
		{"backend.tls", o.Backend.TLSMode, "required"}, {"connect_timeout", o.Backend.ConnectTimeout, 7 * time.Second},
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
