package causeway;

import java.sql.SQLException;
import java.util.List;

/** One connection's conversation with Causeway. */
interface Session {
    /** The token that the session has surely got, "" if none is known. */
    String holds();

    /**
     * Hands tokens in by one statement: with {@code scope = "carried"} a second one would make the session forget the first.
     *
     * @return false if Causeway will never take one of them; then nothing has changed
     * @throws SQLException if the connection is gone, or Causeway cannot check the tokens now
     */
    boolean setTokens(List<String> tokens) throws SQLException;

    /** Whether the connection will never answer again. */
    boolean isGone();

    /** The session's token, "" if there is none. */
    String getToken() throws SQLException;
}
