// Package rig has what the measuring tests need beside a cluster and a Causeway,
// which are tests/cluster's: the tools (sysbench, HAProxy, MySQL Router), the
// start of other proxies to compare with, and the look at a process from outside:
// CPU and memory from /proc, figures from /metrics, counters from the servers.
//
// It owns every process that it starts and stops each of them by its own
// handle. It knows nothing of Causeway's packages: what is measured is the binary.
// A value of this package belongs to one goroutine.
//
// /proc is described in proc(5); it exists on Linux only, and so do these tests.
package rig
