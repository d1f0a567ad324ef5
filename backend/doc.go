// Package backend owns connections to MySQL nodes and the types in which the
// cluster is seen: View, Node, Incarnation.
//
// A Conn is one authenticated connection to one node, with the session state
// that it is in (schema, variables) and the statements prepared on it
// (statements.go). A State is an immutable picture of a session's replayable
// state; Align brings a connection from its own to another one. Pools hold the
// connections that nobody uses: pool.go has leases and the queue, pool_tend.go
// what keeps idle ones fit, leftover.go what a session may still ask for of a
// connection that it gave back. Nothing here decides where a statement goes.
//
// A Conn belongs to one goroutine, or to its pool; Kill, Close and the atomic
// fields of Live may be used by others. State and View are immutable. Pools may
// be used by any goroutine.
//
// Specification: MySQL's client/server protocol, command phase and session
// tracking (CLIENT_SESSION_TRACK).
package backend
