package crowd

import (
	"context"
	"fmt"
)

// round is one piece of everything that applications do.
func (w *worker) round() error {
	ctx := context.Background()
	for _, do := range []func(context.Context) error{w.reads, w.writes, w.transaction, w.prepared, w.own} {
		if err := do(ctx); err != nil {
			return err
		}
	}
	w.rounds++
	return nil
}

func (w *worker) reads(ctx context.Context) error {
	for i := range 3 {
		var v int64
		if err := w.c.QueryRowContext(ctx, fmt.Sprintf("SELECT v FROM crowd WHERE id = %d", (w.id+i)%1000)).Scan(&v); err != nil {
			return fmt.Errorf("read: %w", err)
		}
	}
	return nil
}

// writes inserts, and asks for what the insert left in the session.
func (w *worker) writes(ctx context.Context) error {
	res, err := w.c.ExecContext(ctx, fmt.Sprintf("INSERT INTO crowd_log (who) VALUES (%d)", w.id))
	if err != nil {
		return fmt.Errorf("insert: %w", err)
	}
	id, _ := res.LastInsertId()
	var last, rows, who int64
	if err := w.c.QueryRowContext(ctx, "SELECT ROW_COUNT()").Scan(&rows); err != nil || rows != 1 {
		return fmt.Errorf("ROW_COUNT() is %d, %v", rows, err)
	}
	if err := w.c.QueryRowContext(ctx, "SELECT LAST_INSERT_ID()").Scan(&last); err != nil || last != id {
		return fmt.Errorf("LAST_INSERT_ID() is %d, %v; inserted %d", last, err, id)
	}
	if err := w.c.QueryRowContext(ctx, fmt.Sprintf("SELECT who FROM crowd_log WHERE id = %d", id)).Scan(&who); err != nil || who != int64(w.id) {
		return fmt.Errorf("own write %d read back as %d, %v", id, who, err)
	}
	return nil
}

func (w *worker) transaction(ctx context.Context) error {
	tx, err := w.c.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()
	var before, after int64
	if err := tx.QueryRowContext(ctx, fmt.Sprintf("SELECT v FROM crowd WHERE id = %d FOR UPDATE", w.id)).Scan(&before); err != nil {
		return fmt.Errorf("locking read: %w", err)
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("UPDATE crowd SET v = v + 1 WHERE id = %d", w.id)); err != nil {
		return fmt.Errorf("update: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	err = w.c.QueryRowContext(ctx, fmt.Sprintf("SELECT v FROM crowd WHERE id = %d", w.id)).Scan(&after)
	if err != nil || after != before+1 {
		return fmt.Errorf("%d after the update of %d, %v", after, before, err)
	}
	return nil
}

func (w *worker) prepared(ctx context.Context) error {
	for _, text := range []string{"SELECT v FROM crowd WHERE id = ?", "SELECT COUNT(*) FROM crowd WHERE id = ?"} {
		st, err := w.c.PrepareContext(ctx, text)
		if err != nil {
			return fmt.Errorf("prepare: %w", err)
		}
		for i := range 3 {
			var v int64
			if err := st.QueryRowContext(ctx, (w.id+i)%1000).Scan(&v); err != nil {
				st.Close()
				return fmt.Errorf("execute: %w", err)
			}
		}
		st.Close()
	}
	return nil
}

// own looks at the session's own state, which must be as it was left.
func (w *worker) own(ctx context.Context) error {
	var zone, names, schema, who, conn string
	err := w.c.QueryRowContext(ctx, "SELECT @@time_zone, @@lc_time_names, DATABASE(), @who").Scan(&zone, &names, &schema, &who)
	if err != nil {
		return fmt.Errorf("own state: %w", err)
	}
	want := "de_DE"
	if w.id%3 == 0 {
		want = "en_US"
	}
	if zone != w.zone || names != want || schema != "app" || who != fmt.Sprint(w.id) {
		return fmt.Errorf("the session of client %d has %s, %s, %s, @who = %s", w.id, zone, names, schema, who)
	}
	if err := w.c.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&conn); err != nil || conn != w.conn {
		return fmt.Errorf("CONNECTION_ID() was %s and is %s, %v", w.conn, conn, err)
	}
	var month string
	if err := w.c.QueryRowContext(ctx, "SELECT MONTHNAME('2026-03-01')").Scan(&month); err != nil || month != map[string]string{"de_DE": "März", "en_US": "March"}[want] {
		return fmt.Errorf("March is %s, %v", month, err)
	}
	return nil
}
