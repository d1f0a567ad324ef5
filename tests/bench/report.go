package main

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"causeway/tests/rig"
)

// measurement is one run of one contender.
type measurement struct {
	perSec float64 // transactions a second, each a single query in oltp_point_select
	avgMS  float64 // mean latency
	cpuUS  float64 // CPU time of the proxy for one query, in microseconds
}

// section holds one number of threads in one protocol: for each contender its
// measurements, one a round.
type section struct {
	threads int
	mode    string
	order   []string
	runs    map[string][]measurement
}

// report is all that a run of the program measured.
type report struct {
	opts     options
	sections []*section
}

func (r *report) section(threads int, mode string) *section {
	s := &section{threads: threads, mode: mode, runs: map[string][]measurement{}}
	r.sections = append(r.sections, s)
	return s
}

func (s *section) add(name string, m measurement) {
	if len(s.runs[name]) == 0 {
		s.order = append(s.order, name)
	}
	s.runs[name] = append(s.runs[name], m)
}

// median returns the middle of one figure over the contender's runs.
func (s *section) median(name string, figure func(measurement) float64) float64 {
	var all []float64
	for _, m := range s.runs[name] {
		all = append(all, figure(m))
	}
	return rig.Median(all)
}

// ratio returns the median over the rounds of a contender's figure divided by
// the other's figure in the same round: what slows a whole round down cancels.
// It is 0 if one of the two did not run.
func (s *section) ratio(name, to string, figure func(measurement) float64) float64 {
	a, b := s.runs[name], s.runs[to]
	var all []float64
	for i := range min(len(a), len(b)) {
		if d := figure(b[i]); d > 0 {
			all = append(all, figure(a[i])/d)
		}
	}
	return rig.Median(all)
}

func perSec(m measurement) float64 { return m.perSec }
func avgMS(m measurement) float64  { return m.avgMS }
func cpuUS(m measurement) float64  { return m.cpuUS }

func (r *report) print(w io.Writer) {
	fmt.Fprintf(w, "sysbench %s, %v a run, medians of %d interleaved rounds; CPU is the proxy's own\n",
		r.opts.script, r.opts.time, r.opts.rounds)
	if r.opts.split {
		fmt.Fprintln(w, "half of the cores are the servers', the other half the clients' and proxies'")
	}
	for _, s := range r.sections {
		s.print(w, r.opts.script)
	}
}

func (s *section) print(w io.Writer, script string) {
	protocol := "text protocol"
	if s.mode != "disable" {
		protocol = "prepared statements"
	}
	fmt.Fprintf(w, "\n%s (--db-ps-mode=%s), %d threads\n", protocol, s.mode, s.threads)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	unit := "queries"
	if script != pointSelect {
		unit = "transactions"
	}
	fmt.Fprintln(tw, "\t"+unit+"/s\tof direct\tavg ms\tCPU us/query\tof relay\t")
	for _, name := range s.order {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t\n", name,
			number(s.median(name, perSec), 0), number(s.ratio(name, "direct", perSec), 2), number(s.median(name, avgMS), 2),
			number(s.median(name, cpuUS), 1), number(s.ratio(name, "relay", cpuUS), 2))
	}
	tw.Flush()
	if ratio := s.ratio("causeway", "relay", cpuUS); ratio > 0 {
		fmt.Fprintf(w, "CPU per query, causeway / relay: %.2f\n", ratio)
	}
}

// number prints a figure, or a dash for one that does not exist.
func number(v float64, decimals int) string {
	if v == 0 {
		return "-"
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// check fails if Causeway costs more than limit times the relay anywhere, and
// also if the two were not both measured.
func (r *report) check(limit float64) error {
	for _, s := range r.sections {
		ratio := s.ratio("causeway", "relay", cpuUS)
		if ratio == 0 {
			return fmt.Errorf("--check needs both causeway and relay among the contenders")
		}
		if ratio > limit {
			return fmt.Errorf("%d threads, ps-mode %s: Causeway's CPU per query is %.2f times the relay's, allowed are %.2f",
				s.threads, s.mode, ratio, limit)
		}
	}
	return nil
}

// checkShared fails if few shared connections have less than atLeast of the
// throughput of one for each client.
func (r *report) checkShared(atLeast float64) error {
	for _, s := range r.sections {
		ratio := s.ratio("causeway-16", "direct", perSec)
		if ratio == 0 {
			return fmt.Errorf("--at-least needs both causeway-16 and direct among the contenders")
		}
		if ratio < atLeast {
			return fmt.Errorf("%d threads, ps-mode %s: over 16 connections a server Causeway has %.2f times the throughput of direct connections, wanted is %.2f",
				s.threads, s.mode, ratio, atLeast)
		}
	}
	return nil
}
