package lab

import (
	"context"
	"database/sql"
	"fmt"
)

// Agree tells how a replica that has caught up differs from its source: by
// transactions of its own, or in the content of a table.
func Agree(ctx context.Context, source, replica *sql.DB, tables ...string) error {
	var theirs string
	if err := replica.QueryRowContext(ctx, "SELECT @@GLOBAL.gtid_executed").Scan(&theirs); err != nil {
		return err
	}
	var errant string
	if err := source.QueryRowContext(ctx, "SELECT GTID_SUBTRACT(?, @@GLOBAL.gtid_executed)", theirs).Scan(&errant); err != nil {
		return err
	}
	if errant != "" {
		return fmt.Errorf("transactions that the source never had: %s", errant)
	}
	for _, table := range tables {
		want, err := checksum(ctx, source, table)
		if err != nil {
			return err
		}
		got, err := checksum(ctx, replica, table)
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("content of %s differs from the source's", table)
		}
	}
	return nil
}

func checksum(ctx context.Context, db *sql.DB, table string) (int64, error) {
	var name string
	var sum sql.NullInt64
	if err := db.QueryRowContext(ctx, "CHECKSUM TABLE "+table).Scan(&name, &sum); err != nil {
		return 0, fmt.Errorf("checksum: %w", err)
	}
	if !sum.Valid {
		return 0, fmt.Errorf("checksum: no table %s", table)
	}
	return sum.Int64, nil
}
