/**
 * Carries a user's Causeway token from one HTTP request to the next, so that a page shows what its user has just
 * written, whichever pooled connection, application server and Causeway serve it.
 *
 * <p>{@link causeway.CausewayFilter} gives each request a {@link causeway.Carrier}, which belongs to the request's
 * thread until its end; {@link causeway.CausewayDataSource} makes connections that read what the carrier demands and
 * add to it what they commit. Spring Boot puts both in their places ({@link causeway.CausewayAutoConfiguration}).
 */
package causeway;
