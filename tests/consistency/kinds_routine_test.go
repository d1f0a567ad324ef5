package consistency

import (
	"context"
	"fmt"
)

func call(ctx context.Context, w *worker) error {
	id, v := w.row(), w.value()
	if err := w.exec(ctx, "CALL put(?, ?, ?)", id, w.id, v); err != nil {
		return err
	}
	return w.wrote(ctx, id, v)
}

// callResults calls a procedure whose write lies between its two results.
func callResults(ctx context.Context, w *worker) error {
	id, v := w.row(), w.value()
	got, err := w.query(ctx, "CALL put_and_list(?, ?, ?)", id, w.id, v)
	if err != nil {
		return err
	}
	if want := fmt.Sprintf("1|%d", v); got != want && got != want+"|" {
		return fmt.Errorf("CALL put_and_list: got %q, wanted %q", got, want)
	}
	return w.wrote(ctx, id, v)
}

func function(ctx context.Context, w *worker) error {
	id, v := w.row(), w.value()
	got, err := w.query(ctx, "SELECT put_fn(?, ?, ?)", id, w.id, v)
	if err != nil {
		return err
	}
	if got != fmt.Sprint(v) {
		return fmt.Errorf("SELECT put_fn: got %q, wanted %d", got, v)
	}
	return w.wrote(ctx, id, v)
}

func doFunction(ctx context.Context, w *worker) error {
	id, v := w.row(), w.value()
	if err := w.exec(ctx, fmt.Sprintf("DO put_fn(%d, %d, %d)", id, w.id, v)); err != nil {
		return err
	}
	return w.wrote(ctx, id, v)
}

// viewFunction writes by what looks like a plain read: no parser can see it.
func viewFunction(ctx context.Context, w *worker) error {
	id, err := w.existing(ctx)
	if err != nil {
		return err
	}
	v := w.rows[id] + 1000000000
	got, err := w.query(ctx, "SELECT v FROM bumping WHERE id = ?", id)
	if err != nil {
		return err
	}
	if got != fmt.Sprint(v) {
		return fmt.Errorf("SELECT FROM bumping: got %q, wanted %d", got, v)
	}
	return w.wrote(ctx, id, v)
}
