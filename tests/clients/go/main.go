// Command go is the client program for go-sql-driver/mysql: what an application
// in Go sees by database/sql, printed as the package tests/clients wants it. It
// never talks to anything but the one address that its environment names.
package main

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
	"unicode/utf8"

	"github.com/go-sql-driver/mysql"
)

// obj is an observation with several parts.
type obj map[string]any

var seen int

// check prints what f saw. An error of the server is something seen; one of the
// client's own breaks the check.
func check(name string, f func(ctx context.Context) (any, error)) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	value, err := f(ctx)
	if err != nil {
		value = obj{"seen": value, "error": errorOf(err)}
	}
	emit("go-sql-driver/"+name, value)
	seen++
}

func emit(name string, value any) {
	line, err := json.Marshal(obj{"name": name, "value": value})
	if err != nil {
		fmt.Fprintln(os.Stderr, name, err)
		os.Exit(1)
	}
	fmt.Println(string(line))
}

func errorOf(err error) any {
	var my *mysql.MySQLError
	switch {
	case errors.As(err, &my):
		return obj{"errno": my.Number, "sqlstate": string(my.SQLState[:]), "message": my.Message}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, mysql.ErrInvalidConn), errors.Is(err, sql.ErrNoRows):
		return err.Error()
	}
	return obj{"broken": err.Error()}
}

// config is the application's configuration with one change.
func config(change func(*mysql.Config)) *mysql.Config {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net = os.Getenv("CW_USER"), os.Getenv("CW_PASSWORD"), "tcp"
	c.Addr = os.Getenv("CW_HOST") + ":" + os.Getenv("CW_PORT")
	c.DBName = "clients"
	if change != nil {
		change(c)
	}
	return c
}

// open opens a pool; those of the program end with it.
func open(change func(*mysql.Config)) *sql.DB {
	connector, err := mysql.NewConnector(config(change))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return sql.OpenDB(connector)
}

// on runs f on one connection of a pool of its own.
func on(change func(*mysql.Config), f func(ctx context.Context, c *sql.Conn) (any, error)) func(ctx context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		db := open(change)
		defer db.Close()
		c, err := db.Conn(ctx)
		if err != nil {
			return nil, err
		}
		defer c.Close()
		return f(ctx, c)
	}
}

// queryer is what sql.DB, sql.Conn and sql.Tx have in common.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// table reads all results of a query: names, types and rows.
func table(rows *sql.Rows, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var results []any
	for {
		one, err := result(rows)
		results = append(results, one)
		if err != nil {
			return results, err
		}
		if !rows.NextResultSet() {
			return results, rows.Err()
		}
	}
}

func result(rows *sql.Rows) (any, error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	var columns, list []any
	for _, t := range types {
		nullable, _ := t.Nullable()
		precision, scale, _ := t.DecimalSize()
		columns = append(columns, []any{t.Name(), t.DatabaseTypeName(), fmt.Sprint(t.ScanType()), nullable, precision, scale})
	}
	for rows.Next() {
		row, ptrs := make([]any, len(types)), make([]any, len(types))
		for i := range row {
			ptrs[i] = &row[i]
		}
		if err := rows.Scan(ptrs...); err != nil {
			return nil, err
		}
		for i := range row {
			row[i] = plain(row[i])
		}
		list = append(list, row)
	}
	return obj{"columns": columns, "rows": list}, rows.Err()
}

// plain keeps the kind of a value visible in JSON.
func plain(v any) any {
	switch v := v.(type) {
	case []byte:
		if utf8.Valid(v) {
			return obj{"bytes": string(v)}
		}
		return obj{"hex": hex.EncodeToString(v)}
	case time.Time:
		return obj{"time": v.Format(time.RFC3339Nano)}
	case nil:
		return nil
	}
	return fmt.Sprintf("%T %v", v, v)
}

// did is what the driver says of a write.
func did(r sql.Result, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	id, _ := r.LastInsertId()
	n, _ := r.RowsAffected()
	return obj{"id": id, "affected": n}, nil
}

// each runs statements one after the other and keeps what each gave, errors too.
func each(ctx context.Context, q queryer, statements ...string) (any, error) {
	var list []any
	for _, s := range statements {
		list = append(list, stepOf(ctx, q, s))
	}
	return list, nil
}

func stepOf(ctx context.Context, q queryer, s string, args ...any) any {
	v, err := table(q.QueryContext(ctx, s, args...))
	if err != nil {
		return obj{"error": errorOf(err)}
	}
	return v
}

func main() {
	connectChecks()
	typeChecks()
	writeChecks()
	transactionChecks()
	preparedChecks()
	resultChecks()
	sessionChecks()
	cancelChecks()
	emit("end", seen)
}
