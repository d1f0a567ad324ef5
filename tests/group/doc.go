// Package group runs Causeway in front of a real single-primary group of three
// members (Group Replication), and kills, freezes, stops and switches them under
// load. It checks the promises that tests/failover checks for plain replication:
// no client reads less than its own writes, no acknowledged write is missing, and
// a member that is not ONLINE in a majority serves nothing.
//
// How soon writes go on is printed; it is judged only with CAUSEWAY_GROUP_TIMED=1,
// on a machine that is the test's own.
package group
