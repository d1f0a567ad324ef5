package consistency

import (
	"context"
	"fmt"
)

// committedBy writes in a transaction and then runs a statement that commits it
// and fails with that error.
func (w *worker) committedBy(ctx context.Context, stmt string, errno uint16) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	id := w.row()
	if err := w.upsert(ctx, id, w.value()); err != nil {
		return err
	}
	if err := fails(w.exec(ctx, stmt), errno); err != nil {
		return fmt.Errorf("%s: %w", stmt, err)
	}
	return w.readBack(ctx, id)
}

func createFails(ctx context.Context, w *worker) error {
	return w.committedBy(ctx, "CREATE TABLE rw (id INT)", 1050)
}

func alterFails(ctx context.Context, w *worker) error {
	return w.committedBy(ctx, "ALTER TABLE no_such_table ADD COLUMN x INT", 1146)
}

func lockFails(ctx context.Context, w *worker) error {
	return w.committedBy(ctx, "LOCK TABLES no_such_table READ", 1146)
}

func callFails(ctx context.Context, w *worker) error {
	id, v := w.row(), w.value()
	if err := fails(w.exec(ctx, "CALL put_and_fail(?, ?, ?)", id, w.id, v), 1644); err != nil {
		return err
	}
	return w.wrote(ctx, id, v)
}

// loose returns a row id of the MyISAM table that is free; it deletes the
// worker's rows when they have become many.
func (w *worker) looseRow(ctx context.Context) (int, error) {
	if len(w.loose) >= 20 {
		if err := w.exec(ctx, "DELETE FROM loose WHERE owner = ?", w.id); err != nil {
			return 0, err
		}
		clear(w.loose)
	}
	for {
		if id := w.id*1000000 + w.rng.IntN(100000); !w.loose[id] {
			return id, nil
		}
	}
}

// looseFails inserts rows of which the second exists: the first one stays.
func looseFails(ctx context.Context, w *worker) error {
	id, err := w.looseRow(ctx)
	if err != nil {
		return err
	}
	err = w.exec(ctx, "INSERT INTO loose VALUES (?, ?), (?, ?)", id, w.id, looseTaken(w.id), w.id)
	if err := fails(err, 1062); err != nil {
		return err
	}
	w.loose[id] = true
	return w.verify(ctx, w.looseRows())
}

// looseRollback inserts a row that ROLLBACK does not undo.
func looseRollback(ctx context.Context, w *worker) error {
	id, err := w.looseRow(ctx)
	if err != nil {
		return err
	}
	if err := w.begin(ctx); err != nil {
		return err
	}
	if err := w.exec(ctx, "INSERT INTO loose VALUES (?, ?)", id, w.id); err != nil {
		return err
	}
	if err := w.all(ctx, "ROLLBACK"); err != nil {
		return err
	}
	w.loose[id] = true
	return w.verify(ctx, w.looseRows())
}

func looseFunctionFails(ctx context.Context, w *worker) error {
	id, err := w.looseRow(ctx)
	if err != nil {
		return err
	}
	_, err = w.query(ctx, "SELECT loose_and_fail(?, ?)", id, w.id)
	if err := fails(err, 1644); err != nil {
		return err
	}
	w.loose[id] = true
	return w.verify(ctx, w.looseRows())
}
