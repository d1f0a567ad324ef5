package suites

import "strings"

// allowance is a difference that is known and meant. It may only be one that
// README.md names among the limits, or a bug that is being mended.
type allowance struct {
	test   string // suite/test; a "*" at its end is any rest
	reason string
}

var allowances = []allowance{}

// stale names the tests that write on one connection and read at once on another,
// which has no token (README, Limits). They may differ as long as they do not
// with a Causeway that lets nobody see old data.
var stale = []allowance{}

// allowed returns the allowance for a test, nil if there is none.
func allowed(list []allowance, name string) *allowance {
	for i, a := range list {
		prefix, any := strings.CutSuffix(a.test, "*")
		if name == a.test || any && strings.HasPrefix(name, prefix) {
			return &list[i]
		}
	}
	return nil
}
