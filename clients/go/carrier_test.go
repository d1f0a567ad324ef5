package causeway

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
)

func withToken(t *testing.T, tokens ...string) (context.Context, *Carrier) {
	c := NewCarrier(tokens...)
	return WithCarrier(t.Context(), c), c
}

func wantTokens(t *testing.T, c *Carrier, changed bool, want ...string) {
	t.Helper()
	if got := c.Tokens(); !slices.Equal(got, want) || c.Changed() != changed {
		t.Errorf("tokens %q, changed %v; wanted %q, %v", got, c.Changed(), want, changed)
	}
}

// TestWhenTheTokenIsRead has one kind of work each, and the statements that
// reach the server for it.
func TestWhenTheTokenIsRead(t *testing.T) {
	inTx := func(o *sql.TxOptions, commit bool, query string) func(context.Context, *sql.DB) error {
		return func(ctx context.Context, db *sql.DB) error {
			tx, err := db.BeginTx(ctx, o)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, query); err != nil {
				return err
			}
			if commit {
				return tx.Commit()
			}
			return tx.Rollback()
		}
	}
	exec := func(query string, args ...any) func(context.Context, *sql.DB) error {
		return func(ctx context.Context, db *sql.DB) error {
			_, err := db.ExecContext(ctx, query, args...)
			return err
		}
	}
	query := func(query string, args ...any) func(context.Context, *sql.DB) error {
		return func(ctx context.Context, db *sql.DB) error {
			rows, err := db.QueryContext(ctx, query, args...)
			if err != nil {
				return err
			}
			return rows.Close()
		}
	}
	const get = "SELECT @causeway_token"
	cases := []struct {
		name  string
		work  func(context.Context, *sql.DB) error
		sent  []string
		token string
	}{
		{"autocommit", exec("INSERT 1"), []string{"INSERT 1", get}, "g:1"},
		{"prepared", exec("INSERT ?", 1), []string{"INSERT ?", get}, "g:1"},
		{"with a comment", exec("/*traceparent='00'*/ INSERT 1"), []string{"/*traceparent='00'*/ INSERT 1", get}, "g:1"},
		{"commit", inTx(nil, true, "INSERT 1"), []string{"BEGIN", "INSERT 1", "COMMIT", get}, "g:1"},
		{"rollback", inTx(nil, false, "INSERT 1"), []string{"BEGIN", "INSERT 1", "ROLLBACK"}, ""},
		{"DDL commits before the rollback", inTx(nil, false, "ALTER 1"), []string{"BEGIN", "ALTER 1", "ROLLBACK", get}, "g:1"},
		{"read only", inTx(&sql.TxOptions{ReadOnly: true}, true, "SELECT 1"), []string{"BEGIN READ ONLY", "SELECT 1", "COMMIT"}, ""},
		{"read", query("SELECT 1"), []string{"SELECT 1"}, ""},
		{"prepared read", query("SELECT ?", 1), []string{"SELECT ?"}, ""},
		{"CALL", query("CALL p()"), []string{"CALL p()", get}, "g:1"},
		{"prepared CALL", query("CALL p(?)", 1), []string{"CALL p(?)", get}, "g:1"},
		{"a failure may have committed", exec("FAIL"), []string{"FAIL", get}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := &fake{}
			ctx, carrier := withToken(t)
			if err := c.work(ctx, open(t, f)); (err != nil) != (c.name == "a failure may have committed") {
				t.Fatal(err)
			}
			for i := range c.sent {
				c.sent[i] = "1: " + c.sent[i]
			}
			wantLog(t, f, c.sent...)
			if c.token == "" {
				wantTokens(t, carrier, false)
			} else {
				wantTokens(t, carrier, true, c.token)
			}
		})
	}
}

// TestOnAnotherConnection: written on one, read on others, each of which gets the
// token before its first statement, and once.
func TestOnAnotherConnection(t *testing.T) {
	f := &fake{}
	db := open(t, f)
	ctx, carrier := withToken(t)
	_, err := db.ExecContext(ctx, "INSERT 1")
	must(t, err)
	f.statements()

	ctx, next := withToken(t, carrier.Tokens()...)
	db.QueryRowContext(ctx, "SELECT 1").Scan(new(any))
	conn, err := db.Conn(ctx)
	must(t, err)
	for range 2 {
		conn.QueryRowContext(ctx, "SELECT 2").Scan(new(any))
	}
	must(t, conn.Close())
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	must(t, err)
	tx.QueryRowContext(ctx, "SELECT 3").Scan(new(any))
	must(t, tx.Commit())
	wantLog(t, f, "2: SET @causeway_token = 'g:1'", "2: SELECT 1", "3: SET @causeway_token = 'g:1'", "3: SELECT 2", "3: SELECT 2",
		"4: SET @causeway_token = 'g:1'", "4: BEGIN READ ONLY", "4: SELECT 3", "4: COMMIT")
	wantTokens(t, next, false, "g:1")
}

