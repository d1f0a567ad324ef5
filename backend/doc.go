// Package backend owns connections to MySQL nodes and the types in which the
// cluster is seen: View, Node, Incarnation.
//
// A Conn is one authenticated connection to one node, with the session state
// that it is in (schema, variables) and the statements prepared on it. A State
// is an immutable picture of a session's replayable state; Align brings a
// connection from its own to another one. Nothing here decides where a
// statement goes.
//
// A Conn belongs to one goroutine; Kill, Close and the atomic fields of Live
// may be used by others. State and View are immutable.
//
// Specification: MySQL's client/server protocol, command phase and session
// tracking (CLIENT_SESSION_TRACK).
package backend
