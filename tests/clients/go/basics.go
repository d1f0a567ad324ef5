package main

import (
	"context"
	"database/sql"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

func connectChecks() {
	check("connect", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		return each(ctx, c, "SELECT DATABASE(), VERSION(), CURRENT_USER()", "SELECT @@character_set_client, @@collation_connection, @@sql_mode")
	}))
	check("connect without a schema", on(func(c *mysql.Config) { c.DBName = "" }, func(ctx context.Context, c *sql.Conn) (any, error) {
		return each(ctx, c, "SELECT DATABASE()", "SELECT * FROM items", "USE clients", "SELECT name FROM items WHERE id = 1")
	}))
	check("connect with charset", on(func(c *mysql.Config) {
		c.Collation = "latin1_swedish_ci"
		_ = c.Apply(mysql.Charset("latin1", "latin1_swedish_ci"))
	}, func(ctx context.Context, c *sql.Conn) (any, error) {
		return each(ctx, c, "SELECT @@character_set_client, @@character_set_results, @@collation_connection", "SELECT l1 FROM kinds WHERE id = 1")
	}))
	check("connect with variables", on(func(c *mysql.Config) {
		c.Params = map[string]string{"time_zone": "'+05:00'", "sql_mode": "'ANSI_QUOTES'"}
	}, func(ctx context.Context, c *sql.Conn) (any, error) {
		return each(ctx, c, `SELECT "ts" FROM "kinds" WHERE "id" = 1`, "SELECT @@time_zone, @@sql_mode")
	}))
	check("wrong password", on(func(c *mysql.Config) { c.Passwd = "wrong" }, nothing))
	check("unknown schema", on(func(c *mysql.Config) { c.DBName = "nosuch" }, nothing))
	check("wrong variable", on(func(c *mysql.Config) { c.Params = map[string]string{"nosuch": "1"} }, nothing))
	check("ping", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) { return "pong", c.PingContext(ctx) }))
	check("many connections", func(ctx context.Context) (any, error) {
		db := open(nil)
		defer db.Close()
		var sum int
		for range 20 {
			c, err := db.Conn(ctx)
			if err != nil {
				return nil, err
			}
			defer c.Close()
			var n int
			if err := c.QueryRowContext(ctx, "SELECT COUNT(*) FROM numbers").Scan(&n); err != nil {
				return nil, err
			}
			sum += n
		}
		return sum, nil
	})
}

func nothing(context.Context, *sql.Conn) (any, error) { return "connected", nil }

func typeChecks() {
	const all = "SELECT * FROM kinds ORDER BY id"
	parse := func(c *mysql.Config) { c.ParseTime = true }
	check("types, text", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) { return table(c.QueryContext(ctx, all)) }))
	check("types, text, times parsed", on(parse, func(ctx context.Context, c *sql.Conn) (any, error) { return table(c.QueryContext(ctx, all)) }))
	check("types, prepared", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		return table(c.QueryContext(ctx, "SELECT * FROM kinds WHERE id > ? ORDER BY id", 0))
	}))
	check("types, prepared, times parsed", on(parse, func(ctx context.Context, c *sql.Conn) (any, error) {
		return table(c.QueryContext(ctx, "SELECT * FROM kinds WHERE id > ? ORDER BY id", 0))
	}))
	check("types of parameters", on(parse, func(ctx context.Context, c *sql.Conn) (any, error) {
		return table(c.QueryContext(ctx, "SELECT ?, ?, ?, ?, ?, ?, ?, ?, COUNT(*) FROM items", int64(-5), uint64(1<<63), 2.5, "😀'\\", []byte{0, 255, 39},
			nil, true, time.Date(2024, 2, 29, 1, 2, 3, 4000, time.UTC)))
	}))
	check("parameters put into the text", on(func(c *mysql.Config) { c.InterpolateParams = true }, func(ctx context.Context, c *sql.Conn) (any, error) {
		return table(c.QueryContext(ctx, "SELECT ?, ?, ?, name FROM items WHERE id < ? ORDER BY id", -5, "😀'\\\x00\n", []byte{0, 255, 39}, 4))
	}))
	check("empty result", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		return each(ctx, c, "SELECT id, name FROM items WHERE id < 0", "SELECT 1 FROM items WHERE FALSE", "DO 1", "SET @a = 1")
	}))
	check("compression", on(func(c *mysql.Config) { _ = c.Apply(mysql.EnableCompression(true)) }, func(ctx context.Context, c *sql.Conn) (any, error) {
		return each(ctx, c, "SELECT word FROM numbers ORDER BY n LIMIT 300", "SELECT REPEAT('a', 100000)", "INSERT INTO items (name) VALUES ('compressed')", "SELECT name FROM items WHERE name = 'compressed'")
	}))
}

