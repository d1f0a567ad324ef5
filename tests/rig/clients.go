package rig

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"causeway/tests/cluster"
)

// Clients is scripts/clients, which installs and runs programs of other languages.
func Clients() string { return filepath.Join(cluster.Root(), "scripts", "clients") }

// InstallClients fetches and builds what is missing of them; its progress goes to
// stderr.
func InstallClients(t testing.TB, names ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), Clients(), append([]string{"install"}, names...)...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v cannot be installed: %v", names, err)
	}
}

// Client is the run of one of them against an address. It is a group of its own, so
// that nothing of it stays behind when ctx ends.
func Client(ctx context.Context, addr, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, Clients(), append([]string{"run", name}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = append(os.Environ(), ClientEnv(addr)...)
	return cmd
}

// ClientEnv says in a client's environment where to connect, and as whom.
func ClientEnv(addr string) []string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		panic("BUG: no address: " + err.Error())
	}
	return []string{"CW_HOST=" + host, "CW_PORT=" + port, "CW_USER=" + cluster.AppUser, "CW_PASSWORD=" + cluster.AppPassword}
}
