package cluster

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

// Node is one MySQL server of a Cluster. Its name stays when its role changes.
type Node struct {
	Name string // source, replica1, replica2, ...
	Addr string // 127.0.0.1:port
	Port int
	Dir  string  // its folder: my.cnf, mysqld.log, data
	DB   *sql.DB // as root, for several statements at a time

	cluster *Cluster
}

func newNode(c *Cluster, i, port int) (*Node, error) {
	name := "source"
	if i > 0 {
		name = "replica" + strconv.Itoa(i)
	}
	n := &Node{Name: name, Addr: "127.0.0.1:" + strconv.Itoa(port), Port: port, Dir: filepath.Join(c.Dir, name), cluster: c}
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr = "root", "tcp", n.Addr
	cfg.MultiStatements, cfg.InterpolateParams, cfg.ParseTime = true, true, true
	cfg.Timeout = 10 * time.Second
	// A node that was killed leaves dead connections in the pool: not worth a line each.
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	n.DB = sql.OpenDB(connector)
	return n, nil
}

// Exec runs one or more statements as root.
func (n *Node) Exec(ctx context.Context, query string, args ...any) error {
	if _, err := n.DB.ExecContext(ctx, query, args...); err != nil {
		return fmt.Errorf("%s: %s: %w", n.Name, query, err)
	}
	return nil
}

// Value returns the first column of the only row of a query, as text.
func (n *Node) Value(ctx context.Context, query string, args ...any) (string, error) {
	var value sql.NullString
	if err := n.DB.QueryRowContext(ctx, query, args...).Scan(&value); err != nil {
		return "", fmt.Errorf("%s: %s: %w", n.Name, query, err)
	}
	return value.String, nil
}

// Pause stops the applier. It returns when nothing more gets applied.
func (n *Node) Pause(ctx context.Context) error { return n.Exec(ctx, "STOP REPLICA SQL_THREAD") }

// Resume starts the applier.
func (n *Node) Resume(ctx context.Context) error { return n.Exec(ctx, "START REPLICA SQL_THREAD") }

// Lag makes the applier hold back each transaction for so many seconds after
// the source committed it, and starts it. 0 ends it.
func (n *Node) Lag(ctx context.Context, seconds int) error {
	return n.Exec(ctx, fmt.Sprintf("STOP REPLICA SQL_THREAD; CHANGE REPLICATION SOURCE TO SOURCE_DELAY=%d; START REPLICA SQL_THREAD", seconds))
}

// Executed is the node's gtid_executed, without line breaks.
func (n *Node) Executed(ctx context.Context) (string, error) {
	set, err := n.Value(ctx, "SELECT @@global.gtid_executed")
	return strings.ReplaceAll(set, "\n", ""), err
}

// WaitExecuted waits until the node has executed the set, or ctx ends.
func (n *Node) WaitExecuted(ctx context.Context, set string) error {
	for ctx.Err() == nil {
		timedOut, err := n.Value(ctx, "SELECT WAIT_FOR_EXECUTED_GTID_SET(?, 1)", set)
		if err != nil {
			return err
		}
		if timedOut == "0" {
			return nil
		}
	}
	return fmt.Errorf("%s has not executed %s: %w", n.Name, set, ctx.Err())
}

// leadsGroup tells whether the node is the primary of its group and open for
// writes, as it sees it itself. One that does not answer soon is not.
func (n *Node) leadsGroup(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	leads, err := n.Value(ctx, `SELECT COUNT(*) FROM performance_schema.replication_group_members
		WHERE MEMBER_ID = @@server_uuid AND MEMBER_STATE = 'ONLINE' AND MEMBER_ROLE = 'PRIMARY' AND NOT @@global.read_only`)
	return err == nil && leads == "1"
}

// Pid is the process of the node's mysqld.
func (n *Node) Pid() (int, error) {
	text, err := os.ReadFile(filepath.Join(n.Dir, "pid"))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// Freeze stops the process (SIGSTOP): its sockets stay open and nobody answers,
// as with a host that died. It returns when all threads stand.
func (n *Node) Freeze() error { return n.run("freeze") }

// Thaw lets a frozen process go on.
func (n *Node) Thaw() error { return n.signal(syscall.SIGCONT) }

func (n *Node) signal(sig syscall.Signal) error {
	pid, err := n.Pid()
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, sig); err != nil {
		return fmt.Errorf("%s: %v: %w", n.Name, sig, err)
	}
	return nil
}

// Kill ends the process at once (SIGKILL) and returns when it is gone.
func (n *Node) Kill() error { return n.run("kill") }

// SetClock restarts the node with its clock so many seconds ahead, or behind if
// negative; 0: with the right time.
func (n *Node) SetClock(seconds int) error { return n.run("clock", strconv.Itoa(seconds)) }

// StartNode starts a killed node and returns when it answers. It has the role
// that it had; a replica goes on replicating.
func (n *Node) StartNode() error { return n.run("start") }

// Attach makes the node a replica of the current source, starting it if it is
// dead: what a dead old source needs after a promotion.
func (n *Node) Attach() error { return n.run("attach") }

func (n *Node) run(command string, args ...string) error {
	_, err := n.cluster.script(append([]string{command, n.Name}, args...)...)
	return err
}
