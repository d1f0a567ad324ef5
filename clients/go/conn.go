package causeway

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// conn is one connection of the pool. As database/sql promises, one goroutine
// uses it at a time.
type conn struct {
	driver.Conn
	held string // the token that the session behind the connection has surely got, with what it has written since
	inTx bool   // a driver.Tx is open
	// committedInside: a statement of the transaction committed, as DDL does; a rollback does not undo that.
	committedInside bool
	dead            bool // a statement of ours was left without an answer
}

// askLimit is how long the question for a token may take. The commit
// is done by then, so the caller's own deadline no longer counts.
const askLimit = 5 * time.Second

// before hands the token in where one is demanded. Inside a transaction it is
// too late: its view of the data is made.
func (c *conn) before(ctx context.Context) error {
	carrier := CarrierFrom(ctx)
	if carrier == nil || c.inTx {
		return nil
	}
	err := carrier.handIn(ctx, c)
	if err == nil {
		return nil
	}
	if _, gone := c.get(ctx); gone == nil { // Causeway's own word, such as that the source cannot be asked now
		return fmt.Errorf("causeway: handing the token in: %w", err)
	}
	c.dead = true
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return driver.ErrBadConn // nothing of the caller's was sent: another connection may serve it
}

// after takes the token of what was committed. It cannot fail: the commit is
// done, and an error would say that it is not.
func (c *conn) after(ctx context.Context) {
	carrier := CarrierFrom(ctx)
	if carrier == nil || c.dead {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askLimit)
	defer cancel()
	if err := carrier.learn(ctx, c); err != nil {
		c.dead = true
		carrier.logger.WarnContext(ctx, "the causeway token of a write is lost with its connection; the user's next page may not show it", "error", err)
	}
}

// holds is session's.
func (c *conn) holds() string { return c.held }

// set is session's. What Causeway will never take it says so of; any other error
// must not let a read pass without its token.
func (c *conn) set(ctx context.Context, tokens []string) (refused bool, err error) {
	_, err = c.exec(ctx, "SET @causeway_token = '"+strings.Join(tokens, "', @causeway_token = '")+"'", nil)
	switch {
	case err == nil && len(tokens) == 1:
		c.held = tokens[0]
	case err != nil && (strings.Contains(err.Error(), "drop it and go on without") || strings.Contains(err.Error(), "the token cannot be taken")):
		return true, err
	default:
		c.held = ""
	}
	return false, err
}

// get is session's.
func (c *conn) get(ctx context.Context) (string, error) {
	rows, err := c.query(ctx, "SELECT @causeway_token", nil)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	row := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(row); err != nil {
		return "", err
	}
	token := ""
	switch v := row[0].(type) {
	case []byte:
		token = string(v)
	case string:
		token = v
	}
	if err := rows.Next(row); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	c.held = token
	return token, nil
}

// ExecContext is driver.ExecerContext's.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.before(ctx); err != nil {
		return nil, err
	}
	r, err := c.exec(ctx, query, args)
	c.ran(ctx, err, effectOf(query))
	return r, err
}

// effect is what a statement may do to the data.
type effect struct{ commit, commitInside bool }

func effectOf(query string) effect { return effect{mayCommit(query), mayCommitInside(query)} }

// ran is called when a statement has its answer. A statement that failed may
// have committed a part.
func (c *conn) ran(ctx context.Context, err error, e effect) {
	switch {
	case errors.Is(err, driver.ErrSkip):
	case c.inTx:
		c.committedInside = c.committedInside || e.commitInside
	case e.commit:
		c.after(ctx)
	}
}

func (c *conn) exec(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if e, ok := c.Conn.(driver.ExecerContext); ok {
		return e.ExecContext(ctx, query, args)
	}
	return nil, driver.ErrSkip
}

// QueryContext is driver.QueryerContext's.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.before(ctx); err != nil {
		return nil, err
	}
	rows, err := c.query(ctx, query, args)
	e := effectOf(query)
	if err == nil && e.commit && !c.inTx && CarrierFrom(ctx) != nil {
		return wrapRows(rows, func() { c.after(ctx) }), nil
	}
	c.ran(ctx, err, e)
	return rows, err
}

func (c *conn) query(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if q, ok := c.Conn.(driver.QueryerContext); ok {
		return q.QueryContext(ctx, query, args)
	}
	return nil, driver.ErrSkip
}

// PrepareContext is driver.ConnPrepareContext's.
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	var inner driver.Stmt
	var err error
	if p, ok := c.Conn.(driver.ConnPrepareContext); ok {
		inner, err = p.PrepareContext(ctx, query)
	} else {
		inner, err = c.Conn.Prepare(query)
	}
	if err != nil {
		return nil, err
	}
	return &stmt{Stmt: inner, conn: c, effect: effectOf(query)}, nil
}

// Prepare is driver.Conn's.
func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// Ping is driver.Pinger's.
func (c *conn) Ping(ctx context.Context) error {
	if p, ok := c.Conn.(driver.Pinger); ok {
		return p.Ping(ctx)
	}
	return nil
}

// CheckNamedValue is driver.NamedValueChecker's.
func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := c.Conn.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// ResetSession is driver.SessionResetter's.
func (c *conn) ResetSession(ctx context.Context) error {
	if c.dead {
		return driver.ErrBadConn
	}
	if r, ok := c.Conn.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

// IsValid is driver.Validator's.
func (c *conn) IsValid() bool {
	if v, ok := c.Conn.(driver.Validator); ok && !v.IsValid() {
		return false
	}
	return !c.dead
}

// Unwrap returns the connection below, for sql.Conn.Raw.
func (c *conn) Unwrap() driver.Conn { return c.Conn }
