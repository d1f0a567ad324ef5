import java.io.ByteArrayInputStream;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Values, writes, prepared statements and results, in both protocols. */
final class JdbcChecks {
    private static final String TEXT = "";
    private final Checks.Driver d;
    private final String server;
    private final String clientCache;

    JdbcChecks(Checks.Driver d) {
        this.d = d;
        server = "&useServerPrepStmts=true";
        clientCache = server + "&cachePrepStmts=true&prepStmtCacheSize=20";
    }

    void all() {
        connect();
        types();
        writes();
        prepared();
        results();
        metadata();
    }

    private void connect() {
        Checks.check(d, "connect", TEXT, c -> Checks.list(c.getCatalog(), c.getMetaData().getDatabaseProductVersion(), c.isValid(5), c.getAutoCommit(),
            c.getTransactionIsolation(), c.isReadOnly(), Checks.each(c, "SELECT DATABASE(), CURRENT_USER(), @@sql_mode, @@character_set_client, @@character_set_results")));
        Checks.bare(d, "connect without a schema", () -> {
            try (Connection c = d.connect("", TEXT)) {
                return Checks.list(Checks.each(c, "SELECT DATABASE()", "SELECT * FROM items"));
            }
        });
        Checks.bare(d, "unknown schema", () -> {
            try (Connection c = d.connect("nosuch", TEXT)) {
                return "connected";
            }
        });
        Checks.bare(d, "wrong password", () -> {
            try (Connection c = java.sql.DriverManager.getConnection(d.url("clients", TEXT), "app", "wrong")) {
                return "connected";
            }
        });
        Checks.check(d, "connect with variables", "&sessionVariables=sql_mode='ANSI_QUOTES',time_zone='%2B05:00',group_concat_max_len=2222", c ->
            Checks.each(c, "SELECT \"name\" FROM \"items\" WHERE \"id\" = 1", "SELECT @@sql_mode, @@time_zone, @@group_concat_max_len"));
        if (d.connectorJ()) {
            Checks.check(d, "connect with charset", "&characterEncoding=ISO-8859-1", c -> Checks.each(c, "SELECT @@character_set_client, @@character_set_results, 'é'", "SELECT l1, vc FROM kinds WHERE id = 1"));
            Checks.check(d, "connect by Connector/J's time zone", "&connectionTimeZone=%2B05:00&forceConnectionTimeZoneToSession=true", c -> Checks.each(c, "SELECT ts, dt FROM kinds WHERE id = 1"));
            Checks.check(d, "compression", "&useCompression=true", c -> Checks.each(c, "SELECT word FROM numbers ORDER BY n LIMIT 100", "UPDATE items SET qty = 1 WHERE id = 1"));
        }
    }

    private void types() {
        for (String[] o : new String[][] {{"text", TEXT}, {"server", server}}) {
            Checks.check(d, "types, " + o[0], o[1], c -> Checks.query(c, "SELECT * FROM kinds WHERE id > ? ORDER BY id", 0));
            Checks.check(d, "types by getters, " + o[0], o[1], c -> getters(c));
            Checks.check(d, "parameters, " + o[0], o[1], c -> Checks.query(c, "SELECT ?, ?, ?, ?, ?, ?, ?, ? FROM items WHERE id = 1", -5L, new java.math.BigDecimal("12345678901234567890.123"), 2.5,
                "😀'\\\0", new byte[] {0, -1, 39}, null, true, java.time.LocalDateTime.of(2024, 2, 29, 1, 2, 3, 4000)));
            Checks.check(d, "empty result, " + o[0], o[1], c -> Checks.query(c, "SELECT id, name FROM items WHERE id < ?", 0));
        }
    }

    private Object getters(Connection c) throws Exception {
        List<Object> list = new ArrayList<>();
        try (PreparedStatement s = c.prepareStatement("SELECT b, de, d, bi, da, dt, vc, bl, js FROM kinds WHERE id = 1"); ResultSet r = s.executeQuery()) {
            r.next();
            list.addAll(Checks.list(r.getLong(1), r.getBigDecimal(2).toString(), String.valueOf(r.getDouble(3)), r.getBoolean(4), String.valueOf(r.getDate(5)), String.valueOf(r.getTimestamp(6)),
                r.getString(7), r.getBytes(8).length, r.getString(9), r.getString("da"), r.next()));
        }
        return list;
    }

