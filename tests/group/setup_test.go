package group

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
	"causeway/tests/load"
)

const (
	clients = 12
	limit   = 2 * time.Minute
)

var shared *cluster.Cluster

// The group gives a silent member up after five seconds. With any other value
// than 0 it looks at that only every 15 seconds.
func TestMain(m *testing.M) {
	cluster.Main(m, cluster.Options{Group: true, Set: []string{"group_replication_member_expel_timeout=0"}}, cluster.Keep(&shared))
}

func patience(t testing.TB) context.Context {
	return check.Limit(t, limit)
}

// proxy is a Causeway in front of the group with an empty table.
type proxy struct{ *cluster.Operated }

func start(t *testing.T) *proxy {
	t.Helper()
	shared.Lay(t, load.Table("grp")...)
	cw := cluster.StartCauseway(t, shared, fmt.Sprintf("[cluster]\nstate_file = %q\nfailover_wait = \"60s\"", filepath.Join(t.TempDir(), "state.json"))+cluster.OperatorTable)
	p := &proxy{cluster.Operate(t, cw)}
	check.Within(t, limit, "all members serve", p.allUp)
	return p
}

func (p *proxy) app() *sql.DB {
	p.T.Helper()
	cfg := cluster.AppConfig(p.Addr, "grp")
	cfg.ReadTimeout = 90 * time.Second
	return cluster.Open(p.T, cfg)
}

// server is what SHOW CAUSEWAY SERVERS says of a node: its role, and up or why not.
func (p *proxy) server(n *cluster.Node) (role, state string) {
	p.T.Helper()
	row := p.Server(n.Addr)
	return row["Role"], row["State"]
}

// untilState waits for the start of what is said of a node.
func (p *proxy) untilState(n *cluster.Node, want string) {
	p.T.Helper()
	check.Within(p.T, limit, n.Name+" is "+want, func() bool { _, state := p.server(n); return strings.HasPrefix(state, want) })
}

func (p *proxy) allUp() bool {
	for _, n := range shared.Nodes() {
		role, state := p.server(n)
		if state != "up" || (role == "source") != (n == shared.Source()) {
			return false
		}
	}
	return true
}

// memberState is the node's state in its own eyes.
func memberState(t *testing.T, n *cluster.Node) string {
	t.Helper()
	state, err := n.Value(patience(t), "SELECT MEMBER_STATE FROM performance_schema.replication_group_members WHERE MEMBER_ID = @@server_uuid")
	check.Must(t, err)
	return state
}
