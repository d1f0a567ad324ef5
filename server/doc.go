// Package server is Causeway's front: it accepts MySQL clients, logs them in,
// and sees each of their commands through to a backend and back.
//
// It owns the listener, the handshake with clients, the sessions, the decision
// where a statement goes, the relay of answers, tokens of sessions, and the
// statements that Causeway answers by itself (SHOW CAUSEWAY ...).
//
// The way of one command through the files:
//
//  1. session.go reads it and command.go tells what it is; prepared.go has the
//     COM_STMT_* family, handshake*.go the login, with the PROXY header
//     in front of it, and COM_CHANGE_USER.
//  2. plan.go decides: a pure function of the statement's Class and the facts
//     of the session. The plan has its reason (reason.go), and no later step
//     looks at the text again.
//  3. exec.go carries the plan out: on the source (home.go), on a replica that
//     qualifies (reader.go), or in a read-only transaction (readtrx.go, renew.go), on
//     connections that lease.go takes from the pools and gives back. pin.go says
//     what keeps one, sticky.go follows it; lazy.go holds back transactions
//     that are still empty; diagnostics.go serves what asks about the statement
//     before.
//  4. relay.go passes the answer on packet by packet. It looks only at what can
//     end a result, and holds none.
//  5. track.go takes in what each OK reports before the client sees it: GTIDs
//     make the token grow, variables and schema make the next state.
//     doubt.go deals with answers that were lost and errors that hide commits.
//
// What it never does: change the text of a user's SQL, send a write twice,
// answer a read from a connection in an unknown state, or hold a whole result.
// It does not probe nodes (package replicamon, by way of the Monitor interface)
// and does not know how replicas are compared (package balance).
//
// # Who may call what
//
// A session belongs to one goroutine, which serves one client from login to
// end; nothing in it is locked. Others touch only its atomic fields, close its
// client's connection, or cancel its context: the watchdog (watch.go), KILL
// from another session, and the drain of a stop. A backend connection belongs
// to its session while it is leased; who cuts one off holds the session's
// cutGuard, so that it cannot hit the next session. Server's methods may be called by
// any goroutine. A panic is recovered once, where the session's goroutine
// began, and costs that session.
//
// # Errors
//
// An I/O error carries the side it happened on (backendError, clientError),
// marked where the bytes were moved. Only a plain read of which no byte has
// reached the client is sent again, at most once.
//
// Specification: "MySQL Internals, Client/Server Protocol" (the doxygen pages
// page_protocol_* of the server's source); what a token promises is said in
// docs/guarantees.md.
package server
