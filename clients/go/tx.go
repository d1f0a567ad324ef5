package causeway

import (
	"context"
	"database/sql/driver"
	"errors"
)

// errTxOptions is for a driver that knows no BeginTx.
var errTxOptions = errors.New("causeway: the driver knows no isolation levels and no read-only transactions")

// tx is a transaction: its commit gives a token, its rollback none.
type tx struct {
	driver.Tx
	ctx      context.Context // of BeginTx: Commit has none of its own
	conn     *conn
	readOnly bool
}

// BeginTx is driver.ConnBeginTx's.
func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if err := c.before(ctx); err != nil {
		return nil, err
	}
	inner, err := c.begin(ctx, o)
	if err != nil {
		return nil, err
	}
	c.inTx, c.committedInside = true, false
	return &tx{Tx: inner, ctx: ctx, conn: c, readOnly: o.ReadOnly}, nil
}

func (c *conn) begin(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if b, ok := c.Conn.(driver.ConnBeginTx); ok {
		return b.BeginTx(ctx, o)
	}
	if o.ReadOnly || o.Isolation != 0 {
		return nil, errTxOptions
	}
	return c.Conn.Begin() //nolint:staticcheck // there is no other way with such a driver
}

// Begin is driver.Conn's.
func (c *conn) Begin() (driver.Tx, error) { return c.BeginTx(context.Background(), driver.TxOptions{}) }

// Commit is driver.Tx's. A commit that failed by the server's word may still
// have committed, a statement before it too.
func (t *tx) Commit() error {
	err := t.Tx.Commit()
	t.conn.inTx = false
	t.conn.ran(t.ctx, err, effect{commit: !t.readOnly})
	return err
}

// Rollback is driver.Tx's.
func (t *tx) Rollback() error {
	err := t.Tx.Rollback()
	t.conn.inTx = false
	t.conn.ran(t.ctx, err, effect{commit: t.conn.committedInside})
	return err
}
