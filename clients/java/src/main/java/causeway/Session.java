package causeway;

import java.sql.SQLException;

/** One connection's conversation with Causeway. */
interface Session {
    /**
     * Hands a token in, if the session has not got it last.
     *
     * @return false if Causeway will never take this token
     * @throws SQLException if the connection is gone, or Causeway cannot check the token now
     */
    boolean setToken(String token) throws SQLException;

    /** The session's token, "" if there is none. */
    String getToken() throws SQLException;
}
