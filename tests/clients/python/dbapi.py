"""Checks that the three drivers share; what one spells in its own way is in the driver."""

import os
import threading
import time

from lib import check, each, error, run


class Driver:
    """A driver of DB-API 2: connect with the options that they all have."""

    def __init__(self, name, connect, found_rows, load_data):
        self.name, self.connect, self.found_rows, self.load_data = name, connect, found_rows, load_data

    def check(self, name, f, **options):
        def on_own_connection():
            c = self.connect(**options)
            try:
                return f(c)
            finally:
                try:
                    c.close()
                except Exception:
                    pass  # the check may have ended the connection itself

        check(f"{self.name}/{name}", on_own_connection)


def all_checks(d):
    basics(d)
    writes(d)
    results(d)
    sessions(d)
    endings(d)


def basics(d):
    d.check("connect", lambda c: each(c, "SELECT DATABASE(), VERSION(), CURRENT_USER()", "SELECT @@character_set_client, @@collation_connection, @@autocommit, @@sql_mode"))
    d.check("connect without a schema", lambda c: each(c, "SELECT DATABASE()", "SELECT * FROM items", "USE clients2", "SELECT name FROM items"), database=None)
    d.check("connect with charset", lambda c: each(c, "SELECT @@character_set_client, @@character_set_results", "SELECT l1 FROM kinds WHERE id = 1"), charset="latin1")
    d.check("unknown schema", lambda c: "connected", database="nosuch")
    d.check("wrong password", lambda c: "connected", password="wrong")
    d.check("types", lambda c: [run(c, "SELECT * FROM kinds WHERE id = %s", (i,)) for i in (1, 2, 3)])
    d.check("parameters", lambda c: run(c, "SELECT %s, %s, %s, %s, %s, COUNT(*) FROM numbers", (-5, 2.5, "😀'\\\0", None, True)))
    d.check("binary parameter", lambda c: run(c, "SELECT HEX(%s), COUNT(*) FROM numbers", (b"\x00\xff'",)))
    d.check("errors", lambda c: each(c, "SELEC 1", "SELECT * FROM nosuch", "INSERT INTO items (name) VALUES ('apple')", "INSERT INTO child (item) VALUES (-1)", "INSERT INTO strict VALUES (1000, 'x')", "INSERT INTO strict VALUES (NULL, 'x')", "USE nosuch", "SELECT COUNT(*) FROM numbers"))
    d.check("warnings", lambda c: each(c, "SELECT CAST('x' AS SIGNED), 1/0", "SHOW WARNINGS", "DROP TABLE IF EXISTS nosuch", "SHOW WARNINGS", "SELECT @@warning_count"))


def writes(d):
    d.check("insert id and affected rows", lambda c: [each(c, "INSERT INTO items (name) VALUES ('y1')", "SELECT LAST_INSERT_ID()", "INSERT INTO items (name) VALUES ('y2'), ('y3')", "UPDATE items SET qty = 12 WHERE id <= 2", "UPDATE items SET qty = 12 WHERE id <= 3", "DELETE FROM items WHERE name LIKE 'y_'"), c.commit()])
    # Connector/Python pings before each statement.
    d.check("row count", lambda c: [each(c, "UPDATE items SET qty = 14 WHERE id <= 3", "SELECT ROW_COUNT()"), c.commit()])
    d.check("found rows", lambda c: [each(c, "UPDATE items SET qty = 12 WHERE id <= 2", "UPDATE items SET qty = 12 WHERE id <= 2"), c.commit()], **d.found_rows)
    d.check("many rows", many)
    d.check("own write is read", own_write, autocommit=True)
    d.check("commit and rollback", transactions)
    d.check("autocommit", lambda c: each(c, "UPDATE items SET qty = 35 WHERE id = 1", "SELECT qty FROM items WHERE id = 1", "BEGIN", "UPDATE items SET qty = 36 WHERE id = 1", "SAVEPOINT a", "UPDATE items SET qty = 37 WHERE id = 1", "ROLLBACK TO a", "COMMIT", "SELECT qty FROM items WHERE id = 1", "START TRANSACTION READ ONLY", "SELECT qty FROM items WHERE id = 1", "UPDATE items SET qty = 38", "ROLLBACK"), autocommit=True)
    d.check("blobs", blobs)
    d.check("load data", load, **d.load_data)


def many(c):
    cur = c.cursor()
    cur.executemany("INSERT INTO items (name, qty) VALUES (%s, %s)", [(f"many{i}", i) for i in range(200)])
    first = [cur.rowcount, cur.lastrowid]
    cur.executemany("UPDATE items SET qty = %s WHERE name = %s", [(i + 1, f"many{i}") for i in range(5)])
    second = cur.rowcount
    cur.close()
    c.commit()
    return [first, second, each(c, "SELECT COUNT(*), SUM(qty) FROM items WHERE name LIKE 'many%'", "DELETE FROM items WHERE name LIKE 'many%'"), c.commit()]


def own_write(c):
    missed, cur = 0, c.cursor()
    for i in range(50):
        cur.execute("UPDATE items SET qty = %s WHERE id = 3", (i,))
        cur.execute("SELECT qty FROM items WHERE id = 3")
        missed += cur.fetchall()[0][0] != i
    return missed


