package docker

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"causeway/tests/cluster"
)

// server is one MySQL service of compose.yaml, run as its image would: a first
// start for the SQL of the init folder, by the socket only, then the real one.
type server struct {
	bin, dir string
	port     int
	options  []string
	cmd      *exec.Cmd
}

// The real thing needs an engine; the options, the SQL and their order are the
// files' own.
func TestServersBecomeACluster(t *testing.T) {
	bin := programs(t)
	services := load(t).Services
	source := newServer(t, bin, services["source"])
	source.setUp(t, read(t, "init/source.sql"))
	source.start(t)
	replicaSQL := strings.NewReplacer("'source'", "'127.0.0.1'", "SOURCE_PORT = 3306", fmt.Sprint("SOURCE_PORT = ", source.port)).
		Replace(read(t, "init/replica.sql"))
	replica := newServer(t, bin, services["replica1"])
	replica.setUp(t, replicaSQL)
	replica.start(t)

	from, to := source.open(t, "root", ""), replica.open(t, "root", "")
	exec1(t, from, "CREATE TABLE app.t (a INT PRIMARY KEY)")
	set := query1(t, from, "SELECT @@global.gtid_executed")
	if late := query1(t, to, "SELECT WAIT_FOR_EXECUTED_GTID_SET('"+set+"', 60)"); late != "0" {
		t.Fatalf("the replica does not get what the source writes: %s", replica.log(t))
	}
	if got := query1(t, to, "SELECT @@global.gtid_executed"); got != set {
		t.Errorf("the replica has transactions of its own: %s, the source has %s", got, set)
	}
	if got := query1(t, to, "SELECT @@super_read_only"); got != "1" {
		t.Error("the replica can be written to")
	}
	for user, password := range map[string]string{"app": "app_pw", "monitor": "monitor_pw"} {
		query1(t, replica.open(t, user, password), "SELECT 1")
	}
}

func programs(t *testing.T) string {
	t.Helper()
	out, err := exec.Command(filepath.Join(cluster.Root(), "scripts", "get-mysql")).Output()
	if err != nil {
		t.Fatalf("scripts/get-mysql: %v", err)
	}
	return strings.TrimSpace(string(out))
}

func newServer(t *testing.T, bin string, s service) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	v := &server{bin: bin, dir: t.TempDir(), port: port}
	// An empty file of defaults: with --no-defaults mysqld forgets what SET PERSIST wrote.
	if err := os.WriteFile(v.dir+"/my.cnf", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	v.options = append([]string{"--defaults-file=" + v.dir + "/my.cnf", "--datadir=" + v.dir + "/data", "--log-error=" + v.dir + "/log",
		"--port=" + strconv.Itoa(port), "--bind-address=127.0.0.1", "--socket=s", "--mysqlx=OFF",
		"--secure-file-priv=", "--innodb-use-native-aio=OFF"}, s.Command...)
	if os.Getuid() == 0 {
		v.options = append(v.options, "--user=root")
	}
	return v
}

// setUp initialises the data and runs the SQL as root in a first start. The
// image gives root a password; here it has none, but may come from anywhere.
func (s *server) setUp(t *testing.T, text string) {
	t.Helper()
	init := filepath.Join(s.dir, "init.sql")
	root := "SET sql_log_bin = 0; CREATE USER root@'%' IDENTIFIED BY ''; GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION; SET sql_log_bin = 1;\n"
	if err := os.WriteFile(init, []byte(root+text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(s.bin+"/mysqld", append(s.options, "--initialize-insecure")...).CombinedOutput(); err != nil {
		t.Fatalf("mysqld --initialize-insecure: %v\n%s%s", err, out, s.log(t))
	}
	s.launch(t, "--skip-networking")
	client := exec.Command(s.bin+"/mysql", "--no-defaults", "--user=root", "--socket="+s.dir+"/data/s")
	await(t, "the socket", func() error { _, err := os.Stat(s.dir + "/data/s"); return err })
	in, err := os.Open(init)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	client.Stdin = in
	if out, err := client.CombinedOutput(); err != nil {
		t.Fatalf("the init SQL: %v\n%s", err, out)
	}
	s.stop()
}

func (s *server) start(t *testing.T) {
	t.Helper()
	s.launch(t)
	db := s.open(t, "root", "")
	await(t, "the server", func() error { return db.PingContext(t.Context()) })
}

func (s *server) launch(t *testing.T, more ...string) {
	t.Helper()
	s.cmd = exec.Command(s.bin+"/mysqld", append(s.options, more...)...)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
}

func (s *server) stop() {
	if s.cmd != nil {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

func (s *server) open(t *testing.T, user, password string) *sql.DB {
	t.Helper()
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr = user, password, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (s *server) log(t *testing.T) string {
	text, err := os.ReadFile(s.dir + "/log")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// await asks until there is no error; a server on a busy machine may take long.
func await(t *testing.T, what string, ask func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		err := ask()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s is not there after a minute: %v", what, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func exec1(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func query1(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	var value string
	if err := db.QueryRowContext(t.Context(), query).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}
