package main

import (
	"context"
	"database/sql/driver"
)

// tracer adds a comment to each statement, in front or, as sqlcommenter does,
// behind.
type tracer struct {
	driver.Connector
	behind bool
}

func (t tracer) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := t.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return tracedConn{c.(connection), t.behind}, nil
}

// connection is what this tracer wants of a driver's connection.
type connection interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

type tracedConn struct {
	connection
	behind bool
}

func (c tracedConn) traced(query string) string {
	const comment = "/*traceparent='00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',route='%2Fcomments'*/"
	if c.behind {
		return query + " " + comment
	}
	return comment + " " + query
}

func (c tracedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.connection.ExecContext(ctx, c.traced(query), args)
}

func (c tracedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.connection.QueryContext(ctx, c.traced(query), args)
}

func (c tracedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return c.connection.PrepareContext(ctx, c.traced(query))
}
