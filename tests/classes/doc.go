// Package classes holds the tests of freshness classes on a real cluster: who
// may be stale, who may ask for the source, how a class is chosen, rules, and
// what EXPLAIN CAUSEWAY says. What reached the source is counted by the source's
// own general log, not by Causeway.
package classes
