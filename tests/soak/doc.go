// Package soak holds the tests that a fault needs time or volume to show in:
// many connections with mixed work, clients that vanish and errors, after which
// no goroutine, descriptor, backend connection or memory may be left; results
// far bigger than any buffer; a client that does not read.
//
// Each runs against Causeway's own binary on a real cluster. The short forms run
// with every go test; SOAK_DURATION and STREAM_MB make them long (make soak).
// Only tests live here.
package soak
