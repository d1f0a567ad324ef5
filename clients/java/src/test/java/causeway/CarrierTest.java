package causeway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class CarrierTest {
    private final FakeSession a = new FakeSession();
    private final FakeSession b = new FakeSession();

    @Test
    void aCommitIsReadWhenSomebodyNeedsItOnce() throws Exception {
        Carrier c = new Carrier(List.of());
        c.handIn(a);
        a.commit("a");
        c.owe(a);
        c.owe(a);
        assertEquals(List.of(), a.log);
        assertEquals(List.of("g:a"), c.tokens());
        assertTrue(c.changed());
        assertEquals(List.of("get"), a.log);
    }

    @Test
    void aReadChangesNothing() throws Exception {
        Carrier c = new Carrier(List.of("g:a"));
        c.handIn(a);
        c.handIn(a);
        assertEquals(List.of("set g:a"), a.log);
        assertFalse(c.changed());
    }

    @Test
    void whatOneConnectionCommitsTheOtherOneNeeds() throws Exception {
        Carrier c = new Carrier(List.of("g:z"));
        c.handIn(a);
        a.commit("a");
        c.owe(a);
        c.handIn(b);
        assertEquals(List.of("set g:a,z"), b.log);
        b.commit("b");
        c.owe(b);
        c.handIn(a);
        a.commit("c");
        c.owe(a);
        assertEquals(List.of("g:a,b,c,z"), c.tokens());
    }

    @Test
    void severalTokensBecomeOne() throws Exception {
        Carrier c = new Carrier(List.of("g:a", "g:b", "g:a"));
        a.carried = true;
        c.handIn(a);
        assertEquals(List.of("set g:a g:b", "get"), a.log);
        assertEquals(List.of("g:a,b"), c.tokens());
        assertTrue(c.changed());
    }

    @Test
    void twoConnectionsInTurnForgetNoCommit() throws Exception {
        for (boolean carried : new boolean[] {false, true}) {
            FakeSession[] s = {new FakeSession(), new FakeSession()};
            s[0].carried = s[1].carried = carried;
            Carrier c = new Carrier(List.of("g:z"));
            c.handIn(s[0]);
            c.handIn(s[1]); // both know of z only
            s[0].commit("a");
            c.owe(s[0]);
            s[1].commit("b");
            c.owe(s[1]);
            c.handIn(s[0]); // it owes its own, and is handed the other's
            s[1].commit("c");
            c.owe(s[1]);
            assertEquals(List.of("g:a,b,c,z"), c.tokens());
        }
    }

    @Test
    void aConnectionThatStreamsRowsIsAskedAgain() {
        Carrier c = new Carrier(List.of());
        a.commit("a");
        c.owe(a);
        a.busy = true;
        assertEquals(List.of(), c.tokens());
        a.busy = false;
        assertEquals(List.of("g:a"), c.tokens());
    }

    @Test
    void aConnectionThatWasGivenBackIsNotAsked() {
        Carrier c = new Carrier(List.of());
        a.commit("a");
        c.owe(a);
        a.busy = true;
        c.leave(a);
        a.busy = false;
        assertEquals(List.of(), c.tokens());
    }

    @Test
    void aRefusedTokenStopsNobody() throws Exception {
        Carrier c = new Carrier(List.of("g:forged", "g:b"));
        a.refuses = "g:forged";
        c.handIn(a);
        assertEquals(List.of("g:b"), c.tokens());
        assertTrue(c.changed());
        assertEquals(List.of("set g:forged g:b", "set g:forged", "set g:b"), a.log);
    }

    @Test
    void aTokenThatCannotBeCheckedStopsTheStatement() {
        Carrier c = new Carrier(List.of("g:a"));
        a.gone = true;
        assertThrows(java.sql.SQLException.class, () -> c.handIn(a));
        assertEquals(List.of("g:a"), c.tokens());
    }

    @Test
    void aLostTokenDoesNotFailTheCommit() {
        Carrier c = new Carrier(List.of());
        c.owe(a);
        a.gone = true;
        assertEquals(List.of(), c.tokens());
    }

    @Test
    void whatCannotBeATokenNeverReachesAServer() {
        for (String bad : List.of("'; DROP TABLE t; -- ", "a\\", "a\0", "a\"", "ü", "a;b", "a\r", "a".repeat(16385))) {
            Carrier c = new Carrier(List.of(bad));
            assertEquals(List.of(), c.tokens());
            assertTrue(c.changed());
        }
        assertFalse(new Carrier(List.of("")).changed());
    }

    @Test
    void aThreadLeaksNothing() {
        Carrier outer = new Carrier(List.of());
        outer.run(() -> {
            new Carrier(List.of("g:a")).run(() -> assertEquals(List.of("g:a"), Carrier.current().tokens()));
            assertSame(outer, Carrier.current());
        });
        assertThrows(IllegalStateException.class, () -> outer.run(() -> {
            throw new IllegalStateException();
        }));
        assertNull(Carrier.current());
    }
}
