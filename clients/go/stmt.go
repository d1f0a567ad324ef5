package causeway

import (
	"context"
	"database/sql/driver"
)

// stmt is a prepared statement.
type stmt struct {
	driver.Stmt
	conn   *conn
	effect effect
}

// ExecContext is driver.StmtExecContext's.
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if err := s.conn.before(ctx); err != nil {
		return nil, err
	}
	r, err := s.exec(ctx, args)
	s.conn.ran(ctx, err, s.effect)
	return r, err
}

func (s *stmt) exec(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if e, ok := s.Stmt.(driver.StmtExecContext); ok {
		return e.ExecContext(ctx, args)
	}
	return s.Stmt.Exec(values(args)) //nolint:staticcheck // there is no other way with such a driver
}

// QueryContext is driver.StmtQueryContext's.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if err := s.conn.before(ctx); err != nil {
		return nil, err
	}
	rows, err := s.query(ctx, args)
	if err == nil && s.effect.commit && !s.conn.inTx && CarrierFrom(ctx) != nil {
		return wrapRows(rows, func() { s.conn.after(ctx) }), nil
	}
	s.conn.ran(ctx, err, s.effect)
	return rows, err
}

func (s *stmt) query(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if q, ok := s.Stmt.(driver.StmtQueryContext); ok {
		return q.QueryContext(ctx, args)
	}
	return s.Stmt.Query(values(args)) //nolint:staticcheck // there is no other way with such a driver
}

// CheckNamedValue is driver.NamedValueChecker's. It asks in the order of
// database/sql, which sees only this wrapper: the statement, its connection,
// the statement's old interface.
func (s *stmt) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := s.Stmt.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	if n, ok := s.conn.Conn.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	if c, ok := s.Stmt.(driver.ColumnConverter); ok && v.Ordinal <= s.NumInput() { //nolint:staticcheck // old drivers
		var err error
		v.Value, err = c.ColumnConverter(v.Ordinal - 1).ConvertValue(v.Value)
		return err
	}
	return driver.ErrSkip
}

func values(args []driver.NamedValue) []driver.Value {
	list := make([]driver.Value, len(args))
	for i, a := range args {
		list[i] = a.Value
	}
	return list
}
