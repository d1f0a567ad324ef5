// Package causeway carries a user's Causeway token from one HTTP request to the
// next, so that a page shows what its user has just written, whichever pooled
// connection, application server and Causeway serve it.
//
// It has two halves, which meet in the request's context:
//
//   - Middleware wraps an http.Handler. It puts a Carrier with the tokens of
//     the request's cookies into the context, and a cookie with the new token
//     on the response if the request committed something.
//   - Connector wraps a driver.Connector of database/sql. Before the first
//     statement on a connection it hands the carrier's token in (SET
//     @causeway_token); after each commit and each statement outside of a
//     transaction that may have written it reads the new one (SELECT
//     @causeway_token). Both are answered by Causeway itself.
//
// It never changes a statement, never looks at a token (what a token says is
// Causeway's business), and never reads one after a rollback or for a read-only
// transaction. A context without a Carrier costs nothing. Directly on MySQL
// both statements are harmless: they set and read a user variable.
//
// A Carrier may be used by several goroutines; so may what Connector returns.
// The package depends on the standard library alone.
package causeway
