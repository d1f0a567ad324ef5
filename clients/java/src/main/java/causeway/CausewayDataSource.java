package causeway;

import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * A DataSource whose connections read what the current {@link Carrier} demands and add to it what they commit. The pool
 * is below: each connection that it lends is handed the token anew, and has told its own before it goes back.
 */
public final class CausewayDataSource extends DelegatingDataSource {
    public CausewayDataSource(DataSource pool) {
        super(pool);
    }

    @Override
    public Connection getConnection() throws SQLException {
        return ConnectionProxy.wrap(super.getConnection());
    }

    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        return ConnectionProxy.wrap(super.getConnection(username, password));
    }
}
