package consistency

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"causeway/tests/consistency/lab"
)

// rowsPerWorker is how many rows of rw each connection owns: few enough that
// they are written again and again while a replica stands.
const rowsPerWorker = 24

// worker is one connection with the rows that it alone writes.
type worker struct {
	id     int
	binary bool // prepared statements in binary protocol, else text
	conn   *sql.Conn
	rng    *rand.Rand
	run    *run

	kept   map[string]*sql.Stmt
	rows   map[int]int64 // rows of rw_main.rw that exist, with their values
	side   map[int]int64 // the same of rw_side.rw
	loose  map[int]bool  // rows of the MyISAM table that exist
	serial int64
	tables int     // names used up for tables of its own
	kind   string  // what it does right now
	mark   string  // a comment that ends each statement
	reader *reader // of a run that carries; else nil
}

func newWorker(r *run, id int) *worker {
	return &worker{
		id:     id,
		binary: id%2 == 1,
		rng:    rand.New(rand.NewPCG(r.seed, uint64(id))),
		run:    r,
		rows:   map[int]int64{},
		side:   map[int]int64{},
		loose:  map[int]bool{},
	}
}

// connect opens the worker's connection. Schemas start empty, so do its rows.
func (w *worker) connect(ctx context.Context) error {
	conn, err := w.run.db(w.binary).Conn(ctx)
	if err != nil {
		return err
	}
	w.conn = conn
	w.kept = map[string]*sql.Stmt{}
	if w.run.carry != nil {
		return w.connectReader(ctx)
	}
	return nil
}

func (w *worker) close() {
	for _, s := range w.kept {
		s.Close()
	}
	if w.conn != nil { // it may be in a transaction: not for anybody else
		w.conn.Raw(func(any) error { return driver.ErrBadConn })
		w.conn.Close()
	}
	if w.reader != nil {
		w.reader.close()
	}
}

// loop does weighted random kinds until the run has enough reads. A fault is
// recorded; the worker goes on, on a new connection if the old one is lost.
func (w *worker) loop(ctx context.Context) error {
	for w.run.wantsMore() && ctx.Err() == nil {
		k := pick(w.rng)
		w.kind = k.name
		err := k.do(ctx, w)
		if err == nil && w.reader != nil {
			err = w.readElsewhere(ctx)
		}
		if err == nil {
			continue
		}
		if ctx.Err() != nil {
			return nil
		}
		w.run.fault(w.describe(ctx, "error", err.Error(), proof{}))
		if err := w.recover(ctx); err != nil {
			return fmt.Errorf("connection %d cannot go on: %w", w.id, err)
		}
	}
	return nil
}

// recover brings connection and model together again after a fault: what the
// source holds now is the truth from here on.
func (w *worker) recover(ctx context.Context) error {
	w.close()
	if err := w.connect(ctx); err != nil {
		return err
	}
	for schema, model := range map[string]map[int]int64{"rw_main": w.rows, "rw_side": w.side} {
		clear(model)
		rows, err := w.run.truth.QueryContext(ctx, "SELECT id, v FROM "+schema+".rw WHERE owner = ?", w.id)
		if err != nil {
			return err
		}
		for rows.Next() {
			var id int
			var v int64
			if err := rows.Scan(&id, &v); err != nil {
				return errors.Join(err, rows.Close())
			}
			model[id] = v
		}
		if err := rows.Close(); err != nil {
			return err
		}
	}
	clear(w.loose)
	_, err := w.run.truth.ExecContext(ctx, "DELETE FROM rw_main.loose WHERE owner = ?", w.id)
	return err
}

// value returns a value that was never written before.
func (w *worker) value() int64 {
	w.serial++
	return w.serial*100 + int64(w.id)
}

// row returns one of the worker's row ids.
func (w *worker) row() int { return w.id*1000 + w.rng.IntN(rowsPerWorker) }

// existing returns a row that exists; it writes one if there is none.
func (w *worker) existing(ctx context.Context) (int, error) {
	for range 2 * rowsPerWorker {
		if id := w.row(); w.has(id) {
			return id, nil
		}
	}
	id := w.row()
	return id, w.upsert(ctx, id, w.value())
}

func (w *worker) has(id int) bool { _, ok := w.rows[id]; return ok }

// preparable are the words that start statements without parameters which
// MySQL can prepare; a COMMIT in binary protocol commits as well.
var preparable = []string{"COMMIT", "SET ", "CREATE TABLE", "ALTER TABLE", "DROP TABLE", "TRUNCATE", "RENAME", "DO ", "REPLACE"}

// exec runs a statement in the worker's protocol.
func (w *worker) exec(ctx context.Context, query string, args ...any) error {
	query += w.mark
	if w.binary && len(args) == 0 && startsWithAny(query, preparable) {
		return w.execOnce(ctx, query)
	}
	if !w.binary || len(args) == 0 {
		_, err := w.conn.ExecContext(ctx, query, args...)
		return err
	}
	s, err := w.statement(ctx, query)
	if err != nil {
		return err
	}
	_, err = s.ExecContext(ctx, args...)
	return err
}

// execOnce prepares a statement, executes and closes it.
func (w *worker) execOnce(ctx context.Context, query string) error {
	s, err := w.conn.PrepareContext(ctx, query)
	if err != nil {
		return err
	}
	_, err = s.ExecContext(ctx)
	return errors.Join(err, s.Close())
}

