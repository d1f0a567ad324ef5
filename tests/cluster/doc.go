// Package cluster gives integration tests a real MySQL cluster, and a Causeway
// in front of it.
//
// It owns the processes that it starts: a cluster runs in a folder and on
// ports of its own and ends with the test, and with the test process even if
// that dies. The work is done by scripts/cluster; this package adds what tests
// need: connections, the nodes' general logs, a running Causeway.
//
// A MySQL that cannot be had or started fails the test; nothing here skips.
//
// A Cluster, its Nodes and a Causeway may be used by several goroutines. The
// exceptions are Kill, StartNode, Promote and Attach, which change who is what:
// one at a time.
package cluster
