package causeway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TokenCookiesTest {
    static final CausewayProperties PLAIN = new CausewayProperties(true, Duration.ofHours(24), "/", "", false);
    private final TokenCookies cookies = new TokenCookies(PLAIN);

    private static List<String[]> sent(Map<String, String> list) {
        List<String[]> cookies = new ArrayList<>();
        list.forEach((name, value) -> cookies.add(new String[] {name, value}));
        return cookies;
    }

    @Test
    void theFormatOfTheOtherHelpers() {
        assertEquals(Map.of("causeway-fdeb9b50c7a6-1-1", "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5"), TokenCookies.encode("3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5"));
        String token = "a,b\nc+d:e~f/g= h";
        Map<String, String> encoded = TokenCookies.encode(token);
        assertEquals(List.of("a%2Cb%0Ac%2Bd:e%7Ef%2Fg%3D%20h"), List.copyOf(encoded.values()));
        assertEquals(List.of(token), cookies.carrier(sent(encoded)).tokens());
    }

    @Test
    void sizes() {
        String set = "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-123456789,\n".repeat(200);
        Map.of(40, 1, 3000, 1, 4500, 2, 4501, 2, 4502, 2, 9000, 0).forEach((length, parts) -> {
            String token = set.substring(0, length);
            Map<String, String> encoded = TokenCookies.encode(token);
            assertEquals(parts, encoded.size());
            encoded.forEach((name, value) -> assertTrue(value.length() <= 3500 && value.matches("(?:%[0-9A-F]{2}|[A-Za-z0-9:._*-]++)*+"), value));
            List<String[]> list = sent(encoded);
            Collections.reverse(list);
            if (parts > 0) {
                assertEquals(List.of(token), new TokenCookies(PLAIN).carrier(list).tokens());
            }
            if (parts == 2) {
                Carrier half = new TokenCookies(PLAIN).carrier(list.subList(0, 1));
                assertEquals(List.of(), half.tokens());
                assertTrue(half.changed());
            }
        });
    }

    @Test
    void aCommitSetsACookieAndEndsThoseThatItReplaces() throws Exception {
        TokenCookies all = new TokenCookies(new CausewayProperties(true, Duration.ofMinutes(1), "/app", "example.org", true));
        Carrier c = all.carrier(sent(TokenCookies.encode("g:a")));
        assertEquals(List.of(), all.headers(c));
        FakeSession s = new FakeSession();
        c.handIn(s);
        s.commit("b");
        c.owe(s);
        assertEquals(List.of(
            "causeway-" + TokenCookies.id("g:a,b") + "-1-1=g:a%2Cb; Path=/app; Domain=example.org; Max-Age=60; HttpOnly; Secure; SameSite=Lax",
            "causeway-" + TokenCookies.id("g:a") + "-1-1=; Path=/app; Domain=example.org; Max-Age=0; HttpOnly; Secure; SameSite=Lax"), all.headers(c));
    }

    @Test
    void ofVeryManyTheNewestCount() throws Exception {
        List<String[]> list = new ArrayList<>();
        for (int i = 0; i < TokenCookies.MAX_COOKIES + 9; i++) {
            list.addAll(sent(TokenCookies.encode("g:" + i)));
        }
        Carrier c = cookies.carrier(list);
        assertEquals(TokenCookies.MAX_COOKIES, c.tokens().size());
        assertEquals("g:136", c.tokens().get(c.tokens().size() - 1));
        c.handIn(new FakeSession());
        assertEquals(1 + TokenCookies.MAX_ENDED, cookies.headers(c).size());
    }

    @Test
    void badCookiesAreForgotten() {
        String good = "causeway-" + TokenCookies.id("g:a");
        for (String name : List.of("causeway-", good + "-0-1", good + "-2-1", good + "-1-3", "causeway-123456789012-1-1")) {
            TokenCookies one = new TokenCookies(PLAIN);
            Carrier c = one.carrier(sent(Map.of(name, "g:a")));
            assertEquals(List.of(), c.tokens());
            assertEquals(1, one.headers(c).size());
        }
        assertTrue(cookies.carrier(sent(Map.of(good + "-1-1", "%zz"))).changed());
    }
}
