// Package gtid holds the gtid package against the authority: a real server's
// GTID_SUBSET, GTID_SUBTRACT and canonical text, on random sets with and
// without tags, and on text that either of them may refuse.
package gtid
