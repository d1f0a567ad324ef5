package cluster

import "os"

// Long tells whether the tests of what is promised are to run in full: as often
// and in as many ways as the promise is stated with (make test-promises). CI runs
// each situation once.
func Long() bool { return os.Getenv("CAUSEWAY_TESTS") == "long" }