def transactions(c):
    seen = [each(c, "UPDATE items SET qty = 31 WHERE id = 1", "SELECT qty FROM items WHERE id = 1")]
    c.rollback()
    seen.append(each(c, "SELECT qty <> 31 FROM items WHERE id = 1", "UPDATE items SET qty = 32 WHERE id = 1"))
    c.commit()
    return [seen, each(c, "SELECT qty FROM items WHERE id = 1", "SELECT name FROM items WHERE id = 1 FOR UPDATE")]


def blobs(c):
    seen, cur = [], c.cursor()
    for size in (0, 1, 65536, 3 << 20):
        v = (b"\x00\xfe'\\" * (size // 4 + 1))[:size]
        cur.execute("INSERT INTO blobs VALUES (%s, %s, %s)", (size, v, "😀"))
        cur.execute("SELECT v, tx FROM blobs WHERE id = %s", (size,))
        back, tx = cur.fetchall()[0]
        seen.append([size, bytes(back) == v, tx])
    cur.execute("DELETE FROM blobs")
    c.commit()
    return seen


def load(c):
    path = os.path.join(os.environ["CW_TMP"], "load.tsv")
    with open(path, "w", encoding="utf-8") as f:
        f.write("1\tone\t1.5\n2\t😀\t-2\n\\N\t\\N\t\\N\n" * 100)
    return [each(c, f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE loaded CHARACTER SET utf8mb4", "SELECT a, b, c, COUNT(*) FROM loaded GROUP BY a, b, c ORDER BY a", "DELETE FROM loaded"), c.commit()]


def results(d):
    d.check("procedures", lambda c: [each(c, "CALL two_results()", "CALL in_out(4, @b, @c)", "SELECT @b", "CALL adds('python')", "SELECT name FROM items WHERE name = 'python'", "DELETE FROM items WHERE name = 'python'", "CALL fails()"), c.commit()])
    d.check("callproc", callproc)
    d.check("half read", half_read)
    d.check("empty result", lambda c: each(c, "SELECT id, name FROM items WHERE id < 0", "DO 1", "SET @a = 1"))


def callproc(c):
    cur = c.cursor()
    args = cur.callproc("in_out", (4, 0, 10))
    while cur.nextset() if hasattr(cur, "nextset") else False:
        pass
    cur.close()
    return [list(args), run(c, "SELECT @_in_out_1, @_in_out_2, @_in_out_arg2, @_in_out_arg3")]


def half_read(c):
    cur = c.cursor()
    cur.execute("SELECT n FROM numbers ORDER BY n")
    first = [cur.fetchone(), cur.fetchmany(3)]
    try:
        cur.close()
    except Exception as e:
        first.append(error(e))
    return [first, run(c, "SELECT COUNT(*) FROM numbers")]


def sessions(d):
    d.check("state", lambda c: each(c, "SET time_zone = '+03:00'", "SELECT ts FROM kinds WHERE id = 1", "SET @x = 5", "SELECT @x, COUNT(*) FROM numbers", "CREATE TEMPORARY TABLE items (a INT)", "SELECT * FROM items", "DROP TEMPORARY TABLE items", "SELECT name FROM items WHERE id = 1", "SELECT GET_LOCK('py', 1)", "SELECT RELEASE_LOCK('py')", "SELECT SQL_CALC_FOUND_ROWS n FROM numbers LIMIT 2", "SELECT FOUND_ROWS()", "SET sql_mode = 'ANSI_QUOTES'", 'SELECT "name" FROM "items" WHERE "id" = 1'), autocommit=True)
    d.check("schema", lambda c: each(c, "USE clients2", "SELECT name FROM items", "SELECT DATABASE()"))
    d.check("ping", lambda c: [c.ping(), run(c, "SELECT COUNT(*) FROM numbers")])
    d.check("ids", lambda c: run(c, "SELECT CONNECTION_ID() > 0, CONNECTION_ID() = @@pseudo_thread_id"))


def endings(d):
    def kill(text):
        def f(c):
            other = d.connect()
            cur = c.cursor()
            cur.execute("SELECT CONNECTION_ID()")
            target = cur.fetchall()[0][0]
            cur.close()
            killer = threading.Thread(target=lambda: (time.sleep(0.5), run(other, text % target)))
            killer.start()
            since = time.time()
            v = run(c, "SELECT SLEEP(20), COUNT(*) FROM numbers")
            killer.join()
            other.close()
            after = run(c, "SELECT COUNT(*) FROM numbers") if "QUERY" in text else None
            return [v, time.time() - since < 10, after]

        return f

    d.check("kill query", kill("KILL QUERY %d"))
    d.check("kill", kill("KILL %d"))
    d.check("time limit", lambda c: each(c, "SET max_execution_time = 100", "SELECT COUNT(*) FROM numbers a, numbers b, numbers c WHERE a.word < b.word AND b.word < c.word AND SLEEP(0.01) = 0", "SET max_execution_time = 0", "SELECT COUNT(*) FROM numbers"))
