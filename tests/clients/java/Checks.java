import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The Java client program: what both drivers of Java see, as JSON lines. */
public final class Checks {
    static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    static int seen;

    /** One driver, with the options that it spells in its own way. */
    record Driver(String name, String scheme, String options) {
        String url(String schema, String more) {
            return scheme + System.getenv("CW_HOST") + ":" + System.getenv("CW_PORT") + "/" + schema + "?" + options + more;
        }

        Connection connect(String more) throws SQLException {
            return connect("clients", more);
        }

        Connection connect(String schema, String more) throws SQLException {
            return DriverManager.getConnection(url(schema, more), System.getenv("CW_USER"), System.getenv("CW_PASSWORD"));
        }

        boolean connectorJ() {
            return name.equals("connectorj");
        }
    }

    interface Check {
        Object run(Connection c) throws Exception;
    }

    interface Bare {
        Object run() throws Exception;
    }

    public static void main(String[] args) throws Exception {
        Driver[] drivers = {
            new Driver("connectorj", "jdbc:mysql://", "sslMode=PREFERRED&allowPublicKeyRetrieval=true"),
            new Driver("mariadb", "jdbc:mariadb://", "allowPublicKeyRetrieval=true&sslMode=disable"),
        };
        boolean brief = "short".equals(System.getenv("CW_SET"));
        for (Driver d : drivers) {
            if (brief && !d.connectorJ()) {
                continue;
            }
            new JdbcChecks(d).all();
            new SessionChecks(d).all();
            new PoolChecks(d).all();
        }
        emit("end", seen);
        System.exit(0);
    }

    /** Runs a check on a connection of its own. An error of the server is something seen. */
    static void check(Driver d, String name, String options, Check f) {
        bare(d, name, () -> {
            try (Connection c = d.connect(options)) {
                return f.run(c);
            }
        });
    }

    static void bare(Driver d, String name, Bare f) {
        Object value;
        try {
            value = f.run();
        } catch (Throwable e) {
            value = error(e);
        }
        emit(d.name() + "/" + name, value);
        seen++;
    }

    static Object error(Throwable e) {
        if (e instanceof SQLException s) {
            return map("errno", s.getErrorCode(), "sqlstate", s.getSQLState(), "class", s.getClass().getSimpleName(), "message", text(s.getMessage()));
        }
        return map("broken", e.toString());
    }

    /** Ids of connections and times in the drivers' own messages are no part of what is compared. */
    static String text(String s) {
        return s == null ? null : s.replaceAll("\\(conn=\\d+\\)", "(conn=N)").replaceAll("[0-9.,]+ milliseconds", "N milliseconds")
            .replaceAll("(?s)address=\\(host=[^\\n]*", "address").replaceAll("127\\.0\\.0\\.1:\\d+", "ADDRESS").replaceAll("\\(port=\\d+\\)", "(port=N)");
    }

    /** All that a statement gives: results, counts, warnings. */
    static Object all(Statement s, boolean isResult) throws SQLException {
        List<Object> list = new ArrayList<>();
        while (true) {
            if (isResult) {
                try (ResultSet r = s.getResultSet()) {
                    list.add(table(r));
                }
            } else {
                long n = s.getLargeUpdateCount();
                if (n < 0) {
                    break;
                }
                list.add(n);
            }
            isResult = s.getMoreResults();
        }
        return list.size() == 1 ? list.get(0) : list;
    }

    static Object table(ResultSet r) throws SQLException {
        ResultSetMetaData m = r.getMetaData();
        List<Object> columns = new ArrayList<>();
        List<Object> rows = new ArrayList<>();
        for (int i = 1; i <= m.getColumnCount(); i++) {
            columns.add(list(m.getColumnLabel(i), m.getColumnTypeName(i), m.getColumnClassName(i), m.getPrecision(i), m.getScale(i), m.isNullable(i), m.getTableName(i)));
        }
        while (r.next()) {
            List<Object> row = new ArrayList<>();
            for (int i = 1; i <= m.getColumnCount(); i++) {
                row.add(cell(r, i));
            }
            rows.add(row);
        }
        return map("columns", columns, "rows", rows);
    }

    static Object cell(ResultSet r, int i) {
        try {
            return plain(r.getObject(i));
        } catch (SQLException e) {
            return error(e); // a value that the driver's own type cannot hold
        }
    }

    static Object plain(Object v) {
        if (v instanceof byte[] b) {
            return map("hex", HexFormat.of().formatHex(b));
        }
        return v == null ? null : v.getClass().getSimpleName() + " " + v;
    }

    static Object run(Connection c, String sql) {
        try (Statement s = c.createStatement()) {
            Object v = all(s, s.execute(sql));
            Object w = warnings(s.getWarnings());
            return w == null ? v : map("value", v, "warnings", w);
        } catch (SQLException e) {
            return error(e);
        }
    }

    static Object each(Connection c, String... sql) {
        List<Object> list = new ArrayList<>();
        for (String s : sql) {
            list.add(run(c, s));
        }
        return list;
    }

    static Object query(Connection c, String sql, Object... args) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(sql)) {
            for (int i = 0; i < args.length; i++) {
                s.setObject(i + 1, args[i]);
            }
            return all(s, s.execute());
        }
    }

    static Object warnings(SQLWarning w) {
        List<Object> list = new ArrayList<>();
        for (; w != null; w = w.getNextWarning()) {
            list.add(list(w.getErrorCode(), w.getSQLState(), text(w.getMessage())));
        }
        return list.isEmpty() ? null : list;
    }

    static List<Object> list(Object... v) {
        return new ArrayList<>(java.util.Arrays.asList(v));
    }

    static Map<String, Object> map(Object... kv) {
        Map<String, Object> m = new LinkedHashMap<>();
        for (int i = 0; i < kv.length; i += 2) {
            m.put((String) kv[i], kv[i + 1]);
        }
        return m;
    }

    static void emit(String name, Object value) {
        OUT.println(json(map("name", name, "value", value)));
    }

    static String json(Object v) {
        if (v == null || v instanceof Boolean || v instanceof Integer || v instanceof Long) {
            return String.valueOf(v);
        }
        StringBuilder b = new StringBuilder();
        if (v instanceof Map<?, ?> m) {
            m.forEach((k, x) -> b.append(b.isEmpty() ? "" : ",").append(json(k)).append(':').append(json(x)));
            return "{" + b + "}";
        }
        if (v instanceof List<?> l) {
            l.forEach(x -> b.append(b.isEmpty() ? "" : ",").append(json(x)));
            return "[" + b + "]";
        }
        for (char ch : v.toString().toCharArray()) {
            b.append(ch == '"' || ch == '\\' ? "\\" + ch : ch < 32 ? String.format("\\u%04x", (int) ch) : String.valueOf(ch));
        }
        return "\"" + b + "\"";
    }
}
