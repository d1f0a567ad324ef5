// Package bounded proves the bound on staleness: a clock's row is written on the
// source and read through Causeway by sessions that have written nothing, while
// replicas are delayed, cut off in silence, idle, or have a wrong clock. How old a
// read was is told by the test's own clock alone: how long before the read began
// the value that it returned had been replaced.
package bounded
