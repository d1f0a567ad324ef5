package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"causeway/tests/chart"
	"causeway/tests/rig"
)

// report is all that was measured.
type report struct {
	opts    options
	modes   []mode
	lags    []lag
	missing map[string]string            // by mode: why it is not available
	cells   map[string]map[string][]cell // by lag and mode: one a round
}

func newReport(o options, modes []mode, lags []lag) *report {
	r := &report{opts: o, modes: modes, lags: lags, missing: map[string]string{}, cells: map[string]map[string][]cell{}}
	for _, l := range lags {
		r.cells[l.name] = map[string][]cell{}
	}
	return r
}

func (r *report) add(lag, mode string, c cell) {
	r.cells[lag][mode] = append(r.cells[lag][mode], c)
}

// figures are one line of the table: counts of all rounds together, medians of
// the rounds for times.
type figures struct {
	reads, missedOwn, missedAny, failed int
	onSource                            float64 // share of the reads, by the source's own count
	p50, p95, p99                       time.Duration
	write                               time.Duration // p50
	perSec                              float64       // requests
}

func summarise(rounds []cell) (f figures) {
	var source int
	var p50, p95, p99, write []time.Duration
	var perSec []float64
	for _, c := range rounds {
		source += c.onSource
		var reads, writes []time.Duration
		for _, q := range c.requests {
			switch {
			case q.write:
				writes = append(writes, q.took)
			default:
				f.count(q)
				reads = append(reads, q.took)
			}
		}
		slices.Sort(reads)
		slices.Sort(writes)
		p50, p95, p99 = append(p50, rig.Quantile(reads, .5)), append(p95, rig.Quantile(reads, .95)), append(p99, rig.Quantile(reads, .99))
		write = append(write, rig.Quantile(writes, .5))
		perSec = append(perSec, float64(len(c.requests))/c.length.Seconds())
	}
	if f.reads > 0 {
		f.onSource = float64(source) / float64(f.reads)
	}
	f.p50, f.p95, f.p99, f.write, f.perSec = rig.Median(p50), rig.Median(p95), rig.Median(p99), rig.Median(write), rig.Median(perSec)
	return f
}

// count adds a read.
func (f *figures) count(q request) {
	f.reads++
	if q.err != nil {
		f.failed++
	}
	if q.missedOwn {
		f.missedOwn++
	}
	if q.missedAny {
		f.missedAny++
	}
}

// print writes the table, in Markdown.
func (r *report) print(w io.Writer) error {
	o := r.opts
	fmt.Fprintf(w, "%d users on %d connections, a turn every %v on average, %.0f %% of the turns write; %v each after %v of warm-up, %d rounds\n\n",
		o.users, o.connections, o.think, 100*o.writes, o.time, o.warmUp, o.rounds)
	t := rig.NewTable(w, "lag", "mode", "reads", "missed the own write", "missed any write", "failed", "on the source", "read p50", "p95", "p99", "write p50", "requests a second")
	for _, l := range r.lags {
		for _, m := range r.modes {
			if r.missing[m.name] != "" {
				continue
			}
			f := summarise(r.cells[l.name][m.name])
			t.Row(l.name, m.name, f.reads, f.missedOwn, f.missedAny, f.failed, fmt.Sprintf("%.1f %%", 100*f.onSource),
				ms(f.p50), ms(f.p95), ms(f.p99), ms(f.write), fmt.Sprintf("%.0f", f.perSec))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	r.printShares(w)
	for _, m := range r.modes {
		if why := r.missing[m.name]; why != "" {
			fmt.Fprintf(w, "\nnot available: %s: %s\n", m.name, why)
		}
	}
	return nil
}

// printShares compares what the modes cost the source, over all lags.
func (r *report) printShares(w io.Writer) {
	window := r.overall(r.window())
	if window == 0 {
		return
	}
	fmt.Fprintf(w, "\nReads on the source over all lags, %s = 1:", r.window())
	for _, m := range r.modes {
		if r.missing[m.name] == "" {
			fmt.Fprintf(w, " %s %.2f;", m.name, r.overall(m.name)/window)
		}
	}
	fmt.Fprintln(w)
}

// ms rounds to what a table needs.
func ms(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

// draw plots misses, the source's share and latency, each by lag and mode.
func (r *report) draw(file string) error {
	var panels []*chart.Panel
	for _, p := range []struct {
		title, y string
		value    func(figures) float64
	}{
		{"Reads that missed the user's own acknowledged write", "% of reads", func(f figures) float64 { return share(f.missedOwn, f.reads) }},
		{"Reads on the source, by its own count", "% of reads", func(f figures) float64 { return 100 * f.onSource }},
		{"Read latency, p99", "ms", func(f figures) float64 { return float64(f.p99.Microseconds()) / 1000 }},
	} {
		var groups []string
		for _, l := range r.lags {
			groups = append(groups, "lag: "+l.name)
		}
		panel, err := chart.Bars(p.title, p.y, groups, r.series(p.value), len(panels) == 0)
		if err != nil {
			return err
		}
		panels = append(panels, panel)
	}
	return chart.Save(file, panels...)
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}

// series are the bars of each mode that was measured.
func (r *report) series(value func(figures) float64) (all []chart.Series) {
	for i, m := range r.modes {
		if r.missing[m.name] != "" {
			continue
		}
		s := chart.Series{Name: m.name, Colour: chart.Colours[i%len(chart.Colours)]}
		for _, l := range r.lags {
			s.Values = append(s.Values, value(summarise(r.cells[l.name][m.name])))
		}
		all = append(all, s)
	}
	return all
}

// writeData writes the figures of each round as CSV.
func (r *report) writeData(file string) error {
	return rig.WriteCSV(file, func(write func(...string)) {
		write("lag", "mode", "round", "reads", "missed_own", "missed_any", "failed", "on_source_share", "read_p50_ms", "read_p95_ms", "read_p99_ms", "write_p50_ms", "requests_per_second")
		for _, l := range r.lags {
			for _, m := range r.modes {
				for round, c := range r.cells[l.name][m.name] {
					write(append([]string{l.name, m.name, strconv.Itoa(round + 1)}, summarise([]cell{c}).columns()...)...)
				}
			}
		}
	})
}

func (f figures) columns() []string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }
	millis := func(d time.Duration) string { return number(float64(d.Microseconds()) / 1000) }
	return []string{strconv.Itoa(f.reads), strconv.Itoa(f.missedOwn), strconv.Itoa(f.missedAny), strconv.Itoa(f.failed), number(f.onSource),
		millis(f.p50), millis(f.p95), millis(f.p99), millis(f.write), number(f.perSec)}
}
