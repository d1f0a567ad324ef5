package clients

import "strings"

// allowance is a difference that is known and meant. It may only be one that
// README.md names among the limits, or a bug that is being mended.
type allowance struct {
	check  string // client/driver/check; a "*/" at its start is any client and driver
	reason string
}

var allowances = []allowance{
	{"*/connection id", "CONNECTION_ID() is the id on the server, not the one that Causeway gave at login (README, Limits)"},
	{"*/compression", "compression is not offered (README, Limits); mysqlnd compresses without being asked to, and hangs"},
	{"python/mysqlclient/change user", "COM_CHANGE_USER of libmariadb names mysql_native_password and is refused (bug)"},
	{"c/libmariadb/change user", "as above (bug)"},
	{"c/libmariadb/debug command", "COM_DEBUG is refused: it writes into the server's own log"},
	{"*/KILL", killReason},
	{"*/kill", killReason},
}

// killReason is a bug that is reported, and goes when it is mended.
const killReason = "KILL of a connection: a statement that runs may still give its rows, and after KILL CONNECTION_ID() the client's connection stays open (bug)"

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
