package clients

import "strings"

// allowance is a difference that is known and meant. It may only be one that
// README.md names among the limits, or a bug that is being mended.
type allowance struct {
	check  string // client/driver/check; a "*/" at its start is any client and driver
	reason string
}

var allowances = []allowance{
	{"node/mysql2/trackers of transactions", "MySQL sends the transaction's state in each OK of BEGIN and COMMIT, Causeway keeps it for itself (bug)"},
	{"node/mysql2/tracking variables", "the session_track variables have the values that Causeway needs, not the client's (bug)"},
	{"python/connector-python pure/row count", "MySQL's ROW_COUNT() is 0 after COM_PING, Causeway's keeps its value (bug)"},
	{"python/connector-python c/row count", "as above (bug)"},
}

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
