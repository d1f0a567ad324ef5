package causeway;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The token of one unit of work, which is mostly an HTTP request: what its reads must see. It grows with what the work
 * commits. Connections find it as {@link #current()}, by thread.
 *
 * <p>Work on other threads takes it along: {@code Carrier c = Carrier.current(); executor.execute(() -> c.run(work))}.
 */
public final class Carrier {
    private static final Log LOG = LogFactory.getLog(Carrier.class);
    private static final ThreadLocal<Carrier> CURRENT = new ThreadLocal<>();
    /** Far above what Causeway makes: it bounds its tokens. */
    private static final int MAX_TOKEN = 16384;
    /**
     * What can be a token: a GTID set or signed text. It lets nothing through that would end a literal in SQL, as
     * cookies come from anybody.
     */
    private static final Pattern PLAUSIBLE = Pattern.compile("[A-Za-z0-9:,_.=+/~ \n-]{1," + MAX_TOKEN + "}");

    private List<String> tokens; // several until the first connection has merged them
    private boolean changed;
    private final Map<Session, Boolean> owing = new IdentityHashMap<>();

    /** Makes a carrier that holds the tokens; what cannot be one is left out. */
    public Carrier(Collection<String> tokens) {
        LinkedHashSet<String> good = new LinkedHashSet<>();
        for (String token : tokens) {
            if (PLAUSIBLE.matcher(token).matches()) {
                good.add(token);
            } else if (!token.isEmpty()) {
                changed = true; // what it came from must not keep it
            }
        }
        this.tokens = new ArrayList<>(good);
    }

    /** The carrier of the work that this thread does, null if there is none. */
    public static Carrier current() {
        return CURRENT.get();
    }

    /** Does work of this carrier. Afterwards the thread has what it had before: a pooled thread leaks nothing. */
    public void run(Runnable work) {
        Carrier before = CURRENT.get();
        enter();
        try {
            work.run();
        } finally {
            restore(before);
        }
    }

    void enter() {
        CURRENT.set(this);
    }

    static void restore(Carrier before) {
        if (before == null) {
            CURRENT.remove();
        } else {
            CURRENT.set(before);
        }
    }

    /** What reads must see, mostly one. Asks those connections that committed. */
    public synchronized List<String> tokens() {
        settleOthers(null);
        return List.copyOf(tokens);
    }

    /** Whether the tokens are others than the carrier was made with: only then they have to be stored. */
    public synchronized boolean changed() {
        settleOthers(null);
        return changed;
    }

    synchronized void markChanged() {
        changed = true;
    }

    /** Makes a session need the tokens; if they are several one takes their place. What other connections committed meanwhile is part of it. */
    synchronized void handIn(Session session) throws SQLException {
        settleOthers(session);
        if (!has(session)) {
            settle(session); // for another's token it may forget its own
            merge(session);
        }
    }

    private boolean has(Session session) {
        return tokens.isEmpty() || tokens.equals(List.of(session.holds()));
    }

    private void merge(Session session) throws SQLException {
        if (has(session)) {
            return;
        }
        setAll(session);
        if (tokens.size() > 1) {
            String token = session.getToken();
            if (PLAUSIBLE.matcher(token).matches()) {
                replace(List.of(token));
            }
        }
    }

    /** Hands all tokens in, and drops those that Causeway refuses. */
    private void setAll(Session session) throws SQLException {
        if (session.setTokens(tokens)) {
            return;
        }
        List<String> taken = new ArrayList<>();
        for (String token : tokens.size() > 1 ? tokens : List.<String>of()) { // each beside those that were taken
            taken.add(token);
            if (!session.setTokens(taken)) {
                taken.remove(token);
            }
        }
        LOG.warn("Causeway refused a token; the request goes on without it");
        replace(taken);
    }

    private void replace(List<String> by) {
        changed |= !tokens.equals(by);
        tokens = by;
    }

    /** Says that a session may have committed: its token is read when somebody needs it. */
    synchronized void owe(Session session) {
        owing.put(session, true);
    }

    private void settleOthers(Session but) {
        for (Session session : List.copyOf(owing.keySet())) {
            if (session != but) {
                settle(session);
            }
        }
    }

    /**
     * Reads the token of a session that owes it. It cannot fail: the commit is done. A connection that cannot answer now,
     * as one that streams rows, is asked again.
     */
    synchronized void settle(Session session) {
        if (!owing.containsKey(session)) {
            return;
        }
        try {
            learn(session);
            owing.remove(session);
        } catch (SQLException e) {
            LOG.warn("The Causeway token of a write cannot be read; other connections and the user's next page may not show it: " + e);
            if (session.isGone()) {
                owing.remove(session);
            }
        }
    }

    /** The last moment to read what a session owes: its connection goes back to the pool. */
    synchronized void leave(Session session) {
        settle(session);
        owing.remove(session);
    }

    /**
     * Takes a session's token. It is read before another's is handed in, for which the session may forget it. Another
     * connection may have committed meanwhile: then one token for both takes their place.
     */
    private void learn(Session session) throws SQLException {
        String before = session.holds();
        String token = session.getToken();
        if (!PLAUSIBLE.matcher(token).matches()) {
            return;
        }
        List<String> all = new ArrayList<>(tokens);
        all.removeAll(List.of(before, token)); // it covers both
        all.add(token);
        replace(all);
        try {
            merge(session);
        } catch (SQLException e) {
            LOG.debug("Causeway tokens that cannot be merged now stay several", e);
        }
    }
}
