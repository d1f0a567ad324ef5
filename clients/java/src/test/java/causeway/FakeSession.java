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
    boolean carried; // scope = "carried": other tokens make the session forget what it had
    boolean busy; // it streams rows
    boolean gone;
    private List<String> last = List.of(); // what was handed in
    private String holds = "";

    void commit(String letter) {
        has.add(letter);
    }

    @Override
    public String holds() {
        return holds;
    }

    @Override
    public boolean setTokens(List<String> tokens) throws SQLException {
        check("set " + String.join(" ", tokens));
        if (tokens.contains(refuses)) {
            return false;
        }
        if (carried && !tokens.equals(last)) {
            has.clear();
        }
        last = List.copyOf(tokens);
        tokens.forEach(token -> has.addAll(List.of(token.substring(2).split(","))));
        holds = tokens.size() == 1 ? tokens.get(0) : "";
        return true;
    }

    @Override
    public String getToken() throws SQLException {
        check("get");
        holds = has.isEmpty() ? "" : "g:" + String.join(",", has);
        return holds;
    }

    @Override
    public boolean isGone() {
        return gone;
    }

    private void check(String what) throws SQLException {
        if (gone || busy) {
            throw new SQLException("no");
        }
        log.add(what);
    }
}
