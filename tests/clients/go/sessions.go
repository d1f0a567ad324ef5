package main

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
)

func transactionChecks() {
	check("commit and rollback", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		var list []any
		for _, commit := range []bool{true, false} {
			tx, err := c.BeginTx(ctx, nil)
			if err != nil {
				return list, err
			}
			v, err := did(tx.ExecContext(ctx, "INSERT INTO items (name) VALUES (?)", fmt.Sprint("tx", commit)))
			if err != nil {
				return list, err
			}
			list = append(list, v, stepOf(ctx, tx, "SELECT name FROM items WHERE name LIKE 'tx%'"))
			if commit {
				err = tx.Commit()
			} else {
				err = tx.Rollback()
			}
			if err != nil {
				return list, err
			}
			list = append(list, stepOf(ctx, c, "SELECT name FROM items WHERE name LIKE 'tx%'"))
		}
		return list, nil
	}))
	for _, o := range []sql.TxOptions{{ReadOnly: true}, {Isolation: sql.LevelReadCommitted}, {Isolation: sql.LevelSerializable}, {Isolation: sql.LevelReadUncommitted, ReadOnly: true}} {
		check(fmt.Sprintf("transaction %v, read only %v", o.Isolation, o.ReadOnly), on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
			tx, err := c.BeginTx(ctx, &o)
			if err != nil {
				return nil, err
			}
			v, _ := each(ctx, tx, "SELECT name FROM items WHERE id = 1", "SELECT @@transaction_isolation, @@transaction_read_only", "UPDATE items SET qty = 9 WHERE id = 1", "SELECT qty FROM items WHERE id = 1")
			if err := tx.Rollback(); err != nil {
				return v, err
			}
			return []any{v, stepOf(ctx, c, "SELECT @@transaction_isolation, qty FROM items WHERE id = 1")}, nil
		}))
	}
	check("savepoints", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		return each(ctx, c, "BEGIN", "UPDATE items SET qty = 50 WHERE id = 4", "SAVEPOINT a", "UPDATE items SET qty = 60 WHERE id = 4", "ROLLBACK TO a", "SELECT qty FROM items WHERE id = 4",
			"RELEASE SAVEPOINT a", "ROLLBACK TO a", "COMMIT", "SELECT qty FROM items WHERE id = 4", "SAVEPOINT b", "ROLLBACK TO b")
	}))
	check("autocommit off", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		return each(ctx, c, "SET autocommit = 0", "SELECT qty FROM items WHERE id = 5", "UPDATE items SET qty = 70 WHERE id = 5", "SELECT qty FROM items WHERE id = 5", "ROLLBACK", "SELECT qty FROM items WHERE id = 5",
			"UPDATE items SET qty = 71 WHERE id = 5", "SET autocommit = 1", "SELECT qty FROM items WHERE id = 5", "ROLLBACK", "SELECT qty, @@autocommit FROM items WHERE id = 5")
	}))
	check("implicit commit", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		return each(ctx, c, "BEGIN", "UPDATE items SET qty = 80 WHERE id = 1", "CREATE TABLE made (a INT)", "ROLLBACK", "SELECT qty FROM items WHERE id = 1", "INSERT INTO made VALUES (1)", "SELECT * FROM made", "DROP TABLE made", "SELECT * FROM made")
	}))
	check("lock wait timeout", lockWait)
}

// lockWait lets one connection wait for a row that another one holds.
func lockWait(ctx context.Context) (any, error) {
	db := open(nil)
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, "SELECT * FROM items WHERE id = 2 FOR UPDATE"); err != nil {
		return nil, err
	}
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return each(ctx, c, "SET innodb_lock_wait_timeout = 1", "SELECT * FROM items WHERE id = 2 FOR UPDATE NOWAIT", "UPDATE items SET qty = 3 WHERE id = 2", "SELECT name FROM items WHERE id = 2")
}

func preparedChecks() {
	check("executed again", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		s, err := c.PrepareContext(ctx, "SELECT n, word FROM numbers WHERE n = ?")
		if err != nil {
			return nil, err
		}
		defer s.Close()
		var list []any
		for _, arg := range []any{1, "2", nil, 3.0, []byte("4"), int64(500), uint64(18446744073709551615), "x"} {
			v, err := table(s.QueryContext(ctx, arg))
			list = append(list, v, errorOrNil(err))
		}
		return list, nil
	}))
	check("many statements", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		var statements []*sql.Stmt
		for i := range 60 {
			s, err := c.PrepareContext(ctx, fmt.Sprintf("SELECT n + %d FROM numbers WHERE n = ?", i))
			if err != nil {
				return nil, err
			}
			defer s.Close()
			statements = append(statements, s)
		}
		var list []int
		for i := range statements {
			var n int
			if err := statements[len(statements)-1-i].QueryRowContext(ctx, i+1).Scan(&n); err != nil {
				return list, err
			}
			list = append(list, n)
		}
		return list, nil
	}))
	check("prepared writes", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		s, err := c.PrepareContext(ctx, "INSERT INTO items (name, qty) VALUES (?, ?)")
		if err != nil {
			return nil, err
		}
		defer s.Close()
		var list []any
		for _, name := range []string{"p1", "p2", "p1", "p3"} {
			v, err := did(s.ExecContext(ctx, name, 5))
			if err != nil {
				v = errorOf(err)
			}
			list = append(list, v, stepOf(ctx, c, "SELECT name, qty FROM items WHERE name = ?", name))
		}
		return list, nil
	}))
	preparedEdges()
}

