// Package topology holds the tests of a list of servers that changes while
// Causeway runs, on a real source with its replicas: servers added, removed and
// re-weighted by an operator, replicas discovered, and zones.
package topology
