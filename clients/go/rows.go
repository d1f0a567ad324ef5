package causeway

import (
	"database/sql/driver"
	"io"
	"reflect"
)

// rows is the answer of a statement that may write, as CALL does. Its token can
// be asked for only when the connection is free: at its close.
type rows struct {
	driver.Rows
	closed func()
}

func wrapRows(inner driver.Rows, closed func()) driver.Rows { return &rows{inner, closed} }

// Close is driver.Rows'.
func (r *rows) Close() error {
	err := r.Rows.Close()
	if closed := r.closed; closed != nil {
		r.closed = nil
		closed()
	}
	return err
}

// HasNextResultSet is driver.RowsNextResultSet's.
func (r *rows) HasNextResultSet() bool {
	n, ok := r.Rows.(driver.RowsNextResultSet)
	return ok && n.HasNextResultSet()
}

// NextResultSet is driver.RowsNextResultSet's.
func (r *rows) NextResultSet() error {
	if n, ok := r.Rows.(driver.RowsNextResultSet); ok {
		return n.NextResultSet()
	}
	return io.EOF
}

// ColumnTypeDatabaseTypeName is driver.RowsColumnTypeDatabaseTypeName's.
func (r *rows) ColumnTypeDatabaseTypeName(i int) string {
	if t, ok := r.Rows.(driver.RowsColumnTypeDatabaseTypeName); ok {
		return t.ColumnTypeDatabaseTypeName(i)
	}
	return ""
}

// ColumnTypeScanType is driver.RowsColumnTypeScanType's.
func (r *rows) ColumnTypeScanType(i int) reflect.Type {
	if t, ok := r.Rows.(driver.RowsColumnTypeScanType); ok {
		return t.ColumnTypeScanType(i)
	}
	return reflect.TypeFor[any]()
}

// ColumnTypeNullable is driver.RowsColumnTypeNullable's.
func (r *rows) ColumnTypeNullable(i int) (nullable, ok bool) {
	if t, has := r.Rows.(driver.RowsColumnTypeNullable); has {
		return t.ColumnTypeNullable(i)
	}
	return false, false
}

// ColumnTypePrecisionScale is driver.RowsColumnTypePrecisionScale's.
func (r *rows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	if t, has := r.Rows.(driver.RowsColumnTypePrecisionScale); has {
		return t.ColumnTypePrecisionScale(i)
	}
	return 0, 0, false
}
