package wirefeat

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"causeway/tests/cluster"
)

// faraway is where the clients of these tests connect from; HAProxy connects
// from 127.0.0.1, and only that is trusted.
const faraway = "127.0.0.77"

// TestHAProxy: with either version of the protocol the client's address is the
// one that HAProxy saw, in TLS too. Its health checks disturb nobody.
func TestHAProxy(t *testing.T) {
	cw := cluster.StartCauseway(t, shared, "[listen]\nproxy_protocol = [\"10.0.0.0/8\", \"127.0.0.1\"]\n[log]\nlevel = \"debug\"\n")
	for _, send := range []string{"send-proxy", "send-proxy-v2", "send-proxy-v2 proxy-v2-options crc32c,unique-id"} {
		t.Run(send, func(t *testing.T) {
			addr := startHAProxy(t, cw.Addr, send)
			for _, inTLS := range []string{"false", "skip-verify"} {
				db := openFrom(t, faraway, addr, cluster.AppPassword, inTLS)
				var one int
				if err := db.QueryRowContext(t.Context(), "SELECT 1").Scan(&one); err != nil {
					t.Fatalf("TLS %s: %v", inTLS, err)
				}
				err := openFrom(t, faraway, addr, "wrong", inTLS).PingContext(t.Context())
				if err == nil || !strings.Contains(err.Error(), "Access denied for user 'app'@'"+faraway+"'") {
					t.Errorf("TLS %s: %v", inTLS, err)
				}
			}
		})
	}
	log, err := os.ReadFile(cw.Log)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(log), "PROXY protocol header") {
		t.Errorf("something was refused:\n%s", cw.LogTail(30))
	}
	if !strings.Contains(string(log), `"host":"`+faraway+`"`) {
		t.Errorf("no client of %s in the log:\n%s", faraway, cw.LogTail(30))
	}
}

// TestWithoutHeader: who is not trusted connects as ever and may not send one;
// who is trusted must.
func TestWithoutHeader(t *testing.T) {
	cw := cluster.StartCauseway(t, shared, "[listen]\nproxy_protocol = [\"127.0.0.1\"]\n[limits]\nlogin_timeout = \"500ms\"\n")
	if err := openFrom(t, faraway, cw.Addr, cluster.AppPassword, "false").PingContext(t.Context()); err != nil {
		t.Errorf("a stranger without a header: %v", err)
	}
	var e *mysql.MySQLError
	err := openFrom(t, "127.0.0.1", cw.Addr, cluster.AppPassword, "false").PingContext(t.Context())
	if !errors.As(err, &e) || e.Number != 1043 || !strings.Contains(e.Message, "expects a PROXY protocol header") {
		t.Errorf("a balancer without a header: %v", err)
	}
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(cw.LogTail(30), "a client was refused for its PROXY protocol header"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in the log:\n%s", cw.LogTail(30))
		}
	}
	out, err := program(t, "mysql", cw.Addr, "--bind-address=127.0.0.1", "--execute=SELECT 1").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "expects a PROXY protocol header") {
		t.Errorf("MySQL's client: %s", out)
	}
	untrusting := cluster.StartCauseway(t, shared, "")
	err = openFrom(t, faraway, startHAProxy(t, untrusting.Addr, "send-proxy"), cluster.AppPassword, "false").PingContext(t.Context())
	if err == nil {
		t.Error("a header from a stranger was taken")
	}
}

// openFrom connects from an address of this machine.
func openFrom(t *testing.T, from, addr, password, inTLS string) *sql.DB {
	t.Helper()
	network := "from" + strings.ReplaceAll(from, ".", "_")
	mysql.RegisterDialContext(network, func(ctx context.Context, addr string) (net.Conn, error) {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		return d.DialContext(ctx, "tcp", addr)
	})
	db, err := sql.Open("mysql", fmt.Sprintf("%s:%s@%s(%s)/?tls=%s&timeout=10s&readTimeout=10s", cluster.AppUser, password, network, addr, inTLS))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

const haproxyConfig = `defaults
    mode tcp
    timeout connect 5s
    timeout client 60s
    timeout server 60s
frontend f
    bind %s
    unique-id-format %%{+X}o\ %%ci:%%cp_%%fi:%%fp_%%Ts_%%rt:%%pid
    default_backend b
backend b
    server s %s %s check inter 100ms
`

// startHAProxy runs HAProxy in front of an address; it is ready when it is back.
func startHAProxy(t *testing.T, to, send string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	path := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(path, fmt.Appendf(nil, haproxyConfig, addr, to, send), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, filepath.Join(script(t, "install-tools"), "haproxy"), "-db", "-f", path)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		cmd.Wait() // killed
		if t.Failed() {
			t.Logf("HAProxy says: %s", out.String())
		}
	})
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		nc, err := net.Dial("tcp", addr)
		if err == nil {
			nc.Close()
			return addr
		}
		if time.Now().After(deadline) {
			t.Fatalf("HAProxy does not listen: %v", err)
		}
	}
}
