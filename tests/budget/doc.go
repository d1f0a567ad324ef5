// Package budget holds the tests of what happens when no replica qualifies:
// with every applier stopped, reads go to the source as far as the fallback
// budget reaches and not further. What reached the source is counted by the
// source's own general log, not by Causeway.
package budget
