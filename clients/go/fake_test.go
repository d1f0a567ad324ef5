package causeway

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
)

// fake is a Causeway as the helper sees it: sessions with tokens. A token is
// "g:" and numbers; each commit has the next number.
type fake struct {
	mu      sync.Mutex
	commits int
	log     []string // "<connection>: <statement>"
	conns   int      // opened so far
	dies    string   // a statement with this start ends its connection, once
	later   string   // so does this one, for a while
	refuses string   // this token is answered by an error
	carried bool     // scope = "carried": other tokens make a session forget what it had
}

func (f *fake) Connect(context.Context) (driver.Conn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conns++
	return &fakeConn{f: f, id: f.conns, has: map[string]bool{}}, nil
}

func (f *fake) Driver() driver.Driver { return nil }

// statements are those so far, and forgets them.
func (f *fake) statements() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.log
	f.log = nil
	return list
}

type fakeConn struct {
	f      *fake
	id     int
	has    map[string]bool
	last   string // what was handed in last
	wrote  bool
	inTx   bool
	closed bool
}

// The words of Causeway's errors.
var (
	errServer  = errors.New("Error 3168: no")
	errRefused = errors.New("Error 1231: Causeway: the token names transactions that the source has not executed: x; drop it and go on without")
	errLater   = errors.New("Error 3168: Causeway: the source could not be asked; try again")
)

func (c *fakeConn) token() string {
	var list []string
	for n := range c.has {
		list = append(list, n)
	}
	slices.Sort(list)
	if len(list) == 0 {
		return ""
	}
	return "g:" + strings.Join(list, ",")
}

func (c *fakeConn) run(query string) error {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	if c.closed {
		return driver.ErrBadConn
	}
	c.f.log = append(c.f.log, fmt.Sprintf("%d: %s", c.id, query))
	if c.f.dies != "" && strings.HasPrefix(query, c.f.dies) {
		c.f.dies, c.closed = "", true
		return errors.New("invalid connection")
	}
	query = skipComments(query)
	token, isSet := strings.CutPrefix(query, "SET @causeway_token = '")
	switch {
	case isSet:
		return c.take(strings.Split(strings.TrimSuffix(token, "'"), "', @causeway_token = '"))
	case query == "COMMIT" && c.wrote, !c.inTx && (strings.HasPrefix(query, "INSERT") || strings.HasPrefix(query, "CALL")), strings.HasPrefix(query, "ALTER"):
		c.f.commits++
		c.has[fmt.Sprint(c.f.commits)] = true
		c.wrote = false
	case strings.HasPrefix(query, "INSERT"):
		c.wrote = true
	case query == "FAIL":
		return errServer
	}
	return nil
}

// take has all tokens of one SET, or changes nothing.
func (c *fakeConn) take(tokens []string) error {
	if c.f.refuses != "" && slices.Contains(tokens, c.f.refuses) {
		return errRefused
	}
	if c.f.later != "" && slices.Contains(tokens, c.f.later) {
		return errLater
	}
	last := strings.Join(tokens, " ")
	if c.f.carried && last != c.last {
		c.has = map[string]bool{}
	}
	c.last = last
	for _, token := range tokens {
		for _, n := range strings.Split(strings.TrimPrefix(token, "g:"), ",") {
			c.has[n] = true
		}
	}
	return nil
}

func (c *fakeConn) Prepare(query string) (driver.Stmt, error) { return &fakeStmt{c, query}, nil }
func (c *fakeConn) Close() error                              { return nil }
func (c *fakeConn) Begin() (driver.Tx, error)                 { return nil, errors.New("old") }

func (c *fakeConn) IsValid() bool { return !c.closed }

func (c *fakeConn) BeginTx(_ context.Context, o driver.TxOptions) (driver.Tx, error) {
	text := "BEGIN"
	if o.ReadOnly {
		text += " READ ONLY"
	}
	err := c.run(text)
	c.inTx = err == nil
	return &fakeTx{c}, err
}

func (c *fakeConn) ExecContext(_ context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if len(args) > 0 {
		return nil, driver.ErrSkip
	}
	return driver.RowsAffected(1), c.run(query)
}

func (c *fakeConn) QueryContext(_ context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if len(args) > 0 {
		return nil, driver.ErrSkip
	}
	if err := c.run(query); err != nil {
		return nil, err
	}
	var v driver.Value
	if token := c.token(); token != "" {
		v = []byte(token)
	}
	return &fakeRows{v: v}, nil
}

type fakeTx struct{ c *fakeConn }

func (t *fakeTx) Commit() error {
	defer func() { t.c.inTx = false }()
	return t.c.run("COMMIT")
}

func (t *fakeTx) Rollback() error {
	t.c.inTx, t.c.wrote = false, false
	return t.c.run("ROLLBACK")
}

// fakeStmt has only the old interface, as some drivers do.
type fakeStmt struct {
	c     *fakeConn
	query string
}

func (s *fakeStmt) Close() error  { return nil }
func (s *fakeStmt) NumInput() int { return -1 }
func (s *fakeStmt) Exec([]driver.Value) (driver.Result, error) {
	return driver.RowsAffected(1), s.c.run(s.query)
}

func (s *fakeStmt) Query([]driver.Value) (driver.Rows, error) {
	return s.c.QueryContext(context.Background(), s.query, nil)
}

type fakeRows struct {
	v    driver.Value
	done bool
}

func (r *fakeRows) Columns() []string { return []string{"v"} }
func (r *fakeRows) Close() error      { return nil }
func (r *fakeRows) Next(row []driver.Value) error {
	if r.done {
		return io.EOF
	}
	row[0], r.done = r.v, true
	return nil
}

// open gives a pool over the fake that keeps no connection: each statement
// and transaction has one of its own, as it may be in a busy application.
func open(t *testing.T, f *fake) *sql.DB {
	t.Helper()
	db := sql.OpenDB(Connector(f))
	db.SetMaxIdleConns(-1)
	t.Cleanup(func() { db.Close() })
	return db
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantLog compares statements.
func wantLog(t *testing.T, f *fake, want ...string) {
	t.Helper()
	if got := f.statements(); !slices.Equal(got, want) {
		t.Errorf("statements:\n%s\nwanted:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
