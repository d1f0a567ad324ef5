package causeway;

import java.util.Locale;
import java.util.Set;

/** What a statement's first word says, after the comments that tracing tools put there. */
final class Sql {
    /** First words of statements that commit nothing. Others are taken for writes: that costs one question to Causeway. */
    private static final Set<String> READERS = Set.of("SELECT", "SHOW", "EXPLAIN", "DESC", "DESCRIBE", "TABLE", "VALUES", "USE", "ROLLBACK",
        "SAVEPOINT", "RELEASE", "HELP");
    /** Writes that do not end a transaction by themselves. */
    private static final Set<String> INSIDE = Set.of("INSERT", "UPDATE", "DELETE", "REPLACE", "WITH", "SET", "DO");
    private Sql() {
    }

    /** Whether a statement may commit something. It may say so of a read. */
    static boolean mayCommit(String query) {
        return query.indexOf(';') >= 0 || !READERS.contains(firstWord(query)); // a semicolon: maybe several statements
    }

    /** Whether a statement may commit the transaction that it is part of, as DDL does. */
    static boolean mayCommitInside(String query) {
        return mayCommit(query) && (query.indexOf(';') >= 0 || !INSIDE.contains(firstWord(query)));
    }

    private static String firstWord(String query) {
        int from = start(query);
        int to = from;
        while (to < query.length() && Character.isLetter(query.charAt(to))) {
            to++;
        }
        return query.substring(from, to).toUpperCase(Locale.ROOT);
    }

    /** Where the first word begins: after space, brackets and comments, but not those that MySQL executes. */
    private static int start(String query) {
        int i = 0;
        while (i < query.length()) {
            int end = i;
            if (Character.isWhitespace(query.charAt(i)) || query.charAt(i) == '(') {
                i++;
                continue;
            } else if (query.startsWith("/*", i) && !query.startsWith("/*!", i)) {
                end = query.indexOf("*/", i + 2) + 2;
            } else if (query.startsWith("#", i) || query.startsWith("--", i)) {
                end = query.indexOf('\n', i) + 1;
            } else {
                return i;
            }
            i = end > i ? end : query.length(); // a comment without an end
        }
        return i;
    }
}
