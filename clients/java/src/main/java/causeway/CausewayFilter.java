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
import org.springframework.web.util.WebUtils;

/**
 * Gives each request a {@link Carrier} with the tokens that it brought, and its response the token of what it committed.
 * At the end of the request the thread has no carrier any more.
 */
public final class CausewayFilter extends OncePerRequestFilter {
    /** Where a request that goes on asynchronously has its response with the carrier. */
    private static final String RESPONSE = CausewayFilter.class.getName() + ".response";
    private final CausewayProperties options;

    public CausewayFilter(CausewayProperties options) {
        this.options = options;
    }

    /** What an asynchronous request ends with, as Spring MVC does, belongs to the same carrier. */
    @Override
    protected boolean shouldNotFilterAsyncDispatch() {
        return false;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain) throws ServletException, IOException {
        TokenResponse wrapped = request.getAttribute(RESPONSE) instanceof TokenResponse started ? started : wrap(request, response);
        request.setAttribute(RESPONSE, wrapped);
        Carrier before = Carrier.current();
        wrapped.carrier().enter();
        try {
            chain.doFilter(request, WebUtils.getNativeResponse(response, TokenResponse.class) == wrapped ? response : wrapped);
        } finally {
            Carrier.restore(before);
            if (!request.isAsyncStarted()) { // else the first byte or the last dispatch sends the token
                wrapped.finish(); // after an exception too: what committed did
            }
        }
    }

    private TokenResponse wrap(HttpServletRequest request, HttpServletResponse response) {
        List<String[]> list = new ArrayList<>();
        Cookie[] all = request.getCookies();
        for (Cookie c : all == null ? new Cookie[0] : all) {
            list.add(new String[] {c.getName(), c.getValue()});
        }
        TokenCookies cookies = new TokenCookies(options);
        return new TokenResponse(response, cookies.carrier(list), cookies);
    }
}
