// Package lab holds what the tests of consistency, budget and doubt share:
// replica appliers that can be stopped while somebody keeps the account of how
// long they stood (Applier, Chaos), the route that Causeway reports for a statement
// (LastRoute), and small helpers that ask real servers for the truth.
//
// It owns no server process: clusters are started by causeway/tests/cluster.
// An Applier may be used from several goroutines; a Chaos belongs to the
// goroutine that runs it, its account may be read by all.
package lab
