// Package check has the few lines that every integration test needs: an error ends
// the test, and what must come is waited for. A failure names the caller's line.
//
// It knows no MySQL and no Causeway; what waits for a state of theirs builds on it.
// Its functions end a test, so they belong on the test's own goroutine.
package check
