package main

import (
	"io"
	"slices"
	"time"

	"causeway/tests/rig"
)

// line is what one kind of client saw in one phase.
type line struct {
	reads, onReplicas, onSource, fallbacks, refused, stale, failed int
	ages                                                           []time.Duration // of the reads that were answered, in order of size
}

// lines add the reads up.
func (e *evidence) lines() (all [kindCount][phaseCount]line) {
	for _, r := range e.reads {
		all[r.kind][r.phase].add(r)
	}
	for k := range all {
		for p := range all[k] {
			slices.Sort(all[k][p].ages)
		}
	}
	return all
}

func (l *line) add(r read) {
	count := func(n *int, yes bool) {
		if yes {
			*n++
		}
	}
	l.reads++
	count(&l.onReplicas, r.role == "replica")
	count(&l.onSource, r.role == "source")
	count(&l.fallbacks, r.fallback)
	count(&l.refused, r.outcome == refused)
	count(&l.stale, r.outcome == stale)
	count(&l.failed, r.outcome == failed)
	if r.err == "" {
		l.ages = append(l.ages, r.age)
	}
}

// quantile is the age that so many of the answers were within.
func (l *line) quantile(q float64) time.Duration { return rig.Quantile(l.ages, q) }

// print writes the table, in Markdown.
func (e *evidence) print(w io.Writer) error {
	t := rig.NewTable(w, "class", "phase", "reads", "on replicas", "on the source", "fallbacks", "stale, with warning", "refused", "errors", "age p50", "p99", "max")
	all := e.lines()
	for k := range kind(kindCount) {
		for p := range phase(phaseCount) {
			l := &all[k][p]
			t.Row(k, p, l.reads, l.onReplicas, l.onSource, l.fallbacks, l.stale, l.refused, l.failed, ms(l.quantile(.5)), ms(l.quantile(.99)), ms(l.quantile(1)))
		}
	}
	return t.Flush()
}

func ms(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
