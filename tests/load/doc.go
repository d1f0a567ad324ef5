// Package load has clients that write without a pause, each its own rows, and read
// every row back at once, while a test changes the cluster below them. They go on
// over errors, on a new connection, and remember what they were told: which writes
// were acknowledged, how many reads missed one, and all errors.
//
// What may have happened is judged by the test. The database is the connections'
// own and has a table t (id BIGINT PRIMARY KEY, v INT NOT NULL), see Table.
package load
