package wirefeat

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"causeway/tests/cluster"
)

var shared *cluster.Cluster

func TestMain(m *testing.M) { cluster.Main(m, cluster.Options{Replicas: 1}, cluster.Keep(&shared)) }

// script runs one of the repository's scripts, which prints a folder.
func script(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command(filepath.Join(cluster.Root(), "scripts", name)).Output()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return strings.TrimSpace(string(out))
}

// program is how one of MySQL's programs is started against addr as app.
func program(t *testing.T, name, addr string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	host, port, _ := net.SplitHostPort(addr)
	args = append([]string{"--no-defaults", "--protocol=tcp", "--host=" + host, "--port=" + port, "--user=" + cluster.AppUser}, args...)
	cmd := exec.CommandContext(ctx, filepath.Join(script(t, "get-mysql"), name), args...)
	cmd.Env = append(os.Environ(), "MYSQL_PWD="+cluster.AppPassword)
	return cmd
}

// meter passes connections on to an address and counts their bytes.
type meter struct {
	addr     string
	up, down atomic.Int64 // from and to clients
}

func startMeter(t *testing.T, to string) *meter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &meter{addr: l.Addr().String()}
	var wg sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { m.pass(client, to) })
		}
	})
	return m
}

func (m *meter) pass(client net.Conn, to string) {
	defer client.Close()
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	var wg sync.WaitGroup
	wg.Go(func() { copyCounted(server, client, &m.up) })
	wg.Go(func() { copyCounted(client, server, &m.down) })
	wg.Wait()
}

// copyCounted ends both when one ends.
func copyCounted(dst, src net.Conn, n *atomic.Int64) {
	buf := make([]byte, 64<<10)
	for {
		k, err := src.Read(buf)
		n.Add(int64(k))
		if k > 0 {
			if _, werr := dst.Write(buf[:k]); werr != nil {
				err = werr
			}
		}
		if err != nil {
			if err != io.EOF {
				src.Close()
			}
			dst.Close()
			return
		}
	}
}
