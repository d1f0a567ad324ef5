import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Transactions, what a session remembers, and what ends a statement. */
final class SessionChecks {
    private final Checks.Driver d;

    SessionChecks(Checks.Driver d) {
        this.d = d;
    }

    void all() {
        transactions();
        sessions();
        endings();
    }

    private void transactions() {
        Checks.check(d, "commit and rollback", "", c -> {
            List<Object> list = new ArrayList<>();
            c.setAutoCommit(false);
            list.add(Checks.each(c, "UPDATE items SET qty = 31 WHERE id = 1", "SELECT qty FROM items WHERE id = 1"));
            c.rollback();
            list.add(Checks.run(c, "SELECT qty <> 31 FROM items WHERE id = 1"));
            list.add(Checks.run(c, "UPDATE items SET qty = 32 WHERE id = 1"));
            Savepoint sp = c.setSavepoint("sp");
            list.add(Checks.run(c, "UPDATE items SET qty = 33 WHERE id = 1"));
            c.rollback(sp);
            c.commit();
            list.add(Checks.run(c, "SELECT qty FROM items WHERE id = 1"));
            c.setAutoCommit(true);
            list.add(Checks.each(c, "SELECT qty, @@autocommit FROM items WHERE id = 1", "UPDATE items SET qty = 34 WHERE id = 1"));
            try {
                c.rollback();
                list.add("rolled back");
            } catch (SQLException e) {
                list.add(Checks.error(e));
            }
            return list;
        });
        Checks.check(d, "read only", "", c -> {
            List<Object> list = new ArrayList<>();
            c.setReadOnly(true);
            list.add(Checks.each(c, "SELECT qty FROM items WHERE id = 1", "UPDATE items SET qty = 35 WHERE id = 1", "SELECT @@transaction_read_only"));
            c.setAutoCommit(false);
            list.add(Checks.each(c, "SELECT qty FROM items WHERE id = 1", "INSERT INTO items (name) VALUES ('never')", "SELECT COUNT(*) FROM numbers"));
            c.commit();
            c.setReadOnly(false);
            list.add(Checks.each(c, "UPDATE items SET qty = 36 WHERE id = 1", "SELECT qty, @@transaction_read_only FROM items WHERE id = 1"));
            c.commit();
            return list;
        });
        for (int level : new int[] {Connection.TRANSACTION_READ_COMMITTED, Connection.TRANSACTION_SERIALIZABLE}) {
            Checks.check(d, "isolation " + level, "", c -> {
                c.setTransactionIsolation(level);
                c.setAutoCommit(false);
                Object v = Checks.each(c, "SELECT @@transaction_isolation, qty FROM items WHERE id = 2", "UPDATE items SET qty = qty + 1 WHERE id = 2", "SELECT qty FROM items WHERE id = 2");
                c.rollback();
                return Checks.list(v, c.getTransactionIsolation(), Checks.run(c, "SELECT qty FROM items WHERE id = 2"));
            });
        }
        Checks.check(d, "lock wait timeout", "", c -> {
            c.setAutoCommit(false);
            Checks.run(c, "SELECT * FROM items WHERE id = 2 FOR UPDATE");
            try (Connection other = d.connect("")) {
                return Checks.each(other, "SET innodb_lock_wait_timeout = 1", "UPDATE items SET qty = 3 WHERE id = 2", "SELECT name FROM items WHERE id = 2 FOR UPDATE NOWAIT");
            }
        });
        Checks.check(d, "deadlock", "", this::deadlock);
    }

    /** Two transactions lock two rows crosswise; the second has written less and is the victim. */
    private Object deadlock(Connection a) throws Exception {
        try (Connection b = d.connect("")) {
            a.setAutoCommit(false);
            b.setAutoCommit(false);
            Checks.each(a, "UPDATE numbers SET word = 'x' WHERE n < 200", "UPDATE items SET qty = 1 WHERE id = 1");
            Checks.run(b, "UPDATE items SET qty = 2 WHERE id = 4");
            CompletableFuture<Object> waits = CompletableFuture.supplyAsync(() -> Checks.run(a, "UPDATE items SET qty = 1 WHERE id = 4"));
            Thread.sleep(300);
            Object victim = Checks.run(b, "UPDATE items SET qty = 2 WHERE id = 1");
            Object winner = waits.get();
            a.rollback();
            b.rollback();
            return Checks.list(victim, winner, Checks.run(b, "SELECT COUNT(*) FROM numbers WHERE word = 'x'"));
        }
    }

