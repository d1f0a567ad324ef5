package causeway;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What can be configured ({@code causeway.*}).
 *
 * @param enabled whether the starter does anything
 * @param maxAge how long browsers keep the token; it need not outlive the replicas' lag
 * @param path the cookie's
 * @param domain the cookie's, none if empty
 * @param secure whether browsers send the cookie over HTTPS only
 */
@ConfigurationProperties("causeway")
public record CausewayProperties(@DefaultValue("true") boolean enabled, @DefaultValue("24h") Duration maxAge, @DefaultValue("/") String path,
    @DefaultValue("") String domain, @DefaultValue("false") boolean secure) {
}
