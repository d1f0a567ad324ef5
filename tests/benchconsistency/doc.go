// Command benchconsistency measures what it costs to see one's own writes: one
// workload, a forum, under several modes of protection and several lags.
//
// A user thinks, then reads a thread, or writes a comment and reads the thread
// that it belongs to. Users share a pool of connections, and no read uses the
// connection of the write before it: nothing but the mode protects it. Each mode
// is a row of a table: what Causeway is told, and how the application carries
// what it knows from one connection to the next.
//
// What a read should have seen is told by the users themselves: the ids of the
// comments that had been acknowledged when it began. How many reads the source
// served is counted by the source, by the digests of performance_schema. A
// mode that this Causeway does not have, or that does not keep its own promise
// while the replicas are behind, is reported as not available and not measured.
//
//	go run ./tests/benchconsistency --time 20s --rounds 1
package main
