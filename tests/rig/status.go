package rig

import (
	"context"
	"fmt"

	"causeway/tests/cluster"
)

// Selects returns how many reads one user's connections have run on a node
// since it started, by the node's own count: SELECTs as text, and executions of
// prepared statements of any kind, which the node does not tell apart. The
// monitor, another user, is not in it.
func Selects(ctx context.Context, n *cluster.Node, user string) (int64, error) {
	return statements(ctx, n, user, "AND EVENT_NAME IN ('statement/sql/select', 'statement/com/Execute')")
}

// Statements returns how many commands of any kind it has run for the user.
func Statements(ctx context.Context, n *cluster.Node, user string) (int64, error) {
	return statements(ctx, n, user, "")
}

func statements(ctx context.Context, n *cluster.Node, user, which string) (int64, error) {
	var count int64
	err := n.DB.QueryRowContext(ctx, `SELECT IFNULL(SUM(COUNT_STAR), 0)
		FROM performance_schema.events_statements_summary_by_user_by_event_name
		WHERE USER = ? `+which, user).Scan(&count)
	if err != nil {
		return 0, fmt.Errorf("statements on %s: %w", n.Name, err)
	}
	return count, nil
}

// Connections returns how many connections a node has now, of anybody.
func Connections(ctx context.Context, n *cluster.Node) (int64, error) {
	var name string
	var count int64
	if err := n.DB.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Threads_connected'").Scan(&name, &count); err != nil {
		return 0, fmt.Errorf("connections on %s: %w", n.Name, err)
	}
	return count, nil
}
