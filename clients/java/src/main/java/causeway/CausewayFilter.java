package causeway;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Gives each request a {@link Carrier} with the tokens that it brought, and its response the token of what it committed.
 * At the end of the request the thread has no carrier any more.
 */
public final class CausewayFilter extends OncePerRequestFilter {
    private final CausewayProperties options;

    public CausewayFilter(CausewayProperties options) {
        this.options = options;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain) throws ServletException, IOException {
        List<String[]> list = new ArrayList<>();
        Cookie[] all = request.getCookies();
        for (Cookie c : all == null ? new Cookie[0] : all) {
            list.add(new String[] {c.getName(), c.getValue()});
        }
        TokenCookies cookies = new TokenCookies(options);
        Carrier carrier = cookies.carrier(list);
        TokenResponse wrapped = new TokenResponse(response, carrier, cookies);
        Carrier before = Carrier.current();
        carrier.enter();
        try {
            chain.doFilter(request, wrapped);
            wrapped.finish();
        } finally {
            Carrier.restore(before);
        }
    }
}
