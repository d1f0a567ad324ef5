package consistency

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"causeway/tests/cluster"
	"causeway/tests/session/raw"
	"causeway/wire"
)

// attrConnector is a driver whose statements carry a token as a query attribute,
// which go-sql-driver cannot send.
type attrConnector struct{ addr string }

func (a attrConnector) Driver() driver.Driver { return nil }

func (a attrConnector) Connect(context.Context) (driver.Conn, error) {
	c, err := raw.Dial(raw.Options{Addr: a.addr, User: cluster.AppUser, Password: cluster.AppPassword, DB: "rw_main",
		Caps: raw.Modern | wire.CapQueryAttributes})
	return &attrConn{Client: c}, err
}

type attrConn struct {
	*raw.Client
	token string
}

var errUnused = errors.New("not used here")

func (a *attrConn) Prepare(string) (driver.Stmt, error) { return nil, errUnused }
func (a *attrConn) Begin() (driver.Tx, error)           { return nil, errUnused }

// send runs a statement with the token and the arguments, which are numbers.
func (a *attrConn) send(query string, args []driver.NamedValue) (raw.Answer, error) {
	for _, arg := range args {
		query = strings.Replace(query, "?", fmt.Sprint(arg.Value), 1)
	}
	answer, err := a.Query(query, raw.Attr{Name: "causeway_token", Value: a.token})
	var refused *wire.Error
	if err == nil {
		err = answer.Err()
	}
	if errors.As(err, &refused) {
		return nil, &mysql.MySQLError{Number: refused.Code, Message: refused.Message}
	}
	return answer, err
}

func (a *attrConn) ExecContext(_ context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	_, err := a.send(query, args)
	return driver.ResultNoRows, err
}

func (a *attrConn) QueryContext(_ context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	answer, err := a.send(query, args)
	if err != nil || len(answer) == 0 {
		return nil, err
	}
	return &attrRows{answer[len(answer)-1]}, nil
}

type attrRows struct{ raw.Result }

func (r *attrRows) Columns() []string {
	names := make([]string, len(r.Result.Columns))
	for i, c := range r.Result.Columns {
		names[i] = c.Name
	}
	return names
}

func (r *attrRows) Close() error { return nil }

func (r *attrRows) Next(dest []driver.Value) error {
	if len(r.Rows) == 0 {
		return io.EOF
	}
	for i, v := range r.Rows[0] {
		dest[i] = nil
		if v != nil {
			dest[i] = string(v)
		}
	}
	r.Rows = r.Rows[1:]
	return nil
}

// attrReaders is readers for tokens in query attributes.
func attrReaders(t *testing.T, addr string) *sql.DB {
	db := sql.OpenDB(attrConnector{addr})
	db.SetMaxIdleConns(connections)
	t.Cleanup(func() { db.Close() })
	return db
}
