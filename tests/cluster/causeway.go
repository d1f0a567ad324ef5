package cluster

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// Causeway is a running Causeway in front of a cluster.
type Causeway struct {
	Addr   string // MySQL protocol
	HTTP   string // /metrics, /healthz, /readyz
	Pid    int
	Config string // its configuration file
	Log    string // its log, JSON lines

	dir  string
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
	err  error         // how it ended; read after done
}

// StartCauseway starts a Causeway in front of the cluster, waits until it is
// ready, and stops it with the test. The configuration has the five lines of
// the README with free ports, and extra (TOML) after them. When the test
// fails, the end of the log is printed.
func StartCauseway(t testing.TB, c *Cluster, extra string) *Causeway {
	t.Helper()
	return StartCausewayAt(t, c.Addrs(), extra)
}

// StartCausewayAt is StartCauseway with other addresses for the nodes: tests
// that put something of their own between Causeway and the nodes.
func StartCausewayAt(t testing.TB, servers []string, extra string) *Causeway {
	t.Helper()
	cw, stop, err := startCauseway(servers, extra)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		tail := cw.LogTail(60)
		if err := stop(); err != nil {
			t.Errorf("causeway: %v", err)
		}
		if t.Failed() {
			t.Logf("the end of causeway's log:\n%s", tail)
		}
	})
	return cw
}

// StartSharedCauseway is StartCauseway for TestMain. The function that it
// returns asks Causeway to end and says if it did not end well.
func StartSharedCauseway(c *Cluster, extra string) (*Causeway, func() error, error) {
	return startCauseway(c.Addrs(), extra)
}

func startCauseway(servers []string, extra string) (*Causeway, func() error, error) {
	binary, err := Build()
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "causeway-run-")
	if err != nil {
		return nil, nil, err
	}
	cw := &Causeway{dir: dir, Config: filepath.Join(dir, "causeway.toml"), Log: filepath.Join(dir, "causeway.log")}
	if cw.Addr, cw.HTTP, err = freeAddrs(); err != nil {
		return nil, nil, err
	}
	if err := os.WriteFile(cw.Config, []byte(withExtra(ConfigText(cw.Addr, cw.HTTP, servers), extra)), 0o600); err != nil {
		return nil, nil, err
	}
	if err := cw.start(binary); err != nil {
		return nil, nil, err
	}
	if err := cw.awaitReady(30 * time.Second); err != nil {
		tail := cw.LogTail(60)
		_ = cw.stop()
		return nil, nil, fmt.Errorf("causeway is not ready: %w\nthe end of its log:\n%s", err, tail)
	}
	return cw, cw.stop, nil
}

// ConfigText is the README's configuration for these addresses. The user comes
// last, so that lines appended before another table belong to it.
func ConfigText(addr, http string, servers []string) string {
	return fmt.Sprintf(`[listen]
mysql = %q
http = %q

[cluster]
servers = ["%s"]

[monitor]
user = %q
password = %q

[[users]]
name = %q
password = %q
`, addr, http, strings.Join(servers, `", "`), MonitorUser, MonitorPassword, AppUser, AppPassword)
}

// withExtra appends extra to a configuration. TOML has each table once, so the
// keys of a [listen], [cluster] or [monitor] table that extra begins with go into the one
// that is there.
func withExtra(config, extra string) string {
	for _, table := range []string{"[listen]\n", "[cluster]\n", "[monitor]\n"} {
		keys, ok := strings.CutPrefix(extra, table)
		if !ok {
			continue
		}
		keys, rest, _ := strings.Cut(keys, "\n[")
		if rest != "" {
			rest = "\n[" + rest
		}
		return strings.Replace(config, table, table+keys+"\n", 1) + rest
	}
	return config + extra
}

func freeAddrs() (a, b string, err error) {
	l1, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	defer l1.Close()
	l2, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	defer l2.Close()
	return l1.Addr().String(), l2.Addr().String(), nil
}

// start starts the process on a thread that lives as long as the process, as
// the kernel kills it when that thread ends: it cannot outlive the tests.
func (cw *Causeway) start(binary string) error {
	log, err := os.Create(cw.Log)
	if err != nil {
		return err
	}
	defer log.Close()
	cw.cmd = exec.Command(binary, "serve", "--config", cw.Config)
	cw.cmd.Stdout, cw.cmd.Stderr = log, log
	cw.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cw.done = make(chan struct{})
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := cw.cmd.Start()
		started <- err
		if err == nil {
			cw.err = cw.cmd.Wait()
			close(cw.done)
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	cw.Pid = cw.cmd.Process.Pid
	return nil
}

func (cw *Causeway) awaitReady(limit time.Duration) error {
	deadline := time.After(limit)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := cw.ready()
		if err == nil {
			return nil
		}
		select {
		case <-cw.done:
			return fmt.Errorf("it ended: %v", cw.err)
		case <-deadline:
			return fmt.Errorf("after %v: %w", limit, err)
		case <-tick.C:
		}
	}
}

func (cw *Causeway) ready() error {
	client := http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + cw.HTTP + "/readyz")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New("/readyz: " + resp.Status)
	}
	return nil
}

// stop ends the process, hard if it does not end within 20 s.
func (cw *Causeway) stop() error {
	defer os.RemoveAll(cw.dir)
	select {
	case <-cw.done:
		return fmt.Errorf("it had ended before the test did: %v", cw.err)
	default:
	}
	_ = cw.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-cw.done:
		return cw.err
	case <-time.After(20 * time.Second):
		_ = cw.cmd.Process.Signal(syscall.SIGQUIT) // its goroutines' stacks go to the log
		<-cw.done
		return fmt.Errorf("it did not end within 20 s of SIGTERM; the end of its log:\n%s", cw.LogTail(200))
	}
}

// LogTail returns the last n lines of the log.
func (cw *Causeway) LogTail(n int) string {
	text, err := os.ReadFile(cw.Log)
	if err != nil {
		return err.Error()
	}
	lines := strings.SplitAfter(string(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n-1):], "")
}

// AppConfig returns a driver configuration for the application's account at
// any address: Causeway's or a node's.
func AppConfig(addr, schema string) *mysql.Config {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr, cfg.DBName = AppUser, AppPassword, "tcp", addr, schema
	cfg.AllowNativePasswords = true
	cfg.Timeout = 10 * time.Second
	return cfg
}

// OpenApp opens a pool of connections for AppConfig; it ends with the test.
func OpenApp(t testing.TB, addr, schema string) *sql.DB {
	t.Helper()
	connector, err := mysql.NewConnector(AppConfig(addr, schema))
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	if err := db.PingContext(context.Background()); err != nil {
		t.Fatalf("connecting to %s: %v", addr, err)
	}
	return db
}