// TestWithoutCarrier: nothing is added.
func TestWithoutCarrier(t *testing.T) {
	f := &fake{}
	_, err := open(t, f).ExecContext(t.Context(), "INSERT 1")
	must(t, err)
	wantLog(t, f, "1: INSERT 1")
}

// TestPooledConnection: what one request left on a connection is not taken for
// what another needs.
func TestPooledConnection(t *testing.T) {
	f := &fake{}
	db := sql.OpenDB(Connector(f))
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, token := range []string{"g:a", "g:b", "g:b", ""} {
		ctx, _ := withToken(t, token)
		db.QueryRowContext(ctx, "SELECT 1").Scan(new(any))
	}
	wantLog(t, f, "1: SET @causeway_token = 'g:a'", "1: SELECT 1", "1: SET @causeway_token = 'g:b'", "1: SELECT 1", "1: SELECT 1", "1: SELECT 1")
}

// TestTwoTokens: a browser that got two at once hands both in, and has one then.
func TestTwoTokens(t *testing.T) {
	f := &fake{carried: true}
	ctx, carrier := withToken(t, "g:a", "g:b", "g:a")
	open(t, f).QueryRowContext(ctx, "SELECT 1").Scan(new(any))
	wantLog(t, f, "1: SET @causeway_token = 'g:a', @causeway_token = 'g:b'", "1: SELECT @causeway_token", "1: SELECT 1")
	wantTokens(t, carrier, true, "g:a,b")
}

// TestParallelCommits of one request on connections of their own: the token
// covers them all.
func TestParallelCommits(t *testing.T) {
	const n = 9
	f := &fake{carried: true}
	db := open(t, f)
	ctx, carrier := withToken(t)
	var wg sync.WaitGroup
	for range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if _, err := db.ExecContext(ctx, "INSERT 1"); err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	wantTokens(t, carrier, true, "g:1,2,3,4,5,6,7,8,9")
}

// TestTurnsOfTwoConnections: each commits when the other one has, of which its
// session does not know yet. None forgets its own commit.
func TestTurnsOfTwoConnections(t *testing.T) {
	for _, carried := range []bool{false, true} {
		f := &fake{carried: carried}
		db := open(t, f)
		ctx, carrier := withToken(t, "g:z")
		var txs []*sql.Tx
		for range 2 {
			tx, err := db.BeginTx(ctx, nil)
			must(t, err)
			_, err = tx.ExecContext(ctx, "INSERT 1")
			must(t, err)
			txs = append(txs, tx)
		}
		for _, tx := range txs {
			must(t, tx.Commit())
		}
		wantTokens(t, carrier, true, "g:1,2,z")
	}
}

// TestMergeFails: what Causeway cannot check now is kept beside the commit's token, and
// the next connection merges them.
func TestMergeFails(t *testing.T) {
	f := &fake{carried: true, later: "g:1"}
	db := sql.OpenDB(Connector(f))
	defer db.Close()
	ctx, carrier := withToken(t)
	a, err := db.BeginTx(ctx, nil)
	must(t, err)
	_, err = a.ExecContext(ctx, "INSERT 1")
	must(t, err)
	b, err := db.BeginTx(ctx, nil)
	must(t, err)
	_, err = b.ExecContext(ctx, "INSERT 1")
	must(t, err)
	must(t, a.Commit())
	must(t, b.Commit())
	wantTokens(t, carrier, true, "g:1", "g:2")
	f.later = ""
	must(t, db.QueryRowContext(ctx, "SELECT 1").Scan(new(any)))
	wantTokens(t, carrier, true, "g:1,2")
}

// TestHandInFailsHalfway: what the session forgot for the first tokens it is not
// taken to have still.
func TestHandInFailsHalfway(t *testing.T) {
	f := &fake{carried: true, refuses: "g:forged"}
	db := sql.OpenDB(Connector(f))
	defer db.Close()
	db.SetMaxOpenConns(1)
	old, _ := withToken(t, "g:old")
	must(t, db.QueryRowContext(old, "SELECT 1").Scan(new(any)))
	f.later = "g:b"
	bad, _ := withToken(t, "g:forged", "g:a", "g:b")
	if err := db.QueryRowContext(bad, "SELECT 2").Scan(new(any)); !errors.Is(err, errLater) {
		t.Errorf("error %v", err)
	}
	f.statements()
	old, _ = withToken(t, "g:old")
	must(t, db.QueryRowContext(old, "SELECT 3").Scan(new(any)))
	wantLog(t, f, "1: SET @causeway_token = 'g:old'", "1: SELECT 3")
}