func preparedEdges() {
	check("errors of PREPARE", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		var list []any
		for _, s := range []string{"SELEC ?", "SELECT ? FROM nosuch", "SELECT 1; SELECT ?", "", "LOAD DATA LOCAL INFILE 'x' INTO TABLE loaded"} {
			st, err := c.PrepareContext(ctx, s)
			if err == nil {
				err = st.Close()
			}
			list = append(list, errorOf(err))
		}
		return append(list, stepOf(ctx, c, "SELECT COUNT(*) FROM numbers WHERE n > ?", 3)), nil
	}))
	check("schema of PREPARE stays", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		s, err := c.PrepareContext(ctx, "SELECT name FROM items WHERE id = ?")
		if err != nil {
			return nil, err
		}
		defer s.Close()
		v, _ := each(ctx, c, "USE clients2", "SELECT name FROM items WHERE id = 1")
		w, err := table(s.QueryContext(ctx, 1))
		return []any{v, w}, err
	}))
	check("table changed under a statement", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		list, _ := each(ctx, c, "CREATE TABLE changing (a INT)", "INSERT INTO changing VALUES (1)")
		s, err := c.PrepareContext(ctx, "SELECT * FROM changing WHERE a = ?")
		if err != nil {
			return list, err
		}
		defer s.Close()
		before, err := table(s.QueryContext(ctx, 1))
		if err != nil {
			return before, err
		}
		alter, _ := each(ctx, c, "ALTER TABLE changing ADD b VARCHAR(9) DEFAULT 'new'")
		after, err := table(s.QueryContext(ctx, 1))
		return []any{list, before, alter, after, stepOf(ctx, c, "DROP TABLE changing")}, err
	}))
	check("blobs", on(func(c *mysql.Config) { c.MaxAllowedPacket = 64 << 20 }, blobs))
}

// blobs writes and reads values around the limits of packets.
func blobs(ctx context.Context, c *sql.Conn) (any, error) {
	var list []any
	for i, size := range []int{0, 1, 251, 65536, 3 << 20, 1<<24 - 1, 1<<24 + 5} {
		v := bytes.Repeat([]byte{0, 0xfe, 0xff, '\''}, size/4+1)[:size]
		if _, err := c.ExecContext(ctx, "INSERT INTO blobs VALUES (?, ?, ?)", i, v, "t"); err != nil {
			return list, err
		}
		var back []byte
		if err := c.QueryRowContext(ctx, "SELECT v FROM blobs WHERE id = ?", i).Scan(&back); err != nil {
			return list, err
		}
		list = append(list, []any{size, bytes.Equal(v, back)})
	}
	_, err := c.ExecContext(ctx, "DELETE FROM blobs")
	return list, err
}

func resultChecks() {
	multi := func(c *mysql.Config) { c.MultiStatements = true }
	check("several statements", on(multi, func(ctx context.Context, c *sql.Conn) (any, error) {
		return each(ctx, c, "SELECT name FROM items WHERE id = 1; SELECT n FROM numbers WHERE n < 4; SELECT 3", "UPDATE items SET qty = 5 WHERE id = 1; SELECT qty FROM items WHERE id = 1",
			"SELECT 1; SELEC 2; SELECT 3", "SELECT 1; SELECT * FROM nosuch", "BEGIN; UPDATE items SET qty = 6 WHERE id = 1; COMMIT; SELECT qty FROM items WHERE id = 1", "SELECT 'a;b'; ")
	}))
	check("several writes", on(multi, func(ctx context.Context, c *sql.Conn) (any, error) {
		r, err := c.ExecContext(ctx, "INSERT INTO items (name) VALUES ('m1'); INSERT INTO items (name) VALUES ('m2'), ('m3'); UPDATE items SET qty = 9 WHERE name LIKE 'm_'")
		if err != nil {
			return nil, err
		}
		v, _ := did(r, nil)
		return []any{v, stepOf(ctx, c, "SELECT name, qty FROM items WHERE name LIKE 'm_' ORDER BY name")}, nil
	}))
	check("procedures", on(multi, func(ctx context.Context, c *sql.Conn) (any, error) {
		return each(ctx, c, "CALL two_results()", "SET @c = 10", "CALL in_out(4, @b, @c)", "SELECT @b, @c", "CALL in_out_rows(1, @b)", "SELECT @b", "CALL adds('by call')", "SELECT name FROM items WHERE name = 'by call'", "CALL fails()", "SELECT doubled(4)")
	}))
	check("procedures, prepared", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		return []any{stepOf(ctx, c, "CALL in_out_rows(?, @b)", 2), stepOf(ctx, c, "CALL adds(?)", "by prepared call"), stepOf(ctx, c, "SELECT name FROM items WHERE name = ?", "by prepared call")}, nil
	}))
	check("half read", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		rows, err := c.QueryContext(ctx, "SELECT a.n FROM numbers a, numbers b")
		if err != nil {
			return nil, err
		}
		rows.Next()
		err = rows.Close()
		return stepOf(ctx, c, "SELECT COUNT(*) FROM numbers"), err
	}))
	check("large result", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		rows, err := c.QueryContext(ctx, "SELECT a.n, b.word FROM numbers a, numbers b")
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		n := 0
		for rows.Next() {
			n++
		}
		return n, rows.Err()
	}))
}

