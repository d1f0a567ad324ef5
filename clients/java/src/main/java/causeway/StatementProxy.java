package causeway;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Statement;
import java.sql.Wrapper;

/** A statement of any kind: what runs is surrounded by the connection's before and after. */
final class StatementProxy implements InvocationHandler {
    private final Statement real;
    private final ConnectionProxy connection;
    private final String prepared; // the text of a prepared statement

    private StatementProxy(Statement real, ConnectionProxy connection, String prepared) {
        this.real = real;
        this.connection = connection;
        this.prepared = prepared;
    }

    static Object wrap(Statement real, Class<?> type, ConnectionProxy connection, String prepared) {
        return Proxy.newProxyInstance(StatementProxy.class.getClassLoader(), new Class<?>[] {type}, new StatementProxy(real, connection, prepared));
    }

    @Override
    public Object invoke(Object self, Method method, Object[] args) throws Throwable {
        String name = method.getName();
        switch (name) {
            case "equals":
                return self == args[0];
            case "hashCode":
                return System.identityHashCode(self);
            case "getConnection":
                return connection.proxy();
            case "unwrap", "isWrapperFor":
                return unwrap(self, real, method, args);
            default:
                return name.startsWith("execute") ? execute(method, args) : ConnectionProxy.call(real, method, args);
        }
    }

    /** The text of a batch is not known: it is for writes. */
    private Object execute(Method method, Object[] args) throws Throwable {
        connection.before();
        try {
            return ConnectionProxy.call(real, method, args);
        } finally {
            connection.after(args != null && args[0] instanceof String query ? query : prepared);
        }
    }

    /** Wrapper's methods: the proxy is asked first, then what is below. */
    static Object unwrap(Object self, Wrapper real, Method method, Object[] args) throws Throwable {
        Class<?> type = (Class<?>) args[0];
        if (!type.isInstance(self)) {
            return type.isInstance(real) ? (method.getName().equals("unwrap") ? real : (Object) true) : ConnectionProxy.call(real, method, args);
        }
        return method.getName().equals("unwrap") ? self : (Object) true;
    }
}
