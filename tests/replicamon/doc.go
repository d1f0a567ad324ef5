// Package replicamon runs the monitor against a real cluster: what it finds
// out, in which order, and what it must not believe.
//
// The tests share one cluster and leave it as they found it. They assert what
// follows what, never how long something took.
package replicamon