func sessionChecks() {
	check("schema is changed", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		return each(ctx, c, "USE clients2", "SELECT name FROM items", "SELECT DATABASE()", "USE clients", "SELECT name FROM items WHERE id = 1")
	}))
	check("variables", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		return each(ctx, c, "SET time_zone = '+03:00'", "SELECT ts FROM kinds WHERE id = 1", "SET @x = 5, @y = 'é'", "SELECT @x, @y", "SELECT @x := @x + 1", "SELECT n FROM numbers WHERE n = @x",
			"SET group_concat_max_len = GREATEST(@@group_concat_max_len, 65536)", "SELECT @@group_concat_max_len, COUNT(*) FROM numbers", "SET SESSION sql_select_limit = 2", "SELECT n FROM numbers ORDER BY n", "SET TIMESTAMP = 1000000000", "SELECT NOW(), COUNT(*) FROM items")
	}))
	check("temporary table", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		return each(ctx, c, "CREATE TEMPORARY TABLE items (a INT)", "INSERT INTO items VALUES (7)", "SELECT * FROM items", "DROP TEMPORARY TABLE items", "SELECT name FROM items WHERE id = 1")
	}))
	check("locks", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		return each(ctx, c, "SELECT GET_LOCK('go', 1)", "SELECT IS_FREE_LOCK('go')", "SELECT RELEASE_LOCK('go')", "SELECT RELEASE_LOCK('go')", "LOCK TABLES items READ", "SELECT COUNT(*) FROM numbers", "UPDATE items SET qty = 1", "UNLOCK TABLES", "SELECT COUNT(*) FROM numbers")
	}))
	check("connections of a pool are reset", func(ctx context.Context) (any, error) {
		db := open(nil)
		defer db.Close()
		db.SetMaxOpenConns(1)
		var list []any
		for range 3 {
			c, err := db.Conn(ctx)
			if err != nil {
				return list, err
			}
			v, _ := each(ctx, c, "SELECT @left", "SET @left = 1")
			list = append(list, v)
			if err := c.Close(); err != nil {
				return list, err
			}
		}
		return list, nil
	})
	check("connection id", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		var id int64
		if err := c.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&id); err != nil {
			return nil, err
		}
		var again int64
		err := c.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&again)
		return id == again && id != 0, err
	}))
}

func cancelChecks() {
	check("a context ends a read", func(ctx context.Context) (any, error) {
		db := open(nil)
		defer db.Close()
		short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := db.ExecContext(short, "SELECT SLEEP(20), COUNT(*) FROM numbers")
		quick := time.Since(start) < 10*time.Second
		after, _ := table(db.QueryContext(ctx, "SELECT COUNT(*) FROM numbers"))
		return []any{errorOf(err), quick, after}, nil
	})
	check("KILL QUERY", func(ctx context.Context) (any, error) { return kill(ctx, "KILL QUERY %d") })
	check("KILL", func(ctx context.Context) (any, error) { return kill(ctx, "KILL %d") })
	check("max_execution_time", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		return each(ctx, c, "SELECT /*+ MAX_EXECUTION_TIME(100) */ SLEEP(5) FROM items", "SET max_execution_time = 100", "SELECT COUNT(*) FROM numbers a, numbers b, numbers c, numbers d WHERE a.word < b.word", "SET max_execution_time = 0", "SELECT COUNT(*) FROM numbers")
	}))
}

// kill ends a sleeping statement from another connection, by the id that the
// connection says it has.
func kill(ctx context.Context, text string) (any, error) {
	db := open(nil)
	defer db.Close()
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var id int64
	if err := c.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		return nil, err
	}
	done := make(chan any, 1)
	go func() {
		v, err := table(c.QueryContext(ctx, "SELECT SLEEP(20), COUNT(*) FROM numbers"))
		done <- []any{v, err != nil, errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn), errorOrNil(err)}
	}()
	time.Sleep(500 * time.Millisecond) // the statement must be running: nothing tells when it is
	if _, err := db.ExecContext(ctx, fmt.Sprintf(text, id)); err != nil {
		return nil, err
	}
	ended := <-done
	return []any{ended, stepOf(ctx, db, "SELECT COUNT(*) FROM numbers")}, nil
}

func errorOrNil(err error) any {
	if err == nil {
		return nil
	}
	return errorOf(err)
}
