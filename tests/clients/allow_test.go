package clients

import "strings"

// allowance is a difference that is known and meant. It may only be one that
// README.md names among the limits, or a bug that is being mended.
type allowance struct {
	check  string // client/driver/check; a "*/" at its start is any client and driver
	reason string
}

var allowances = []allowance{}

// allowed returns the allowance for a check, nil if there is none.
func allowed(list []allowance, name string) *allowance {
	for i, a := range list {
		suffix, any := strings.CutPrefix(a.check, "*")
		if name == a.check || any && strings.HasSuffix(name, suffix) {
			return &list[i]
		}
	}
	return nil
}
