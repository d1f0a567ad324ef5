package server

import (
	"fmt"
	"strings"
	"time"

	"causeway/backend"
)

const (
	// silentAfter is how long nothing may come over a link while the source
	// goes on, before the link is called silent. The server itself finds out
	// after replica_net_timeout, a minute by default.
	silentAfter = 3 * time.Second
	// worthTelling is the lag from which the column Health tells of one.
	worthTelling = time.Second
	// clockOff is the difference of clocks from which it tells of that.
	clockOff = 500 * time.Millisecond
)

// health says in an operator's words what keeps a replica behind, the most
// serious first; "ok" if nothing does, "" for what is no replica. It reads the
// node and the time it is given, nothing else.
func health(n *backend.Node, now time.Time) string { return strings.Join(causes(n, now), "; ") }

// causes are the same one by one.
func causes(n *backend.Node, now time.Time) (texts []string) {
	if n.Role != backend.RoleReplica { // a deposed source may hold what the new one has not
		return errant(n)
	}
	if text := unseen(&n.Lag, now); text != "" {
		return []string{text} // what the threads did then tells nothing of now
	}
	link := silentLink
	if strings.HasPrefix(n.Exclude, "replicates from ") || strings.HasPrefix(n.Exclude, "foreign: ") { // not from the source: its link need not follow that
		link = func(*backend.Lag, time.Time) string { return n.Exclude }
	}
	for _, tell := range []func(*backend.Lag, time.Time) string{
		applierHealth, receiverHealth, sourceUnknown, link, blockedWorker, delayed, behind, wrongClock, notAllowed,
	} {
		if text := tell(&n.Lag, now); text != "" {
			texts = append(texts, text)
		}
	}
	texts = append(texts, errant(n)...)
	if len(texts) == 0 {
		return []string{"ok"}
	}
	return texts
}

// errant tells of transactions that only the node has.
func errant(n *backend.Node) []string {
	if n.Errant.IsEmpty() {
		return nil
	}
	return []string{fmt.Sprintf("holds %d transactions that the source does not have (errant): %s", n.Errant.Count(), shortSet(n.Errant))}
}

// unseen tells when the newest look at the replica is none or too old.
func unseen(l *backend.Lag, now time.Time) string {
	text := ""
	switch {
	case l.SampledAt.IsZero():
		text = "lag unknown: its replication was not looked at yet"
	case now.Sub(l.SampledAt) > l.OldAfter:
		text = fmt.Sprintf("lag unknown: the newest look at its replication is %s old", whole(now.Sub(l.SampledAt)))
	default:
		return ""
	}
	if l.Failed != "" {
		text += " (" + l.Failed + ")"
	}
	return text
}

func applierHealth(l *backend.Lag, _ time.Time) string {
	if l.SQLThread == "Yes" {
		return ""
	}
	if l.SQLError != "" {
		return fmt.Sprintf("replication error, the applier has stopped: %s; %s", l.SQLError, waiting(l))
	}
	return "applier stopped (START REPLICA SQL_THREAD starts it): " + waiting(l)
}

func waiting(l *backend.Lag) string {
	if l.ReceivedUnapp == 1 {
		return "1 transaction received and not applied"
	}
	return fmt.Sprintf("%d transactions received and not applied", l.ReceivedUnapp)
}

func receiverHealth(l *backend.Lag, _ time.Time) string {
	text := ""
	switch {
	case l.IOThread == "Yes":
		return ""
	case l.IOThread == "Connecting":
		text = "receiver is connecting to its source, nothing is received"
	case l.IOError != "":
		return "replication error, the receiver has stopped: " + l.IOError
	default:
		return "receiver stopped (START REPLICA IO_THREAD starts it): nothing is received"
	}
	if l.IOError != "" {
		text += ": " + l.IOError
	}
	return text
}

// sourceUnknown tells when a lag by position has nothing to compare with.
func sourceUnknown(l *backend.Lag, now time.Time) string {
	switch {
	case l.SourceAt.IsZero():
		return "lag unknown: the source's position is not known"
	case !sourceSeen(l, now):
		return fmt.Sprintf("lag unknown: the source's position was last read %s ago", whole(now.Sub(l.SourceAt)))
	case l.Position < 0:
		return "lag unknown: further behind than is remembered of the source's position"
	}
	return ""
}

func sourceSeen(l *backend.Lag, now time.Time) bool {
	return !l.SourceAt.IsZero() && now.Sub(l.SourceAt) <= l.OldAfter
}

// silentLink tells of a receiver that says it runs, but gets nothing while the
// source's position moves on.
func silentLink(l *backend.Lag, now time.Time) string {
	still := now.Sub(l.ReceivedAt)
	if l.IOThread != "Yes" || !sourceSeen(l, now) || l.ReceivedAt.IsZero() ||
		still < silentAfter || l.Transport >= 0 && l.Transport < silentAfter { // unknown: too long for what is remembered
		return ""
	}
	if l.Receiving != "" {
		return fmt.Sprintf("nothing whole was received for %s, though the receiver says it runs: it is in the middle of %s, or its link is dead",
			whole(still), l.Receiving)
	}
	return fmt.Sprintf("silent link: the receiver says it runs, but nothing was received for %s while the source went on", whole(still))
}

func blockedWorker(l *backend.Lag, _ time.Time) string {
	b := l.Blocker
	if b.GTID == "" || b.For < worthTelling || l.SQLThread != "Yes" { // a stopped one only shows what it held last
		return ""
	}
	text := fmt.Sprintf("applying one transaction for %s: worker %d holds %s", whole(b.For), b.Worker, b.GTID)
	if b.Doing != "" {
		text += " (" + b.Doing + ")"
	}
	switch {
	case b.Waiting == 1:
		text += "; 1 worker waits to commit behind it"
	case b.Waiting > 1:
		text += fmt.Sprintf("; %d workers wait to commit behind it", b.Waiting)
	case b.Stalled:
		text += "; the next transactions depend on it"
	}
	return text
}

func delayed(l *backend.Lag, _ time.Time) string {
	if l.Delay <= 0 {
		return ""
	}
	return fmt.Sprintf("delayed on purpose: SOURCE_DELAY is %s, %s", l.Delay, waiting(l))
}

// behind tells of a lag that nothing else explains: the applier works at it.
func behind(l *backend.Lag, _ time.Time) string {
	if l.Position < worthTelling || l.Delay > 0 || l.SQLThread != "Yes" || l.ReceivedUnapp == 0 || l.Blocker.For >= worthTelling {
		return ""
	}
	return fmt.Sprintf("%s behind: %d of %d workers busy, %s", l.Position.Round(100*time.Millisecond), l.WorkersBusy, l.Workers, waiting(l))
}

func wrongClock(l *backend.Lag, _ time.Time) string {
	if !l.ShiftKnown || l.ClockShift.Abs() < clockOff {
		return ""
	}
	word := "ahead of"
	if l.ClockShift < 0 {
		word = "behind"
	}
	return fmt.Sprintf("its clock is %s %s the source's: lags by commit timestamps that others compute are off by that (Causeway takes it off)",
		l.ClockShift.Abs().Round(100*time.Millisecond), word)
}

func notAllowed(l *backend.Lag, _ time.Time) string {
	if l.Denied == "" {
		return ""
	}
	return "workers unknown: the monitor's account needs SELECT on performance_schema.*"
}

// whole rounds to what people tell times by.
func whole(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}