func writeChecks() {
	const update = "UPDATE items SET qty = 1 WHERE id <= 2"
	check("last insert id", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		var list []any
		for _, s := range []string{"INSERT INTO items (name) VALUES ('a1')", "INSERT INTO items (name) VALUES ('a2'), ('a3')", "INSERT INTO items (id, name) VALUES (1000, 'a4')",
			"INSERT INTO items (name) VALUES ('a1') ON DUPLICATE KEY UPDATE qty = qty + 1", "REPLACE INTO items (name) VALUES ('a2')", "DELETE FROM items WHERE name LIKE 'a_'"} {
			v, err := did(c.ExecContext(ctx, s))
			if err != nil {
				return list, err
			}
			after, _ := each(ctx, c, "SELECT LAST_INSERT_ID()", "SELECT COUNT(*) FROM items WHERE name LIKE 'a_'")
			list = append(list, v, after)
		}
		return list, nil
	}))
	check("affected rows", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) { return twice(ctx, c, update) }))
	check("found rows", on(func(c *mysql.Config) { c.ClientFoundRows = true }, func(ctx context.Context, c *sql.Conn) (any, error) { return twice(ctx, c, update) }))
	check("row count functions", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		return each(ctx, c, "UPDATE items SET qty = qty + 1 WHERE id <= 2", "SELECT ROW_COUNT()", "SELECT SQL_CALC_FOUND_ROWS n FROM numbers LIMIT 3", "SELECT FOUND_ROWS()", "SELECT n FROM numbers LIMIT 7", "SELECT FOUND_ROWS()")
	}))
	check("own write is read", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		missed := 0
		for i := range 50 {
			if _, err := c.ExecContext(ctx, "UPDATE items SET qty = ? WHERE id = 3", i); err != nil {
				return i, err
			}
			var qty int
			if err := c.QueryRowContext(ctx, "SELECT qty FROM items WHERE id = 3").Scan(&qty); err != nil {
				return i, err
			}
			if qty != i {
				missed++
			}
		}
		return missed, nil
	}))
	check("errors", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		return each(ctx, c, "SELEC 1", "SELECT * FROM nosuch", "SELECT nosuch FROM items", "INSERT INTO items (name) VALUES ('apple')", "INSERT INTO child (item) VALUES (-1)", "DELETE FROM items WHERE id = nosuch()",
			"INSERT INTO strict VALUES (1000, 'x')", "INSERT INTO strict VALUES (1, 'long')", "INSERT INTO strict VALUES (NULL, 'x')", "CALL nosuch()", "DROP TABLE nosuch", "", "SELECT 1; SELECT 2", "USE nosuch", "SELECT name FROM items WHERE id = 1",
			"SELECT (SELECT n FROM numbers)", "SELECT BIGINT FROM", "KILL 4294967295", "SET nosuch = 1", "SET NAMES nosuch")
	}))
	check("warnings", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		return each(ctx, c, "SELECT CAST('x' AS SIGNED), 1/0", "SHOW WARNINGS", "SELECT n FROM numbers WHERE word = 5 LIMIT 2", "SHOW WARNINGS LIMIT 2", "SHOW COUNT(*) WARNINGS", "DROP TABLE IF EXISTS nosuch", "SHOW WARNINGS", "SELECT * FROM nosuch", "SHOW ERRORS", "SELECT @@warning_count")
	}))
	check("load data", on(nil, loadData))
	check("load data refused by the client", on(nil, func(ctx context.Context, c *sql.Conn) (any, error) {
		_, err := c.ExecContext(ctx, "LOAD DATA LOCAL INFILE '/nosuch/file' INTO TABLE loaded")
		return []any{err != nil, stepOf(ctx, c, "SELECT COUNT(*) FROM numbers")}, nil
	}))
}

func twice(ctx context.Context, c *sql.Conn, s string) (any, error) {
	first, err := did(c.ExecContext(ctx, s))
	if err != nil {
		return nil, err
	}
	second, err := did(c.ExecContext(ctx, s))
	return []any{first, second}, err
}

func loadData(ctx context.Context, c *sql.Conn) (any, error) {
	path := os.Getenv("CW_TMP") + "/load.tsv"
	text := strings.Repeat("1\tone\t1.5\n2\t😀\t-2\n\\N\t\\N\t\\N\nx\ty\tz\n", 50)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, err
	}
	mysql.RegisterLocalFile(path)
	if _, err := c.ExecContext(ctx, "SET sql_mode = ''"); err != nil {
		return nil, err
	}
	r, err := did(c.ExecContext(ctx, "LOAD DATA LOCAL INFILE '"+path+"' INTO TABLE loaded"))
	if err != nil {
		return nil, err
	}
	return []any{r, stepOf(ctx, c, "SHOW COUNT(*) WARNINGS"), stepOf(ctx, c, "SELECT a, b, c, COUNT(*) FROM loaded GROUP BY a, b, c ORDER BY a, b")}, nil
}
