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

    /** Makes a session need the token. What other connections committed meanwhile is part of it. */
    synchronized void handIn(Session session) throws SQLException {
        settleOthers(session);
        List<String> taken = new ArrayList<>();
        for (String token : tokens) {
            if (session.setToken(token)) {
                taken.add(token);
            } else {
                changed = true;
                LOG.warn("Causeway refused a token; the request goes on without it");
            }
        }
        tokens = taken;
        if (taken.size() > 1) {
            learn(session);
        }
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

    /** Reads the token of a session that owes it. It cannot fail: the commit is done. */
    synchronized void settle(Session session) {
        if (owing.remove(session) == null) {
            return;
        }
        try {
            for (String token : tokens) { // another connection may have committed: the answer must cover both
                session.setToken(token);
            }
            learn(session);
        } catch (SQLException e) {
            LOG.warn("The Causeway token of a write is lost; the user's next page may not show it: " + e);
        }
    }

    private void learn(Session session) throws SQLException {
        String token = session.getToken();
        if (PLAUSIBLE.matcher(token).matches() && !tokens.equals(List.of(token))) {
            tokens = new ArrayList<>(List.of(token));
            changed = true;
        }
    }
}
