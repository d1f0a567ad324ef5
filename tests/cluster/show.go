package cluster

import (
	"context"
	"database/sql"
)

// Queryer is a *sql.DB or a *sql.Conn.
type Queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Show returns the columns' names and the rows of a SHOW CAUSEWAY.
func Show(ctx context.Context, q Queryer, what string) (columns []string, list [][]string, err error) {
	rows, err := q.QueryContext(ctx, "SHOW CAUSEWAY "+what)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	if columns, err = rows.Columns(); err != nil {
		return nil, nil, err
	}
	for rows.Next() {
		row, into := make([]string, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, nil, err
		}
		list = append(list, row)
	}
	return columns, list, rows.Err()
}

// Servers returns the rows of SHOW CAUSEWAY SERVERS, each by column name.
func Servers(ctx context.Context, q Queryer) ([]map[string]string, error) {
	return byName(ctx, q, "SERVERS")
}

// Lag returns the rows of SHOW CAUSEWAY LAG, each by column name.
func Lag(ctx context.Context, q Queryer) ([]map[string]string, error) { return byName(ctx, q, "LAG") }

func byName(ctx context.Context, q Queryer, what string) ([]map[string]string, error) {
	columns, list, err := Show(ctx, q, what)
	if err != nil {
		return nil, err
	}
	out := make([]map[string]string, len(list))
	for i, row := range list {
		out[i] = map[string]string{}
		for k, name := range columns {
			out[i][name] = row[k]
		}
	}
	return out, nil
}
