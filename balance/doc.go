// Package balance makes the pure choices of routing: which replica serves a
// read (Pick, Freshest), why or why not (Explain), and whether the source may
// serve one that no replica can (Budget).
//
// It never opens a connection, starts a goroutine, waits or reads a clock: the
// time and the sequence number are arguments, so the same arguments give the
// same choice and a test needs no server. The numbers that change with every
// query are read from backend.Live; only Observe writes there.
//
// Everything may be called by any number of goroutines at once. A pick
// allocates nothing for up to 16 eligible replicas.
package balance
