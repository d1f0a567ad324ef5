// Package forward is a TCP forwarder that reads MySQL packets as they pass and
// breaks a connection at a chosen step of a chosen command: before the request
// has arrived, in the middle of it, before, within and after the answer, on one
// side or both.
//
// It understands packet headers and the text of commands, no more; TLS must be
// off. A command is chosen by a mark in its text (Arm). A prepared statement
// whose text has the mark is cut when it is executed. Target may change while
// connections are open: what is behind the address is another server then.
//
// A Forwarder may be used by several goroutines. Close waits for everything
// that it started.
package forward
