package failover

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/load"
)

const clients = 32

var shared *cluster.Cluster

func TestMain(m *testing.M) { cluster.Main(m, cluster.Options{}, cluster.Keep(&shared)) }

// config has a state file of the test's own and an operator's account.
func config(t *testing.T, wait time.Duration) string {
	return fmt.Sprintf("[cluster]\nstate_file = %q\nfailover_wait = %q", filepath.Join(t.TempDir(), "state.json"), wait) + cluster.OperatorTable
}

// lay makes the table anew, on all nodes.
func lay(t *testing.T) {
	t.Helper()
	shared.Lay(t, load.Table("failover")...)
}

// proxy is a Causeway, its operator and what the tests ask of it.
type proxy struct{ *cluster.Operated }

func start(t *testing.T, servers []string, extra string) *proxy {
	t.Helper()
	return &proxy{cluster.Operate(t, cluster.StartCausewayAt(t, servers, extra))}
}

// app is one session of an application.
func (p *proxy) app() *sql.Conn {
	p.T.Helper()
	c, err := cluster.Open(p.T, cluster.AppConfig(p.Addr, "failover")).Conn(check.Patience(p.T))
	check.Must(p.T, err)
	return c
}

// state is what SHOW CAUSEWAY SERVERS says of a node: up, or why not.
func (p *proxy) state(n *cluster.Node) string {
	p.T.Helper()
	return p.stateAt(n.Addr)
}

// stateAt is state by the address that Causeway knows.
func (p *proxy) stateAt(addr string) string {
	p.T.Helper()
	return p.Server(addr)["State"]
}

func (p *proxy) allUp() bool {
	for _, n := range shared.Nodes() {
		if p.state(n) != "up" {
			return false
		}
	}
	return true
}

// rejoin makes a deposed source a replica again, with what an operator has to do
// for it: its transactions that the source lacks get empty ones there.
func rejoin(t *testing.T, old *cluster.Node) {
	t.Helper()
	ctx := check.Patience(t)
	check.Must(t, old.Attach())
	mine, err := old.Executed(ctx)
	check.Must(t, err)
	extra, err := shared.Source().Value(ctx, "SELECT REPLACE(GTID_SUBTRACT(?, @@global.gtid_executed), '\\n', '')", mine)
	check.Must(t, err)
	for _, one := range singles(extra) {
		check.Must(t, shared.Source().Exec(ctx, "SET gtid_next = '"+one+"'; COMMIT; SET gtid_next = AUTOMATIC"))
	}
	check.Must(t, shared.WaitCaughtUp(ctx))
}

// singles takes "uuid:1-2:5,..." apart into single GTIDs.
func singles(set string) []string {
	var out []string
	for _, element := range strings.Split(set, ",") {
		parts := strings.Split(strings.TrimSpace(element), ":")
		for _, part := range parts[1:] {
			var from, to int
			if n, _ := fmt.Sscanf(part, "%d-%d", &from, &to); n < 2 {
				to = from
			}
			for ; from <= to; from++ {
				out = append(out, parts[0]+":"+strconv.Itoa(from))
			}
		}
	}
	return out
}
