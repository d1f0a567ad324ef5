// Package session holds the tests that a session through Causeway is one MySQL
// connection: every script here runs on the source directly and then through
// Causeway, and the two transcripts (rows, column definitions, affected rows,
// ids, warnings, status flags, infos, tracked state, errors) must be equal. No
// expected answer is written down: MySQL itself is the authority.
//
// Each script runs once for each profile, a set of capabilities as well-known
// drivers ask for; see profiles. What cannot be compared that way (bad input,
// clients that leave, refusals before the command phase) has tests of its own.
package session
