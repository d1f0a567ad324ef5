// Package wire owns the bytes of the MySQL client/server protocol: packets,
// capabilities, OK, ERR and EOF, the session-state block inside an OK, the
// messages of both sides of the handshake, and the arithmetic of the two
// authentication methods that Causeway speaks. A Conn can have a layer of
// compressed packets below it, and the header of the PROXY protocol in front.
//
// It never decides anything: it holds no policy, knows no cluster, logs
// nothing, and apart from Conn touches no socket. It is a leaf: it imports
// nothing of this module.
//
// All functions are pure and may be called by any goroutine. Values returned
// by Parse functions and Read functions are slices into the payload they were
// given unless their comment says otherwise, so they live only as long as that
// payload does. A Conn belongs to one goroutine at a time.
//
// Append functions follow the standard library: they append to b and return
// the longer slice, so a caller can reuse one buffer for every packet.
//
// Specification: "MySQL Internals, Client/Server Protocol" (the doxygen pages
// page_protocol_* of the server's source). Where that manual and the source of
// the server disagree, the comment at that place says so and the source wins.
// Only the 4.1 protocol is spoken; older peers are refused at the handshake.
package wire
