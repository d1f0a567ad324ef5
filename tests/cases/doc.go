// Package cases holds the troubles that users of MySQL proxies report, each as
// a test that bears its number: A for autocommit, T for transactions, L for
// what the last statement left behind, P for temporary tables, V for session
// variables, K for locks, S for prepared statements, M for several statements
// in a text, R for reset, change of user and KILL, D for LOAD DATA LOCAL, H for
// charsets, B for packets, and X for what we added ourselves.
//
// A case is a script for named sessions. It runs on the source directly and
// then through two Causeways in front of the same cluster, one that may have a
// single connection to each node and one that may have many: what the sessions
// see must be equal. MySQL is the authority; the answers and the nodes that a
// script writes down besides are what the case is about.
//
// Session x is always connected to the source itself, session root likewise
// with all rights: they are the world outside. No script holds a transaction
// or a lock on the source with one session while another session of Causeway
// needs the source, as one connection could not serve both; those few that must
// say so, and get two.
package cases