// TestRefusedToken: the request goes on without it, and the cookie has to go.
func TestRefusedToken(t *testing.T) {
	f := &fake{refuses: "g:forged"}
	ctx, carrier := withToken(t, "g:forged", "g:good")
	db := open(t, f)
	db.QueryRowContext(ctx, "SELECT 1").Scan(new(any))
	wantLog(t, f, "1: SET @causeway_token = 'g:forged', @causeway_token = 'g:good'",
		"1: SET @causeway_token = 'g:forged'", "1: SET @causeway_token = 'g:good'", "1: SELECT 1")
	wantTokens(t, carrier, true, "g:good")
}

// TestTokenCannotBeChecked: the read fails rather than go without it; token and
// connection stay.
func TestTokenCannotBeChecked(t *testing.T) {
	f := &fake{later: "g:a"}
	ctx, carrier := withToken(t, "g:a")
	db := sql.OpenDB(Connector(f))
	defer db.Close()
	if err := db.QueryRowContext(ctx, "SELECT 1").Scan(new(any)); !errors.Is(err, errLater) {
		t.Errorf("error %v", err)
	}
	f.later = ""
	must(t, db.QueryRowContext(ctx, "SELECT 1").Scan(new(any)))
	wantLog(t, f, "1: SET @causeway_token = 'g:a'", "1: SELECT @causeway_token", "1: SET @causeway_token = 'g:a'", "1: SELECT 1")
	wantTokens(t, carrier, false, "g:a")
}

// TestConnectionDiesAtTheToken: nothing of the caller's was sent, so another
// connection serves it, with the token.
func TestConnectionDiesAtTheToken(t *testing.T) {
	f := &fake{dies: "SET"}
	ctx, _ := withToken(t, "g:a")
	_, err := open(t, f).ExecContext(ctx, "INSERT 1")
	must(t, err)
	wantLog(t, f, "1: SET @causeway_token = 'g:a'", "2: SET @causeway_token = 'g:a'", "2: INSERT 1", "2: SELECT @causeway_token")
}

// TestConnectionDiesAfterTheWrite: the write is done and is never sent again; the
// connection is not used again.
func TestConnectionDiesAfterTheWrite(t *testing.T) {
	f := &fake{dies: "SELECT @causeway_token"}
	ctx, carrier := withToken(t)
	db := sql.OpenDB(Connector(f))
	defer db.Close()
	_, err := db.ExecContext(ctx, "INSERT 1")
	must(t, err)
	_, err = db.ExecContext(ctx, "INSERT 2")
	must(t, err)
	wantLog(t, f, "1: INSERT 1", "1: SELECT @causeway_token", "2: INSERT 2", "2: SELECT @causeway_token")
	wantTokens(t, carrier, true, "g:2")
}

// TestNoInjection: what cannot be a token never reaches a server.
func TestNoInjection(t *testing.T) {
	for _, bad := range []string{"'; DROP TABLE t; -- ", `a\`, "a\x00", `a"`, "ü", "a;b", strings.Repeat("a", maxToken+1)} {
		f := &fake{}
		ctx, carrier := withToken(t, bad)
		open(t, f).QueryRowContext(ctx, "SELECT 1").Scan(new(any))
		wantLog(t, f, "1: SELECT 1")
		wantTokens(t, carrier, true)
	}
}

func TestMayCommit(t *testing.T) {
	cases := map[string]bool{
		"SELECT 1": false, " select 1": false, "(SELECT 1)": false, "/* a */ -- b\n# c\nSELECT 1": false, "SHOW TABLES": false, "ROLLBACK": false,
		"INSERT INTO t VALUES (1)": true, "/*traceparent='0-1'*/ UPDATE t SET a = 1": true, "COMMIT": true, "BEGIN": true, "CALL p()": true,
		"WITH c AS (SELECT 1) DELETE FROM t": true, "/*! INSERT INTO t VALUES (1) */": true, "SELECT 1; INSERT INTO t VALUES (1)": true,
		"SET autocommit = 1": true, "/* open": true, "": true, "ALTER TABLE t": true, "SELECTED": true,
	}
	for query, want := range cases {
		if mayCommit(query) != want {
			t.Errorf("mayCommit(%q) = %v", query, !want)
		}
		if !want && mayCommitInside(query) {
			t.Errorf("mayCommitInside(%q)", query)
		}
	}
	for query, want := range map[string]bool{"INSERT 1": false, "/* a */ update t": false, "CALL p()": true, "ALTER TABLE t": true, "UPDATE t; COMMIT": true, "/*! x */": true} {
		if mayCommitInside(query) != want {
			t.Errorf("mayCommitInside(%q) = %v", query, !want)
		}
	}
}