    private void sessions() {
        Checks.check(d, "schema is changed", "", c -> {
            c.setCatalog("clients2");
            Object v = Checks.each(c, "SELECT name FROM items", "SELECT DATABASE()");
            c.setCatalog("clients");
            return Checks.list(v, c.getCatalog(), Checks.each(c, "SELECT name FROM items WHERE id = 1", "USE clients2", "SELECT name FROM items"), c.getCatalog());
        });
        Checks.check(d, "variables", "", c -> Checks.each(c, "SET time_zone = '+03:00'", "SELECT CAST(ts AS CHAR) FROM kinds WHERE id = 1", "SET @x = 5", "SELECT @x, COUNT(*) FROM numbers", "SET sql_mode = CONCAT(@@sql_mode, ',PIPES_AS_CONCAT')", "SELECT 'a' || name FROM items WHERE id = 1", "SET SESSION max_execution_time = 5000", "SELECT @@max_execution_time"));
        Checks.check(d, "temporary table", "", c -> Checks.each(c, "CREATE TEMPORARY TABLE items (a INT)", "INSERT INTO items VALUES (7)", "SELECT * FROM items", "DROP TEMPORARY TABLE items", "SELECT name FROM items WHERE id = 1"));
        Checks.check(d, "locks", "", c -> Checks.each(c, "SELECT GET_LOCK('java', 1)", "SELECT IS_USED_LOCK('java') = CONNECTION_ID()", "SELECT RELEASE_ALL_LOCKS()", "LOCK TABLES items WRITE", "INSERT INTO items (name) VALUES ('locked')", "UNLOCK TABLES", "DELETE FROM items WHERE name = 'locked'"));
        Checks.check(d, "found rows and row count", "", c -> Checks.each(c, "SELECT SQL_CALC_FOUND_ROWS n FROM numbers LIMIT 3", "SELECT FOUND_ROWS()", "UPDATE items SET qty = qty + 1 WHERE id < 4", "SELECT ROW_COUNT()"));
        Checks.check(d, "show", "", c -> Checks.each(c, "SHOW TABLES", "SHOW CREATE TABLE numbers", "DESCRIBE numbers", "SHOW DATABASES LIKE 'clients%'", "EXPLAIN SELECT * FROM numbers WHERE n = 5", "SHOW FULL COLUMNS FROM items", "CHECKSUM TABLE clients2.items"));
        if (d.connectorJ()) {
            Checks.check(d, "connection id", "", c -> {
                try (Statement s = c.createStatement(); var r = s.executeQuery("SELECT CONNECTION_ID()")) {
                    r.next();
                    return r.getLong(1) == ((com.mysql.cj.jdbc.JdbcConnection) c).getId();
                }
            });
            Checks.check(d, "reset", "", c -> {
                Checks.each(c, "SET @x = 5", "SET sql_mode = ''", "CREATE TEMPORARY TABLE gone (a INT)");
                ((com.mysql.cj.jdbc.JdbcConnection) c).resetServerState();
                return Checks.each(c, "SELECT @x, @@sql_mode, DATABASE()", "SELECT * FROM gone", "SELECT name FROM items WHERE id = 1");
            });
            Checks.check(d, "change user", "", c -> {
                Checks.each(c, "SET @x = 5", "USE clients2");
                ((com.mysql.cj.jdbc.JdbcConnection) c).changeUser(System.getenv("CW_USER"), System.getenv("CW_PASSWORD"));
                return Checks.each(c, "SELECT @x, DATABASE(), @@character_set_client", "SELECT name FROM items WHERE id = 1");
            });
        }
    }

    private void endings() {
        Checks.check(d, "query timeout", "", c -> {
            try (Statement s = c.createStatement()) {
                s.setQueryTimeout(1);
                long since = System.nanoTime();
                Object v;
                try {
                    v = Checks.all(s, s.execute("SELECT SLEEP(20), COUNT(*) FROM numbers"));
                } catch (SQLException e) {
                    v = Checks.error(e);
                }
                return Checks.list(v, System.nanoTime() - since < 10_000_000_000L, Checks.run(c, "SELECT COUNT(*) FROM numbers"));
            }
        });
        Checks.check(d, "cancel", "", c -> {
            try (Statement s = c.createStatement()) {
                CompletableFuture<Object> running = CompletableFuture.supplyAsync(() -> {
                    try {
                        return Checks.all(s, s.execute("SELECT SLEEP(20), COUNT(*) FROM numbers"));
                    } catch (SQLException e) {
                        return Checks.error(e);
                    }
                });
                Thread.sleep(500);
                long since = System.nanoTime();
                s.cancel();
                Object v = running.get();
                return Checks.list(v, System.nanoTime() - since < 10_000_000_000L, Checks.run(c, "SELECT COUNT(*) FROM numbers"));
            }
        });
        Checks.check(d, "socket timeout", "&socketTimeout=700", c -> {
            Object v = Checks.run(c, "SELECT SLEEP(5), COUNT(*) FROM numbers");
            return Checks.list(v instanceof java.util.Map<?, ?> m ? m.get("sqlstate") : v, c.isValid(1));
        });
        Checks.check(d, "KILL", "", c -> {
            Object v = Checks.run(c, "KILL CONNECTION_ID()");
            return Checks.list(v instanceof java.util.Map<?, ?> m ? Checks.list(m.get("errno"), m.get("sqlstate")) : v, c.isValid(1));
        });
    }
}
