package consistency

import (
	"context"
	"fmt"
)

// table returns a name that the worker never used.
func (w *worker) table() string {
	w.tables++
	return fmt.Sprintf("own_%d_%d", w.id, w.tables)
}

// step is a statement and what a read right after it must give.
type step struct {
	stmt string
	read proof
}

// steps runs each statement and its read in turn.
func (w *worker) steps(ctx context.Context, steps ...step) error {
	for _, s := range steps {
		if err := w.all(ctx, s.stmt); err != nil {
			return err
		}
		if err := w.verify(ctx, s.read); err != nil {
			return err
		}
	}
	return nil
}

// tableLife creates, changes, renames and drops a table.
func tableLife(ctx context.Context, w *worker) error {
	t, v := w.table(), w.value()
	r := t + "_r"
	return w.steps(ctx,
		step{"CREATE TABLE " + t + " (id INT PRIMARY KEY, v BIGINT)", proof{query: "SELECT COUNT(*) FROM " + t, want: "0"}},
		step{fmt.Sprintf("INSERT INTO %s VALUES (1, %d)", t, v), proof{query: "SELECT v FROM " + t, want: fmt.Sprint(v)}},
		step{"ALTER TABLE " + t + " ADD COLUMN more INT NOT NULL DEFAULT 7", proof{query: "SELECT more FROM " + t, want: "7"}},
		step{"TRUNCATE TABLE " + t, proof{query: "SELECT COUNT(more) FROM " + t, want: "0"}},
		step{"RENAME TABLE " + t + " TO " + r, proof{query: "SELECT COUNT(*) FROM " + r, want: "0"}},
		step{"DROP TABLE " + r, proof{query: "SELECT COUNT(*) FROM " + r, errno: 1146}},
	)
}

func tableCopy(ctx context.Context, w *worker) error {
	t := w.table()
	want := fmt.Sprint(len(w.rows))
	return w.steps(ctx,
		step{fmt.Sprintf("CREATE TABLE %s SELECT id, v FROM rw WHERE owner = %d", t, w.id), proof{query: "SELECT COUNT(*) FROM " + t, want: want}},
		step{"DROP TABLE IF EXISTS " + t, proof{query: "SELECT * FROM " + t, errno: 1146}},
	)
}

func viewLife(ctx context.Context, w *worker) error {
	name := w.table() + "_view"
	id, err := w.existing(ctx)
	if err != nil {
		return err
	}
	v := fmt.Sprint(w.rows[id])
	create := fmt.Sprintf("CREATE OR REPLACE VIEW %s AS SELECT id, v, %%d AS tag FROM rw WHERE id = %d", name, id)
	return w.steps(ctx,
		step{fmt.Sprintf(create, 1), proof{query: "SELECT v, tag FROM " + name, want: v + ",1"}},
		step{fmt.Sprintf(create, 2), proof{query: "SELECT v, tag FROM " + name, want: v + ",2"}},
		step{"DROP VIEW " + name, proof{query: "SELECT v FROM " + name, errno: 1146}},
	)
}

// ddlInTransaction commits its write by the DDL that follows.
func ddlInTransaction(ctx context.Context, w *worker) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	id, t := w.row(), w.table()
	if err := w.upsert(ctx, id, w.value()); err != nil {
		return err
	}
	if err := w.all(ctx, "CREATE TABLE "+t+" (id INT)"); err != nil {
		return err
	}
	if err := w.readBack(ctx, id); err != nil {
		return err
	}
	return w.all(ctx, "DROP TABLE "+t)
}

func analyze(ctx context.Context, w *worker) error {
	t, v := fmt.Sprintf("locked_%d", w.id), w.value()
	if err := w.all(ctx, fmt.Sprintf("REPLACE INTO %s VALUES (1, %d)", t, v)); err != nil {
		return err
	}
	if _, err := w.query(ctx, "ANALYZE TABLE "+t); err != nil {
		return err
	}
	return w.verify(ctx, proof{query: "SELECT v FROM " + t, want: fmt.Sprint(v)})
}
