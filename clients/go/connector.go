package causeway

import (
	"context"
	"database/sql/driver"
	"io"
)

// Connector wraps a connector, so that statements whose context has a Carrier
// read what it demands and add to it what they commit:
//
//	db := sql.OpenDB(causeway.Connector(mysqlConnector))
//
// Wrappers that trace may be below it and above it. The connector below must
// not reset the server's session when a connection goes back to database/sql's
// pool; go-sql-driver/mysql does not.
func Connector(inner driver.Connector) driver.Connector { return &connector{inner} }

type connector struct{ driver.Connector }

// Connect is driver.Connector's.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: inner}, nil
}

// Close is io.Closer's, which sql.DB.Close calls.
func (c *connector) Close() error {
	if closer, ok := c.Connector.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}
