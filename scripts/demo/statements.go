package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// typing is the pause before each statement. A person's replicas have caught up
// by the next line; a program's may have not, which the next part shows.
const typing = 300 * time.Millisecond

// statements are one session's, in this order.
var statements = []string{
	"CREATE TABLE shop (id INT PRIMARY KEY, item VARCHAR(20), stock INT)",
	"INSERT INTO shop VALUES (1, 'apples', 10)",
	"SELECT item, stock FROM shop WHERE id = 1",
	"SELECT item, stock FROM shop WHERE id = 1",
	"SELECT stock FROM shop WHERE id = 1 FOR UPDATE",
	"BEGIN",
	"UPDATE shop SET stock = stock - 3 WHERE id = 1",
	"SELECT stock FROM shop WHERE id = 1",
	"COMMIT",
	"SELECT stock FROM shop WHERE id = 1",
	"SELECT stock FROM shop WHERE id = 1",
	"START TRANSACTION READ ONLY",
	"SELECT SUM(stock) FROM shop",
	"COMMIT",
	"SET @basket = 2",
	"SELECT stock - @basket FROM shop WHERE id = 1",
}

// showStatements runs them through Causeway and asks after each where it went.
func (d *demo) showStatements(ctx context.Context) error {
	db, err := open(d.mysqlPort)
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	t := table{heads: []string{"statement", "answered by", "why", "result"}}
	for _, statement := range statements {
		time.Sleep(typing)
		result, err := query(ctx, conn, statement)
		if err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
		route, err := askRoute(ctx, conn)
		if err != nil {
			return err
		}
		t.add(statement, d.name(route["Node"]), route["Reason"], result)
	}
	fmt.Fprint(d.out, indent(t.String()))
	return nil
}

// name is a node's name with its address.
func (d *demo) name(addr string) string {
	if addr == "" {
		return "causeway"
	}
	return d.nodes()[addr] + " " + addr[strings.LastIndexByte(addr, ':'):]
}

// query runs a statement and returns its rows on one line.
func query(ctx context.Context, conn *sql.Conn, statement string) (string, error) {
	rows, err := conn.QueryContext(ctx, statement)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	all, err := readRows(rows)
	if err != nil {
		return "", err
	}
	var lines []string
	for _, row := range all {
		lines = append(lines, strings.Join(row, ", "))
	}
	return strings.Join(lines, "; "), nil
}

func readRows(rows *sql.Rows) ([][]string, error) {
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var all [][]string
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := make([]string, len(columns))
		for i, v := range values {
			row[i] = v.String
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

// askRoute asks where the session's last statement went.
func askRoute(ctx context.Context, conn *sql.Conn) (map[string]string, error) {
	rows, err := conn.QueryContext(ctx, "SHOW CAUSEWAY ROUTE")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all, err := readRows(rows)
	if err != nil {
		return nil, err
	}
	route := make(map[string]string, len(all))
	for _, row := range all {
		if len(row) == 2 {
			route[row[0]] = row[1]
		}
	}
	return route, nil
}
