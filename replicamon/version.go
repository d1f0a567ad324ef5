package replicamon

import (
	"fmt"
	"strconv"
	"strings"
)

// version is a server's version as three numbers, comparable with ==.
type version struct{ major, minor, patch int }

func (v version) less(o version) bool {
	if v.major != o.major {
		return v.major < o.major
	}
	if v.minor != o.minor {
		return v.minor < o.minor
	}
	return v.patch < o.patch
}

// The oldest version with SHOW REPLICA STATUS, and the first in which
// SHOW BINARY LOG STATUS replaces SHOW MASTER STATUS (gone in 8.4).
var (
	oldestVersion    = version{8, 0, 22}
	binaryLogVersion = version{8, 2, 0}
)

// parseVersion reads the leading numbers of "8.0.36-28-log".
func parseVersion(s string) (version, bool) {
	end := strings.IndexFunc(s, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if end >= 0 {
		s = s[:end]
	}
	parts := strings.Split(s, ".")
	if len(parts) < 3 {
		return version{}, false
	}
	var n [3]int
	for i := range n {
		var err error
		if n[i], err = strconv.Atoi(parts[i]); err != nil {
			return version{}, false
		}
	}
	return version{n[0], n[1], n[2]}, true
}

// refuseVersion returns why a server of that version cannot be used, or "".
func refuseVersion(s string) string {
	if strings.Contains(strings.ToLower(s), "mariadb") {
		return fmt.Sprintf("refused: this is MariaDB (%s), whose GTIDs are of another kind; MySQL 8.0.22 or later is needed", s)
	}
	v, ok := parseVersion(s)
	if !ok {
		return fmt.Sprintf("refused: version %q is not understood; MySQL 8.0.22 or later is needed", s)
	}
	if v.less(oldestVersion) {
		return fmt.Sprintf("refused: MySQL %s is too old; 8.0.22 or later is needed", s)
	}
	return ""
}
