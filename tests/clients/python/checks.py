"""The Python client program: PyMySQL, mysqlclient and Connector/Python, as JSON lines."""

import os

import mysql.connector
import mysql.connector.pooling
import MySQLdb
import MySQLdb.constants.CLIENT
import pymysql
import pymysql.constants.CLIENT
import pymysql.cursors

import lib
from dbapi import Driver, all_checks
from lib import WHERE, check, each, error, run


def pymysql_connect(**options):
    return pymysql.connect(**{**WHERE, "database": "clients", "charset": "utf8mb4", "connect_timeout": 10, **options})


def mysqldb_connect(**options):
    o = {**WHERE, "database": "clients", "charset": "utf8mb4", "ssl_mode": "DISABLED", **options}
    if o["database"] is None:
        del o["database"]
    o.pop("ssl_mode")
    return MySQLdb.connect(**o)


def connector(pure):
    def connect(**options):
        return mysql.connector.connect(**{**WHERE, "database": "clients", "charset": "utf8mb4", "use_pure": pure, "connection_timeout": 10, "consume_results": True, **options})

    return connect


def pymysql_own(d):
    d.check("several statements", lambda c: each(c, "SELECT name FROM items WHERE id = 1; UPDATE items SET qty = 5 WHERE id = 1; SELECT qty FROM items WHERE id = 1", "SELECT 1; SELEC 2"), client_flag=pymysql.constants.CLIENT.MULTI_STATEMENTS)
    d.check("unbuffered", lambda c: [sum(r[0] for r in unbuffered(c)), run(c, "SELECT COUNT(*) FROM numbers")], cursorclass=pymysql.cursors.SSCursor)
    d.check("dictionaries", lambda c: run_dicts(c), cursorclass=pymysql.cursors.DictCursor)
    d.check("init command", lambda c: each(c, "SELECT @@time_zone, ts FROM kinds WHERE id = 1"), init_command="SET time_zone = '+05:00'")
    d.check("read timeout", lambda c: [run(c, "SELECT SLEEP(3), COUNT(*) FROM numbers"), c.open], read_timeout=1)
    d.check("select_db", lambda c: [c.select_db("clients2"), each(c, "SELECT name FROM items"), c.character_set_name(), c.get_server_info()])
    d.check("connection id", lambda c: run(c, "SELECT CONNECTION_ID()")["rows"][0][0] == c.thread_id())
    d.check("ping after the end", lambda c: [c.close(), c.ping(), run(c, "SELECT COUNT(*) FROM numbers")])
    d.check("kill by the driver", lambda c: [kill_by(c, pymysql_connect()), None])


def kill_by(c, other):
    try:
        other.kill(run(c, "SELECT CONNECTION_ID()")["rows"][0][0])
    except Exception as e:
        return error(e)
    return run(c, "SELECT 1").get("errno") in (2013, 2006)


def unbuffered(c):
    cur = c.cursor()
    cur.execute("SELECT a.n FROM numbers a, numbers b WHERE b.n < 50")
    yield from cur
    cur.close()


def run_dicts(c):
    cur = c.cursor()
    cur.execute("SELECT * FROM items WHERE id < 3 ORDER BY id")
    return cur.fetchall()


def mysqldb_own(d):
    d.check("several statements", lambda c: each(c, "SELECT name FROM items WHERE id = 1; UPDATE items SET qty = 5 WHERE id = 1; SELECT qty FROM items WHERE id = 1", "SELECT 1; SELEC 2"))
    d.check("compression", lambda c: each(c, "SELECT word FROM numbers ORDER BY n LIMIT 100"), compress=True)
    d.check("change user", lambda c: [run(c, "SET @x = 5"), c.change_user(WHERE["user"], WHERE["password"], "clients2") if hasattr(c, "change_user") else None, each(c, "SELECT @x")])
    d.check("select_db", lambda c: [c.select_db("clients2"), each(c, "SELECT name FROM items"), c.character_set_name(), c.get_server_info(), c.info()])
    d.check("connection id", lambda c: run(c, "SELECT CONNECTION_ID()")["rows"][0][0] == c.thread_id())
    d.check("discard", lambda c: [run(c, "SELECT n FROM numbers LIMIT 3"), c.warning_count() if hasattr(c, "warning_count") else None, run(c, "SELECT COUNT(*) FROM numbers")])


