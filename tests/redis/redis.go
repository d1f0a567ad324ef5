package redis

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"causeway/tests/check"
	"causeway/tests/rig"
)

// Server is a redis-server, or a Sentinel, that tests kill and freeze.
type Server struct {
	t    testing.TB
	Addr string // host:port
	args []string
	cmd  *exec.Cmd
}

// tools is the folder with Redis.
func tools(t testing.TB) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	dir, err := rig.Output(ctx, "scripts/install-tools", "--redis")
	check.Must(t, err)
	return strings.TrimSpace(dir)
}

// FreePort is a port that nobody listens on.
func FreePort(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	check.Must(t, err)
	defer ln.Close()
	_, port, err := net.SplitHostPort(ln.Addr().String())
	check.Must(t, err)
	return port
}

// Start starts a server that writes nothing to disk: restarted it is empty.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	port := FreePort(t)
	s := &Server{t: t, Addr: "127.0.0.1:" + port}
	s.args = append([]string{filepath.Join(tools(t), "redis-server"), "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
		"--dir", t.TempDir(), "--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0"}, args...)
	s.Restart()
	t.Cleanup(s.Kill)
	return s
}

// StartSentinel watches a server alone: its own word is enough for a failover.
func StartSentinel(t testing.TB, of *Server) *Server {
	t.Helper()
	port := FreePort(t)
	host, masterPort, _ := net.SplitHostPort(of.Addr)
	file := filepath.Join(t.TempDir(), "sentinel.conf")
	check.Must(t, os.WriteFile(file, fmt.Appendf(nil, `port %s
bind 127.0.0.1
sentinel monitor keys %s %s 1
sentinel down-after-milliseconds keys 500
sentinel failover-timeout keys 3000
`, port, host, masterPort), 0o600))
	s := &Server{t: t, Addr: "127.0.0.1:" + port, args: []string{filepath.Join(tools(t), "redis-sentinel"), file, "--sentinel"}}
	s.Restart()
	t.Cleanup(s.Kill)
	return s
}

// Restart starts a server that was killed.
func (s *Server) Restart() {
	s.t.Helper()
	s.cmd = exec.Command(s.args[0], s.args[1:]...)
	check.Must(s.t, s.cmd.Start())
	check.Until(s.t, "redis answers", func() bool {
		nc, err := net.DialTimeout("tcp", s.Addr, time.Second)
		if err == nil {
			nc.Close()
		}
		return err == nil
	})
}

// Kill ends the server at once; it may be frozen.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // killed, as asked
	s.cmd = nil
}

// Freeze stops the process where it is, Thaw lets it go on.
func (s *Server) Freeze() { check.Must(s.t, s.cmd.Process.Signal(syscall.SIGSTOP)) }

// Thaw ends Freeze.
func (s *Server) Thaw() { check.Must(s.t, s.cmd.Process.Signal(syscall.SIGCONT)) }

// Info is one value of INFO.
func (s *Server) Info(name string) string {
	c := goredis.NewClient(&goredis.Options{Addr: s.Addr, DialTimeout: time.Second, ReadTimeout: time.Second, MaxRetries: -1})
	defer c.Close()
	text, err := c.Info(context.Background()).Result()
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(text, name+":")
	value, _, _ := strings.Cut(rest, "\r\n")
	return value
}

// ClusterOK tells whether a node serves all slots.
func ClusterOK(c *goredis.Client) bool {
	text, err := c.ClusterInfo(context.Background()).Result()
	return err == nil && strings.Contains(text, "cluster_state:ok")
}
