package causeway;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** One loan of a connection from the pool. One thread uses it at a time. */
final class ConnectionProxy implements InvocationHandler, Session {
    private final Connection real;
    private Connection proxy;
    private String holds = ""; // the token that the session surely got, with what it has written since
    private boolean readOnly; // as it was set: Connector/J asks the server what it is
    private boolean inTransaction; // begun by a statement while autocommit is off
    private boolean committedInside; // by a statement such as DDL: a rollback does not undo that

    private ConnectionProxy(Connection real) {
        this.real = real;
    }

    static Connection wrap(Connection real) {
        ConnectionProxy handler = new ConnectionProxy(real);
        handler.proxy = (Connection) Proxy.newProxyInstance(ConnectionProxy.class.getClassLoader(), new Class<?>[] {Connection.class}, handler);
        return handler.proxy;
    }

    @Override
    public Object invoke(Object self, Method method, Object[] args) throws Throwable {
        switch (method.getName()) {
            case "equals":
                return self == args[0];
            case "hashCode":
                return System.identityHashCode(self);
            case "toString":
                return "Causeway[" + real + "]";
            case "unwrap", "isWrapperFor":
                return StatementProxy.unwrap(self, real, method, args);
            case "commit":
                return ended(method, args, true);
            case "rollback":
                return args == null ? ended(method, args, false) : call(real, method, args); // to a savepoint
            case "setAutoCommit":
                return (Boolean) args[0] && !real.getAutoCommit() ? ended(method, args, true) : call(real, method, args);
            case "setReadOnly":
                readOnly = (Boolean) args[0];
                return call(real, method, args);
            case "close":
                return close(method, args);
            case "createStatement", "prepareStatement", "prepareCall":
                String query = args != null && args[0] instanceof String s ? s : null;
                return StatementProxy.wrap((Statement) call(real, method, args), method.getReturnType(), this, query);
            default:
                return call(real, method, args);
        }
    }

    Connection proxy() {
        return proxy;
    }

    /** Ends a transaction. A commit that failed may have committed. */
    private Object ended(Method method, Object[] args, boolean commit) throws Throwable {
        try {
            return call(real, method, args);
        } finally {
            if (inTransaction && commit && !readOnly || committedInside) {
                owe();
                settle(); // nothing of the transaction is left to be asked for
            }
            inTransaction = committedInside = false;
        }
    }

    private Object close(Method method, Object[] args) throws Throwable {
        Carrier carrier = Carrier.current();
        if (carrier != null) {
            carrier.leave(this);
        }
        return call(real, method, args);
    }

    /** Called before a statement. In a transaction a token would come too late: its view of the data is made. */
    void before() throws SQLException {
        Carrier carrier = Carrier.current();
        if (carrier != null && !inTransaction) {
            carrier.handIn(this);
        }
    }

    /** Called after a statement, failed or not: one that failed may have committed a part. */
    void after(String query) throws SQLException {
        if (real.getAutoCommit()) {
            if ((query == null || Sql.mayCommit(query)) && !readOnly) {
                owe();
            }
            return;
        }
        inTransaction = true;
        committedInside |= query != null && Sql.mayCommitInside(query);
    }

    private void owe() {
        Carrier carrier = Carrier.current();
        if (carrier != null) {
            carrier.owe(this);
        }
    }

    private void settle() {
        Carrier carrier = Carrier.current();
        if (carrier != null) {
            carrier.settle(this);
        }
    }

    @Override
    public String holds() {
        return holds;
    }

    @Override
    public boolean setTokens(List<String> tokens) throws SQLException {
        try (Statement s = own()) {
            s.execute("SET @causeway_token = '" + String.join("', @causeway_token = '", tokens) + "'");
        } catch (SQLException e) {
            // What Causeway will never take it says so of; any other error must not let a read pass without its token.
            String text = String.valueOf(e.getMessage());
            if (text.contains("drop it and go on without") || text.contains("the token cannot be taken")) {
                return false;
            }
            holds = "";
            throw e;
        }
        holds = tokens.size() == 1 ? tokens.get(0) : "";
        return true;
    }

    @Override
    public boolean isGone() {
        try {
            return real.isClosed();
        } catch (SQLException e) {
            return true;
        }
    }

    @Override
    public String getToken() throws SQLException {
        try (Statement s = own(); ResultSet r = s.executeQuery("SELECT @causeway_token")) {
            String token = r.next() ? r.getString(1) : null;
            holds = token == null ? "" : token;
            return holds;
        }
    }

    /**
     * A statement of our own, on the driver's connection: no pool judges the connection by how a token fares.
     */
    private Statement own() throws SQLException {
        return (real.isWrapperFor(Connection.class) ? real.unwrap(Connection.class) : real).createStatement();
    }

    /** Calls a method of what is below, with the exception that it throws itself. */
    static Object call(Object target, Method method, Object[] args) throws Throwable {
        try {
            return method.invoke(target, args);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
