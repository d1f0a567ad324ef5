package server

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"causeway/backend"
)

// serverColumns fit a screen of 160 columns while all servers are up. What
// explains a lag is in lagColumns.
var serverColumns = textColumns("Server", "Role", "State", "Weight", "Zone", "Version", "Lag", "Excluded_for", "In_flight", "Reads", "Health")

func (s *session) serverRows() [][]string {
	v, now := s.view(), time.Now()
	rows := make([][]string, 0, len(v.Nodes))
	for _, n := range v.Nodes {
		rows = append(rows, serverRow(n, now))
	}
	return rows
}

func serverRow(n *backend.Node, now time.Time) []string {
	lag, excluded := "", ""
	version, _, _ := strings.Cut(n.Version, "-") // without the maker's words
	if n.Role == backend.RoleReplica {
		lag, excluded = span(byPosition(n, n.Lag.Position, now)), excludedFor(n.Limits)
	}
	return []string{
		n.Addr, n.Role.String(), nodeState(n), strconv.Itoa(n.CurrentWeight()), zoneText(n), version, lag, excluded,
		strconv.FormatInt(n.Live.InFlight.Load(), 10), strconv.FormatUint(n.Live.Picks.Load(), 10), briefly(causes(n, now)),
	}
}

// zoneText is the node's zone, and whether others come first.
func zoneText(n *backend.Node) string {
	if n.Far && n.Role == backend.RoleReplica {
		return strings.TrimSpace(n.Zone + " (not Causeway's)")
	}
	return n.Zone
}

// nodeState says in full why a node serves nothing: nothing else tells.
func nodeState(n *backend.Node) string {
	switch {
	case !n.Up:
		return n.Exclude // begins with "down"
	case n.Exclude != "":
		return "excluded: " + n.Exclude
	}
	return "up"
}

// byPosition is a lag by position, which is unknown where what it is computed from is of another time.
func byPosition(n *backend.Node, lag time.Duration, now time.Time) time.Duration {
	blind := len(n.Limits) > 0 && !slices.ContainsFunc(n.Limits, func(l backend.Limit) bool { return !l.Unjudged && !l.Held })
	if !n.Up || blind || unseen(&n.Lag, now) != "" || !sourceSeen(&n.Lag, now) {
		return -1
	}
	return lag
}

// excludedFor names the classes that a replica is excluded for by its lag.
func excludedFor(limits []backend.Limit) string {
	var names []string
	for _, l := range limits {
		if l.Excluded != "" {
			names = append(names, l.Name)
		}
	}
	return strings.Join(names, ", ")
}

// briefly is the most serious cause in its first words, and how many others
// there are.
func briefly(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	text := texts[0]
	for _, end := range []string{": ", " (", "; ", ", "} {
		text, _, _ = strings.Cut(text, end)
	}
	if len(texts) > 1 {
		text += fmt.Sprintf(" (+%d)", len(texts)-1)
	}
	return text
}
