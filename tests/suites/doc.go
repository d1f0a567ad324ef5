// Package suites runs the test suites that drivers' and tools' own authors
// publish with their packages, each once directly on the source of a real
// cluster and once through Causeway, and compares test by test. A difference
// fails, unless allow_test.go names it with its reason.
//
// Nothing of the suites is kept here: tests/suites/LANGUAGE/client.sh says how
// they are fetched, in exact versions, and started; scripts/clients does both.
//
// CAUSEWAY_SUITES names the suites to run, or all; without it nothing is
// fetched and only the parts that need no server are tested. Only tests live
// here; one goroutine runs them all.
package suites
