package causeway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletResponse;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

/** The filter and the DataSource together, over a scripted JDBC driver whose commits give the token g:new. */
class RequestTest {
    private final List<String> log = new ArrayList<>();
    private boolean autoCommit = true;
    private final DataSource dataSource = new CausewayDataSource(proxy(DataSource.class, (name, args) -> connection()));

    private interface Script {
        Object run(String name, Object[] args) throws SQLException;
    }

    private interface Work {
        void run(Connection c) throws Exception;
    }

    @SuppressWarnings("unchecked")
    private static <T> T proxy(Class<T> type, Script script) {
        return (T) Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> script.run(method.getName(), args));
    }

    private Connection connection() {
        return proxy(Connection.class, (name, args) -> {
            switch (name) {
                case "createStatement":
                    return statement(Statement.class, null);
                case "prepareStatement":
                    return statement(PreparedStatement.class, (String) args[0]);
                case "getAutoCommit":
                    return autoCommit;
                case "setAutoCommit":
                    autoCommit = (Boolean) args[0];
                    return null;
                case "setReadOnly":
                    return null;
                case "isWrapperFor":
                    return false;
                default:
                    log.add(name);
                    return null;
            }
        });
    }

    private <T extends Statement> T statement(Class<T> type, String prepared) {
        return proxy(type, (name, args) -> {
            if (!name.startsWith("execute")) {
                return null;
            }
            String query = args == null ? prepared : (String) args[0];
            log.add(query);
            if (query.equals("FAIL")) {
                throw new SQLException("no");
            }
            if (name.equals("executeQuery")) {
                return proxy(ResultSet.class, (n, a) -> n.equals("next") ? (Object) true : n.equals("getString") ? "g:new" : null);
            }
            return name.equals("executeUpdate") ? (Object) 1 : (Object) true;
        });
    }

    /** Serves one request; wanted are its statements and the cookies' start. */
    private MockHttpServletResponse serve(Work work, List<String> statements, String... tokens) throws Exception {
        MockHttpServletRequest request = new MockHttpServletRequest();
        List<Cookie> cookies = new ArrayList<>();
        for (String token : tokens) {
            TokenCookies.encode(token).forEach((name, value) -> cookies.add(new Cookie(name, value)));
        }
        request.setCookies(cookies.toArray(new Cookie[0]));
        MockHttpServletResponse response = new MockHttpServletResponse();
        log.clear();
        FilterChain chain = (rq, rs) -> {
            try (Connection c = dataSource.getConnection()) {
                work.run(c);
            } catch (SQLException e) {
                ((HttpServletResponse) rs).sendError(500);
            } catch (Exception e) {
                throw new jakarta.servlet.ServletException(e);
            }
        };
        new CausewayFilter(TokenCookiesTest.PLAIN).doFilter(request, response, chain);
        assertNull(Carrier.current());
        assertEquals(statements, log);
        return response;
    }

    private static void transaction(Connection c, boolean readOnly, String query, boolean commit) throws SQLException {
        c.setReadOnly(readOnly);
        c.setAutoCommit(false);
        c.prepareStatement(query).execute();
        c.createStatement().execute("SELECT 2");
        if (commit) {
            c.commit();
        } else {
            c.rollback();
        }
        c.setAutoCommit(true);
        c.setReadOnly(false);
    }

    private static void wantCookie(MockHttpServletResponse r, boolean set) {
        assertEquals(set, r.getHeaders("Set-Cookie").stream().anyMatch(h -> h.startsWith("causeway-" + TokenCookies.id("g:new") + "-1-1=g:new;")));
    }

    @Test
    void commitsGiveATokenOnce() throws Exception {
        wantCookie(serve(c -> {
            c.createStatement().executeUpdate("INSERT 1");
            c.prepareStatement("INSERT 2").executeUpdate();
        }, List.of("INSERT 1", "INSERT 2", "SELECT @causeway_token", "close")), true);
        wantCookie(serve(c -> transaction(c, false, "INSERT 1", true), List.of("INSERT 1", "SELECT 2", "commit", "SELECT @causeway_token", "close")), true);
        wantCookie(serve(c -> c.createStatement().execute("FAIL"), List.of("FAIL", "SELECT @causeway_token", "close")), true);
        wantCookie(serve(c -> transaction(c, false, "ALTER TABLE t", false), List.of("ALTER TABLE t", "SELECT 2", "rollback", "SELECT @causeway_token", "close")), true);
        wantCookie(serve(c -> {
            c.setAutoCommit(false);
            c.createStatement().executeUpdate("INSERT 1");
            c.setAutoCommit(true);
        }, List.of("INSERT 1", "SELECT @causeway_token", "close")), true);
    }

    @Test
    void nothingElseDoes() throws Exception {
        wantCookie(serve(c -> c.createStatement().execute("SELECT 1"), List.of("SELECT 1", "close")), false);
        wantCookie(serve(c -> transaction(c, false, "INSERT 1", false), List.of("INSERT 1", "SELECT 2", "rollback", "close")), false);
        wantCookie(serve(c -> transaction(c, true, "SELECT 1", true), List.of("SELECT 1", "SELECT 2", "commit", "close")), false);
    }

    @Test
    void theTokenIsHandedInOnceALoan() throws Exception {
        String set = "SET @causeway_token = 'g:a'";
        serve(c -> {
            c.createStatement().execute("SELECT 1");
            c.createStatement().execute("SELECT 2");
        }, List.of(set, "SELECT 1", "SELECT 2", "close"), "g:a");
        serve(c -> transaction(c, true, "SELECT 1", true), List.of(set, "SELECT 1", "SELECT 2", "commit", "close"), "g:a");
        serve(c -> c.createStatement().execute("SELECT 1"), List.of("SELECT 1", "close"));
    }

    @Test
    void theCookieIsThereBeforeTheBody() throws Exception {
        wantCookie(serve(c -> c.createStatement().executeUpdate("INSERT 1"), List.of("INSERT 1", "SELECT @causeway_token", "close")), true);
        for (boolean writer : new boolean[] {true, false}) {
            MockHttpServletResponse response = new MockHttpServletResponse();
            new CausewayFilter(TokenCookiesTest.PLAIN).doFilter(new MockHttpServletRequest(), response, (rq, rs) -> {
                try (Connection c = dataSource.getConnection()) {
                    c.createStatement().executeUpdate("INSERT 1");
                    if (writer) {
                        rs.getWriter().print("body"); // the connection still owes its token
                    } else {
                        rs.getOutputStream().print("body");
                    }
                    wantCookie(response, true);
                } catch (SQLException e) {
                    throw new jakarta.servlet.ServletException(e);
                }
            });
            assertEquals("body", response.getContentAsString());
        }
    }

    private void insert() {
        try (Connection c = dataSource.getConnection()) {
            c.createStatement().executeUpdate("INSERT 1");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void anExceptionTakesNoCommitBack() throws Exception {
        MockHttpServletResponse response = new MockHttpServletResponse();
        assertThrows(IllegalStateException.class, () -> new CausewayFilter(TokenCookiesTest.PLAIN).doFilter(new MockHttpServletRequest(), response, (rq, rs) -> {
            insert();
            throw new IllegalStateException();
        }));
        wantCookie(response, true);
        assertNull(Carrier.current());
    }

    /** As Spring MVC does it: another thread commits, and a dispatch ends the request, without a body. */
    @Test
    void anAsynchronousRequestHasOneCarrier() throws Exception {
        for (boolean wrapped : new boolean[] {true, false}) { // startAsync(request, response), startAsync()
            CausewayFilter filter = new CausewayFilter(TokenCookiesTest.PLAIN);
            MockHttpServletRequest request = new MockHttpServletRequest();
            request.setAsyncSupported(true);
            MockHttpServletResponse response = new MockHttpServletResponse();
            ServletResponse[] inner = {response};
            Carrier[] carrier = {null};
            filter.doFilter(request, response, (rq, rs) -> {
                inner[0] = wrapped ? rs : response;
                carrier[0] = Carrier.current();
                rq.startAsync();
            });
            carrier[0].run(this::insert);
            request.setAsyncStarted(false);
            request.setDispatcherType(DispatcherType.ASYNC);
            filter.doFilter(request, inner[0], (rq, rs) -> assertSame(carrier[0], Carrier.current()));
            wantCookie(response, true);
            assertEquals(1, response.getHeaders("Set-Cookie").size());
        }
    }

    @Test
    void withoutARequestNothingIsAdded() throws Exception {
        try (Connection c = dataSource.getConnection()) {
            c.createStatement().executeUpdate("INSERT 1");
            assertSame(c, c.createStatement().getConnection());
            assertSame(c, c.unwrap(Connection.class));
            assertEquals(c, c);
        }
        assertEquals(List.of("INSERT 1", "close"), log);
    }
}
