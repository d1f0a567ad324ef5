package server

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"causeway/backend"
)

// lagColumns are all that is known of how far behind a server is, and why, and how it came to
// be one of ours.
var lagColumns = textColumns("Server", "Role", "Lag", "Transport_lag", "Apply_lag", "Apply_lag_p50", "Apply_lag_p95", "Apply_lag_p99", "Threads", "Workers",
	"Unapplied", "Query_p95", "Clock_offset", "Position_age", "Executed", "Limits", "Health", "Detail", "From")

func (s *session) lagRows() [][]string {
	v, now := s.view(), time.Now()
	rows := make([][]string, 0, len(v.Nodes))
	for _, n := range v.Nodes {
		rows = append(rows, lagRow(n, now))
	}
	return rows
}

func lagRow(n *backend.Node, now time.Time) []string {
	row := []string{n.Addr, n.Role.String()}
	if n.Role == backend.RoleReplica {
		row = append(row, replicaLag(n, now)...)
	} else {
		row = append(row, make([]string, 9)...)
	}
	row = append(row, queryTime(n), clockText(n.Clock), age(n.PositionAt, now), n.Position.Line())
	if n.Role != backend.RoleReplica {
		return append(row, "", health(n, now), "", n.Origin.String())
	}
	detail := n.Lag.LastError
	if detail == "" {
		detail = n.Lag.WorkerDetail
	}
	return append(row, limitsText(n.Limits, now), health(n, now), detail, n.Origin.String())
}

// replicaLag are the figures of a replica. Those of a look that is too old are
// not shown as if they were of now.
func replicaLag(n *backend.Node, now time.Time) []string {
	l := &n.Lag
	if unseen(l, now) == "" {
		return []string{
			span(byPosition(n, l.Position, now)), span(byPosition(n, l.Transport, now)), span(l.Apply), span(l.ApplyP50), span(l.ApplyP95), span(l.ApplyP99),
			threads(l), fmt.Sprintf("%d/%d busy", l.WorkersBusy, l.Workers), strconv.FormatUint(l.ReceivedUnapp, 10),
		}
	}
	const unknown = "unknown"
	seen := unknown
	if !l.SampledAt.IsZero() {
		seen = fmt.Sprintf("unknown; %s ago: %s", whole(now.Sub(l.SampledAt)), threads(l))
	}
	return []string{unknown, unknown, unknown, unknown, unknown, unknown, seen, unknown, unknown}
}

func threads(l *backend.Lag) string { return "io=" + l.IOThread + " sql=" + l.SQLThread }

// limitsText tells how a replica stands to each lag limit.
func limitsText(limits []backend.Limit, now time.Time) string {
	var texts []string
	for _, l := range limits {
		switch {
		case l.Excluded != "" && l.Returns.IsZero():
			texts = append(texts, l.Name+": excluded, "+l.Excluded)
		case l.Excluded != "":
			texts = append(texts, l.Name+": "+l.Text(now))
		case l.Share < 100:
			texts = append(texts, fmt.Sprintf("%s: slow start, %d %%", l.Name, l.Share))
		case l.Held:
			texts = append(texts, l.Name+": within, when there was a source")
		default:
			texts = append(texts, l.Name+": within")
		}
	}
	return strings.Join(texts, "; ")
}

// queryTime is the p95 of the answers, "" while there are too few.
func queryTime(n *backend.Node) string {
	if n.QueryP95 == 0 {
		return ""
	}
	text := n.QueryP95.Round(10 * time.Microsecond).String()
	if n.Slow {
		text += " (slow: more than 1.5 times the source's)"
	}
	return text
}

func clockText(c backend.Clock) string {
	if !c.Known {
		return "unknown"
	}
	return fmt.Sprintf("%+.3fs", c.Offset.Seconds())
}

func span(d time.Duration) string {
	if d < 0 {
		return "unknown"
	}
	return d.Round(time.Millisecond).String()
}

func age(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return now.Sub(t).Round(time.Millisecond).String()
}