def connector_own(d, pure):
    d.check("prepared", lambda c: prepared(c))
    d.check("prepared types", lambda c: [run(c, "SELECT id, t, s, m, i, b, ub, de, f, d, da, c, vc, tx, bn, vb, bl, en, js FROM kinds WHERE id = %s", (i,), prepared=True) for i in (1, 3)])
    d.check("prepared NULLs", lambda c: [run(c, "SELECT %s", (v,), prepared=True) for v in (None, 10, None, 11, "x", None, 12)] + [run(c, "SELECT %s, %s, %s", v, prepared=True) for v in ((1, "x", None), (None, None, 2), (None, "y", 3), (4, None, None))])
    d.check("prepared errors", lambda c: [run(c, "SELEC %s", (1,), prepared=True), run(c, "SELECT %s FROM nosuch", (1,), prepared=True), run(c, "SELECT COUNT(*) FROM numbers WHERE n > %s", (3,), prepared=True)])
    d.check("reset session", lambda c: [run(c, "SET @x = 5"), run(c, "SET sql_mode = ''"), c.cmd_reset_connection(), each(c, "SELECT @x, @@sql_mode, DATABASE()"), c.reset_session({"x": 7}, {"time_zone": "+04:00"}), each(c, "SELECT @x, @@time_zone")])
    d.check("change user", lambda c: [run(c, "SET @x = 5"), c.cmd_change_user(username=WHERE["user"], password=WHERE["password"], database="clients2") and None, each(c, "SELECT @x, DATABASE()", "SELECT name FROM items")])
    d.check("compression", lambda c: each(c, "SELECT word FROM numbers ORDER BY n LIMIT 100", "SELECT REPEAT('x', 100000)"), compress=True)
    d.check("transactions of the driver", lambda c: [c.start_transaction(isolation_level="READ COMMITTED", readonly=False), run(c, "UPDATE items SET qty = 91 WHERE id = 1"), c.in_transaction, c.rollback(), c.in_transaction, c.start_transaction(readonly=True, consistent_snapshot=True), run(c, "SELECT qty <> 91 FROM items WHERE id = 1"), run(c, "UPDATE items SET qty = 1"), c.rollback()])
    d.check("raw and dictionaries", lambda c: [run(c, "SELECT * FROM kinds WHERE id = 1", raw=True), dictionary(c)])
    d.check("connection id", lambda c: run(c, "SELECT CONNECTION_ID()")["rows"][0][0] == c.connection_id)
    d.check("get_warnings", lambda c: warned(c), get_warnings=True)
    if pure:
        check(d.name + "/pool", pool)


def prepared(c):
    cur, seen = c.cursor(prepared=True), []
    for arg in (1, "2", None, 500, 3):
        cur.execute("SELECT n, word FROM numbers WHERE n = %s", (arg,))
        seen.append([list(r) for r in cur.fetchall()])
    cur.execute("INSERT INTO items (name, qty) VALUES (%s, %s)", ("prepared", 3))
    seen.append([cur.rowcount, cur.lastrowid])
    cur.execute("DELETE FROM items WHERE name = %s", ("prepared",))
    cur.execute("INSERT INTO blobs VALUES (%s, %s, %s)", (77, b"\xfe" * (2 << 20), "t"))
    cur.execute("SELECT LENGTH(v) FROM blobs WHERE id = %s", (77,))
    seen.append([list(r) for r in cur.fetchall()])
    c.rollback()
    return seen


def dictionary(c):
    cur = c.cursor(dictionary=True, buffered=True)
    cur.execute("SELECT * FROM items WHERE id < 3 ORDER BY id")
    return cur.fetchall()


def warned(c):
    cur = c.cursor()
    cur.execute("SELECT CAST('x' AS SIGNED), 1/0")
    cur.fetchall()
    return [list(w) for w in cur.warnings or []]


def pool():
    p = mysql.connector.pooling.MySQLConnectionPool(pool_name="p", pool_size=1, pool_reset_session=True, use_pure=True, database="clients", **WHERE)
    seen = []
    for _ in range(3):
        c = p.get_connection()
        seen.append(each(c, "SELECT @left_over, @@autocommit", "SET @left_over = 1", "UPDATE items SET qty = 777 WHERE id = 2"))
        c.close()
    c = p.get_connection()
    seen.append(each(c, "START TRANSACTION", "SELECT qty <> 777 FROM items WHERE id = 2"))
    c.close()
    return seen


def main():
    d = Driver("pymysql", pymysql_connect, {"client_flag": pymysql.constants.CLIENT.FOUND_ROWS}, {"local_infile": True})
    all_checks(d)
    pymysql_own(d)
    if os.environ.get("CW_SET") != "short":
        d = Driver("mysqlclient", mysqldb_connect, {"client_flag": MySQLdb.constants.CLIENT.FOUND_ROWS}, {"local_infile": True})
        all_checks(d)
        mysqldb_own(d)
        for pure in (True, False):
            d = Driver("connector-python " + ("pure" if pure else "c"), connector(pure), {"client_flags": [-mysql.connector.constants.ClientFlag.FOUND_ROWS]}, {"allow_local_infile": True})
            all_checks(d)
            connector_own(d, pure)
    lib.emit("end", lib.seen)


main()
