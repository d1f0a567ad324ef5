// Package lag holds the tests of lag on a real cluster: that SHOW CAUSEWAY LAG
// and, in short, SERVERS tell apart what keeps a replica behind, that the lag by position is
// that of a heartbeat row, and that a replica over a lag limit leaves and comes
// back. The code of it is in replicamon and in server/health.go.
package lag
