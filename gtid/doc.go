// Package gtid owns sets of global transaction identifiers and the tokens made
// of them. A Set is an immutable, normalised, tag-aware value: UUIDs and tags
// are sorted, intervals that overlap or touch are merged, so two sets with the
// same members have the same form and the same text.
//
// The package does no I/O, holds no state and never guesses: text that it does
// not fully understand is an error, not a smaller set. That matters because an
// empty set is contained in every set, so a token lost on the way would promise
// nothing without anyone noticing.
//
// All values may be used by any number of goroutines at once; no method changes
// its receiver. Contains and Equal allocate nothing; Union allocates nothing
// when one side contains the other.
//
// Text follows the MySQL manual, "GTID Format and Storage", including the tags
// of 8.3 and later (uuid:1-5:tag:1-3). MariaDB's GTIDs (0-1-123) are refused.
package gtid
