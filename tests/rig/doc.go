// Package rig starts what the tests of whole processes need (a real cluster,
// Causeway's own binary, sysbench, peers to compare with) and measures those
// processes from outside: CPU and memory from /proc, counters from the servers
// and from /metrics.
//
// It owns every process that it starts and stops each of them by its own
// handle. It knows nothing of Causeway's packages: what it tests is the binary.
// A value of this package belongs to one goroutine unless its comment says more.
//
// /proc is described in proc(5); it exists on Linux only, and so do these tests.
package rig
