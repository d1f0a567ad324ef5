import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;

/** HikariCP: what one user of a connection leaves to the next, and what it puts back. */
final class PoolChecks {
    private final Checks.Driver d;

    PoolChecks(Checks.Driver d) {
        this.d = d;
    }

    void all() {
        Checks.bare(d, "hikari, one connection", () -> {
            try (HikariDataSource pool = pool(1, c -> { })) {
                List<Object> list = new ArrayList<>();
                for (int i = 0; i < 3; i++) {
                    try (Connection c = pool.getConnection()) {
                        list.add(Checks.each(c, "SELECT @left, @@transaction_read_only, @@autocommit, @@transaction_isolation, DATABASE()", "UPDATE items SET qty = qty + 1 WHERE id = 2", "SELECT qty FROM items WHERE id = 2"));
                        Checks.run(c, "SET @left = " + i);
                        c.setReadOnly(true);
                        c.setAutoCommit(false);
                        c.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
                        c.setCatalog("clients2");
                        list.add(Checks.each(c, "SELECT name FROM items", "SELECT @@transaction_isolation, @@transaction_read_only"));
                    }
                }
                return list;
            }
        });
        Checks.bare(d, "hikari, a transaction left open", () -> {
            try (HikariDataSource pool = pool(1, c -> c.setAutoCommit(false))) {
                try (Connection c = pool.getConnection()) {
                    Checks.run(c, "UPDATE items SET qty = 999 WHERE id = 3");
                }
                try (Connection c = pool.getConnection()) {
                    return Checks.run(c, "SELECT qty <> 999 FROM items WHERE id = 3");
                }
            }
        });
        Checks.bare(d, "hikari, test query and init", () -> {
            try (HikariDataSource pool = pool(3, c -> {
                c.setConnectionTestQuery("SELECT 1");
                c.setConnectionInitSql("SET time_zone = '+02:00'");
                c.setReadOnly(true);
            })) {
                List<Object> list = new ArrayList<>();
                for (int i = 0; i < 5; i++) {
                    try (Connection a = pool.getConnection(); Connection b = pool.getConnection()) {
                        list.add(Checks.each(a, "SELECT @@time_zone, COUNT(*) FROM numbers", "UPDATE items SET qty = 1"));
                        list.add(Checks.each(b, "SELECT @@time_zone, COUNT(*) FROM numbers"));
                    }
                }
                return list;
            }
        });
    }

    interface Change {
        void apply(HikariConfig c);
    }

    private HikariDataSource pool(int size, Change change) {
        HikariConfig c = new HikariConfig();
        c.setJdbcUrl(d.url("clients", ""));
        c.setUsername(System.getenv("CW_USER"));
        c.setPassword(System.getenv("CW_PASSWORD"));
        c.setMaximumPoolSize(size);
        c.setMinimumIdle(1);
        change.apply(c);
        return new HikariDataSource(c);
    }
}
