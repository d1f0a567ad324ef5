// Package failover changes the source of a real cluster under load: killed,
// frozen, cut off, planned, with two writable nodes at once, and with Causeway restarted
// in between. It checks that no client reads less than its own writes, that
// each acknowledged write that is missing afterwards was reported as lost, and
// that a deposed source gets neither a write nor a read.
//
// It also looks at what clients can do while there is no source at all.
//
// Each change happens once; CAUSEWAY_FAILOVER_TIMES=10 repeats them and prints a
// table of the rounds. CAUSEWAY_FAILOVER_TIMED=1 judges the median of how soon
// writes go on, on a machine of the test's own.
package failover
