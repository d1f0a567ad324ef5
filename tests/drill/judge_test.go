package main

import (
	"strings"
	"testing"
	"time"
)

// good is what a drill sees in which all promises are kept.
func good() *evidence {
	e := &evidence{windows: true, limits: true, nodes: []string{"a", "b"}, end: 40 * time.Second, starts: [phaseCount]time.Duration{surge: 10 * time.Second, recovery: 20 * time.Second, after: 30 * time.Second}}
	for p := range phase(phaseCount) {
		for i := range 20 {
			at := e.starts[p] + time.Duration(i)*500*time.Millisecond
			e.reads = append(e.reads,
				read{kind: own, phase: p, at: at, role: "source", fallback: true},
				read{kind: unwritten, phase: p, at: at, role: "replica"},
				read{kind: listing, phase: p, at: at, role: "replica"},
				read{kind: report, phase: p, at: at, role: "replica", age: 3 * time.Second})
		}
	}
	for i := range 41 {
		at := time.Duration(i) * time.Second
		e.samples = append(e.samples, sample{from: at, to: at, used: float64(50 * i), refused: float64(i), onSource: [kindCount]int{own: 50 * i}, lags: make([]time.Duration, 2)})
	}
	for _, node := range []string{"a", "b"} {
		for _, c := range []change{{at: 11, excluded: true}, {at: 30}} {
			e.changes = append(e.changes, change{c.at * time.Second, node, "F1", c.excluded})
		}
	}
	return e
}

func TestJudge(t *testing.T) {
	first := func(e *evidence, k kind, p phase) *read {
		for i := range e.reads {
			if r := &e.reads[i]; r.kind == k && r.phase == p {
				return r
			}
		}
		return nil
	}
	for _, c := range []struct {
		name string
		do   func(*evidence)
		want string // "": nothing to say
	}{
		{"all is well", func(*evidence) {}, ""},
		{"a read misses its write", func(e *evidence) { first(e, own, surge).missed = true }, "F0: 1 reads missed their session's own write, the first on a source in phase surge."},
		{"a marked one misses it too", func(e *evidence) { r := first(e, own, surge); r.missed, r.outcome = true, stale }, "F0: 1 reads missed"},
		{"F0 served stale", func(e *evidence) { first(e, own, surge).outcome = stale }, "F0: 1 reads of sessions that had written were served stale"},
		{"F1 too old", func(e *evidence) { first(e, listing, surge).age = 2001 * time.Millisecond }, "F1: 1 reads were older than 2s without a warning, the oldest 2.001s."},
		{"F1 at its bound", func(e *evidence) { first(e, listing, surge).age = 2 * time.Second }, ""},
		{"F1 too old and marked", func(e *evidence) { r := first(e, listing, surge); r.age, r.outcome = 5*time.Second, stale }, ""},
		{"F2 too old", func(e *evidence) { first(e, report, surge).age = 11 * time.Second }, "F2: 1 reads were older than 10s"},
		{"no token, too old", func(e *evidence) { first(e, unwritten, calm).age = 3 * time.Second }, "F0, no token: 1 reads"},
		{"own writes have no bound", func(e *evidence) { first(e, own, calm).age = time.Minute }, ""},
		{"an own read refused", func(e *evidence) { r := first(e, own, surge); r.outcome, r.err = refused, "budget" }, ""},
		{"F1 refused", func(e *evidence) { r := first(e, listing, surge); r.outcome, r.err = refused, "budget" }, "1 reads failed; F1: budget."},
		{"an own read fails", func(e *evidence) { r := first(e, own, surge); r.outcome, r.err = failed, "gone" }, "1 reads failed; F0, own write: gone."},
		{"F2 on the source", func(e *evidence) { first(e, report, surge).role = "source" }, "F2: 1 reads went to the source, which counted 0"},
		{"F2 counted by the source", func(e *evidence) { e.samples[40].onSource[report] = 1 }, "F2: 0 reads went to the source, which counted 1"},
		{"burst and clients fit", func(e *evidence) { jump(e, budgetBurst+clientCount()) }, ""},
		{"one more does not", func(e *evidence) { jump(e, budgetBurst+clientCount()+1) }, "Causeway granted 1 fallback reads more than the budget, 20s after the start."},
		{"the source counts more", func(e *evidence) { e.samples[40].onSource[own] += 500 }, "The source served 434 fallback reads more than the budget"},
		{"replicas served little before, too", func(e *evidence) { move(e, listing, calm, "source"); move(e, listing, after, "source") }, "F1: replicas served only 0 % of the reads before"},
		{"F1 does not come back", func(e *evidence) { move(e, listing, after, "source") }, "F1: replicas served 0 % of the reads after the recovery, and 100 % before"},
		{"F1 comes back stale", func(e *evidence) {
			for i := range e.reads {
				if r := &e.reads[i]; r.kind == listing && r.phase == after {
					r.outcome = stale
				}
			}
		}, "F1: replicas served 0 % of the reads after"},
		{"flapping", func(e *evidence) {
			e.changes = append(e.changes, change{31 * time.Second, "a", "F1", true}, change{32 * time.Second, "a", "F1", false})
		}, "a flapped: its exclusion under limit F1 changed 4 times."},
		{"before the surge nothing counts", func(e *evidence) {
			e.changes = append([]change{{time.Second, "a", "F1", true}, {2 * time.Second, "a", "F1", false}}, e.changes...)
		}, ""},
		{"still out", func(e *evidence) { e.changes = e.changes[:3] }, "b was still excluded under limit F1 at the end."},
		{"the applier's restarts", func(e *evidence) {
			for i := range 4 {
				e.changes = append(e.changes, change{time.Duration(11+i) * time.Second, "a", "all", i%2 == 0})
			}
		}, ""},
		{"no exclusion", func(e *evidence) { e.changes = e.changes[:2] }, "The drill is void: SHOW CAUSEWAY LAG showed 1 of 2 replicas excluded"},
		{"no limits, no exclusion", func(e *evidence) { e.changes, e.limits, e.windows = nil, false, false }, ""},
		{"limits that are not shown", func(e *evidence) { e.limits = false }, "The drill is void: SHOW CAUSEWAY LAG showed"},
		{"no lag", func(e *evidence) {
			for i := range e.reads {
				e.reads[i].age = 0
			}
		}, "The drill is void: the oldest read of F2 in the surge was 0s old"},
		{"a budget never used up", func(e *evidence) { e.samples[40].refused = 0 }, "The drill is void: the fallback budget was never used up."},
		{"no reads", func(e *evidence) { move(e, unwritten, recovery, ""); drop(e) }, "The drill is void: F0, no token made no reads in phase recovery."},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := good()
			c.do(e)
			got := e.verdict()
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// jump gives out n fallbacks more in the twentieth second.
func jump(e *evidence, n int) {
	for i := 20; i < len(e.samples); i++ {
		e.samples[i].used += float64(n)
	}
}

// move changes where all reads of a kind in a phase went.
func move(e *evidence, k kind, p phase, role string) {
	for i := range e.reads {
		if r := &e.reads[i]; r.kind == k && r.phase == p {
			r.role = role
		}
	}
}

// drop removes the reads that went nowhere.
func drop(e *evidence) {
	var kept []read
	for _, r := range e.reads {
		if r.role != "" {
			kept = append(kept, r)
		}
	}
	e.reads = kept
}
