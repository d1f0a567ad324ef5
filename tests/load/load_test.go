package load

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/tests/check"
	"causeway/tests/cluster"
)

// table is a database of one table that can do what Load has to see.
type table struct {
	mu     sync.Mutex
	rows   map[int64]bool
	phases map[string]bool // seen in writes and reads
	hides  bool            // reads find nothing
	fails  string          // what writes end with
}

func (b *table) change(how func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	how()
}

func (b *table) Connect(context.Context) (driver.Conn, error) { return conn{b}, nil }
func (b *table) Driver() driver.Driver                        { return nil }

type conn struct{ *table }

func (conn) Close() error                        { return nil }
func (conn) Begin() (driver.Tx, error)           { return conn{}, nil }
func (conn) Commit() error                       { return nil }
func (conn) Rollback() error                     { return nil }
func (conn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("not used") }
func (c conn) note(text string)                  { c.phases[text[:strings.Index(text, "*/")]] = true }

func (c conn) ExecContext(_ context.Context, text string, _ []driver.NamedValue) (driver.Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fails != "" {
		return nil, errors.New(c.fails)
	}
	c.note(text)
	var id int64
	fmt.Sscanf(text[strings.Index(text, "VALUES"):], "VALUES (%d", &id)
	c.rows[id] = true
	return driver.ResultNoRows, nil
}

func (c conn) QueryContext(_ context.Context, text string, _ []driver.NamedValue) (driver.Rows, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if text == "SELECT id FROM t" {
		all := &ids{}
		for id := range c.rows {
			all.left = append(all.left, id)
		}
		return all, nil
	}
	c.note(text)
	var id int64
	fmt.Sscanf(text[strings.Index(text, "id ="):], "id = %d", &id)
	if !c.rows[id] || c.hides {
		return &ids{}, nil
	}
	return &ids{left: []int64{id}}, nil
}

// ids are rows of one number.
type ids struct{ left []int64 }

func (*ids) Columns() []string { return []string{"id"} }
func (*ids) Close() error      { return nil }

func (r *ids) Next(into []driver.Value) error {
	if len(r.left) == 0 {
		return io.EOF
	}
	into[0], r.left = r.left[0], r.left[1:]
	return nil
}

func TestLoad(t *testing.T) {
	b := &table{rows: map[int64]bool{}, phases: map[string]bool{}}
	db := sql.OpenDB(b)
	defer db.Close()
	l := Start(t, db, 8, time.Minute)
	l.Phase.Store(2)
	l.AwaitReads(100)
	b.change(func() { b.hides = true })
	l.AwaitReads(100)
	b.change(func() { b.hides, b.fails = false, "server 17 is gone" })
	check.Until(t, "an error is seen", func() bool { l.mu.Lock(); defer l.mu.Unlock(); return len(l.errs) > 0 })
	began := time.Now()
	l.Mark()
	b.change(func() { b.fails = "" })
	if took := l.AwaitAck(); took <= 0 || took > time.Since(began) {
		t.Errorf("the first write after the mark was acknowledged after %v", took)
	}
	told := l.Stop()
	if told.Stale < 50 || told.Reads-told.Stale < 50 || told.Errs["write: server ## is gone"] == 0 || len(told.Errs) != 1 {
		t.Errorf("%d stale reads of %d, errors %v", told.Stale, told.Reads, told.Errs)
	}
	for _, text := range []string{"INSERT /* phase 0 ", "SELECT /* own, phase 0 ", "INSERT /* phase 2 ", "SELECT /* own, phase 2 "} {
		if !b.phases[text] {
			t.Errorf("no statement begins with %q", text)
		}
	}
	node := &cluster.Node{DB: db}
	if n := told.Missing(t, node, "t"); n != 0 {
		t.Errorf("%d rows are missing", n)
	}
	delete(b.rows, told.Acked[0])
	if n := told.Missing(t, node, "t"); n != 1 {
		t.Errorf("%d rows are missing, one is", n)
	}
}
