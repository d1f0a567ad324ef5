package causeway;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** A Causeway session: tokens are "g:" and letters, and merge. */
final class FakeSession implements Session {
    final List<String> log = new ArrayList<>();
    private final TreeSet<String> has = new TreeSet<>();
    String refuses = "";
    boolean gone;
    private String last = "";

    void commit(String letter) {
        has.add(letter);
    }

    @Override
    public boolean setToken(String token) throws SQLException {
        if (token.equals(last)) {
            return true;
        }
        check("set " + token);
        if (token.equals(refuses)) {
            return false;
        }
        has.addAll(List.of(token.substring(2).split(",")));
        last = token;
        return true;
    }

    @Override
    public String getToken() throws SQLException {
        check("get");
        last = has.isEmpty() ? "" : "g:" + String.join(",", has);
        return last;
    }

    private void check(String what) throws SQLException {
        if (gone) {
            throw new SQLException("gone");
        }
        log.add(what);
    }
}
