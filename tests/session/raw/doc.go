// Package raw is a MySQL client for tests that hides nothing: it sends any
// command, with any capabilities, and gives back every field of the answer in a
// text that two servers' answers can be compared by.
//
// It knows no pools, no retries and no conversions; values of rows stay the
// bytes that came. It builds on causeway/wire for packets and leaves the
// judgement of results to its caller. A Client belongs to one goroutine.
//
// Specification: "MySQL Internals, Client/Server Protocol".
package raw
