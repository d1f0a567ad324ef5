package consistency

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// readBack reads a row that was just written, in one of several shapes.
func (w *worker) readBack(ctx context.Context, id int) error {
	switch n := w.rng.IntN(100); {
	case n < 55:
		return w.verify(ctx, w.point(id))
	case n < 65:
		return w.verify(ctx, w.list(id))
	case n < 75:
		return w.verify(ctx, w.sum())
	case n < 82:
		return w.verify(ctx, w.join(id))
	case n < 88:
		return w.verify(ctx, w.highest())
	case n < 95:
		return w.between(ctx, w.point(id), "START TRANSACTION READ ONLY", "COMMIT")
	case n < 97:
		return w.between(ctx, w.sum(), "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY", "ROLLBACK")
	default:
		return w.between(ctx, w.list(id), "SET SESSION TRANSACTION READ ONLY", "SET SESSION TRANSACTION READ WRITE")
	}
}

// between reads between two statements that open and end a reading state.
func (w *worker) between(ctx context.Context, c proof, before, after string) error {
	if err := w.exec(ctx, before); err != nil {
		return fmt.Errorf("%s: %w", before, err)
	}
	if err := w.verify(ctx, c); err != nil {
		return err
	}
	if err := w.exec(ctx, after); err != nil {
		return fmt.Errorf("%s: %w", after, err)
	}
	return nil
}

func (w *worker) point(id int) proof {
	c := proof{query: "SELECT v, note FROM rw WHERE id = ?", args: []any{id}}
	if v, ok := w.rows[id]; ok {
		c.want = fmt.Sprintf("%d,n%d", v, v)
	}
	return c
}

func (w *worker) list(id int) proof {
	ids := []int{id, w.row(), w.row()}
	slices.Sort(ids)
	c := proof{query: "SELECT id, v FROM rw WHERE id IN (?, ?, ?) ORDER BY id"}
	var want []string
	for i, id := range ids {
		c.args = append(c.args, id)
		if v, ok := w.rows[id]; ok && (i == 0 || ids[i-1] != id) {
			want = append(want, fmt.Sprintf("%d,%d", id, v))
		}
	}
	c.want = strings.Join(want, ";")
	return c
}

func (w *worker) sum() proof {
	total := int64(0)
	for _, v := range w.rows {
		total += v
	}
	return proof{
		query: "SELECT COUNT(*), COALESCE(SUM(v), 0) FROM rw WHERE owner = ?",
		args:  []any{w.id},
		want:  fmt.Sprintf("%d,%d", len(w.rows), total),
	}
}

func (w *worker) join(id int) proof {
	c := proof{query: "SELECT o.name, r.v FROM owners o JOIN rw r ON r.owner = o.id WHERE r.id = ?", args: []any{id}}
	if v, ok := w.rows[id]; ok {
		c.want = fmt.Sprintf("owner%d,%d", w.id, v)
	}
	return c
}

func (w *worker) highest() proof {
	c := proof{
		query: "WITH mine AS (SELECT v FROM rw WHERE owner = ?) /* the newest */ SELECT MAX(v) FROM mine",
		args:  []any{w.id},
		want:  "NULL",
	}
	top := int64(0)
	for _, v := range w.rows {
		top = max(top, v)
	}
	if top > 0 {
		c.want = fmt.Sprint(top)
	}
	return c
}

// looseRows counts the worker's rows in the MyISAM table.
func (w *worker) looseRows() proof {
	return proof{
		query: "SELECT COUNT(*) FROM loose WHERE owner = ?",
		args:  []any{w.id},
		want:  fmt.Sprint(len(w.loose)),
	}
}
