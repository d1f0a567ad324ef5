package main

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"
)

// mark is a position of the source: at that time, since the load began, it had
// numbered that many transactions.
type mark struct {
	at   time.Duration
	last int
}

// sample is a position of the replica.
type sample struct {
	at       time.Duration
	received int // the last transaction that arrived
	applied  int // all up to this one are applied
}

// ends reads a GTID set of one source: the transactions 1 to prefix are in it
// without a gap, and last is its highest one. Without preserved commit order a
// replica's set has gaps.
func ends(set string) (prefix, last int, err error) {
	set = strings.TrimSpace(set)
	if set == "" {
		return 0, 0, nil
	}
	_, list, ok := strings.Cut(set, ":")
	if !ok || strings.ContainsAny(list, ",") {
		return 0, 0, fmt.Errorf("%q is not the GTID set of one source", set)
	}
	for i, interval := range strings.Split(list, ":") {
		first, end, isRange := strings.Cut(interval, "-")
		if !isRange {
			end = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(end)
		if err1 != nil || err2 != nil {
			return 0, 0, fmt.Errorf("%q is no interval of GTIDs", interval)
		}
		if i == 0 && from == 1 {
			prefix = to
		}
		last = to
	}
	return prefix, last, nil
}

// behind is how old the first transaction is that somebody lacks who has all up
// to have: the time since the first mark that has it. Marks are in order. What
// happened between two marks is taken as of the later one.
func behind(marks []mark, have int, now time.Duration) time.Duration {
	i := sort.Search(len(marks), func(i int) bool { return marks[i].last > have })
	if i == len(marks) || marks[i].at > now {
		return 0
	}
	return now - marks[i].at
}

// point is one sample turned into lag.
type point struct {
	at        time.Duration
	apply     time.Duration // how old the first transaction is that is not applied
	transport time.Duration // ... that has not arrived
}

func lags(marks []mark, samples []sample) []point {
	points := make([]point, len(samples))
	for i, s := range samples {
		points[i] = point{s.at, behind(marks, s.applied, s.at), behind(marks, s.received, s.at)}
	}
	return points
}

// outcome is what one setting did in one round.
type outcome struct {
	points    []point
	average   time.Duration // of the apply lag, while the load ran
	highest   time.Duration // of the apply lag
	transport time.Duration // the highest one
	written   float64       // transactions a second, while the load ran
	applied   float64       // the same of the replica
	recovery  time.Duration // from the end of the load until all was applied
}

// summarise judges one run of a load that took so long.
func summarise(marks []mark, samples []sample, load, recovery time.Duration) outcome {
	o := outcome{points: lags(marks, samples), recovery: recovery}
	var sum time.Duration
	during := 0
	for _, p := range o.points {
		o.highest, o.transport = max(o.highest, p.apply), max(o.transport, p.transport)
		if p.at <= load {
			sum += p.apply
			during++
		}
	}
	if during > 0 {
		o.average = sum / time.Duration(during)
		o.applied = rate(samples[0].at, samples[0].applied, samples[during-1].at, samples[during-1].applied)
	}
	if n := sort.Search(len(marks), func(i int) bool { return marks[i].at > load }); n > 0 {
		o.written = rate(marks[0].at, marks[0].last, marks[n-1].at, marks[n-1].last)
	}
	return o
}

func rate(from time.Duration, a int, to time.Duration, b int) float64 {
	if to <= from {
		return 0
	}
	return float64(b-a) / (to - from).Seconds()
}
