package lab

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Route is the answer to SHOW CAUSEWAY ROUTE: column names to values.
type Route map[string]string

// OnReplica tells whether the statement was answered by a replica.
func (r Route) OnReplica() bool { return r["target"] == "replica" }

// LastRoute asks where the last statement of a connection went, and why.
func LastRoute(ctx context.Context, conn *sql.Conn) (Route, error) {
	rows, err := conn.QueryContext(ctx, "SHOW CAUSEWAY ROUTE")
	if err != nil {
		return nil, fmt.Errorf("route: %w", err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values := make([]sql.NullString, len(names))
	into := make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	if !rows.Next() {
		return nil, errors.Join(errors.New("SHOW CAUSEWAY ROUTE: no row"), rows.Err())
	}
	if err := rows.Scan(into...); err != nil {
		return nil, err
	}
	route := Route{}
	for i, name := range names {
		route[name] = values[i].String
	}
	return route, rows.Err()
}
