package consistency

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/go-sql-driver/mysql"
)

const upsertSQL = "INSERT INTO rw (id, owner, v, note) VALUES (?, ?, ?, ?) AS new ON DUPLICATE KEY UPDATE v = new.v, note = new.note"

func note(v int64) string { return fmt.Sprintf("n%d", v) }

// upsert writes one row and the model; it does not read.
func (w *worker) upsert(ctx context.Context, id int, v int64) error {
	if err := w.exec(ctx, upsertSQL, id, w.id, v, note(v)); err != nil {
		return fmt.Errorf("upsert: %w", err)
	}
	w.rows[id] = v
	return nil
}

// wrote notes that a row has a value by now, and reads it back.
func (w *worker) wrote(ctx context.Context, id int, v int64) error {
	w.rows[id] = v
	return w.readBack(ctx, id)
}

func upsert(ctx context.Context, w *worker) error {
	id := w.row()
	if err := w.upsert(ctx, id, w.value()); err != nil {
		return err
	}
	return w.readBack(ctx, id)
}

func update(ctx context.Context, w *worker) error {
	id, err := w.existing(ctx)
	if err != nil {
		return err
	}
	v := w.value()
	if err := w.exec(ctx, "UPDATE rw SET v = ?, note = ? WHERE id = ?", v, note(v), id); err != nil {
		return err
	}
	return w.wrote(ctx, id, v)
}

func replace(ctx context.Context, w *worker) error {
	id, v := w.row(), w.value()
	if err := w.exec(ctx, "REPLACE INTO rw VALUES (?, ?, ?, ?)", id, w.id, v, note(v)); err != nil {
		return err
	}
	return w.wrote(ctx, id, v)
}

func remove(ctx context.Context, w *worker) error {
	id, err := w.existing(ctx)
	if err != nil {
		return err
	}
	if err := w.exec(ctx, "DELETE FROM rw WHERE id = ?", id); err != nil {
		return err
	}
	delete(w.rows, id)
	return w.readBack(ctx, id)
}

// duplicate writes a row and then fails to insert it again: the error must not
// lose the token.
func duplicate(ctx context.Context, w *worker) error {
	id := w.row()
	if err := w.upsert(ctx, id, w.value()); err != nil {
		return err
	}
	err := w.exec(ctx, "INSERT INTO rw VALUES (?, ?, ?, ?)", id, w.id, 1, "n1")
	if err := fails(err, 1062); err != nil {
		return err
	}
	return w.readBack(ctx, id)
}

func loadData(ctx context.Context, w *worker) error {
	var lines strings.Builder
	ids := []int{w.row(), w.row(), w.row()}
	for _, id := range ids {
		v := w.value()
		w.rows[id] = v
		fmt.Fprintf(&lines, "%d\t%d\t%d\t%s\n", id, w.id, v, note(v))
	}
	name := fmt.Sprintf("worker%d", w.id)
	mysql.RegisterReaderHandler(name, func() io.Reader { return strings.NewReader(lines.String()) })
	defer mysql.DeregisterReaderHandler(name)
	if err := w.exec(ctx, "LOAD DATA LOCAL INFILE 'Reader::"+name+"' REPLACE INTO TABLE rw"); err != nil {
		return err
	}
	return w.readBack(ctx, ids[2])
}

// otherSchema writes in one schema and reads the table of the same name in
// both: the schema must follow the session to whichever node answers.
func otherSchema(ctx context.Context, w *worker) error {
	id, v := w.row(), w.value()
	if err := w.all(ctx, "USE rw_side"); err != nil {
		return err
	}
	if _, err := w.conn.ExecContext(ctx, "REPLACE INTO rw VALUES (?, ?, ?, ?)", id, w.id, v, note(v)); err != nil {
		return err
	}
	w.side[id] = v
	read := fmt.Sprintf("SELECT v FROM rw WHERE id = %d", id)
	if err := w.verify(ctx, proof{query: read, want: fmt.Sprint(v), truth: "SELECT v FROM rw_side.rw WHERE id = " + fmt.Sprint(id)}); err != nil {
		return err
	}
	if err := w.all(ctx, "USE rw_main"); err != nil {
		return err
	}
	main := ""
	if v, ok := w.rows[id]; ok {
		main = fmt.Sprint(v)
	}
	return w.verify(ctx, proof{query: read, want: main})
}

// several sends several statements in one text. Only a text can hold several.
func several(ctx context.Context, w *worker) error {
	a, b := w.row(), w.row()
	va, vb := w.value(), w.value()
	got, err := w.query(ctx, fmt.Sprintf(
		"REPLACE INTO rw VALUES (%d, %d, %d, 'n%d'); SELECT v FROM rw WHERE id = %d; REPLACE INTO rw VALUES (%d, %d, %d, 'n%d')",
		a, w.id, va, va, a, b, w.id, vb, vb))
	if err != nil {
		return err
	}
	if got := strings.Trim(got, "|"); got != fmt.Sprint(va) {
		return fmt.Errorf("several statements: got %q, wanted %d", got, va)
	}
	w.rows[a] = va
	return w.wrote(ctx, b, vb)
}

func severalFail(ctx context.Context, w *worker) error {
	id, v := w.row(), w.value()
	_, err := w.query(ctx, fmt.Sprintf("REPLACE INTO rw VALUES (%d, %d, %d, 'n%d'); SELECT * FROM no_such_table", id, w.id, v, v))
	if err := fails(err, 1146); err != nil {
		return err
	}
	return w.wrote(ctx, id, v)
}

func lockTables(ctx context.Context, w *worker) error {
	table, v := fmt.Sprintf("locked_%d", w.id), w.value()
	err := w.all(ctx,
		"LOCK TABLES "+table+" WRITE",
		fmt.Sprintf("REPLACE INTO %s VALUES (1, %d)", table, v),
		"UNLOCK TABLES")
	if err != nil {
		return err
	}
	return w.verify(ctx, proof{query: "SELECT v FROM " + table + " WHERE id = 1", want: fmt.Sprint(v)})
}
