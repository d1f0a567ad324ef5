package topology

import (
	"database/sql"
	"strconv"
	"strings"
	"testing"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/load"
	"causeway/tests/rig"
)

var shared *cluster.Cluster

func TestMain(m *testing.M) { cluster.Main(m, cluster.Options{}, cluster.Keep(&shared)) }

// lay makes the table anew, on all nodes.
func lay(t *testing.T) {
	t.Helper()
	shared.Lay(t, load.Table("topo")...)
}

// proxy is a Causeway, its operator and what the tests ask of it.
type proxy struct{ *cluster.Operated }

// start starts one before the nodes, with keys of [cluster].
func start(t *testing.T, keys string, nodes ...*cluster.Node) *proxy {
	t.Helper()
	var addrs []string
	for _, n := range nodes {
		addrs = append(addrs, n.Addr)
	}
	p := &proxy{cluster.Operate(t, cluster.StartCausewayAt(t, addrs, "[cluster]\n"+keys+cluster.OperatorTable))}
	for _, n := range nodes {
		p.serves(n)
	}
	return p
}

func (p *proxy) app() *sql.DB {
	p.T.Helper()
	return cluster.Open(p.T, cluster.AppConfig(p.Addr, "topo"))
}

// node is a node's row of SHOW CAUSEWAY SERVERS, with From of SHOW CAUSEWAY LAG, nil
// if it is not listed.
func (p *proxy) node(addr string) map[string]string {
	p.T.Helper()
	row := p.Server(addr)
	if row == nil {
		return nil
	}
	lag, err := cluster.Lag(check.Patience(p.T), p.DB)
	check.Must(p.T, err)
	for _, l := range lag {
		if l["Server"] == addr {
			row["From"] = l["From"]
		}
	}
	return row
}

func (p *proxy) serves(n *cluster.Node) {
	p.T.Helper()
	check.Until(p.T, n.Name+" serves", func() bool {
		row := p.node(n.Addr)
		return row["State"] == "up" && !strings.Contains(row["Limits"], "excluded")
	})
}

// reads is how many reads a node was sent.
func (p *proxy) reads(n *cluster.Node) int {
	p.T.Helper()
	count, err := strconv.Atoi(p.node(n.Addr)["Reads"])
	check.Must(p.T, err)
	return count
}

// explain returns EXPLAIN CAUSEWAY of a read, by name.
func (p *proxy) explain() map[string]string {
	p.T.Helper()
	rows, err := p.DB.QueryContext(check.Patience(p.T), "EXPLAIN CAUSEWAY SELECT v FROM topo.t")
	check.Must(p.T, err)
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var name, value string
		check.Must(p.T, rows.Scan(&name, &value))
		out[name] = value
	}
	check.Must(p.T, rows.Err())
	return out
}

// mentions counts the series of /metrics that have a text in them.
func (p *proxy) mentions(text string) (n int) {
	p.T.Helper()
	for series := range rig.MustMetrics(p.T, p.HTTP) {
		if strings.Contains(series, text) {
			n++
		}
	}
	return n
}