    private void writes() {
        for (String found : new String[] {"true", "false"}) {
            String o = "&useAffectedRows=" + (found.equals("true") ? "false" : "true");
            Checks.check(d, "affected rows, found rows " + found, o, c -> Checks.each(c, "UPDATE items SET qty = 44 WHERE id <= 2", "UPDATE items SET qty = 44 WHERE id <= 3", "DELETE FROM items WHERE id < 0"));
        }
        Checks.check(d, "generated keys", TEXT, c -> {
            List<Object> list = new ArrayList<>();
            for (String sql : new String[] {"INSERT INTO items (name) VALUES ('g1')", "INSERT INTO items (name) VALUES ('g2'), ('g3')", "INSERT INTO items (name) VALUES ('g1') ON DUPLICATE KEY UPDATE qty = 5"}) {
                try (Statement s = c.createStatement()) {
                    list.add(s.executeUpdate(sql, Statement.RETURN_GENERATED_KEYS));
                    list.add(Checks.table(s.getGeneratedKeys()));
                    list.add(Checks.run(c, "SELECT LAST_INSERT_ID()"));
                }
            }
            list.add(Checks.run(c, "DELETE FROM items WHERE name LIKE 'g_'"));
            return list;
        });
        for (String o : new String[] {TEXT, "&rewriteBatchedStatements=true", server, d.connectorJ() ? server + "&rewriteBatchedStatements=true" : server + "&useBulkStmts=true"}) {
            Checks.check(d, "batch" + o, o, this::batch);
        }
        Checks.check(d, "own write is read", TEXT, c -> {
            int missed = 0;
            for (int i = 0; i < 50; i++) {
                Checks.run(c, "UPDATE items SET qty = " + i + " WHERE id = 3");
                try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT qty FROM items WHERE id = 3")) {
                    r.next();
                    missed += r.getInt(1) == i ? 0 : 1;
                }
            }
            return missed;
        });
        Checks.check(d, "errors", TEXT, c -> Checks.each(c, "SELEC 1", "SELECT * FROM nosuch", "SELECT nosuch FROM items", "INSERT INTO items (name) VALUES ('apple')", "INSERT INTO child (item) VALUES (-1)", "INSERT INTO strict VALUES (1000, 'x')",
            "INSERT INTO strict VALUES (1, 'long')", "INSERT INTO strict VALUES (NULL, 'x')", "CALL nosuch()", "SELECT 1; SELECT 2", "USE nosuch", "SELECT name FROM items WHERE id = 1"));
        Checks.check(d, "warnings", TEXT, c -> Checks.each(c, "SELECT CAST('x' AS SIGNED), 1/0", "SHOW WARNINGS", "SELECT n FROM numbers WHERE word = 5 LIMIT 1", "DROP TABLE IF EXISTS nosuch", "SELECT COUNT(*) FROM items"));
        Checks.check(d, "load data", "&allowLoadLocalInfile=true&allowLocalInfile=true", this::loadData);
    }

    private Object batch(Connection c) throws Exception {
        List<Object> list = new ArrayList<>();
        try (PreparedStatement s = c.prepareStatement("INSERT INTO items (name, qty) VALUES (?, ?)", Statement.RETURN_GENERATED_KEYS)) {
            for (int i = 0; i < 12; i++) {
                s.setString(1, "batch" + i);
                s.setInt(2, i);
                s.addBatch();
            }
            list.add(Arrays.toString(s.executeBatch()));
            list.add(Checks.table(s.getGeneratedKeys()));
        }
        list.add(Checks.query(c, "SELECT name, qty FROM items WHERE name LIKE ? ORDER BY id", "batch%"));
        list.add(Checks.run(c, "DELETE FROM items WHERE name LIKE 'batch%'"));
        try (Statement s = c.createStatement()) {
            s.addBatch("UPDATE items SET qty = 1 WHERE id = 1");
            s.addBatch("INSERT INTO items (name) VALUES ('apple')");
            s.addBatch("UPDATE items SET qty = 2 WHERE id = 1");
            try {
                list.add(Arrays.toString(s.executeBatch()));
            } catch (java.sql.BatchUpdateException e) {
                list.add(Checks.list(Arrays.toString(e.getUpdateCounts()), Checks.error(e)));
            }
        }
        list.add(Checks.run(c, "SELECT qty FROM items WHERE id = 1"));
        return list;
    }

    private Object loadData(Connection c) throws Exception {
        Path path = Path.of(System.getenv("CW_TMP"), "load-" + d.name() + ".tsv");
        Files.writeString(path, "1\tone\t1.5\n2\t😀\t-2\n\\N\t\\N\t\\N\n".repeat(30));
        Object n = Checks.run(c, "LOAD DATA LOCAL INFILE '" + path + "' INTO TABLE loaded");
        return Checks.list(n, Checks.each(c, "SELECT a, b, c, COUNT(*) FROM loaded GROUP BY a, b, c ORDER BY a", "DELETE FROM loaded"));
    }

    private void prepared() {
        for (String[] o : new String[][] {{"server", server}, {"server, cached", clientCache}}) {
            Checks.check(d, "executed again, " + o[0], o[1], c -> {
                List<Object> list = new ArrayList<>();
                try (PreparedStatement s = c.prepareStatement("SELECT n, word FROM numbers WHERE n = ?")) {
                    for (Object arg : new Object[] {1, 2L, null, "3", 4.0, 500}) {
                        s.setObject(1, arg);
                        list.add(Checks.all(s, s.execute()));
                    }
                }
                return list;
            });
            Checks.check(d, "many statements, " + o[0], o[1], c -> {
                List<Object> list = new ArrayList<>();
                for (int i = 0; i < 60; i++) {
                    list.add(Checks.query(c, "SELECT n + " + i % 30 + " FROM numbers WHERE n = ?", i + 1));
                }
                return list;
            });
            Checks.check(d, "blobs, " + o[0], o[1], this::blobs);
            Checks.check(d, "errors of prepared statements, " + o[0], o[1], c -> {
                List<Object> list = new ArrayList<>();
                for (String sql : new String[] {"SELEC ?", "SELECT ? FROM nosuch", "INSERT INTO items (id, name) VALUES (?, 'apple')", "SELECT n FROM numbers WHERE n = ?"}) {
                    try {
                        list.add(Checks.query(c, sql, 1));
                    } catch (java.sql.SQLException e) {
                        list.add(Checks.error(e));
                    }
                }
                return list;
            });
        }
        String cursor = d.connectorJ() ? server + "&useCursorFetch=true&defaultFetchSize=7" : server + "&defaultFetchSize=7";
        Checks.check(d, "fetched in parts", cursor, c -> {
            List<Object> list = new ArrayList<>();
            try (PreparedStatement s = c.prepareStatement("SELECT n FROM numbers WHERE n > ? ORDER BY n")) {
                s.setInt(1, 100);
                try (ResultSet r = s.executeQuery()) {
                    for (int i = 0; i < 20 && r.next(); i++) {
                        list.add(r.getInt(1));
                    }
                }
                s.setInt(1, 490);
                list.add(Checks.all(s, s.execute()));
            }
            list.add(Checks.run(c, "SELECT COUNT(*) FROM numbers"));
            return list;
        });
        Checks.check(d, "row by row", TEXT, c -> {
            long sum = 0;
            try (Statement s = c.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
                s.setFetchSize(d.connectorJ() ? Integer.MIN_VALUE : 1);
                try (ResultSet r = s.executeQuery("SELECT a.n FROM numbers a, numbers b WHERE b.n < 100")) {
                    while (r.next()) {
                        sum += r.getInt(1);
                    }
                }
                s.setMaxRows(5);
                return Checks.list(sum, Checks.all(s, s.execute("SELECT n FROM numbers ORDER BY n")), Checks.run(c, "SELECT COUNT(*) FROM numbers"));
            }
        });
    }

    private Object blobs(Connection c) throws Exception {
        List<Object> list = new ArrayList<>();
        for (int size : new int[] {0, 1, 65536, 3 << 20}) {
            byte[] v = new byte[size];
            Arrays.fill(v, (byte) 0xfe);
            try (PreparedStatement s = c.prepareStatement("INSERT INTO blobs VALUES (?, ?, ?)")) {
                s.setInt(1, size);
                s.setBinaryStream(2, new ByteArrayInputStream(v), size);
                s.setCharacterStream(3, new StringReader("😀".repeat(size / 100)));
                list.add(s.executeUpdate());
            }
            try (PreparedStatement s = c.prepareStatement("SELECT v, tx FROM blobs WHERE id = ?")) {
                s.setInt(1, size);
                try (ResultSet r = s.executeQuery()) {
                    r.next();
                    list.add(Checks.list(Arrays.equals(v, r.getBytes(1)), r.getString(2).length()));
                }
            }
        }
        list.add(Checks.run(c, "DELETE FROM blobs"));
        return list;
    }

    private void results() {
        Checks.check(d, "several statements", "&allowMultiQueries=true", c -> Checks.each(c, "SELECT name FROM items WHERE id = 1; UPDATE items SET qty = 5 WHERE id = 1; SELECT qty FROM items WHERE id = 1", "SELECT 1; SELEC 2; SELECT 3", "SELECT n FROM numbers WHERE n = 1; SELECT * FROM nosuch"));
        Checks.check(d, "procedures", TEXT, c -> {
            List<Object> list = new ArrayList<>();
            try (CallableStatement s = c.prepareCall("{CALL two_results()}")) {
                list.add(Checks.all(s, s.execute()));
            }
            try (CallableStatement s = c.prepareCall("{CALL in_out(?, ?, ?)}")) {
                s.setInt(1, 4);
                s.registerOutParameter(2, Types.INTEGER);
                s.setInt(3, 10);
                s.registerOutParameter(3, Types.INTEGER);
                s.execute();
                list.add(Checks.list(s.getInt(2), s.getInt(3)));
            }
            try (CallableStatement s = c.prepareCall("{CALL in_out_rows(?, ?)}")) {
                s.setInt(1, 2);
                s.registerOutParameter(2, Types.INTEGER);
                list.add(Checks.all(s, s.execute()));
                list.add(s.getInt(2));
            }
            try (CallableStatement s = c.prepareCall("{? = CALL doubled(?)}")) {
                s.registerOutParameter(1, Types.INTEGER);
                s.setInt(2, 21);
                s.execute();
                list.add(s.getInt(1));
            }
            list.add(Checks.each(c, "CALL adds('java " + d.name() + "')", "SELECT name FROM items WHERE name LIKE 'java%'", "DELETE FROM items WHERE name LIKE 'java%'", "CALL fails()", "SELECT COUNT(*) FROM numbers"));
            return list;
        });
        Checks.check(d, "updatable result", TEXT, c -> {
            try (Statement s = c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE); ResultSet r = s.executeQuery("SELECT id, qty FROM items WHERE id = 5")) {
                r.next();
                r.updateInt(2, 77);
                r.updateRow();
            }
            return Checks.run(c, "SELECT qty FROM items WHERE id = 5");
        });
    }

    private void metadata() {
        Checks.check(d, "metadata", TEXT, c -> {
            DatabaseMetaData m = c.getMetaData();
            return Checks.list(Checks.table(m.getTables("clients", null, "%", new String[] {"TABLE"})), Checks.table(m.getColumns("clients", null, "items", "%")), Checks.table(m.getPrimaryKeys("clients", null, "items")),
                indexes(m), Checks.table(m.getImportedKeys("clients", null, "child")), Checks.table(m.getProcedures("clients", null, "in_out%")), Checks.table(m.getCatalogs()));
        });
    }

    /** Without the cardinality, which each server estimates for itself. */
    private Object indexes(DatabaseMetaData m) throws Exception {
        List<Object> list = new ArrayList<>();
        try (ResultSet r = m.getIndexInfo("clients", null, "items", true, true)) {
            while (r.next()) {
                list.add(Checks.list(r.getString("TABLE_NAME"), r.getString("INDEX_NAME"), r.getString("COLUMN_NAME"), r.getBoolean("NON_UNIQUE")));
            }
        }
        return list;
    }
}
