package causeway;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The cookies that carry tokens, in the format of all helpers in clients/:
 *
 * <pre>causeway-&lt;id&gt;-&lt;part&gt;-&lt;parts&gt; = &lt;token, percent-encoded&gt;</pre>
 *
 * The id is the start of the token's SHA-256. So two responses that cross each other do not overwrite each other's
 * token: the browser keeps both, and the next request hands both in and gets one back in their place. A token is one
 * cookie, or two if it is long: browsers keep 4,096 bytes of each, and web servers take 8 KB as one header line.
 */
final class TokenCookies {
    private static final Log LOG = LogFactory.getLog(TokenCookies.class);
    private static final String PREFIX = "causeway-";
    private static final int PART = 3500;
    private static final int MAX_PARTS = 2;
    /** How many cookies of a request are looked at, more than 8 KB hold; of still more the newest, which browsers send last. */
    static final int MAX_COOKIES = 128;
    /** How many a response ends, so that its headers stay small; the next ends more. */
    static final int MAX_ENDED = 32;
    private static final int ID = 12;
    private static final Pattern NAME = Pattern.compile("causeway-([0-9a-f]{" + ID + "})-([12])-([12])");

    private final CausewayProperties options;
    private final List<String> names = new ArrayList<>(); // the request's cookies that are ours, good or not

    TokenCookies(CausewayProperties options) {
        this.options = options;
    }

    /** Makes the carrier of a request with these cookies: names and values in turn. */
    Carrier carrier(List<String[]> cookies) {
        Map<String, String[]> parts = new LinkedHashMap<>();
        boolean broken = false;
        List<String[]> ours = cookies.stream().filter(cookie -> cookie[0].startsWith(PREFIX)).toList();
        for (String[] cookie : ours.subList(Math.max(0, ours.size() - MAX_COOKIES), ours.size())) {
            names.add(cookie[0]);
            Matcher m = NAME.matcher(cookie[0]);
            if (m.matches() && m.group(2).compareTo(m.group(3)) <= 0) {
                parts.computeIfAbsent(m.group(1), id -> new String[] {"", ""})[m.group(2).charAt(0) - '1'] = cookie[1];
            } else {
                broken = true;
            }
        }
        List<String> tokens = new ArrayList<>();
        for (Map.Entry<String, String[]> e : parts.entrySet()) {
            String token = decode(String.join("", e.getValue()));
            if (id(token).equals(e.getKey())) {
                tokens.add(token);
            } else {
                broken = true;
            }
        }
        Carrier carrier = new Carrier(tokens);
        if (broken) {
            carrier.markChanged();
        }
        return carrier;
    }

    /** The values of Set-Cookie for a response; none if nothing was committed. */
    List<String> headers(Carrier carrier) {
        List<String> headers = new ArrayList<>();
        List<String> kept = new ArrayList<>();
        if (!carrier.changed()) {
            return headers;
        }
        for (String token : carrier.tokens()) {
            Map<String, String> pieces = encode(token);
            if (pieces.isEmpty()) {
                LOG.error("A Causeway token of " + token.length() + " bytes is too long for cookies; the user's next page may not show this write");
            }
            kept.addAll(pieces.keySet());
            pieces.forEach((name, value) -> headers.add(header(name, value, options.maxAge().toSeconds())));
        }
        names.stream().filter(name -> !kept.contains(name) && name.matches("[A-Za-z0-9-]+")).limit(MAX_ENDED).forEach(name -> headers.add(header(name, "", 0)));
        return headers;
    }

    /** A token's cookies, none if it is too long. Characters are never split: PHP decodes each cookie by itself. */
    static Map<String, String> encode(String token) {
        String text = URLEncoder.encode(token, StandardCharsets.US_ASCII).replace("+", "%20").replace("%3A", ":");
        List<String> pieces = new ArrayList<>();
        while (text.length() > PART) {
            int percent = text.lastIndexOf('%', PART - 1);
            int n = percent > PART - 3 ? percent : PART;
            pieces.add(text.substring(0, n));
            text = text.substring(n);
        }
        pieces.add(text);
        Map<String, String> list = new LinkedHashMap<>();
        for (int i = 0; i < pieces.size() && pieces.size() <= MAX_PARTS; i++) {
            list.put(PREFIX + id(token) + "-" + (i + 1) + "-" + pieces.size(), pieces.get(i));
        }
        return list;
    }

    private static String decode(String value) {
        try {
            return URLDecoder.decode(value.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return ""; // whose id it is not
        }
    }

    static String id(String token) {
        try {
            byte[] sum = MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(sum).substring(0, ID);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private String header(String name, String value, long age) {
        return name + "=" + value + "; Path=" + options.path() + (options.domain().isEmpty() ? "" : "; Domain=" + options.domain())
            + "; Max-Age=" + age + "; HttpOnly" + (options.secure() ? "; Secure" : "") + "; SameSite=Lax";
    }
}
