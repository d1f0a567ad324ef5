package consistency

import (
	"context"
	"fmt"
)

// begin opens a transaction in one of MySQL's ways.
func (w *worker) begin(ctx context.Context) error {
	words := []string{"BEGIN", "START TRANSACTION", "begin work", "START TRANSACTION READ WRITE"}
	return w.all(ctx, words[w.rng.IntN(len(words))])
}

func transaction(ctx context.Context, w *worker) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	id := w.row()
	if err := w.upsert(ctx, id, w.value()); err != nil {
		return err
	}
	if w.rng.IntN(4) == 0 {
		if err := w.verify(ctx, w.point(id)); err != nil {
			return err
		}
	}
	if err := w.all(ctx, "COMMIT"); err != nil {
		return err
	}
	return w.readBack(ctx, id)
}

func longTransaction(ctx context.Context, w *worker) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	id := w.row()
	for range 2 + w.rng.IntN(6) {
		id = w.row()
		if err := w.upsert(ctx, id, w.value()); err != nil {
			return err
		}
	}
	if err := w.all(ctx, "COMMIT"); err != nil {
		return err
	}
	return w.readBack(ctx, id)
}

func savepoint(ctx context.Context, w *worker) error {
	if err := w.all(ctx, "START TRANSACTION"); err != nil {
		return err
	}
	kept := w.row()
	if err := w.upsert(ctx, kept, w.value()); err != nil {
		return err
	}
	if err := w.all(ctx, "SAVEPOINT sp"); err != nil {
		return err
	}
	undone, v := w.row(), w.value()
	if err := w.exec(ctx, upsertSQL, undone, w.id, v, note(v)); err != nil {
		return err
	}
	if err := w.all(ctx, "ROLLBACK TO sp", "COMMIT"); err != nil {
		return err
	}
	if err := w.readBack(ctx, kept); err != nil {
		return err
	}
	return w.verify(ctx, w.point(undone))
}

// rollback writes a row, then undoes another write to it.
func rollback(ctx context.Context, w *worker) error {
	id, v := w.row(), w.value()
	if err := w.upsert(ctx, id, w.value()); err != nil {
		return err
	}
	if err := w.begin(ctx); err != nil {
		return err
	}
	if err := w.exec(ctx, upsertSQL, id, w.id, v, note(v)); err != nil {
		return err
	}
	if err := w.all(ctx, "ROLLBACK"); err != nil {
		return err
	}
	return w.readBack(ctx, id)
}

func chain(ctx context.Context, w *worker) error {
	first, second := w.row(), w.row()
	if err := w.all(ctx, "BEGIN"); err != nil {
		return err
	}
	if err := w.upsert(ctx, first, w.value()); err != nil {
		return err
	}
	if err := w.all(ctx, "COMMIT AND CHAIN"); err != nil {
		return err
	}
	if err := w.upsert(ctx, second, w.value()); err != nil {
		return err
	}
	if err := w.all(ctx, "COMMIT"); err != nil {
		return err
	}
	if err := w.verify(ctx, w.point(first)); err != nil {
		return err
	}
	return w.readBack(ctx, second)
}

func autocommitOff(ctx context.Context, w *worker) error { return w.withoutAutocommit(ctx, "COMMIT") }

// autocommitOn ends the transaction by switching autocommit on: the OK of that
// SET carries the GTID.
func autocommitOn(ctx context.Context, w *worker) error { return w.withoutAutocommit(ctx) }

// autocommitBegin ends the implicit transaction by opening another one.
func autocommitBegin(ctx context.Context, w *worker) error {
	return w.withoutAutocommit(ctx, "BEGIN", "ROLLBACK")
}

func (w *worker) withoutAutocommit(ctx context.Context, end ...string) error {
	if err := w.all(ctx, "SET autocommit = 0"); err != nil {
		return err
	}
	id := w.row()
	if w.rng.IntN(2) == 0 { // as frameworks do: read, change, write
		if err := w.verify(ctx, w.point(id)); err != nil {
			return err
		}
	}
	if err := w.upsert(ctx, id, w.value()); err != nil {
		return err
	}
	if err := w.all(ctx, append(end, "SET autocommit = 1")...); err != nil {
		return err
	}
	return w.readBack(ctx, id)
}

func (w *worker) xid() string { return fmt.Sprintf("'rw-%d-%d'", w.id, w.value()) }

// xaWrite runs a write as an XA transaction up to XA END.
func (w *worker) xaWrite(ctx context.Context, xid string) (int, int64, error) {
	id, v := w.row(), w.value()
	if err := w.all(ctx, "XA START "+xid); err != nil {
		return 0, 0, err
	}
	if err := w.exec(ctx, upsertSQL, id, w.id, v, note(v)); err != nil {
		return 0, 0, err
	}
	return id, v, w.all(ctx, "XA END "+xid)
}

func xaTwoPhases(ctx context.Context, w *worker) error {
	xid := w.xid()
	id, v, err := w.xaWrite(ctx, xid)
	if err != nil {
		return err
	}
	if err := w.all(ctx, "XA PREPARE "+xid); err != nil {
		return err
	}
	if err := w.all(ctx, "XA COMMIT "+xid); err != nil {
		return err
	}
	return w.wrote(ctx, id, v)
}

func xaOnePhase(ctx context.Context, w *worker) error {
	xid := w.xid()
	id, v, err := w.xaWrite(ctx, xid)
	if err != nil {
		return err
	}
	if err := w.all(ctx, "XA COMMIT "+xid+" ONE PHASE"); err != nil {
		return err
	}
	return w.wrote(ctx, id, v)
}

func xaRollback(ctx context.Context, w *worker) error {
	xid := w.xid()
	id, _, err := w.xaWrite(ctx, xid)
	if err != nil {
		return err
	}
	end := []string{"XA PREPARE " + xid, "XA ROLLBACK " + xid}
	if err := w.all(ctx, end[w.rng.IntN(2):]...); err != nil {
		return err
	}
	return w.readBack(ctx, id)
}