func startsWithAny(s string, words []string) bool {
	for _, w := range words {
		if strings.HasPrefix(s, w) {
			return true
		}
	}
	return false
}

// all runs statements without arguments in turn, up to the first error.
func (w *worker) all(ctx context.Context, queries ...string) error {
	for _, q := range queries {
		if err := w.exec(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	return nil
}

// statement returns the kept prepared statement of a text.
func (w *worker) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if s := w.kept[query]; s != nil {
		return s, nil
	}
	s, err := w.conn.PrepareContext(ctx, query)
	if err == nil {
		w.kept[query] = s
	}
	return s, err
}

// query returns an answer as text: rows joined by ";", columns by ",", result
// sets by "|".
func (w *worker) query(ctx context.Context, query string, args ...any) (string, error) {
	query += w.mark
	if !w.binary || len(args) == 0 {
		return answer(w.conn.QueryContext(ctx, query, args...))
	}
	s, err := w.statement(ctx, query)
	if err != nil {
		return "", err
	}
	return answer(s.QueryContext(ctx, args...))
}

func answer(rows *sql.Rows, err error) (string, error) {
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var sets []string
	for more := true; more; more = rows.NextResultSet() {
		set, err := resultSet(rows)
		if err != nil {
			return "", err
		}
		sets = append(sets, set)
	}
	return strings.Join(sets, "|"), rows.Err()
}

func resultSet(rows *sql.Rows) (string, error) {
	columns, err := rows.Columns()
	if err != nil {
		return "", err
	}
	fields := make([]sql.NullString, len(columns))
	into := make([]any, len(columns))
	for i := range fields {
		into[i] = &fields[i]
	}
	var lines []string
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return "", err
		}
		words := make([]string, len(fields))
		for i, f := range fields {
			words[i] = "NULL"
			if f.Valid {
				words[i] = f.String
			}
		}
		lines = append(lines, strings.Join(words, ","))
	}
	return strings.Join(lines, ";"), rows.Err()
}

// fails wants err to be MySQL's error with that number.
func fails(err error, number uint16) error {
	var my *mysql.MySQLError
	switch {
	case err == nil:
		return fmt.Errorf("no error, wanted MySQL's %d", number)
	case errors.As(err, &my) && my.Number == number:
		return nil
	}
	return fmt.Errorf("wanted MySQL's %d: %w", number, err)
}

// proof is one read with the answer that it must give.
type proof struct {
	query string
	args  []any
	want  string
	errno uint16 // the error it must give instead, 0 none
	truth string // the same read for a connection in rw_main, "": query as it is
}

// verify reads back. A wrong answer is recorded as a stale read; an error that
// MySQL itself would not give is returned.
func (w *worker) verify(ctx context.Context, c proof) error {
	runs, phase := w.run.account.Phase()
	got, err := w.query(ctx, c.query, c.args...)
	if c.errno != 0 {
		err = fails(err, c.errno)
	}
	counts := w.run.carry == nil || w.reader == nil // of a run that carries only the reads elsewhere
	if counts {
		w.run.reads.Add(1)
	}
	if err != nil {
		return fmt.Errorf("reading %s %v: %w", c.query, c.args, err)
	}
	if c.errno == 0 && got != c.want {
		w.run.stale(w.describe(ctx, "stale read", "got "+quote(got), c))
		return nil
	}
	if runsNow, phaseNow := w.run.account.Phase(); counts && runs && runsNow && phase == phaseNow {
		return w.sampleRoute(ctx)
	}
	return nil
}

// sampleRoute asks now and then where the last read went; the caller has seen
// that at least one applier ran all the while.
func (w *worker) sampleRoute(ctx context.Context) error {
	if w.run.direct || w.rng.IntN(w.run.sampleEvery) != 0 {
		return nil
	}
	route, err := lab.LastRoute(ctx, w.conn)
	if err != nil {
		return err
	}
	w.run.sampled(route)
	return nil
}

// describe collects all that helps to understand a fault.
func (w *worker) describe(ctx context.Context, what, detail string, c proof) string {
	var b strings.Builder
	protocol := "text"
	if w.binary {
		protocol = "binary"
	}
	fmt.Fprintf(&b, "%s: %s on connection %d (%s) after %s: %s\n", time.Now().Format("15:04:05.000"), what, w.id, protocol, w.kind, detail)
	if !w.run.direct {
		if route, err := lab.LastRoute(ctx, w.conn); err == nil {
			fmt.Fprintf(&b, "  route:  %v\n", route)
		} else if !errors.Is(err, driver.ErrBadConn) {
			fmt.Fprintf(&b, "  route:  %v\n", err)
		}
	}
	if c.query != "" {
		fmt.Fprintf(&b, "  read:   %s %v\n  wanted: %s\n", c.query, c.args, quote(c.want))
		query := c.query
		if c.truth != "" {
			query = c.truth
		}
		now, err := answer(w.run.truth.QueryContext(ctx, query, c.args...))
		fmt.Fprintf(&b, "  source: %s %v\n", quote(now), errText(err))
	}
	fmt.Fprintf(&b, "  chaos:  %sseed %d", w.run.account, w.run.seed)
	return b.String()
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func quote(s string) string { return fmt.Sprintf("%q", s) }
