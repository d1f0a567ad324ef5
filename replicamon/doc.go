// Package replicamon finds out what every node of the cluster is and how far
// it has got, and publishes that as one immutable backend.View.
//
// It owns the monitor's own connections (three to a node at most, one more to
// the source), the roles, the incarnations, the history of the source's
// position, the exclusions, and the subscription that wakes those who wait for
// a GTID. It never touches a client's connection, never changes anything on a
// server, and never decides where a query goes: balance does, from the View.
//
// Three probes run per node, each in a goroutine and on a connection of its
// own, each with a deadline, so that a hung node or a hung SHOW REPLICA STATUS
// holds up nobody else:
//
//   - the position probe (position.go) asks for gtid_executed ten times a second;
//   - the status probe (status.go) asks for everything else twice a second;
//   - the watch (watch.go) sits in WAIT_FOR_EXECUTED_GTID_SET, and only while
//     somebody waits for a GTID.
//
// Whatever they learn becomes an event. What an event means is decided in one
// pure function, state.next, which needs no server to be tested. Rules:
//
//   - A position belongs to an incarnation: another server_uuid, a later start,
//     or a gtid_executed that lost something ends one, and everything learned
//     before is void. A node that begins a new one serves nothing until it
//     covers the source's position as asked for after that moment.
//   - A replica is at most now - T stale if it covers what the source answered
//     to a question asked at T, both by this process's monotonic clock. Commit
//     timestamps explain a lag; they prove nothing.
//   - The source is the writable node that the others replicate from, matched by
//     server_uuid. When that is not clear there is none.
//   - A member of a group (Group Replication) is what its own view of the group
//     says, if that view has a majority; see group.go.
//   - Not known means excluded.
//   - Lag is judged per limit, over a window of samples (window.go, limits.go):
//     a replica may be excluded for one limit and serve under another.
//
// All methods of Monitor may be called by any number of goroutines at once.
//
// Specification: the MySQL 8.0 to 9.x reference manual, "Replication with Global
// Transaction Identifiers", "Performance Schema Replication Tables", "GTID
// functions".
package replicamon
