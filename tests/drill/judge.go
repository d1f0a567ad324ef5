package main

import (
	"fmt"
	"strings"
	"time"
)

// judge returns a sentence for each promise that was not kept, and for each part
// of the drill that did not happen, as it then proves nothing.
func (e *evidence) judge() (faults []string) {
	for _, judge := range []func() []string{
		e.happened, e.ownWrites, e.contracts, e.answers, e.reportsOffSource, e.withinBudget, e.returned, e.steady,
	} {
		faults = append(faults, judge()...)
	}
	return faults
}

// happened: there was load in each phase, the surge reached the readers, and it
// used up the budget.
func (e *evidence) happened() (faults []string) {
	all := e.lines()
	for k := range kind(kindCount) {
		for p := range phase(phaseCount) {
			if all[k][p].reads == 0 {
				faults = append(faults, fmt.Sprintf("The drill is void: %v made no reads in phase %v.", k, p))
			}
		}
	}
	if oldest := all[report][surge].quantile(1); oldest <= kinds[listing].bound {
		faults = append(faults, fmt.Sprintf("The drill is void: the oldest read of F2 in the surge was %v old, the replicas were not behind.", ms(oldest)))
	}
	if n := len(e.samples); n == 0 || e.samples[n-1].refused == 0 {
		faults = append(faults, "The drill is void: the fallback budget was never used up.")
	}
	return faults
}

// ownWrites: F0 never misses its session's write, with a warning or without.
func (e *evidence) ownWrites() (faults []string) {
	missed, marked := 0, 0
	var first read
	for _, r := range e.reads {
		if r.missed {
			if missed++; missed == 1 {
				first = r
			}
		}
		if r.kind == own && r.outcome == stale {
			marked++
		}
	}
	if missed > 0 {
		faults = append(faults, fmt.Sprintf("F0: %d reads missed their session's own write, the first on a %s in phase %v.", missed, first.role, first.phase))
	}
	if marked > 0 {
		faults = append(faults, fmt.Sprintf("F0: %d reads of sessions that had written were served stale.", marked))
	}
	return faults
}

// contracts: what is not marked stale is within the bound of its class.
func (e *evidence) contracts() (faults []string) {
	var over [kindCount]int
	var oldest [kindCount]time.Duration
	for _, r := range e.reads {
		if bound := kinds[r.kind].bound; bound > 0 && r.outcome == fresh && r.age > bound {
			over[r.kind]++
			oldest[r.kind] = max(oldest[r.kind], r.age)
		}
	}
	for k, n := range over {
		if n > 0 {
			faults = append(faults, fmt.Sprintf("%v: %d reads were older than %v without a warning, the oldest %v.", kind(k), n, kinds[k].bound, ms(oldest[k])))
		}
	}
	return faults
}

// answers: only a session that must see its own write may be refused, and nothing
// else fails.
func (e *evidence) answers() (faults []string) {
	count := map[string]int{}
	for _, r := range e.reads {
		if r.outcome == failed || r.outcome == refused && r.kind != own {
			count[fmt.Sprintf("%v: %s", r.kind, r.err)]++
		}
	}
	for err, n := range count {
		faults = append(faults, fmt.Sprintf("%d reads failed; %s.", n, err))
	}
	return faults
}

// reportsOffSource: F2 never reads from the source, by Causeway's words and by the
// source's own count.
func (e *evidence) reportsOffSource() (faults []string) {
	n := 0
	for _, l := range e.lines()[report] {
		n += l.onSource
	}
	counted := 0
	for _, s := range e.samples {
		counted = max(counted, s.onSource[report])
	}
	if n > 0 || counted > 0 {
		faults = append(faults, fmt.Sprintf("F2: %d reads went to the source, which counted %d, while replicas lived.", n, counted))
	}
	return faults
}

// withinBudget: neither what the budget granted nor what the source counted was,
// from any sample to any other, above what a bucket of that size lets through.
// All reads that reach the source are fallbacks here. Each client may have one
// under way that is granted before the first sample and counted after it.
func (e *evidence) withinBudget() (faults []string) {
	for _, c := range []struct {
		who     string
		counter func(sample) float64
	}{
		{"Causeway granted", func(s sample) float64 { return s.used }},
		{"The source served", func(s sample) float64 { return float64(s.reads()) }},
	} {
		if over, at := overflow(e.samples, c.counter); over > 0 {
			faults = append(faults, fmt.Sprintf("%s %.0f fallback reads more than the budget, %v after the start.", c.who, over, at.Round(time.Second)))
		}
	}
	return faults
}

// reads is how many reads of the drill the source has served.
func (s sample) reads() (n int) {
	for _, k := range s.onSource {
		n += k
	}
	return n
}

// overflow is by how much a counter was above the budget at most, and when.
func overflow(samples []sample, counter func(sample) float64) (over float64, at time.Duration) {
	for i, first := range samples {
		for _, last := range samples[i+1:] {
			allowed := budgetBurst + budgetQPS*(last.to-first.from).Seconds() + float64(clientCount())
			if more := counter(last) - counter(first) - allowed; more > over {
				over, at = more, last.to
			}
		}
	}
	return over, at
}

// returned: once the recovery is over, replicas serve F1 as they did before the
// surge.
func (e *evidence) returned() (faults []string) {
	all := e.lines()
	share := func(l *line) float64 { return float64(l.onReplicas-l.stale) / max(1, float64(l.reads)) }
	before, now := share(&all[listing][calm]), share(&all[listing][after])
	if before < .5 {
		faults = append(faults, fmt.Sprintf("F1: replicas served only %.0f %% of the reads before the surge.", before*100))
	}
	if now < .8*before {
		faults = append(faults, fmt.Sprintf("F1: replicas served %.0f %% of the reads after the recovery, and %.0f %% before the surge.", now*100, before*100))
	}
	return faults
}

// mayChange is how often a replica's exclusion may change from the surge on: it
// leaves a limit and comes back once. Each of the two changes of its delay stops
// the applier for a moment, which may take it out of everything and back.
func mayChange(limit string) int {
	if limit == "all" {
		return 4
	}
	return 2
}

// steady: no replica flaps, all are back at the end, and where Causeway has lag
// limits the surge has taken each replica out of F1's.
func (e *evidence) steady() (faults []string) {
	type place struct{ node, limit string }
	count, out, left := map[place]int{}, map[place]bool{}, map[string]bool{}
	for _, c := range e.changes {
		p := place{c.node, c.limit}
		out[p] = c.excluded
		if c.at >= e.starts[surge] {
			count[p]++
			if c.limit == kinds[listing].class && c.excluded {
				left[c.node] = true
			}
		}
	}
	for p, n := range count {
		if n > mayChange(p.limit) {
			faults = append(faults, fmt.Sprintf("%s flapped: its exclusion under limit %s changed %d times.", p.node, p.limit, n))
		}
		if out[p] {
			faults = append(faults, fmt.Sprintf("%s was still excluded under limit %s at the end.", p.node, p.limit))
		}
	}
	if e.windows && (!e.limits || len(left) < len(e.nodes)) {
		faults = append(faults, fmt.Sprintf("The drill is void: SHOW CAUSEWAY LAG showed %d of %d replicas excluded under F1's lag limit.", len(left), len(e.nodes)))
	}
	return faults
}

// verdict is all faults as one text, "" if there is none.
func (e *evidence) verdict() string { return strings.Join(e.judge(), "\n") }
