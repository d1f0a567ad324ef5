package failover

import (
	"context"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"causeway/tests/check"
	"causeway/tests/cluster"
)

// TestLoginWithoutSource: the source is gone, killed or hanging, and nobody takes
// its place. New clients log in, send what drivers send then, and read on replicas; what
// they have set holds there. Writes wait for cluster.failover_wait and say why.
func TestLoginWithoutSource(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, n *cluster.Node){
		"killed": func(t *testing.T, n *cluster.Node) {
			check.Must(t, n.Kill())
			t.Cleanup(func() { check.Must(t, n.StartNode()) })
		},
		"frozen": func(t *testing.T, n *cluster.Node) {
			check.Must(t, n.Freeze())
			t.Cleanup(func() { check.Must(t, n.Thaw()) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			lay(t)
			ctx := check.Patience(t)
			check.Must(t, shared.Source().Exec(ctx, "INSERT INTO failover.t VALUES (1, 7)"))
			check.Must(t, shared.WaitCaughtUp(ctx))
			p := start(t, shared.Addrs(), config(t, wait)+"[[class]]\nname = \"F0\"\nmax_staleness = \"1h\"\n")
			kept := p.app()
			logInAndRead(t, p)
			lose(t, shared.Source())
			other, err := cluster.Open(t, cluster.AppConfig(p.Addr, "app")).Conn(ctx) // a schema that nobody was in: a server must say that it exists
			check.Must(t, err)
			check.Must(t, other.Close())
			logInAndRead(t, p) // not noticed yet, perhaps
			check.Until(t, "the loss is noticed", func() bool { return strings.HasPrefix(p.state(shared.Source()), "down") })
			logInAndRead(t, p)
			_, err = kept.ExecContext(ctx, "SET sql_mode = 'ANSI_QUOTES'")
			check.Must(t, err)
			var v int
			check.Must(t, kept.QueryRowContext(ctx, `SELECT "v" FROM "t" WHERE "id" = 1`).Scan(&v))
			if _, err := kept.ExecContext(ctx, "INSERT INTO t VALUES (2, 2)"); err == nil || !strings.Contains(err.Error(), "SHOW CAUSEWAY SERVERS") {
				t.Errorf("a write: %v", err)
			}
		})
	}
}

// wait is failover_wait where no source comes back.
const wait = 500 * time.Millisecond

// greetings are what drivers send when they connect.
var greetings = map[string][]string{
	"Connector/J": {"/* mysql-connector-j-9.7.0 */SELECT  @@session.auto_increment_increment AS auto_increment_increment, @@character_set_client AS character_set_client, " +
		"@@character_set_connection AS character_set_connection, @@character_set_results AS character_set_results, @@character_set_server AS character_set_server, " +
		"@@collation_server AS collation_server, @@collation_connection AS collation_connection, @@init_connect AS init_connect, @@interactive_timeout AS interactive_timeout, " +
		"@@license AS license, @@lower_case_table_names AS lower_case_table_names, @@max_allowed_packet AS max_allowed_packet, @@net_write_timeout AS net_write_timeout, " +
		"@@performance_schema AS performance_schema, @@sql_mode AS sql_mode, @@system_time_zone AS system_time_zone, @@time_zone AS time_zone, " +
		"@@transaction_isolation AS transaction_isolation, @@wait_timeout AS wait_timeout", "SET character_set_results = NULL", "SET autocommit=1",
		"SELECT @@session.transaction_read_only", "SET SESSION TRANSACTION READ ONLY", "SET SESSION TRANSACTION READ WRITE"},
	"mysql":      {"select @@version_comment limit 1", "select USER()", "SELECT DATABASE()"},
	"PyMySQL":    {"SET AUTOCOMMIT = 0", "SET AUTOCOMMIT = 1"},
	"Rails":      {"SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci,  @@SESSION.sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO'),  @@SESSION.wait_timeout = 2147483"},
	"Django":     {"SET SQL_AUTO_IS_NULL = 0", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"},
	"SQLAlchemy": {"SELECT VERSION()", "SELECT @@transaction_isolation", "SELECT @@sql_mode", "SELECT @@lower_case_table_names"},
}

// logInAndRead logs in by what is at hand and reads.
func logInAndRead(t *testing.T, p *proxy) {
	t.Helper()
	ctx := check.Patience(t)
	for driver, texts := range greetings {
		k := p.app()
		for _, text := range texts {
			if _, err := k.ExecContext(ctx, text); err != nil {
				t.Errorf("%s, %s: %v", driver, text, err)
			}
		}
		readSeven(ctx, t, k)
		check.Must(t, k.Close())
	}
	cfg := cluster.AppConfig(p.Addr, "failover")
	cfg.Params = map[string]string{"sql_mode": "'ANSI_QUOTES'", "time_zone": "'+03:00'", "autocommit": "1", "transaction_isolation": "'READ-COMMITTED'"}
	check.Must(t, cfg.Apply(mysql.Charset("latin1", "")))
	k, err := cluster.Open(t, cfg).Conn(ctx)
	check.Must(t, err)
	readSeven(ctx, t, k)
	var mode, zone, charset string
	check.Must(t, k.QueryRowContext(ctx, "SELECT @@sql_mode, @@time_zone, @@character_set_client").Scan(&mode, &zone, &charset))
	if mode != "ANSI_QUOTES" || zone != "+03:00" || charset != "latin1" {
		t.Errorf("what was set is %s, %s, %s", mode, zone, charset)
	}
	check.Must(t, k.Close())
	commandLine(ctx, t, p)
}

func readSeven(ctx context.Context, t *testing.T, k *sql.Conn) {
	t.Helper()
	var v int
	if err := k.QueryRowContext(ctx, "SELECT v FROM t WHERE id = 1").Scan(&v); err != nil || v != 7 {
		t.Errorf("read %d: %v", v, err)
	}
}

// commandLine reads with the mysql client.
func commandLine(ctx context.Context, t *testing.T, p *proxy) {
	t.Helper()
	bin, err := exec.CommandContext(ctx, filepath.Join(cluster.Root(), "scripts", "get-mysql")).Output()
	check.Must(t, err)
	host, port, _ := strings.Cut(p.Addr, ":")
	cmd := exec.CommandContext(ctx, filepath.Join(strings.TrimSpace(string(bin)), "mysql"), "--no-defaults", "--protocol=tcp", "--host="+host, "--port="+port,
		"--user="+cluster.AppUser, "--default-character-set=latin1", "--init-command=SET sql_mode='ANSI'", "--batch", "--skip-column-names", "failover")
	cmd.Env = append(os.Environ(), "MYSQL_PWD="+cluster.AppPassword)
	cmd.Stdin = strings.NewReader("USE failover;\nSELECT v FROM \"t\" WHERE id = 1;\n")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "7" {
		t.Errorf("the mysql client: %v: %s", err, out)
	}
}
