// Package packets counts what goes over the wire between Causeway and real
// servers: a relay in front of each node notes every command that Causeway
// sends, and which of them travelled together in one round trip. An equal state
// must cost no packet, a changed one no round trip before a read.
package packets
