package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// demo is one demo: where it lives and what it shows.
type demo struct {
	out                       io.Writer
	dir, program              string
	base, mysqlPort, httpPort int
	length                    time.Duration
	client                    string // folder with a mysql client
}

const (
	user     = "app"
	password = "app_pw"
)

// up shows everything and leaves it running. When it fails, what it has
// started stays for a look, until down.
func (d *demo) up(ctx context.Context) error {
	steps := []struct {
		title string
		do    func(context.Context) error
	}{
		{"A real MySQL: one source, two replicas with parallel appliers", d.startCluster},
		{"Causeway in front, with the few lines that it needs", d.startCauseway},
		{"One session: who answers which statement, and why", d.showStatements},
		{"Eight sessions write and read back, while the applier of replica1 is stopped and started", d.showConsistency},
		{"It keeps running", d.showConnect},
	}
	if err := d.down(); err != nil {
		return err
	}
	for i, s := range steps {
		fmt.Fprintf(d.out, "\n[%d/%d] %s\n\n", i+1, len(steps), s.title)
		if err := s.do(ctx); err != nil {
			return fmt.Errorf("%w\n(Causeway's log is %s; make demo-down ends what runs)", err, d.logFile())
		}
	}
	return nil
}

// nodes are the cluster's servers by address, with the names of scripts/cluster.
func (d *demo) nodes() map[string]string {
	return map[string]string{
		loopback(d.base + 1): "source",
		loopback(d.base + 2): "replica1",
		loopback(d.base + 3): "replica2",
	}
}

func (d *demo) configFile() string { return filepath.Join(d.dir, "causeway.toml") }
func (d *demo) logFile() string    { return filepath.Join(d.dir, "causeway.log") }
func (d *demo) pidFile() string    { return filepath.Join(d.dir, "causeway.pid") }
func (d *demo) clusterDir() string { return filepath.Join(d.dir, "mysql") }

func (d *demo) configText() string {
	return fmt.Sprintf(`[listen]
mysql = "127.0.0.1:%d"
http = "127.0.0.1:%d"

[cluster]
servers = ["127.0.0.1:%d", "127.0.0.1:%d", "127.0.0.1:%d"]

[monitor]
user = "monitor"
password = "monitor_pw"

[[users]]
name = %q
password = %q
`, d.mysqlPort, d.httpPort, d.base+1, d.base+2, d.base+3, user, password)
}

// open returns a pool of connections of the application's account, to Causeway
// or straight to a node.
func open(port int) (*sql.DB, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr, cfg.DBName = user, password, "tcp", loopback(port), "app"
	cfg.InterpolateParams = true
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// showConnect says how to go on by hand.
func (d *demo) showConnect(context.Context) error {
	client := "mysql"
	if d.client != "" {
		client = filepath.Join(d.client, "mysql")
	}
	fmt.Fprint(d.out, indent(fmt.Sprintf(`Connect, here or from your application:
  %s -h 127.0.0.1 -P %d -u %s -p%s app

Ask it:
  SHOW CAUSEWAY ROUTE;      where the session's last statement went, and why
  SHOW CAUSEWAY SERVERS;    the servers as Causeway sees them
  SHOW CAUSEWAY STATUS;     counters

Disturb it:
  scripts/cluster --dir %[5]s pause replica1     (resume replica1)
  scripts/cluster --dir %[5]s lag replica2 5
  scripts/cluster --dir %[5]s promote replica1
  scripts/cluster --dir %[5]s status

Watch it:  http://127.0.0.1:%[6]d/metrics
End it:    make demo-down
`, client, d.mysqlPort, user, password, d.clusterDir(), d.httpPort)))
	return nil
}

// indent puts two spaces before each line that is not empty.
func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			b.WriteString("  ")
		}
		b.WriteString(line)
	}
	return b.String()
}
