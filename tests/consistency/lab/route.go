package lab

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Route is the answer to SHOW CAUSEWAY ROUTE: names to values.
type Route map[string]string

// OnReplica tells whether the statement was answered by a replica.
func (r Route) OnReplica() bool { return r["Role"] == "replica" }

// Reason is why it went there, in the words of the metrics.
func (r Route) Reason() string { return r["Reason"] }

// LastRoute asks where the last statement of a connection went, and why.
func LastRoute(ctx context.Context, conn *sql.Conn) (Route, error) {
	rows, err := conn.QueryContext(ctx, "SHOW CAUSEWAY ROUTE")
	if err != nil {
		return nil, fmt.Errorf("route: %w", err)
	}
	defer rows.Close()
	route := Route{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, fmt.Errorf("route: %w", err)
		}
		route[name] = value
	}
	if len(route) == 0 && rows.Err() == nil {
		return nil, errors.New("SHOW CAUSEWAY ROUTE: no row")
	}
	return route, rows.Err()
}
